# Finds the requirements of the Python package: an interpreter with headers, nanobind and NumPy.
# A wheel needs them; otherwise the .venv of ./run test has them, and without it there is no package.
# Sets LIMB_BUILDS_PYTHON, and LIMB_NUMPY_INCLUDE.
set(LIMB_BUILDS_PYTHON OFF)
if(NOT SKBUILD AND NOT Python_EXECUTABLE AND EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv/bin/python)
endif()
find_package(Python 3.10 COMPONENTS Interpreter Development.Module QUIET)
if(Python_FOUND)
  execute_process(COMMAND ${Python_EXECUTABLE} -c
    "import nanobind, numpy; print(nanobind.cmake_dir(), numpy.get_include(), sep=';', end='')"
    OUTPUT_VARIABLE found RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    list(GET found 0 nanobind_ROOT)
    list(GET found 1 LIMB_NUMPY_INCLUDE)
    find_package(nanobind CONFIG REQUIRED)
    set(LIMB_BUILDS_PYTHON ON)
  endif()
endif()
if(SKBUILD AND NOT LIMB_BUILDS_PYTHON)
  message(FATAL_ERROR "limb: the Python package needs Python 3.10 with headers, nanobind and numpy")
elseif(NOT LIMB_BUILDS_PYTHON)
  message(STATUS "limb: no Python package (needs python3-dev, and nanobind and numpy in .venv)")
endif()
