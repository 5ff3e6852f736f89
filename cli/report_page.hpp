#pragma once

#include <string>
#include <string_view>

namespace limb::cli {

/// A text in which nothing is markup.
std::string html_text(std::string_view text);

/// A self-contained HTML page with this title and body.
std::string report_page(std::string_view title, std::string_view body);

/// Writes the page to a file and creates its folder.
/// @throws Error "call: ..." if it cannot.
void write_report(const std::string& call, const std::string& path, const std::string& page);

}  // namespace limb::cli
