#include "limb/symbolic/document.hpp"

#include <fmt/format.h>

namespace limb::symbolic {
namespace {

using P = Polynomial;
using Shape = Equation::Shape;

Matrix scalar(const P& x) {
  return Matrix::Constant(1, 1, x);
}

class Writer {
 public:
  explicit Writer(const Derivation& derivation) : d_(derivation), f_(derivation.form) {}

  Document run() {
    document_.title = fmt::format("Equations of motion of {}", d_.robot.model.name());
    document_.ring = d_.robot.ring;
    symbols();
    if (asks(Quantity::M)) matrix("Mass matrix", "M", "M(q)", f_.M);
    if (asks(Quantity::christoffel)) christoffel();
    if (asks(Quantity::C)) {
      matrix("Coriolis matrix", "C", "C(q,\\dot q)", f_.C);
      say("From the Christoffel symbols: $C\\,\\dot q = V$, and $\\dot M - 2C$ is skew.");
    }
    if (asks(Quantity::B)) split();
    if (asks(Quantity::V)) vector("Centrifugal and Coriolis torques", "V", "V(q,\\dot q)", f_.V);
    if (asks(Quantity::G)) vector("Gravity torques", "G", "G(q)", f_.G);
    if (asks(Quantity::K)) energy("Kinetic energy", "K", "K(q,\\dot q)", f_.K);
    if (asks(Quantity::P)) energy("Potential energy", "P", "P(q)", f_.P);
    for (const FrameForm& frame : d_.frames) of_frame(frame);
    lambdas();
    if (asks(Quantity::tau)) motion();
    notes();
    return std::move(document_);
  }

 private:
  bool asks(Quantity q) const { return d_.quantities.count(q) != 0; }
  void section(const std::string& title) { document_.sections.push_back({title, {}}); }
  void say(const std::string& text) {
    document_.sections.back().items.emplace_back(Paragraph{text});
  }
  void add(const std::string& left, const std::string& latex, Shape shape, const Matrix& value,
           const P& denominator = 1) {
    document_.sections.back().items.emplace_back(Equation{left, latex, shape, value, denominator});
  }
  void matrix(const std::string& title, const std::string& left, const std::string& latex,
              const Matrix& value) {
    section(title);
    add(left, latex, Shape::matrix, value);
  }
  void vector(const std::string& title, const std::string& left, const std::string& latex,
              const Vector& value) {
    section(title);
    add(left, latex, Shape::vector, value);
  }
  void energy(const std::string& title, const std::string& left, const std::string& latex,
              const P& value) {
    section(title);
    add(left, latex, Shape::scalar, scalar(value));
  }

  void symbols() {
    section("Coordinates");
    for (std::size_t i = 0; i < d_.robot.coordinates.size(); ++i) {
      const Coordinate& c = d_.robot.coordinates[i];
      say(fmt::format("$q_{{{}}}$: {} of joint '{}' ({})", i + 1, c.is_angle ? "angle" : "length",
                      c.joint, c.is_angle ? "rad" : "m"));
    }
  }

  /// Only those that are not zero, and of each symmetric pair the first.
  void christoffel() {
    section("Christoffel symbols");
    say("$\\Gamma_{ijk} = \\frac12(\\partial M_{ij}/\\partial q_k + \\partial M_{ik}/\\partial q_j "
        "- "
        "\\partial M_{jk}/\\partial q_i)$; those not listed are zero or follow from "
        "$\\Gamma_{ijk} = \\Gamma_{ikj}$.");
    const int n = f_.gamma.size();
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        for (int k = j; k < n; ++k) {
          if (f_.gamma(i, j, k).is_zero()) continue;
          const std::string index = n < 10 ? fmt::format("{}{}{}", i + 1, j + 1, k + 1)
                                           : fmt::format("{},{},{}", i + 1, j + 1, k + 1);
          add("Gamma_" + index, "\\Gamma_{" + index + "}", Shape::scalar,
              scalar(f_.gamma(i, j, k)));
        }
      }
    }
  }

  void split() {
    section("Centrifugal and Coriolis coefficients");
    say("$V = V_c\\,[\\dot q_i^2] + B\\,[\\dot q_i \\dot q_j]$ with the products in the order "
        "$\\dot q_1\\dot q_2, \\dot q_1\\dot q_3, \\ldots$");
    add("Vc", "V_c(q)", Shape::matrix, f_.centrifugal);
    add("B", "B(q)", Shape::matrix, f_.coriolis);
  }

