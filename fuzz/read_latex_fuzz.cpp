// Any bytes as the LaTeX that limb writes: a formula as MathML and as text, or an Error.
#include <cmath>

#include "fuzz/target.hpp"
#include "limb/base/error.hpp"
#include "limb/symbolic/typeset/math_layout.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace limb;
  try {
    const symbolic::MathNode node = symbolic::parse_math(std::string(fuzz::as_text(data, size)));
    fuzz::require(std::isfinite(symbolic::math_width(node)));
    fuzz::require(symbolic::to_mathml(node, true).starts_with("<math"));
    const symbolic::TextBox box = symbolic::to_text_box(node);
    fuzz::require(box.lines.empty() || box.baseline < box.lines.size());
    for (const auto& line : box.lines) fuzz::require(line.size() == box.lines[0].size());
  } catch (const Error&) {
  }
  return 0;
}
