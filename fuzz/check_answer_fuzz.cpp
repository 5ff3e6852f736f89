// Any bytes as an answer of `limb derive --check`: a name, an equals sign and a formula.
#include <array>
#include <string>

#include "fuzz/target.hpp"
#include "limb/base/error.hpp"
#include "limb/symbolic/derive/answer_target.hpp"
#include "limb/symbolic/derive/parse_formula.hpp"

namespace {

using namespace limb::symbolic;

/// A ring with parameters and coordinates as those of a robot: angles and a length.
struct Names {
  explicit Names(const RingLimits& limits) : ring(Ring::make(limits)) {
    for (const char* name : {"m1", "m2", "l1", "lc1", "I1", "d", "g", "c"}) {
      ring->add_symbol({name, Symbol::Kind::parameter, 0.5, {}, 0});
    }
    for (int i = 1; i <= 3; ++i) {
      const std::string n = std::to_string(i);
      const SymbolId q = ring->add_coordinate("q" + n, "qd" + n, "qdd" + n);
      coordinates.push_back(
          {"joint" + n, i < 3, q, *ring->find_symbol("qd" + n), *ring->find_symbol("qdd" + n)});
    }
  }
  std::shared_ptr<Ring> ring;
  std::vector<Coordinate> coordinates;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using limb::fuzz::require;
  const std::string text(limb::fuzz::as_text(data, size));
  const std::size_t equals = text.find('=');
  // The left side: any number of coordinates; the name that is read names the same entry.
  for (const int n : {3, 12}) {
    try {
      const AnswerTarget target = read_answer_target(text.substr(0, equals), n);
      require(target.indices.size() <= 3);
      for (const int i : target.indices) require(i >= 0 && i < n);
      const AnswerTarget again = read_answer_target(to_text(target, n), n);
      require(again.kind == target.kind && again.indices == target.indices);
    } catch (const limb::Error&) {
    }
  }
  // The right side. Small limits: the time grows with them.
  RingLimits limits;
  limits.terms = limits.monomials = 40;
  limits.total_terms = limits.products = 800;
  const Names names(limits);
  const RingScope scope(names.ring);
  const std::string right = equals == text.npos ? text : text.substr(equals + 1);
  Polynomial value;
  std::string written;
  try {
    value = parse_formula(names.ring, names.coordinates, right);
    written = to_text(value);
  } catch (const limb::Error& error) {
    require(error.what()[0] != '\0');
    return 0;
  }
  // The text of a value is a formula of the same value, unless it is beyond the limits of reading:
  // exponents of three digits, numbers of many digits, or the products of this ring.
  try {
    require(parse_formula(names.ring, names.coordinates, written) == value);
  } catch (const limb::Error&) {
  }
  return 0;
}
