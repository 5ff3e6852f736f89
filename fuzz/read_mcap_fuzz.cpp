// Any bytes as an MCAP log, or as its records if they do not start with the magic number: columns
// of equal length, or an Error.
#include <string>

#include "cli/log_file.hpp"
#include "fuzz/target.hpp"
#include "limb/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace limb;
  std::string file;
  std::string_view bytes = fuzz::as_text(data, size);
  if (!bytes.starts_with("\x89MCAP")) {
    file.append("\x89MCAP0\r\n").append(bytes);
    bytes = file;
  }
  try {
    const auto log = cli::parse_log("fuzz", "fuzz.mcap", bytes);
    fuzz::require(!log.series.empty());
    for (const auto& series : log.series) {
      fuzz::require(series.fields.size() == series.values.size());
      for (const auto& column : series.values) fuzz::require(column.size() == series.t.size());
    }
  } catch (const Error&) {
  }
  return 0;
}
