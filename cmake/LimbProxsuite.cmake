# ProxQP, the solver of quadratic programs: headers from the wheel that ./run build unpacks into .qp, or
# from where LIMB_PROXSUITE says. Without them limb builds, and Qp says so when one is made.
set(LIMB_PROXSUITE ${PROJECT_SOURCE_DIR}/.qp/cmeel.prefix CACHE PATH "prefix of proxsuite's headers")
find_path(proxsuite_include proxsuite/proxqp/dense/dense.hpp NO_CACHE HINTS ${LIMB_PROXSUITE}/include)
if(proxsuite_include)
  set(LIMB_QP_SOURCE qp_proxqp.cpp)
else()
  set(LIMB_QP_SOURCE qp_none.cpp)
  message(STATUS "limb: no proxsuite in ${LIMB_PROXSUITE}, so there are no quadratic programs")
endif()

# limb_use_proxsuite(ROOM): the one file that includes it. It is built for the same processors as the rest: its
# products of large matrices are Eigen's, which the linker shares with files of other flags, and Eigen's wide
# vectors want memory aligned more strictly than docs/adr/0005-kernel-flags.md has it.
function(limb_use_proxsuite room)
  if(proxsuite_include)
    set_source_files_properties(qp_proxqp.cpp PROPERTIES COMPILE_OPTIONS "-w;-fno-math-errno"
      INCLUDE_DIRECTORIES "${proxsuite_include}")
  endif()
endfunction()
