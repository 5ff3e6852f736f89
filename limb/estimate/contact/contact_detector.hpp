#pragma once

namespace limb {

/// Contact detection by a force with hysteresis: a contact is made above one threshold and broken
/// below another, each only after a minimum time, so that noise between the two has no effect.
struct ContactOptions {
  double make_force = 30;   ///< N
  double break_force = 15;  ///< N, at most make_force
  double make_time = 0;     ///< s
  double break_time = 0;    ///< s
};

class ContactDetector {
 public:
  /// @throws Error if a threshold or time is out of range.
  explicit ContactDetector(const ContactOptions& options = {});

  /// A force reading, in order of time; ignored if it is not finite.
  /// @returns whether the foot is in contact.
  bool update(double t, double force);
  /// The reading of a contact switch; only the time options apply.
  bool update_switch(double t, bool pressed) {
    return update(t, pressed ? options_.make_force : 0);
  }
  bool stands() const { return stands_; }
  void reset() { stands_ = pending_ = false; }

 private:
  ContactOptions options_;
  bool stands_ = false, pending_ = false;
  double since_ = 0;
};

}  // namespace limb
