// One state of compiled dynamics compared with Pinocchio's generated code (CppADCodeGen), on the
// same states in one process. Needs the Python package cmeel-cppadcodegen next to Pinocchio.
#include <cstdio>
#include <cstdlib>

#include "bench/pinocchio/opponents.hpp"
#include "bench/reference_robots.hpp"
#include "bench/side_by_side.hpp"
#include "limb/batch/compiled.hpp"

namespace limb::bench {
namespace {

constexpr int kStates = 128;

void measure(const std::string& title, const Model<double>& model, const OpponentTable& table) {
  const auto bodies = opponent_bodies(model);
  const auto start = std::chrono::steady_clock::now();
  void* robot = table.make(bodies.data(), static_cast<int>(bodies.size()), model.gravity().data());
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  CompileOptions options;
  options.effects = JointEffects::none();
  const Compiled fast = compile(
      model, {DynamicsFunction::rnea, DynamicsFunction::crba, DynamicsFunction::aba}, options);

  const int n = model.nv();
  std::mt19937_64 engine(7);
  std::vector<VectorX<double>> q, v, a;
  for (int i = 0; i < kStates; ++i) {
    q.push_back(model.random_configuration(engine));
    v.push_back(VectorX<double>::Random(n));
    a.push_back(VectorX<double>::Random(n));
  }
  VectorX<double> x(n), y(n);
  MatrixX<double> M(n, n), M_other = MatrixX<double>::Zero(n, n);
  double worst = 0;
  for (std::size_t i = 0; i < kStates; ++i) {
    const auto compare = [&] { worst = std::max(worst, (x - y).norm() / (1 + y.norm())); };
    fast.rnea(q[i], v[i], a[i], x);
    table.rnea(robot, q[i].data(), v[i].data(), a[i].data(), y.data());
    compare();
    fast.aba(q[i], v[i], a[i], x);
    table.aba(robot, q[i].data(), v[i].data(), a[i].data(), y.data());
    compare();
    fast.crba(q[i], M);
    table.crba(robot, q[i].data(), M_other.data());
    const MatrixX<double> upper = M.triangularView<Eigen::Upper>();
    worst = std::max(worst, (upper - M_other).norm() / (1 + M.norm()));
  }
  std::printf("\n%s, %d dof: largest relative difference %.1e; generated and compiled in %.1f s\n",
              title.c_str(), n, worst, elapsed.count());
  const auto at = [](int i) { return static_cast<std::size_t>(i % kStates); };
  print("", "generated",
        {side_by_side(
             "rnea", [&](int i) { fast.rnea(q[at(i)], v[at(i)], a[at(i)], x); },
             [&](int i) {
               const std::size_t k = at(i);
               table.rnea(robot, q[k].data(), v[k].data(), a[k].data(), y.data());
             }),
         side_by_side(
             "crba", [&](int i) { fast.crba(q[at(i)], M); },
             [&](int i) { table.crba(robot, q[at(i)].data(), nullptr); }),
         side_by_side(
             "aba", [&](int i) { fast.aba(q[at(i)], v[at(i)], a[at(i)], x); },
             [&](int i) {
               const std::size_t k = at(i);
               table.aba(robot, q[k].data(), v[k].data(), a[k].data(), y.data());
             })});
  std::fflush(stdout);
  table.release(robot);
}

}  // namespace
}  // namespace limb::bench

int main() {
  using namespace limb;
  const char* path = std::getenv("LIMB_BENCH_GENERATED");
  const auto found = bench::opponents(path != nullptr ? path : LIMB_BENCH_GENERATED_DEFAULT);
  if (found.empty()) {
    std::puts("generated_bench: no comparison, Pinocchio's code generator was not built");
    return 0;
  }
  for (const auto& [name, model] : bench::reference_robots()) {
    bench::measure(name, model, *found[0].table);
  }
}