  void of_frame(const FrameForm& frame) {
    const bool J = asks(Quantity::J), Jdot = asks(Quantity::Jdot);
    if (!J && !Jdot) return;
    section(fmt::format("Frame '{}'", frame.name));
    say("Rows of $J$: velocity of the frame's origin, then angular velocity, in world axes.");
    const Vector p = frame.X_WF.p;
    if (J) add("p", "p", Shape::vector, p);
    if (J) add("J", "J(q)", Shape::matrix, frame.J);
    if (Jdot) add("Jdot", "\\dot J(q,\\dot q)", Shape::matrix, frame.Jdot);
  }

  void lambdas() {
    static constexpr const char* kRows[] = {"v_x",       "v_y",       "v_z",
                                            "\\omega_x", "\\omega_y", "\\omega_z"};
    for (std::size_t i = 0; i < d_.lambdas.size(); ++i) {
      const LambdaForm& lambda = d_.lambdas[i];
      section(fmt::format("Operational-space inertia of frame '{}'", d_.frames[i].name));
      std::string rows;
      for (const int r : lambda.rows) rows += (rows.empty() ? "" : ", ") + std::string(kRows[r]);
      say(fmt::format("$\\Lambda = (J M^{{-1}} J^T)^{{-1}}$ over the rows ${}$.", rows));
      add("Lambda", "\\Lambda(q)", Shape::matrix, lambda.numerator, lambda.denominator);
    }
  }

  void motion() {
    section("Equations of motion");
    for (Eigen::Index i = 0; i < f_.tau.size(); ++i) {
      add(fmt::format("tau{}", i + 1), fmt::format("\\tau_{{{}}}", i + 1), Shape::scalar,
          scalar(f_.tau[i]));
    }
    if (d_.way == Way::both) {
      say("Derived from the Lagrangian and by Newton and Euler: both give these polynomials.");
    }
  }

  void notes() {
    if (d_.robot.notes.empty()) return;
    section("Notes");
    for (const std::string& note : d_.robot.notes) say(note);
  }

  const Derivation& d_;
  const ClosedForm& f_;
  Document document_;
};

/// A sentence without the marks of LaTeX.
std::string plain(const std::string& text) {
  static const std::vector<std::pair<std::string, std::string>> kMarks = {{"\\frac12", "1/2 "},
                                                                          {"\\partial ", "d"},
                                                                          {"\\Gamma", "Gamma"},
                                                                          {"\\dot q", "qd"},
                                                                          {"\\dot M", "Mdot"},
                                                                          {"\\Lambda", "Lambda"},
                                                                          {"\\omega", "w"},
                                                                          {"\\ldots", "..."},
                                                                          {"\\,", " "},
                                                                          {"{", ""},
                                                                          {"}", ""},
                                                                          {"$", ""}};
  std::string result = text;
  for (const auto& [mark, word] : kMarks) {
    for (std::size_t at = 0; (at = result.find(mark, at)) != result.npos; at += word.size()) {
      result.replace(at, mark.size(), word);
    }
  }
  return result;
}

void append(const Equation& e, std::string& out) {
  const std::string over =
      e.denominator.is_one() ? "" : fmt::format(" / ({})", to_text(e.denominator));
  const auto value = [&](const P& x) {
    return over.empty() ? to_text(x) : fmt::format("({}){}", to_text(x), over);
  };
  if (e.shape == Shape::scalar) {
    out += fmt::format("  {} = {}\n", e.left, value(e.value(0, 0)));
    return;
  }
  bool zero = true;
  for (Eigen::Index i = 0; i < e.value.rows(); ++i) {
    for (Eigen::Index j = 0; j < e.value.cols(); ++j) {
      if (e.value(i, j).is_zero()) continue;
      zero = false;
      const std::string index =
          e.shape == Shape::vector ? fmt::format("{}", i + 1) : fmt::format("{},{}", i + 1, j + 1);
      out += fmt::format("  {}[{}] = {}\n", e.left, index, value(e.value(i, j)));
    }
  }
  if (zero) out += fmt::format("  {} = 0\n", e.left);
}

}  // namespace

Document write_document(const Derivation& derivation) {
  return Writer(derivation).run();
}

std::string to_text(const Document& document) {
  std::string out = document.title + "\n";
  for (const Section& section : document.sections) {
    out += "\n" + section.title + "\n";
    for (const auto& item : section.items) {
      if (const auto* paragraph = std::get_if<Paragraph>(&item)) {
        out += "  " + plain(paragraph->text) + "\n";
      } else {
        append(std::get<Equation>(item), out);
      }
    }
  }
  return out;
}

}  // namespace limb::symbolic
