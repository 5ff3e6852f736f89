# Installs the manual pages that `limb man` writes: limb(1) and one per verb.
if(NOT IS_ABSOLUTE "${LIMB_MAN_FOLDER}")
  set(LIMB_MAN_FOLDER "${CMAKE_INSTALL_PREFIX}/${LIMB_MAN_FOLDER}")
endif()
execute_process(COMMAND ${LIMB_PROGRAM} man OUTPUT_VARIABLE page COMMAND_ERROR_IS_FATAL ANY)
file(WRITE $ENV{DESTDIR}${LIMB_MAN_FOLDER}/limb.1 "${page}")
string(REGEX MATCHALL "limb.-[a-z]+" names "${page}")
foreach(name ${names})
  string(REGEX REPLACE ".*-" "" verb ${name})
  execute_process(COMMAND ${LIMB_PROGRAM} man ${verb} OUTPUT_VARIABLE page
                  COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE $ENV{DESTDIR}${LIMB_MAN_FOLDER}/limb-${verb}.1 "${page}")
endforeach()
message(STATUS "Installing: manual pages in ${LIMB_MAN_FOLDER}")
