# Installs the modules, their headers, the command line, and the package that find_package(limb) reads.
# The same package is also written to the build tree (limb_DIR = the build folder).
include(CMakePackageConfigHelpers)

get_property(modules GLOBAL PROPERTY LIMB_MODULES)

add_library(limb_all INTERFACE)
add_library(limb::limb ALIAS limb_all)
set_target_properties(limb_all PROPERTIES EXPORT_NAME limb)
install(TARGETS limb_all EXPORT limbTargets)

foreach(module ${modules})
  target_link_libraries(limb_all INTERFACE limb_${module})
  install(TARGETS limb_${module} EXPORT limbTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  list(APPEND entry_headers limb/${module}/${module}.hpp)
endforeach()
# Headers: the front header of each module and the templates for any scalar, with all that they include.
list(APPEND entry_headers limb/dynamics/derivatives/any_scalar.hpp)
install(CODE "set(LIMB_SOURCE_DIR [[${PROJECT_SOURCE_DIR}]])
set(LIMB_INCLUDE_DIR [[${CMAKE_INSTALL_INCLUDEDIR}]])
set(LIMB_ENTRY_HEADERS [[${entry_headers}]])")
install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/LimbInstallHeaders.cmake)
install(DIRECTORY ${PROJECT_BINARY_DIR}/generated/limb
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")

if(TARGET limb_cli)
  install(TARGETS limb_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(NOT CMAKE_CROSSCOMPILING)
    install(CODE "set(LIMB_PROGRAM [[$<TARGET_FILE:limb_cli>]])
      set(LIMB_MAN_FOLDER [[${CMAKE_INSTALL_MANDIR}/man1]])")
    install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/LimbInstallManual.cmake)
  endif()
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/limb)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/limbConfig.cmake.in
  ${PROJECT_BINARY_DIR}/limbConfig.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a new minor version may break callers.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/limbConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/limbConfig.cmake ${PROJECT_BINARY_DIR}/limbConfigVersion.cmake
  DESTINATION ${package_dir})
install(EXPORT limbTargets NAMESPACE limb:: DESTINATION ${package_dir})
export(EXPORT limbTargets NAMESPACE limb:: FILE ${PROJECT_BINARY_DIR}/limbTargets.cmake)
