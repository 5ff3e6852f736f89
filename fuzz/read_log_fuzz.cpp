// Any bytes as a log, as MCAP if they start with its magic number: read the log and draw it.
#include <cstdint>
#include <string_view>

#include "cli/chart.hpp"
#include "cli/log_file.hpp"
#include "limb/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const auto log = limb::cli::parse_log(
        "fuzz", bytes.starts_with("\x89MCAP") ? "fuzz.mcap" : "fuzz.csv", bytes);
    limb::cli::Svg svg(400, 200, "log", "log");
    for (const auto& series : log.series) {
      std::vector<limb::cli::ChartLine> lines;
      for (std::size_t i = 0; i < series.fields.size(); ++i) {
        lines.push_back({series.fields[i], &series.t, &series.values[i]});
      }
      limb::cli::draw_chart(svg, {0, 0}, 400, 200, series.topic, lines);
    }
    svg.finish();
  } catch (const limb::Error&) {
  }
  return 0;
}
