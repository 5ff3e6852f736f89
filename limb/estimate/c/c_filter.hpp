#pragma once

#include "limb/codegen/c/emit_c.hpp"
#include "limb/estimate/contact/leg_kinematics.hpp"
#include "limb/estimate/filter/base_filter.hpp"

namespace limb {

struct CFilterOptions {
  std::string prefix = "limb";  ///< of file and function names
  FilterKind filter = FilterKind::invariant;
  codegen::Precision precision = codegen::Precision::f32;
  std::string comment;  ///< lines for the top of each file
};

/// A filter of one robot as self-contained C99 for microcontrollers: PREFIX_filter.h and
/// PREFIX_filter.c. State and covariance are one struct of fixed size; nothing allocates, and of
/// <math.h> only sqrt, sin, cos (and fabs) are called. The steps that contain physics (integration,
/// linearization, foot measurement, leg kinematics, retraction) are recorded from the templates
/// that BaseFilter runs; the products of covariances are loops. An update equals that of
/// BaseFilter: all feet at once, linearized at one state, in Joseph form, each foot gated by its
/// innovation.
/// @throws Error if joints move the sensor relative to the base.
codegen::CPackage make_c_filter(const LegKinematics& legs, const CFilterOptions& options);

}  // namespace limb
