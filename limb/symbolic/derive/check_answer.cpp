#include "limb/symbolic/derive/check_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "limb/symbolic/algebra/term_order.hpp"
#include "limb/symbolic/derive/answer_target.hpp"
#include "limb/symbolic/derive/parse_formula.hpp"

namespace limb::symbolic {
namespace {

using P = Polynomial;

using Target = AnswerTarget;

P derived_value(const Derivation& d, const Target& t) {
  const ClosedForm& f = d.form;
  const auto at = [&](std::size_t k) { return t.indices[k]; };
  switch (t.kind) {
    case Target::Kind::M:
      return f.M(at(0), at(1));
    case Target::Kind::V:
      return f.V[at(0)];
    case Target::Kind::G:
      return f.G[at(0)];
    case Target::Kind::tau:
      return f.tau[at(0)];
    case Target::Kind::C:
      return f.C(at(0), at(1));
    case Target::Kind::christoffel:
      return f.gamma(at(0), at(1), at(2));
    case Target::Kind::kinetic:
      return f.K;
    case Target::Kind::potential:
      return f.P;
    default:
      return f.K - f.P;
  }
}

/// A part of the derivation, and what it is called.
struct Part {
  P value;
  std::string words;
};

class Hints {
 public:
  Hints(const Derivation& d, const Target& target, const AnswerCheck& check)
      : d_(d), form_(d.form), target_(target), check_(check) {}

  std::vector<std::string> find() {
    const P& missing = check_.difference;
    if (check_.given.is_zero()) {
      add("the answer is zero");
    } else if (check_.given == -check_.derived) {
      add("all signs are reversed");
    } else if (const auto factor = ratio(check_.derived, check_.given)) {
      add(fmt::format("the factor {} is missing", factor->to_text()));
    }
    collect_parts();
    for (const Part& part : parts_) {
      if (part.value.is_zero()) continue;
      if (missing == part.value) add(fmt::format("missing: {}", part.words));
      if (missing == P(2) * part.value) add(fmt::format("wrong sign: {}", part.words));
      if (missing == -part.value) add(fmt::format("counted twice: {}", part.words));
      if (P(2) * missing == part.value) add(fmt::format("a factor 2 is missing in {}", part.words));
    }
    if (hints_.empty()) pairs();
    if (hints_.empty()) terms();
    return hints_;
  }

 private:
  void add(std::string text) {
    if (std::find(hints_.begin(), hints_.end(), text) == hints_.end())
      hints_.push_back(std::move(text));
  }

  /// The number r with a = r b.
  static std::optional<Rational> ratio(const P& a, const P& b) {
    if (a.size() != b.size() || a.is_constant() || b.is_constant()) return std::nullopt;
    const Rational r = a.terms()[0].coefficient / b.terms()[0].coefficient;
    return a == P(r) * b ? std::optional<Rational>(r) : std::nullopt;
  }

  std::string joint(std::size_t link) const {
    return fmt::format("link {} (joint '{}')", link + 1, form_.links[link].name);
  }
  std::string coordinate(int i) const {
    return d_.robot.ring->symbol(d_.robot.coordinates[static_cast<std::size_t>(i)].q).name;
  }
  P symbol(int i, SymbolId Coordinate::*which) const {
    return P::symbol(d_.robot.ring, d_.robot.coordinates[static_cast<std::size_t>(i)].*which);
  }

