# ProxQP, the QP solver: headers of the package that ./run build installs into .qp, or of the prefix
# LIMB_PROXSUITE. Without them limb builds, and the constructor of Qp throws.
set(LIMB_PROXSUITE ${PROJECT_SOURCE_DIR}/.qp/cmeel.prefix CACHE PATH "prefix of proxsuite's headers")
find_path(proxsuite_include proxsuite/proxqp/dense/dense.hpp NO_CACHE HINTS ${LIMB_PROXSUITE}/include)
if(proxsuite_include)
  set(LIMB_QP_SOURCE qp/qp_proxqp.cpp)
else()
  set(LIMB_QP_SOURCE qp/qp_none.cpp)
  message(STATUS "limb: no proxsuite in ${LIMB_PROXSUITE}, so limb is built without a QP solver")
endif()

# limb_use_proxsuite(MODULE): flags of the only file that includes it. It is built without -march: its large matrix
# products are Eigen's, which the linker shares with files of other flags, and Eigen's wide vectors need a stricter
# alignment than docs/adr/0005-kernel-flags.md sets.
function(limb_use_proxsuite module)
  if(proxsuite_include)
    # Without its assertions, which refuse the problem without constraints that allocates its memory.
    set_source_files_properties(qp/qp_proxqp.cpp PROPERTIES
      COMPILE_OPTIONS "-w;-fno-math-errno" COMPILE_DEFINITIONS NDEBUG
      INCLUDE_DIRECTORIES "${proxsuite_include}" SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()
