# Tests written in Python. They run in the repository root, get the build folder as LIMB_BUILD_DIR and
# the command line as LIMB_CLI, write no byte code beside the sources, and skip with exit status 77.

function(limb_python_properties name label)
  limb_test_properties(${name} ${label} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT LIMB_BUILD_DIR=${PROJECT_BINARY_DIR}
    LIMB_CLI=${PROJECT_BINARY_DIR}/limb PYTHONDONTWRITEBYTECODE=1)
endfunction()

# limb_python_test(NAME LABEL FILE [ARGUMENT...]): a program that needs only the standard library;
# skips if it has unittest cases and all of them skip.
function(limb_python_test name label file)
  get_filename_component(path ${file} ABSOLUTE)
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/run_unittest.py
    ${path} ${ARGN})
  limb_python_properties(${name} ${label})
endfunction()

# limb_pytest(NAME FILE [LABEL]): a pytest file, run with the .venv that exists when the test runs;
# skips if there is no pytest or every test in the file skips. The label defaults to python.
function(limb_pytest name file)
  set(label python)
  if(ARGC GREATER 2)
    set(label ${ARGV2})
  endif()
  get_filename_component(path ${file} ABSOLUTE)
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/run_pytest.py
    ${path})
  limb_python_properties(${name} ${label})
endfunction()
