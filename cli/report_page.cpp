#include "cli/report_page.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "limb/base/error.hpp"
#include "limb/base/text_file.hpp"

namespace limb::cli {

std::string html_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  }
  return result;
}

std::string report_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<style>body{{font-family:Helvetica,Arial,sans-serif;max-width:760px;margin:2em auto;"
      "padding:0 12px;color:#222;line-height:1.4;overflow-wrap:anywhere}}"
      "table{{border-collapse:collapse;display:block;overflow-x:auto}}"
      "td,th{{padding:2px 14px 2px 0;text-align:right;border-bottom:1px solid #ddd}}"
      "td:first-child,th:first-child{{text-align:left}}pre{{overflow-x:auto}}"
      "canvas{{border:1px solid #ccc;max-width:100%}}"
      "body>svg{{display:block;width:100%;height:auto;margin-bottom:1em}}</style></head><body>\n"
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
