// Any bytes as a log, as MCAP if they start with its magic number: read the log and draw it.
#include "cli/contact_charts.hpp"
#include "cli/log_charts.hpp"
#include "cli/log_file.hpp"
#include "fuzz/target.hpp"
#include "limb/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace limb;
  const std::string_view bytes = fuzz::as_text(data, size);
  try {
    const auto log =
        cli::parse_log("fuzz", bytes.starts_with("\x89MCAP") ? "fuzz.mcap" : "fuzz.csv", bytes);
    cli::Figure figure;
    if (cli::has_contact(log)) cli::add_contact_charts(figure, log, nullptr);
    const cli::LogCharts charts(log, nullptr);
    charts.add_to(figure, {});
    figure.svg("log", "log");
  } catch (const Error&) {
  }
  return 0;
}
