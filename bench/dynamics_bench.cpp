// How fast are rnea, crba and aba, side by side with Pinocchio on the same states in one process?
// Opponents are Pinocchio's headers built by gcc and by clang at -O3 -march=native. Robots: those
// of the shared folder where it is (LIMB_SHARED), else the embedded ones.
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "bench/pinocchio/opponents.hpp"
#include "bench/side_by_side.hpp"
#include "limb/dynamics/aba.hpp"
#include "limb/dynamics/crba.hpp"
#include "limb/dynamics/rnea.hpp"
#include "limb/model/load.hpp"

namespace limb::bench {
namespace {

constexpr int kStates = 128;

struct States {
  explicit States(const Model<double>& model) {
    std::mt19937_64 engine(7);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const auto numbers = [&](double size) {
      VectorX<double> x(model.nv());
      for (double& y : x) y = size * uniform(engine);
      return x;
    };
    for (int i = 0; i < kStates; ++i) {
      q.push_back(model.random(engine));
      v.push_back(numbers(2));
      a.push_back(numbers(5));
      tau.push_back(numbers(20));
    }
  }
  std::vector<VectorX<double>> q, v, a, tau;
};

double worst(double so_far, const MatrixX<double>& x, const MatrixX<double>& y) {
  return std::max(so_far, (x - y).norm() / (1 + y.norm()));
}

void measure(const char* name, const Model<double>& model, const std::vector<Opponent>& others) {
  const States s(model);
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
    // Both must compute the same before their times mean anything.
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
    const auto title =
        std::string(name) + ", " + std::to_string(model.nv()) + " dof, Pinocchio by " + other.name;
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

/// A chain of revolute joints about changing axes.
Model<double> chain(int links) {
  Description<double> robot;
  robot.name = "chain";
  LinkDescription<double> base;
  base.name = "l0";
  robot.links.push_back(base);
  for (int i = 1; i <= links; ++i) {
    LinkDescription<double> link;
    link.name = "l" + std::to_string(i);
    InertialDescription<double> inertial;
    inertial.mass = 1;
    inertial.X_LI.p = {0.05, 0.02, 0.1};
    inertial.tensor = Vector3<double>(0.02, 0.03, 0.01).asDiagonal();
    link.inertial = inertial;
    robot.links.push_back(link);
    JointDescription<double> joint;
    joint.name = "j" + std::to_string(i);
    joint.type = JointType::revolute;
    joint.parent = "l" + std::to_string(i - 1);
    joint.child = link.name;
    joint.axis = Vector3<double>::Unit(i % 3);
    joint.X_PJ.p = {0, 0, 0.2};
    robot.joints.push_back(joint);
  }
  return build_model(robot);
}

/// Cost for each body as chains grow.
void measure_chains() {
  std::printf("chains: ns a body\n%8s %8s %8s\n", "links", "rnea", "aba");
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
  const char* given = std::getenv("LIMB_SHARED");
  const std::filesystem::path robots =
      std::filesystem::path(given != nullptr ? given : LIMB_SHARED_DEFAULT) / "robots";
  const char* paths = std::getenv("LIMB_BENCH_OPPONENTS");
  const auto others = bench::opponents(paths != nullptr ? paths : LIMB_BENCH_OPPONENTS_DEFAULT);
  bench::measure_chains();
  if (others.empty()) {
    std::puts(
        "dynamics_bench: no comparison, no opponent was built (needs the pin wheel in .venv)");
    return 0;
  }
  const bool real = std::filesystem::exists(robots);
  const auto load = [&](const char* file, const char* builtin, Base base) {
    return load_model(real ? (robots / file).string() : builtin, base).without_couplings();
  };
  bench::measure(real ? "iiwa14" : "arm7", load("iiwa14.urdf", "builtin:arm7", Base::fixed),
                 others);
  bench::measure(real ? "hyq" : "quadruped", load("hyq.urdf", "builtin:quadruped", Base::free),
                 others);
  bench::measure(real ? "talos" : "humanoid",
                 load("talos_reduced.urdf", "builtin:humanoid", Base::free), others);
}
