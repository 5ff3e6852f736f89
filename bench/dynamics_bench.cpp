// Times of rnea, crba, aba and of dynamics with feet on the ground, compared with Pinocchio on the
// same states in one process. Opponents are Pinocchio's headers built with gcc and clang at
// -O3 -march=native. Robots: those of the shared folder (LIMB_SHARED) if it exists, otherwise the
// built-in ones.
#include <cstdio>

#include "bench/chain.hpp"
#include "bench/pinocchio/opponents.hpp"
#include "bench/reference_robots.hpp"
#include "bench/side_by_side.hpp"
#include "bench/states.hpp"
#include "limb/dynamics/constraints/constrained_dynamics.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"

namespace limb::bench {
namespace {

constexpr int kStates = 128;

double worst(double so_far, const MatrixX<double>& x, const MatrixX<double>& y) {
  const double difference = (x - y).norm() / (1 + y.norm());
  return difference <= so_far ? so_far : difference;  // NaN stays
}

/// Feet on the ground; their axes are those of their bodies, as in the opponent.
struct Feet {
  Feet(const Model<double>& model, const std::vector<std::string>& names, ContactKind kind) {
    for (const std::string& name : names) {
      const Frame<double>& frame = model.frame(model.find_frame(name));
      Contact<double> contact{frame.body};
      contact.kind = kind;
      contact.X_FC.p = frame.X_BF.p;
      contacts.push_back(contact);
      const Vector3<double>& p = frame.X_BF.p;
      other.push_back({frame.body.value(), {p[0], p[1], p[2]}, kind == ContactKind::surface});
    }
  }
  std::vector<Contact<double>> contacts;
  std::vector<OpponentContact> other;
};

void measure_constrained(const std::string& name, const Model<double>& model,
                         const std::vector<Opponent>& others, const Feet& feet) {
  States s(model, kStates);
  const ConstraintSet<double> set(model, feet.contacts);
  ConstraintWorkspace<double> work(model, set);
  // Surfaces at rest: if they move, the two libraries define the rates of the rows differently.
  if (feet.contacts[0].kind == ContactKind::surface) {
    for (auto& v : s.v) v.setZero();
  }
  ConstrainedOptions options;
  options.effects = JointEffects::none();
  VectorX<double> a(model.nv()), f(set.rows()), other_a(model.nv());
  const auto solve = [&](int i) {
    const std::size_t k = static_cast<std::size_t>(i % kStates);
    constrained_forward_dynamics(model, set, work, s.q[k], s.v[k], s.tau[k], a, f, options);
    benchmark::DoNotOptimize(a.data());
    benchmark::ClobberMemory();
  };
  for (const Opponent& other : others) {
    const auto bodies = opponent_bodies(model);
    void* robot =
        other.table->make(bodies.data(), static_cast<int>(bodies.size()), model.gravity().data());
    other.table->set_contacts(robot, feet.other.data(), static_cast<int>(feet.other.size()));
    const auto solve_other = [&](int i) {
      const std::size_t k = static_cast<std::size_t>(i % kStates);
      other.table->constrained(robot, s.q[k].data(), s.v[k].data(), s.tau[k].data(),
                               other_a.data());
    };
    double difference = 0;
    for (int i = 0; i < kStates; ++i) {
      solve(i);
      solve_other(i);
      difference = worst(difference, a, other_a);
    }
    const std::string title =
        name + ", " + std::to_string(set.rows()) + " rows, Pinocchio built with " + other.name;
    std::printf("%s: largest relative difference %.1e\n", title.c_str(), difference);
    print(title, "other", {side_by_side("constrained forward dynamics", solve, solve_other)});
    other.table->release(robot);
  }
}

void measure(const char* name, const Model<double>& model, const std::vector<Opponent>& others) {
  const States s(model, kStates);
  Workspace<double> work(model);
  VectorX<double> out(model.nv()), other_out(model.nv());
  MatrixX<double> M(model.nv(), model.nv()), other_M(model.nv(), model.nv());
  const JointEffects none = JointEffects::none();
  const auto at = [](const auto& list, int i) -> const VectorX<double>& {
    return list[static_cast<std::size_t>(i % kStates)];
  };
  const auto keep = [](const auto& x) {
    benchmark::DoNotOptimize(x.data());
    benchmark::ClobberMemory();
  };
  for (const Opponent& other : others) {
    const OpponentTable& table = *other.table;
    const auto bodies = opponent_bodies(model);
    void* robot =
        table.make(bodies.data(), static_cast<int>(bodies.size()), model.gravity().data());
    // Both must compute the same results before their times are compared.
    double difference = 0;
    for (int i = 0; i < kStates; ++i) {
      rnea(model, work, at(s.q, i), at(s.v, i), at(s.a, i), out, none);
      table.rnea(robot, at(s.q, i).data(), at(s.v, i).data(), at(s.a, i).data(), other_out.data());
      difference = worst(difference, out, other_out);
      aba(model, work, at(s.q, i), at(s.v, i), at(s.tau, i), out, none);
      table.aba(robot, at(s.q, i).data(), at(s.v, i).data(), at(s.tau, i).data(), other_out.data());
      difference = worst(difference, out, other_out);
      crba(model, work, at(s.q, i), M, none);
      table.crba(robot, at(s.q, i).data(), other_M.data());
      const MatrixX<double> full = other_M.selfadjointView<Eigen::Upper>();
      difference = worst(difference, M, full);
    }
    const auto title = std::string(name) + ", " + std::to_string(model.nv()) +
                       " dof, Pinocchio built with " + other.name;
    std::printf("%s: largest relative difference %.1e\n", title.c_str(), difference);
    std::vector<Timing> timings;
    timings.push_back(side_by_side(
        "rnea",
        [&](int i) {
          rnea(model, work, at(s.q, i), at(s.v, i), at(s.a, i), out, none);
          keep(out);
        },
        [&](int i) {
          table.rnea(robot, at(s.q, i).data(), at(s.v, i).data(), at(s.a, i).data(),
                     other_out.data());
        }));
    timings.push_back(side_by_side(
        "crba",
        [&](int i) {
          crba(model, work, at(s.q, i), M, none);
          keep(M);
        },
        [&](int i) { table.crba(robot, at(s.q, i).data(), nullptr); }));
    timings.push_back(side_by_side(
        "aba",
        [&](int i) {
          aba(model, work, at(s.q, i), at(s.v, i), at(s.tau, i), out, none);
          keep(out);
        },
        [&](int i) {
          table.aba(robot, at(s.q, i).data(), at(s.v, i).data(), at(s.tau, i).data(),
                    other_out.data());
        }));
    print(title, "other", timings);
    table.release(robot);
  }
}

/// Cost per body of growing chains.
void measure_chains() {
  std::printf("chains: ns per body\n%8s %8s %8s\n", "links", "rnea", "aba");
  for (const int links : {8, 16, 32, 64, 128, 256, 512}) {
    const Model<double> model = chain(links);
    Workspace<double> work(model);
    const VectorX<double> q = VectorX<double>::LinSpaced(links, -1, 1), v = 0.1 * q, a = 0.2 * q;
    VectorX<double> out(links), out2(links);
    const JointEffects none = JointEffects::none();
    const Timing t = side_by_side(
        "chain", [&](int) { rnea(model, work, q, v, a, out, none); },
        [&](int) { aba(model, work, q, v, a, out2, none); }, 300);
    std::printf("%8d %8.1f %8.1f\n", links, t.limb_ns / links, t.other_ns / links);
  }
}

}  // namespace
}  // namespace limb::bench

int main() {
  using namespace limb;
  const auto others = bench::opponents(bench::opponent_paths());
  bench::measure_chains();
  if (others.empty()) {
    std::puts("dynamics_bench: no comparison, no opponent was built (needs Pinocchio in .venv)");
    return 0;
  }
  const auto robots = bench::reference_robots();
  for (const auto& [name, model] : robots) bench::measure(name.c_str(), model, others);
  if (!std::filesystem::exists(bench::reference_folder())) {
    std::puts("feet on the ground: skipped, no folder of reference robots (LIMB_SHARED)");
    return 0;
  }
  const Model<double>&four_legs = robots[1].model, &two_legs = robots[2].model;
  const auto point = ContactKind::point, surface = ContactKind::surface;
  bench::measure_constrained("hyq on four points", four_legs, others,
                             {four_legs, {"lf_foot", "rf_foot", "lh_foot", "rh_foot"}, point});
  const std::vector<std::string> soles = {"left_sole_link", "right_sole_link"};
  bench::measure_constrained("talos on two points", two_legs, others, {two_legs, soles, point});
  bench::measure_constrained("talos on two soles", two_legs, others, {two_legs, soles, surface});
}
