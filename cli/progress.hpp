#pragma once

#include <chrono>
#include <string>

namespace limb::cli {

/// A progress line with the speed, on stderr. Nothing is written if stderr is not a terminal, or in
/// the first half second.
class Progress {
 public:
  Progress(double total, std::string unit);
  ~Progress() { clear(); }
  void show(double done);
  /// Erases the line.
  void clear();

 private:
  double total_;
  std::string unit_;
  bool terminal_, shown_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), last_ = start_;
};

}  // namespace limb::cli
