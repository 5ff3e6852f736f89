#pragma once

#include <csignal>
#include <string>

namespace limb::cli {

/// While it exists, SIGINT and SIGTERM do not end the program: long computations ask for them and
/// end in order. A second signal of the kind ends the program at once.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// The signal that was received by any Interrupt of the program, or 0.
  static int signal();
  /// @throws Error "limb prove: interrupted after 3 of 20 states" if a signal was received.
  static void check(const std::string& call, const std::string& how_far);

 private:
  struct sigaction before_[2];
};

}  // namespace limb::cli
