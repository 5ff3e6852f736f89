#pragma once

#include <chrono>
#include <string>

namespace limb::cli {

/// A line on a terminal that tells how far a long run is and how fast. Nothing is written where
/// stderr is none, or in the first half second.
class Progress {
 public:
  Progress(double total, std::string unit);
  ~Progress() { clear(); }
  void show(double done);
  /// Takes the line away.
  void clear();

 private:
  double total_;
  std::string unit_;
  bool terminal_, shown_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), last_ = start_;
};

}  // namespace limb::cli
