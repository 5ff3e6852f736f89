#pragma once

#include <string>
#include <string_view>

namespace limb::cli {

/// A page in one file: head, style and title; the body is HTML.
std::string report_page(std::string_view title, std::string_view body);

/// Writes a file, and the folders that it is in.
/// @throws Error "call: ..." if it cannot.
void write_report(const std::string& call, const std::string& path, const std::string& page);

}  // namespace limb::cli
