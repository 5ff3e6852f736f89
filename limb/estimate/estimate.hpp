#pragma once

/// Front header of the module: every public header, and nothing else.
#include "limb/estimate/c/c_filter.hpp"
#include "limb/estimate/contact/contact_detector.hpp"
#include "limb/estimate/contact/leg_kinematics.hpp"
#include "limb/estimate/contact/momentum_observer.hpp"
#include "limb/estimate/estimator/base_estimator.hpp"
#include "limb/estimate/estimator/base_smoother.hpp"
#include "limb/estimate/estimator/consistency_monitor.hpp"
#include "limb/estimate/estimator/noise_estimate.hpp"
#include "limb/estimate/estimator/rest_initializer.hpp"
#include "limb/estimate/estimator/sample_clock.hpp"
#include "limb/estimate/filter/base_filter.hpp"
#include "limb/estimate/filter/chi_square.hpp"
#include "limb/estimate/filter/error_state_filter.hpp"
#include "limb/estimate/filter/imu.hpp"
#include "limb/estimate/filter/invariant_filter.hpp"
#include "limb/estimate/walk/synthetic_walk.hpp"
