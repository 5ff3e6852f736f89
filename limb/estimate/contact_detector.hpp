#pragma once

namespace limb {

/// When a foot is said to stand. A force makes a contact above one threshold and breaks it below
/// another, each only after it has lasted for a while: noise between the two changes nothing.
struct ContactOptions {
  double make_force = 30;   ///< N
  double break_force = 15;  ///< N, at most make_force
  double make_time = 0;     ///< s
  double break_time = 0;    ///< s
};

class ContactDetector {
 public:
  /// @throws Error if a threshold or time makes no sense.
  explicit ContactDetector(const ContactOptions& options = {});

  /// A reading of a force, in order of time. One that is not finite changes nothing.
  /// @returns whether the foot stands.
  bool update(double t, double force);
  /// The reading of a switch; times count, forces do not.
  bool update_switch(double t, bool pressed) {
    return update(t, pressed ? options_.make_force : 0);
  }
  bool stands() const { return stands_; }
  void reset() { stands_ = waits_ = false; }

 private:
  ContactOptions options_;
  bool stands_ = false, waits_ = false;
  double since_ = 0;
};

}  // namespace limb
