# Flags of every limb target, and limb_module(): one folder, one library, its tests.

add_library(limb_flags INTERFACE)
target_compile_options(limb_flags INTERFACE -Wall -Wextra -Wshadow -Wpedantic -Wnon-virtual-dtor)
if(LIMB_WERROR)
  target_compile_options(limb_flags INTERFACE -Werror)
endif()
if(LIMB_SANITIZE)
  # Left out: checks of the undefined-behaviour sanitizer that only find what the address sanitizer
  # finds, too. They take a third of the compile time.
  add_compile_options(-fsanitize=${LIMB_SANITIZE} -fno-sanitize=null,object-size,pointer-overflow
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${LIMB_SANITIZE})
  # Some 300 test programs are linked statically, which takes the default linker several seconds each.
  find_program(LIMB_LLD ld.lld)
  if(LIMB_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

# For targets with a precompiled header. ccache requires the first option of each compiler; the others
# silence false warnings of gcc 12 about std::string, which it no longer treats as a system header.
set(limb_pch_options
  "$<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess;-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow>"
  "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")

# The same alignment of Eigen's types and memory in all files, independent of the instruction set:
# kernels and user code may be built with other flags (docs/adr/0005-kernel-flags.md).
set(limb_eigen_definitions EIGEN_MAX_ALIGN_BYTES=16 EIGEN_MALLOC_ALREADY_ALIGNED=1)
add_compile_definitions(${limb_eigen_definitions})

# A precompiled header for the tests: half of the compile time of a small test is GoogleTest and Eigen.
if(LIMB_TESTS)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/test_headers.cpp CONTENT "\n")
  add_library(limb_test_headers OBJECT ${PROJECT_BINARY_DIR}/generated/test_headers.cpp)
  target_link_libraries(limb_test_headers PRIVATE limb_flags Eigen3::Eigen fmt::fmt GTest::gtest)
  target_compile_features(limb_test_headers PRIVATE cxx_std_20)
  target_precompile_headers(limb_test_headers PRIVATE <gtest/gtest.h> <Eigen/Geometry>
    <fmt/format.h> <filesystem> <fstream> <functional> <map> <optional> <random> <sstream>
    <string> <vector>)
  set(limb_test_options $<$<CONFIG:Release>:-O1> ${limb_pch_options})
  target_compile_options(limb_test_headers PRIVATE ${limb_test_options})

  # The main function of the tests, which reports skipped ones.
  add_library(limb_test_main OBJECT ${PROJECT_SOURCE_DIR}/limb/base/testing/test_main.cpp)
  target_link_libraries(limb_test_main PUBLIC GTest::gtest PRIVATE limb_flags)
  target_include_directories(limb_test_main PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_features(limb_test_main PRIVATE cxx_std_20)
  target_compile_options(limb_test_main PRIVATE $<$<CONFIG:Release>:-O1>)
endif()

if(LIMB_TESTS OR LIMB_BENCH)
  # Where tests and benchmarks expect the reference robots.
  add_library(limb_shared_default STATIC ${PROJECT_SOURCE_DIR}/limb/model/testing/shared_default.cpp)
  target_compile_definitions(limb_shared_default PRIVATE
    LIMB_SHARED_DEFAULT="${PROJECT_SOURCE_DIR}/../shared")
  target_include_directories(limb_shared_default PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_features(limb_shared_default PRIVATE cxx_std_20)
endif()

# Seconds after which a test counts as hung: far more than it needs on a busy machine, where one of
# 20 s was seen to take 340 s. Sanitizers slow it down further.
set(limb_test_timeout 1800)
set(limb_slow_test_timeout 7200)
if(LIMB_SANITIZE)
  set(limb_test_timeout 5400)
  set(limb_slow_test_timeout 10800)
endif()

# limb_slow_tests(NAME...): tests that take more than 20 s on a free machine with two cores.
function(limb_slow_tests)
  set_tests_properties(${ARGN} PROPERTIES TIMEOUT ${limb_slow_test_timeout})
endfunction()

# limb_threaded_tests(NAME...): tests that start threads, label `threads`. The thread sanitizer runs these
# only: a program with one thread has no races. C++ tests that start threads and are not listed fail.
function(limb_threaded_tests)
  foreach(name ${ARGN})
    set_property(TEST ${name} APPEND PROPERTY LABELS threads)
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT LIMB_THREADS=1)
    string(REPLACE "/" "_" target ${name})
    if(TARGET ${target})
      set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL FALSE)
    endif()
  endforeach()
