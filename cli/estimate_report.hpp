#pragma once

#include "cli/estimate_run.hpp"

namespace limb::cli {

/// Charts of an estimate: errors with their 3-sigma bands where the truth is known, else the
/// estimate with its bands; biases, consistency, contacts.
std::string estimate_charts(const EstimateSummary& summary, const std::vector<std::string>& feet);
/// Rows of a table: what it is, and the number with its unit.
std::vector<std::pair<std::string, std::string>> estimate_rows(const EstimateSummary& summary);
/// A web page that is whole, with table and charts.
std::string estimate_page(const EstimateSummary& summary, const std::vector<std::string>& feet,
                          const std::string& title, const std::string& facts);

}  // namespace limb::cli
