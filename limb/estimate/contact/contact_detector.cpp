#include "limb/estimate/contact/contact_detector.hpp"

#include <cmath>

#include "limb/base/check.hpp"

namespace limb {

ContactDetector::ContactDetector(const ContactOptions& options) : options_(options) {
  constexpr const char* kCall = "ContactDetector";
  check_positive(kCall, "make_force", options.make_force);
  check_not_negative(kCall, "break_force", options.break_force);
  check_not_negative(kCall, "make_time", options.make_time);
  check_not_negative(kCall, "break_time", options.break_time);
  if (options.break_force > options.make_force) {
    fail(kCall, "break_force", to_text(options.break_force) + " N",
         "at most make_force, " + to_text(options.make_force) + " N");
  }
}

bool ContactDetector::update(double t, double force) {
  if (!std::isfinite(force) || !std::isfinite(t)) return stands_;
  const bool should_change = stands_ ? force < options_.break_force : force >= options_.make_force;
  if (!should_change) {
    pending_ = false;
    return stands_;
  }
  if (!pending_) {
    pending_ = true;
    since_ = t;
  }
  if (t - since_ >= (stands_ ? options_.break_time : options_.make_time)) {
    stands_ = !stands_;
    pending_ = false;
  }
  return stands_;
}

}  // namespace limb
