#include "limb/symbolic/typeset/symbol_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace limb::symbolic {
namespace {

constexpr std::array<std::string_view, 24> kGreek = {
    "epsilon", "lambda", "upsilon", "alpha", "gamma", "delta", "theta", "kappa",
    "sigma",   "omega",  "Gamma",   "Delta", "Theta", "Omega", "beta",  "zeta",
    "iota",    "rho",    "tau",     "phi",   "chi",   "psi",   "eta",   "mu"};

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string with_subscript(const std::string& base, const std::string& below) {
  if (below.empty()) return base;
  return below.size() == 1 ? base + "_" + below : base + "_{" + below + "}";
}

}  // namespace

std::string latex_name(const std::string& name) {
  if (name.rfind("sqrt(", 0) == 0) return "\\sqrt{" + name.substr(5, name.size() - 6) + "}";
  if (name == "pi") return "\\pi";
  std::string base = name.substr(0, 1), rest = name.substr(1);
  for (const std::string_view greek : kGreek) {
    if (name.rfind(greek, 0) != 0) continue;
    base = "\\" + std::string(greek);
    rest = name.substr(greek.size());
    break;
  }
  std::string below;
  for (std::size_t i = 0; i < rest.size();) {
    if (rest[i] == '_') {
      if (!below.empty()) below += ',';
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < rest.size() && is_letter(rest[end]) == is_letter(rest[i]) && rest[end] != '_')
      ++end;
    const std::string run = rest.substr(i, end - i);
    // Words are upright; axis letters and indices are in italics.
    below += is_letter(run[0]) && run.size() > 2 ? "\\mathrm{" + run + "}" : run;
    i = end;
  }
  return with_subscript(base, below);
}

SymbolNames::SymbolNames(const Ring& ring, const std::vector<CoordinateLetter>& letters) {
  latex_.resize(ring.symbols().size());
  index_.resize(ring.symbols().size());
  std::vector<std::string> taken;
  std::vector<SymbolId> coordinates;
  for (SymbolId id = 0; id < ring.symbols().size(); ++id) {
    const Symbol& symbol = ring.symbol(id);
    if (symbol.kind == Symbol::Kind::coordinate) {
      coordinates.push_back(id);
    } else if (symbol.kind == Symbol::Kind::parameter || symbol.kind == Symbol::Kind::number) {
      latex_[id] = latex_name(symbol.name);
      taken.push_back(latex_[id]);
      const bool short_name = latex_[id].rfind("c_", 0) == 0 || latex_[id].rfind("s_", 0) == 0;
      if (short_name) short_functions_ = false;
    }
  }
  separate_indices_ = coordinates.size() > 9;
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    const CoordinateLetter letter = i < letters.size() ? letters[i] : CoordinateLetter::q;
    std::string base = letter == CoordinateLetter::theta ? "\\theta"
                       : letter == CoordinateLetter::d   ? "d"
                                                         : "q";
    // A parameter of that name keeps it.
    if (std::find(taken.begin(), taken.end(), with_subscript(base, number)) != taken.end()) {
      base = "q";
    }
    const Symbol& q = ring.symbol(coordinates[i]);
    latex_[coordinates[i]] = with_subscript(base, number);
    index_[coordinates[i]] = number;
    if (!q.rate) continue;
    latex_[*q.rate] = with_subscript("\\dot{" + base + "}", number);
    if (const auto a = ring.symbol(*q.rate).rate) {
      latex_[*a] = with_subscript("\\ddot{" + base + "}", number);
    }
  }
}

std::optional<std::string> SymbolNames::subscript(const Angle& angle) const {
  if (!short_functions_) return std::nullopt;
  std::string text;
  for (const AnglePart& part : angle) {
    if (part.symbol >= AnglePart::kHalfTurn || !part.factor.is_one() ||
        index_[part.symbol].empty()) {
      return std::nullopt;
    }
    if (separate_indices_ && !text.empty()) text += ',';
    text += index_[part.symbol];
  }
  return text;
}

std::string joined_indices(std::initializer_list<int> indices, int largest, bool comma) {
  return fmt::format("{}", fmt::join(indices, comma || largest > 9 ? "," : ""));
}

}  // namespace limb::symbolic
