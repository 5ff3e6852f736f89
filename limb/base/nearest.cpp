#include "limb/base/nearest.hpp"

#include <algorithm>
#include <vector>

namespace limb {
namespace {

/// Longer names are not typed by hand.
constexpr std::size_t kMaxLength = 256;

// Optimal string alignment distance: Levenshtein plus swaps of neighbours.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string nearest(std::string_view typed, std::span<const std::string> known) {
  // The table below is as large as the product of the lengths.
  if (typed.size() > kMaxLength) return {};
  std::string best;
  std::size_t best_distance = std::min<std::size_t>(3, typed.size());
  for (const std::string& name : known) {
    // The difference of the lengths is a lower bound of the distance, so long names cost nothing.
    if (typed.size() > name.size() + 2 || name.size() > typed.size() + 2) continue;
    const std::size_t d = distance(typed, name);
    if (d < best_distance) {
      best = name;
      best_distance = d;
    }
  }
  return best;
}

}  // namespace limb
