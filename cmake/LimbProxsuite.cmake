# ProxQP, the solver of quadratic programs: headers from the wheel that ./run build unpacks into .qp, or
# from where LIMB_PROXSUITE says. Without them limb builds, and Qp says so when one is made.
set(LIMB_PROXSUITE ${PROJECT_SOURCE_DIR}/.qp/cmeel.prefix CACHE PATH "prefix of proxsuite's headers")
find_path(proxsuite_include proxsuite/proxqp/dense/dense.hpp NO_CACHE HINTS ${LIMB_PROXSUITE}/include)
find_path(simde_include simde/x86/avx2.h NO_CACHE)
if(proxsuite_include)
  set(LIMB_QP_SOURCE qp_proxqp.cpp)
else()
  set(LIMB_QP_SOURCE qp_none.cpp)
  message(STATUS "limb: no proxsuite in ${LIMB_PROXSUITE}, so there are no quadratic programs")
endif()

# limb_use_proxsuite(ROOM): the one file that includes it is built as kernels are, with the vectors of the
# processor where SIMDe is installed (docs/adr/0005-kernel-flags.md).
function(limb_use_proxsuite room)
  if(NOT proxsuite_include)
    return()
  endif()
  set(flags -w -fno-math-errno)
  if(LIMB_KERNEL_ARCH)
    list(APPEND flags -march=${LIMB_KERNEL_ARCH})
  endif()
  set(definitions PROXSUITE_VECTORIZE)
  if(NOT simde_include)
    set(definitions "")
  endif()
  set_source_files_properties(qp_proxqp.cpp PROPERTIES COMPILE_OPTIONS "${flags}"
    COMPILE_DEFINITIONS "${definitions}" INCLUDE_DIRECTORIES "${proxsuite_include}")
endfunction()
