#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "limb/estimate/filter/filter_state.hpp"

namespace limb {

/// What the measurements say about an estimate.
enum class Verdict {
  consistent,     ///< innovations have the size that the filter expects, or are smaller
  overconfident,  ///< innovations are larger: the true errors exceed the stated deviations
  lost,           ///< the state was reset, because it was without measurements or contradicted
};
/// "consistent", "overconfident", "lost".
const char* to_text(Verdict verdict);

/// Innovations of one foot.
struct FootStatistics {
  std::uint64_t measured = 0, used = 0, refused = 0, slips = 0;
  double nis_sum = 0;           ///< of the measurements used, three rows each
  double longest_refusal = 0;   ///< s
  double time_in_contact = 0;   ///< s
  double nis_per_row() const {  ///< 1 expected; NaN without measurements
    return used > 0 ? nis_sum / (3 * static_cast<double>(used))
                    : std::numeric_limits<double>::quiet_NaN();
  }
};

/// Judges an estimate by its innovations. Their normalized squares (NIS) are averaged over windows
/// of one second; a window far above the expected value is one in which the filter was
/// overconfident. [Bar-Shalom 2001, Sec. 5.4]
class ConsistencyMonitor {
 public:
  void reset();
  /// An update: sum of normalized squares, their number, measurements of feet and those refused.
  void add(double t, double nis, int rows, int measured, int refused);
  /// The mean of innovations is not zero: its normalized square.
  void add_bias(double t, double square);
  /// The state was reset at this time.
  void set_lost(double t, const char* reason);

  struct Result {
    Verdict verdict = Verdict::consistent;
    double t = std::numeric_limits<double>::quiet_NaN();  ///< when it was lost, or the worst window
    const char* reason = "";
    double nis_per_row = std::numeric_limits<double>::quiet_NaN();  ///< all updates
    double worst_window = std::numeric_limits<double>::quiet_NaN();
    double refused = 0;  ///< fraction of the measurements of feet
    std::uint64_t windows = 0, windows_high = 0;
  };
  Result result() const;

 private:
  void close_window();

  double start_ = 0, sum_ = 0, total_sum_ = 0, total_rows_ = 0, measured_ = 0, refused_ = 0;
  double window_measured_ = 0, window_refused_ = 0;
  int rows_ = 0;
  double worst_ = 0, worst_t_ = 0, lost_t_ = 0;
  const char* lost_reason_ = "";
  std::uint64_t windows_ = 0, high_ = 0;
  double largest_bias_ = 0, bias_t_ = 0;
  int biases_ = 0;
  bool open_ = false, lost_ = false;
};

}  // namespace limb
