// Times of the analytical derivatives, compared with Pinocchio on the same states in one process,
// and how they grow with chains and trees. Opponents and robots as in dynamics_bench.
#include <cstdio>

#include "bench/chain.hpp"
#include "bench/pinocchio/opponents.hpp"
#include "bench/reference_robots.hpp"
#include "bench/side_by_side.hpp"
#include "bench/states.hpp"
#include "limb/dynamics/derivatives/aba_derivatives.hpp"

namespace limb::bench {
namespace {

using Vector = VectorX<double>;
using Matrix = MatrixX<double>;
using Call = void (*)(void*, const double*, const double*, const double*, double*, double*,
                      double*);

constexpr int kStates = 32;

struct Derivatives {
  explicit Derivatives(int n) : dq(n, n), dv(n, n), da(n, n) {}
  Matrix dq, dv, da;
};

double difference(const Derivatives& x, const Derivatives& y) {
  const auto relative = [](const Matrix& a, const Matrix& b) {
    return (a - b).norm() / (1 + b.norm());
  };
  return std::max({relative(x.dq, y.dq), relative(x.dv, y.dv), relative(x.da, y.da)});
}

void measure(const char* name, const Model<double>& model, const std::string& paths) {
  const int n = model.nv();
  const States s(model, kStates);
  DerivativeWorkspace<double> work(model);
  Derivatives ours(n), others(n);
  Vector a(n);
  const JointEffects none = JointEffects::none();
  const auto inverse = [&](int i) {
    const std::size_t k = static_cast<std::size_t>(i % kStates);
    rnea_derivatives(model, work, s.q[k], s.v[k], s.a[k], ours.dq, ours.dv, ours.da, none);
    benchmark::ClobberMemory();
  };
  const auto forward = [&](int i) {
    const std::size_t k = static_cast<std::size_t>(i % kStates);
    aba_derivatives(model, work, s.q[k], s.v[k], s.a[k], a, ours.dq, ours.dv, ours.da, none);
    benchmark::ClobberMemory();
  };
  std::istringstream list(paths);
  for (std::string path; std::getline(list, path, ':');) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    const auto table = reinterpret_cast<OpponentEntryPoint>(dlsym(library, "opponent_entry_point"));
    const auto rnea = reinterpret_cast<Call>(dlsym(library, "opponent_rnea_derivatives"));
    const auto aba = reinterpret_cast<Call>(dlsym(library, "opponent_aba_derivatives"));
    if (table == nullptr || rnea == nullptr || aba == nullptr) continue;
    const auto bodies = opponent_bodies(model);
    void* robot =
        table()->make(bodies.data(), static_cast<int>(bodies.size()), model.gravity().data());
    const auto call = [&](Call function, int i, Derivatives* to) {
      const std::size_t k = static_cast<std::size_t>(i % kStates);
      function(robot, s.q[k].data(), s.v[k].data(), s.a[k].data(), to ? to->dq.data() : nullptr,
               to ? to->dv.data() : nullptr, to ? to->da.data() : nullptr);
    };
    double worst = 0;
    for (int i = 0; i < kStates; ++i) {
      inverse(i);
      call(rnea, i, &others);
      worst = std::max(worst, difference(ours, others));
      forward(i);
      call(aba, i, &others);
      worst = std::max(worst, difference(ours, others));
    }
    const std::string title = std::string(name) + ", " + std::to_string(n) +
                              " dof, Pinocchio built with " + table()->build;
    std::printf("%s: largest relative difference %.1e\n", title.c_str(), worst);
    print(title, "other",
          {side_by_side("rnea_derivatives", inverse, [&](int i) { call(rnea, i, nullptr); }),
           side_by_side("aba_derivatives", forward, [&](int i) { call(aba, i, nullptr); })});
    table()->release(robot);
  }
}

void growth() {
  std::printf("\nGrowth: n joints in chains, ns and ns / (n x depth)\n%8s %8s %12s %9s %12s %9s\n",
              "limbs", "n", "rnea_deriv.", "", "aba_deriv.", "");
  for (const auto& [limbs, length] : {std::pair(1, 8), {1, 16}, {1, 32}, {1, 64}, {4, 8}, {8, 8}}) {
    const Model<double> model = chain(length, limbs);
    const int n = model.nv();
    const States s(model, kStates);
    DerivativeWorkspace<double> work(model);
    Derivatives ours(n);
    Vector a(n);
    const auto best = [&](const auto& body) {
      double least = 1e18;
      for (int k = 0; k < 100; ++k) least = std::min(least, window_ns(body, 10));
      return least;
    };
    const double inverse = best([&](int i) {
      const std::size_t k = static_cast<std::size_t>(i % kStates);
      rnea_derivatives(model, work, s.q[k], s.v[k], s.a[k], ours.dq, ours.dv, ours.da);
    });
    const double forward = best([&](int i) {
      const std::size_t k = static_cast<std::size_t>(i % kStates);
      aba_derivatives(model, work, s.q[k], s.v[k], s.a[k], a, ours.dq, ours.dv, ours.da);
    });
    std::printf("%8d %8d %12.0f %9.2f %12.0f %9.2f\n", limbs, n, inverse, inverse / n / length,
                forward, forward / n / length);
  }
}

}  // namespace
}  // namespace limb::bench

int main() {
  using namespace limb;
  const std::string opponents = bench::opponent_paths();
  if (opponents.empty()) std::printf("no comparison: Pinocchio is not installed\n");
  for (const auto& [name, model] : bench::reference_robots()) {
    bench::measure(name.c_str(), model, opponents);
  }
  bench::growth();
}