  /// Contributions of each link to entry (i, j) of M.
  void inertia_parts(int i, int j, const P& times) {
    for (std::size_t k = 0; k < form_.links.size(); ++k) {
      const LinkForm& link = form_.links[k];
      if (link.center && link.Jv_B.size() > 0) {
        P translation;
        for (int r = 0; r < 3; ++r) translation += link.Jv_B(r, i) * link.Jv_B(r, j);
        translation *= link.mass;
        const P rotation = link.M(i, j) - translation;
        parts_.push_back(
            {times * rotation, fmt::format("the moment of inertia of {} about its mass centre, {}",
                                           joint(k), to_text(rotation))});
        parts_.push_back(
            {times * translation,
             fmt::format("the parallel-axis part of {}, m Jv^T Jv: its mass at its mass centre",
                         joint(k))});
      }
      parts_.push_back({times * link.M(i, j), fmt::format("all of {}", joint(k))});
    }
    for (const Body<P>& body : d_.robot.model.bodies()) {
      if (i == j && !body.armature.is_zero()) {
        parts_.push_back({times * body.armature, fmt::format("the armature of '{}'", body.name)});
      }
    }
  }
  void gravity_parts(int i) {
    for (std::size_t k = 0; k < form_.links.size(); ++k) {
      const SymbolId q = d_.robot.coordinates[static_cast<std::size_t>(i)].q;
      parts_.push_back(
          {differentiate(form_.links[k].P, q), fmt::format("the gravity force of {}", joint(k))});
    }
  }
  void velocity_parts(int i) {
    const int n = form_.gamma.size();
    for (int j = 0; j < n; ++j) {
      for (int k = j; k < n; ++k) {
        const P force = (j == k ? P(1) : P(2)) * form_.gamma(i, j, k) * symbol(j, &Coordinate::v) *
                        symbol(k, &Coordinate::v);
        parts_.push_back({force, j == k ? fmt::format("the centrifugal term of {}", rate_name(j))
                                        : fmt::format("the Coriolis term of {} {}", rate_name(j),
                                                      rate_name(k))});
      }
    }
  }
  std::string rate_name(int i) const {
    return d_.robot.ring->symbol(d_.robot.coordinates[static_cast<std::size_t>(i)].v).name;
  }

  void collect_parts() {
    using Kind = Target::Kind;
    const auto i = target_.indices.empty() ? 0 : target_.indices[0];
    switch (target_.kind) {
      case Kind::M:
        inertia_parts(i, target_.indices[1], P(1));
        break;
      case Kind::G:
        gravity_parts(i);
        break;
      case Kind::V:
        velocity_parts(i);
        parts_.push_back({form_.G[i], "the gravity force, which V does not contain"});
        break;
      case Kind::tau:
        for (int j = 0; j < d_.robot.model.nv(); ++j) {
          const P a = symbol(j, &Coordinate::a);
          parts_.push_back(
              {form_.M(i, j) * a,
               fmt::format(
                   "M{}{} {}", i + 1, j + 1,
                   d_.robot.ring->symbol(d_.robot.coordinates[static_cast<std::size_t>(j)].a)
                       .name)});
          inertia_parts(i, j, a);
        }
        velocity_parts(i);
        parts_.push_back({form_.V[i], "all velocity-dependent terms"});
        gravity_parts(i);
        parts_.push_back({form_.G[i], "all of gravity"});
        parts_.push_back({form_.damping[i], "the damping"});
        break;
      case Kind::C:
        for (int k = 0; k < form_.gamma.size(); ++k) {
          parts_.push_back({form_.gamma(i, target_.indices[1], k) * symbol(k, &Coordinate::v),
                            fmt::format("the Christoffel symbol b{}{}{}", i + 1,
                                        target_.indices[1] + 1, k + 1)});
        }
        break;
      case Kind::christoffel: {
        const int j = target_.indices[1], k = target_.indices[2];
        const auto half = [&](int r, int c, int by) {
          const SymbolId q = d_.robot.coordinates[static_cast<std::size_t>(by)].q;
          return differentiate(form_.M(r, c), q) / P(2);
        };
        const auto words = [&](int r, int c, int by) {
          return fmt::format("1/2 dM{}{}/d{}", r + 1, c + 1, coordinate(by));
        };
        parts_.push_back({half(i, j, k), words(i, j, k)});
        parts_.push_back({half(i, k, j), words(i, k, j)});
        parts_.push_back({-half(j, k, i), "-" + words(j, k, i)});
        break;
      }
      case Kind::kinetic:
      case Kind::lagrangian:
        for (std::size_t k = 0; k < form_.links.size(); ++k) {
          const P energy = kinetic_energy(d_.robot, form_.links[k].M);
          parts_.push_back({energy, fmt::format("the kinetic energy of {}", joint(k))});
          const LinkForm& link = form_.links[k];
          if (link.center && link.Jv_B.size() > 0) {
            const Matrix translation = link.mass * (link.Jv_B.transpose().lazyProduct(link.Jv_B));
            const P moving = kinetic_energy(d_.robot, translation);
            parts_.push_back({energy - moving, fmt::format("1/2 w^T I w of {}", joint(k))});
            parts_.push_back({moving, fmt::format("1/2 m v^T v of {}", joint(k))});
          }
        }
        if (target_.kind == Kind::kinetic) break;
        parts_.push_back({-form_.P, "the potential energy: L = K - P"});
        [[fallthrough]];
      case Kind::potential:
        for (std::size_t k = 0; k < form_.links.size(); ++k) {
          const P sign(target_.kind == Kind::potential ? 1 : -1);
          parts_.push_back(
              {sign * form_.links[k].P, fmt::format("the potential energy of {}", joint(k))});
        }
        break;
    }
  }

