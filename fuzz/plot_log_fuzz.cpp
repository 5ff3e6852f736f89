// Any bytes as a log, as MCAP if they start with its magic number: read the log and draw it.
#include "cli/chart.hpp"
#include "cli/log_file.hpp"
#include "fuzz/target.hpp"
#include "limb/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace limb;
  const std::string_view bytes = fuzz::as_text(data, size);
  try {
    const auto log =
        cli::parse_log("fuzz", bytes.starts_with("\x89MCAP") ? "fuzz.mcap" : "fuzz.csv", bytes);
    cli::Svg svg(400, 200, "log", "log");
    for (const auto& series : log.series) {
      std::vector<cli::ChartLine> lines;
      for (std::size_t i = 0; i < series.fields.size(); ++i) {
        lines.push_back({series.fields[i], &series.t, &series.values[i]});
      }
      cli::draw_chart(svg, {0, 0}, 400, 200, series.topic, lines);
    }
    svg.finish();
  } catch (const Error&) {
  }
  return 0;
}
