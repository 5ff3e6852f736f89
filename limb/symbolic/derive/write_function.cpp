#include "limb/symbolic/derive/write_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "limb/base/check.hpp"
#include "limb/symbolic/algebra/term_order.hpp"
#include "limb/symbolic/derive/source_writer.hpp"

namespace limb::symbolic {
namespace {

using P = Polynomial;

class FunctionWriter {
 public:
  FunctionWriter(const Derivation& derivation, Language language)
      : d_(derivation), ring_(*derivation.robot.ring), text_(language) {}

  std::string write() {
    const auto n = d_.form.tau.size();
    name_symbols();
    const std::string name = identifier(d_.robot.model.name());
    text_.open(name, d_.robot.model.name(), static_cast<int>(n), parameter_names(), defaults(),
               {{"M", static_cast<int>(n * n)},
                {"V", static_cast<int>(n)},
                {"G", static_cast<int>(n)},
                {"tau", static_cast<int>(n)}},
               d_.robot.notes, !d_.form.friction.empty());
    read_inputs();
    declare_trigs();
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j < n; ++j) {
        const auto entry = [n](Eigen::Index r, Eigen::Index c) {
          return fmt::format("M[{}]", r * n + c);
        };
        if (j < i) {
          text_.assign(entry(i, j), entry(j, i));
        } else {
          assign_sum(entry(i, j), d_.form.M(i, j));
        }
      }
    }
    for (Eigen::Index i = 0; i < n; ++i) assign_sum(fmt::format("V[{}]", i), d_.form.V[i]);
    for (Eigen::Index i = 0; i < n; ++i) assign_sum(fmt::format("G[{}]", i), d_.form.G[i]);
    for (Eigen::Index i = 0; i < n; ++i) {
      std::string total;
      for (Eigen::Index j = 0; j < n; ++j) total += fmt::format("M[{}]*qdd[{}] + ", i * n + j, j);
      total += fmt::format("V[{}] + G[{}]", i, i);
      text_.assign(fmt::format("tau[{}]", i), total);
      if (!d_.form.damping[i].is_zero()) add_terms(fmt::format("tau[{}]", i), d_.form.damping[i]);
      for (const CoulombFriction& f : d_.form.friction) {
        if (f.size[i].is_zero()) continue;
        text_.add_to(
            fmt::format("tau[{}]", i),
            fmt::format("({})*{}", sum(f.size[i]), text_.call("sign", enclosed(f.velocity))));
      }
    }
    return text_.close();
  }

 private:
  void name_symbols() {
    parameters_ = function_parameters(d_);
    for (std::size_t i = 0; i < d_.robot.coordinates.size(); ++i) {
      const Coordinate& c = d_.robot.coordinates[i];
      for (const SymbolId id : {c.q, c.v, c.a}) names_[id] = ring_.symbol(id).name;
    }
    // An underscore distinguishes them from keywords and from the arguments.
    for (const SymbolId id : parameters_) names_[id] = ring_.symbol(id).name + "_";
    for (SymbolId id = 0; id < ring_.symbols().size(); ++id) {
      const Symbol& s = ring_.symbol(id);
      if (s.kind == Symbol::Kind::number) names_[id] = number_literal(*s.value);
    }
  }

  std::vector<std::string> parameter_names() const {
    std::vector<std::string> names;
    for (const SymbolId id : parameters_) names.push_back(ring_.symbol(id).name);
    return names;
  }
  std::vector<double> defaults() const {
    std::vector<double> values;
    for (const SymbolId id : parameters_) values.push_back(ring_.symbol(id).value.value_or(0));
    return values;
  }

