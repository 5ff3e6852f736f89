#include "cli/report_page.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "limb/base/error.hpp"
#include "limb/base/text_file.hpp"

namespace limb::cli {

std::string report_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n"
      "<style>body{{font-family:Helvetica,Arial,sans-serif;max-width:900px;margin:2em auto;"
      "color:#222;line-height:1.4}}table{{border-collapse:collapse}}td,th{{padding:2px 14px;"
      "text-align:right;border-bottom:1px solid #ddd}}td:first-child,th:first-child"
      "{{text-align:left}}canvas{{border:1px solid #ccc}}</style></head><body>\n"
      "<h1>{0}</h1>\n{1}</body></html>\n",
      title, body);
}

void write_report(const std::string& call, const std::string& path, const std::string& page) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code code;
  if (!folder.empty()) std::filesystem::create_directories(folder, code);
  if (code) {
    throw Error(fmt::format("{}: cannot create the folder '{}': {}", call, folder.string(),
                            code.message()));
  }
  write_text_file(call, path, page);
}

}  // namespace limb::cli
