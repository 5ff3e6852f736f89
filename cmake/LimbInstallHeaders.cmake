# Runs at install time. Installs the headers in LIMB_ENTRY_HEADERS and every header of limb that they
# include, directly or not; no other header is installed. Paths are relative to LIMB_SOURCE_DIR.
cmake_minimum_required(VERSION 3.25)

set(to_read ${LIMB_ENTRY_HEADERS})
set(headers "")
while(to_read)
  list(POP_FRONT to_read header)
  if(header IN_LIST headers OR NOT EXISTS ${LIMB_SOURCE_DIR}/${header})  # a generated header
    continue()
  endif()
  list(APPEND headers ${header})
  file(STRINGS ${LIMB_SOURCE_DIR}/${header} includes REGEX "^#include \"limb/")
  list(TRANSFORM includes REPLACE "^#include \"([^\"]+)\".*" "\\1")
  list(APPEND to_read ${includes})
endwhile()

foreach(header ${headers})
  get_filename_component(folder ${header} DIRECTORY)
  file(INSTALL ${LIMB_SOURCE_DIR}/${header}
    DESTINATION ${CMAKE_INSTALL_PREFIX}/${LIMB_INCLUDE_DIR}/${folder})
endforeach()
