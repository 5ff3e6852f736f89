#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace limb::cli {
namespace {

/// Three significant digits, or all digits of the integer part.
std::string number(double x) {
  return x >= 100 ? fmt::format("{:.0f}", x) : fmt::format("{:.3g}", x);
}

}  // namespace

Progress::Progress(double total, std::string unit)
    : total_(total), unit_(std::move(unit)), terminal_(isatty(STDERR_FILENO) == 1) {}

void Progress::show(double done) {
  const auto now = std::chrono::steady_clock::now();
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  if (!terminal_ || elapsed < 0.5 || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  constexpr int kWidth = 30;
  const double part = std::clamp(done / total_, 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(part * kWidth);
  const std::string bar = std::string(filled, '#') + std::string(kWidth - filled, '.');
  // Simulated seconds per second are the real-time factor.
  const std::string line = fmt::format("\r[{}] {} of {} {}, {} per second  ", bar, number(done),
                                       number(total_), unit_, number(done / elapsed));
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", stderr);
  shown_ = false;
}

}  // namespace limb::cli
