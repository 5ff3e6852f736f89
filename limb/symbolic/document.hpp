#pragma once

#include <variant>

#include "limb/symbolic/derivation.hpp"

/// What is written about a robot, before any format: sections of sentences and equations. Each
/// format is a function from this to text.
namespace limb::symbolic {

/// left = value, or left = value / denominator.
struct Equation {
  enum class Shape { scalar, vector, matrix };
  std::string left;   ///< plain: "M", "tau", "Gamma_112"
  std::string latex;  ///< the same for mathematics: "M(q)", "\Gamma_{112}"
  Shape shape = Shape::scalar;
  Matrix value;  ///< 1 x 1, n x 1 or n x m
  Polynomial denominator = 1;
};

/// A sentence. Mathematics inside stands between dollars, as in LaTeX.
struct Paragraph {
  std::string text;
};

struct Section {
  std::string title;
  std::vector<std::variant<Paragraph, Equation>> items;
};

struct Document {
  std::string title;
  std::shared_ptr<Ring> ring;
  std::vector<Section> sections;
};

/// The asked quantities of a derivation, one section each, the equations of motion last.
Document write_document(const Derivation& derivation);

/// Plain text; entries that are zero are left out.
std::string to_text(const Document& document);

}  // namespace limb::symbolic