endfunction()

# limb_test_properties(NAME LABEL [PROPERTY VALUE...]): what every test has. Exit status 77 means
# skipped; the reasons go to a file of the test's own, which `./run test` summarises.
function(limb_test_properties name label)
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${limb_test_timeout}
    SKIP_RETURN_CODE 77 ${ARGN})
  set_property(TEST ${name} APPEND PROPERTY
    ENVIRONMENT "LIMB_SKIPS=${PROJECT_BINARY_DIR}/Testing/skips/${name}.txt")
endfunction()

# limb_test(MODULE FILE [LIBRARY...]): one GoogleTest program, registered as MODULE/FILE without suffix.
function(limb_test module file)
  get_filename_component(stem ${file} NAME_WE)
  set(target ${module}_${stem})
  add_executable(${target} ${file})
  target_link_libraries(${target} PRIVATE ${ARGN} limb_flags limb_test_main limb_shared_default)
  # The library under test keeps its flags; the tests themselves are optimised for compile time.
  target_compile_options(${target} PRIVATE ${limb_test_options})
  target_precompile_headers(${target} REUSE_FROM limb_test_headers)
  if(LIMB_SANITIZE MATCHES thread)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
  add_test(NAME ${module}/${stem} COMMAND ${target})
  limb_test_properties(${module}/${stem} ${module})
endfunction()

# limb_module(NAME [DEPENDS module...] [USES library...] [SOURCES file...] [TESTS file...])
# makes limb::NAME. DEPENDS are other modules of limb; USES are external libraries.
function(limb_module name)
  cmake_parse_arguments(MODULE "" "" "DEPENDS;USES;SOURCES;TESTS" ${ARGN})
  set(target limb_${name})
  add_library(${target} STATIC ${MODULE_SOURCES})
  add_library(limb::${name} ALIAS ${target})
  list(TRANSFORM MODULE_DEPENDS PREPEND limb_)
  target_link_libraries(${target} PUBLIC ${MODULE_DEPENDS} ${MODULE_USES})
  # Not linked to limb_flags: a static library would export that link to its users.
  target_compile_options(${target} PRIVATE
    $<TARGET_PROPERTY:limb_flags,INTERFACE_COMPILE_OPTIONS>)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  # Other builds do without it, so that a file that lacks an #include does not compile there.
  if(LIMB_SANITIZE AND NOT name STREQUAL base)
    target_precompile_headers(${target} PRIVATE <Eigen/Dense> <fmt/format.h> <algorithm> <array>
      <functional> <map> <memory> <optional> <span> <string> <unordered_map> <variant> <vector>)
    target_compile_options(${target} PRIVATE ${limb_pch_options})
  endif()
  set_property(GLOBAL APPEND PROPERTY LIMB_MODULES ${name})
  if(LIMB_TESTS)
    foreach(test ${MODULE_TESTS})
      limb_test(${name} ${test} ${target})
    endforeach()
  endif()
endfunction()

# limb_kernels(MODULE FILE...): performance-critical files, built for LIMB_KERNEL_ARCH. They are scalar
# code that is faster without automatic vectorisation.
function(limb_kernels module)
  set(flags -fno-tree-vectorize -fno-math-errno -fno-semantic-interposition)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    set(flags -fno-slp-vectorize -fno-vectorize -ffp-contract=fast -fno-math-errno)
  endif()
  if(LIMB_KERNEL_ARCH)
    list(APPEND flags -march=${LIMB_KERNEL_ARCH})
  endif()
  set_source_files_properties(${ARGN} TARGET_DIRECTORY limb_${module}
    PROPERTIES COMPILE_OPTIONS "${flags}" SKIP_PRECOMPILE_HEADERS ON)
endfunction()
