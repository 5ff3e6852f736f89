// Any bytes as a CSV log: columns of equal length with finite times, or an Error.
#include <cmath>

#include "cli/log_file.hpp"
#include "fuzz/target.hpp"
#include "limb/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace limb;
  try {
    const auto log = cli::parse_log("fuzz", "fuzz.csv", fuzz::as_text(data, size));
    fuzz::require(!log.series.empty());
    for (const auto& series : log.series) {
      fuzz::require(!series.fields.empty() && series.fields.size() == series.values.size());
      for (const double t : series.t) fuzz::require(std::isfinite(t));
      for (const auto& column : series.values) {
        fuzz::require(column.size() == series.t.size());
        for (const double x : column) fuzz::require(!std::isinf(x));
      }
    }
  } catch (const Error&) {
  }
  return 0;
}