  void read_inputs() {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      text_.declare(names_[parameters_[i]], fmt::format("p[{}]", i));
    }
    for (std::size_t i = 0; i < d_.robot.coordinates.size(); ++i) {
      const Coordinate& c = d_.robot.coordinates[i];
      if (used_.count(c.q) != 0) text_.declare(names_[c.q], fmt::format("q[{}]", i));
      if (used_.count(c.v) != 0) text_.declare(names_[c.v], fmt::format("qd[{}]", i));
    }
  }

  /// Declares every sine and cosine once.
  void declare_trigs() {
    std::vector<TrigId> all(trigs_.begin(), trigs_.end());
    std::sort(all.begin(), all.end(),
              [&](TrigId a, TrigId b) { return comes_before(ring_, a, b); });
    int count = 0;
    for (const TrigId trig : all) {
      std::string angle;
      for (const AnglePart& part : ring_.angle(trig)) {
        const std::string factor = number_literal(part.factor.to_double());
        if (!angle.empty()) angle += " + ";
        if (part.symbol == AnglePart::kRadian) {
          angle += factor;
        } else if (part.symbol == AnglePart::kHalfTurn) {
          angle += factor + "*" + number_literal(3.141592653589793);
        } else {
          angle += part.factor.is_one() ? names_[part.symbol] : factor + "*" + names_[part.symbol];
        }
      }
      const bool sine = Ring::is_sine(trig);
      trig_names_[trig] = fmt::format("{}_{}", sine ? "s" : "c", ++count);
      text_.declare(trig_names_[trig], text_.call(sine ? "sin" : "cos", angle));
    }
  }

  /// A term without its sign.
  std::string product(const P& x, const Term& term) {
    const Rational size = term.coefficient.is_negative() ? -term.coefficient : term.coefficient;
    std::string over, text = size.is_one() ? "" : number_literal(size.to_double());
    const auto append = [&text](const std::string& factor) {
      text += fmt::format("{}{}", text.empty() ? "" : "*", factor);
    };
    if (!x.is_constant()) {
      for (const Factor& f : ring_.monomial(term.monomial())) {
        for (int k = 0; k < f.power; ++k) append(names_[f.symbol]);
        for (int k = 0; k < -f.power; ++k) over += fmt::format("/{}", names_[f.symbol]);
      }
      if (term.trig() != 0) append(trig_names_[term.trig()]);
    }
    return (text.empty() ? "1.0" : text) + over;
  }
  std::string sum(const P& x) {
    std::string text;
    for (const Term& term : ordered_terms(x)) {
      const bool negative = term.coefficient.is_negative();
      text += text.empty() ? (negative ? "-" : "") : negative ? " - " : " + ";
      text += product(x, term);
    }
    return text;
  }
  /// In parentheses if it has several terms or a sign.
  std::string enclosed(const P& x) {
    const std::string text = sum(x);
    return text.find_first_of(" -") == text.npos ? text : fmt::format("({})", text);
  }
  void assign_sum(const std::string& left, const P& x) {
    if (x.is_zero()) return text_.assign(left, "0.0");
    add_terms(left, x, true);
  }
  /// A few terms per line: sums of thousands of terms are slow to compile.
  void add_terms(const std::string& left, const P& x, bool first = false) {
    constexpr std::size_t kTermsPerLine = 4;
    const std::vector<Term> terms = ordered_terms(x);
    for (std::size_t i = 0; i < terms.size(); i += kTermsPerLine) {
      std::string line;
      for (std::size_t k = i; k < std::min(terms.size(), i + kTermsPerLine); ++k) {
        const bool negative = terms[k].coefficient.is_negative();
        line += line.empty() ? (negative ? "-" : "") : negative ? " - " : " + ";
        line += product(x, terms[k]);
      }
      if (first && i == 0) {
        text_.assign(left, line);
      } else {
        text_.add_to(left, line);
      }
    }
  }

 public:
  /// Collects the symbols and angles of one result.
  void collect_symbols(const P& x) {
    for (const Term& term : x.terms()) {
      for (const Factor& f : ring_.monomial(term.monomial())) used_.insert(f.symbol);
      if (term.trig() == 0) continue;
      trigs_.insert(term.trig());
      for (const AnglePart& part : ring_.angle(term.trig())) used_.insert(part.symbol);
    }
  }
  const std::set<SymbolId>& used() const { return used_; }
  void collect_all_symbols() {
    for (const P& x : d_.form.M.reshaped()) collect_symbols(x);
    for (const Vector* v : {&d_.form.V, &d_.form.G, &d_.form.damping}) {
      for (const P& x : *v) collect_symbols(x);
    }
    for (const CoulombFriction& f : d_.form.friction) {
      collect_symbols(f.velocity);
      for (const P& x : f.size) collect_symbols(x);
    }
  }

 private:
  const Derivation& d_;
  const Ring& ring_;
  SourceWriter text_;
  std::vector<SymbolId> parameters_;
  std::map<SymbolId, std::string> names_;
  std::map<TrigId, std::string> trig_names_;
  std::set<SymbolId> used_;
  std::set<TrigId> trigs_;
};

}  // namespace

std::string identifier(const std::string& text) {
  std::string name;
  for (const char c : text) {
    name.push_back(std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_');
  }
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0)
    name = fmt::format("robot_{}", name);
  return name;
}

std::vector<SymbolId> function_parameters(const Derivation& derivation) {
  FunctionWriter function(derivation, Language::c);
  function.collect_all_symbols();
  std::vector<SymbolId> result;
  const Ring& ring = *derivation.robot.ring;
  for (const SymbolId id : function.used()) {
    if (id < ring.symbols().size() && ring.symbol(id).kind == Symbol::Kind::parameter) {
      result.push_back(id);
    }
  }
  return result;
}

std::string write_function(const Derivation& derivation, Language language) {
  FunctionWriter function(derivation, language);
  function.collect_all_symbols();
  return function.write();
}

}  // namespace limb::symbolic