  /// Two parts missing at once.
  void pairs() {
    constexpr std::size_t kMax = 60;
    const std::size_t n = std::min(parts_.size(), kMax);
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = a + 1; b < n; ++b) {
        if (parts_[a].value.is_zero() || parts_[b].value.is_zero()) continue;
        if (parts_[a].value + parts_[b].value != check_.difference) continue;
        add(fmt::format("missing: {}, and {}", parts_[a].words, parts_[b].words));
        return;
      }
    }
  }

  static std::map<std::uint64_t, Rational> by_key(const P& x) {
    std::map<std::uint64_t, Rational> result;
    if (x.is_constant() && !x.is_zero()) result[0] = x.constant();
    for (const Term& term : x.terms()) result[term.key] = term.coefficient;
    return result;
  }
  std::string term_text(std::uint64_t key, const Rational& coefficient) const {
    return to_text(P::from_terms(d_.robot.ring, {{key, coefficient}}));
  }
  /// Term by term of the canonical forms.
  void terms() {
    const auto derived = by_key(check_.derived), given = by_key(check_.given);
    for (const auto& [key, value] : derived) {
      const auto found = given.find(key);
      if (found == given.end()) {
        add(fmt::format("missing term: {}", term_text(key, value)));
      } else if (found->second == -value) {
        add(fmt::format("wrong sign of the term {}", term_text(key, value)));
      } else if (found->second != value) {
        add(fmt::format("wrong factor: {}, expected {}", term_text(key, found->second),
                        term_text(key, value)));
      }
    }
    for (const auto& [key, value] : given) {
      if (!derived.contains(key)) add(fmt::format("too much: {}", term_text(key, value)));
    }
    constexpr std::size_t kMaxHints = 8;
    if (hints_.size() > kMaxHints) {
      const std::size_t more = hints_.size() - kMaxHints;
      hints_.resize(kMaxHints);
      hints_.push_back(fmt::format("and {} more terms", more));
    }
  }

  const Derivation& d_;
  const ClosedForm& form_;
  const Target& target_;
  const AnswerCheck& check_;
  std::vector<Part> parts_;
  std::vector<std::string> hints_;
};

}  // namespace

AnswerCheck check_answer(const Derivation& derivation, const std::string& answer) {
  const RingScope scope(derivation.robot.ring);
  if (!derivation.parts.all()) {
    throw Error("check_answer: the derivation has only some quantities, expected all of them");
  }
  const std::size_t equal_sign = answer.find('=');
  if (equal_sign == answer.npos) {
    constexpr std::size_t kShown = 60;
    throw Error(fmt::format("check_answer: '{}' has no equals sign, expected 'M11 = ...'",
                            answer.size() > kShown ? answer.substr(0, kShown) + "..." : answer));
  }
  const int n = derivation.robot.model.nv();
  const Target target = read_answer_target(answer.substr(0, equal_sign), n);
  AnswerCheck check;
  check.name = to_text(target, n);
  check.derived = derived_value(derivation, target);
  check.given = parse_formula(derivation.robot.ring, derivation.robot.coordinates,
                              answer.substr(equal_sign + 1));
  check.difference = check.derived - check.given;
  if (!check.equal()) check.hints = Hints(derivation, target, check).find();
  return check;
}

}  // namespace limb::symbolic
