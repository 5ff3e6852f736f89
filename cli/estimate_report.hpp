#pragma once

#include "cli/estimate_run.hpp"

namespace limb::cli {

/// SVG charts of an estimate: errors with 3-sigma bounds if the truth is known, otherwise the
/// estimate with its bounds; biases, consistency, contacts.
std::string estimate_charts(const EstimateSummary& summary, const std::vector<std::string>& feet);
/// Rows of a table: a label, and the number with its unit.
std::vector<std::pair<std::string, std::string>> estimate_rows(
    const EstimateSummary& summary, const std::vector<std::string>& feet);
/// A self-contained HTML page with table and charts.
std::string estimate_page(const EstimateSummary& summary, const std::vector<std::string>& feet,
                          const std::string& title, const std::string& facts);

}  // namespace limb::cli
