// One model shared by many threads, each with its own workspace; run under the thread sanitizer in
// its preset.
#include <gtest/gtest.h>

#include <thread>

#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

struct Result {
  VectorX<double> tau, a;
  MatrixX<double> M;
  Matrix6X<double> J;
};

Result compute(const Model<double>& model, unsigned seed, int rounds) {
  Workspace<double> work(model);
  Kinematics<double> kinematics(model);
  const int n = model.nv();
  Result r{VectorX<double>(n), VectorX<double>(n), MatrixX<double>(n, n), Matrix6X<double>(6, n)};
  VectorX<double> q(model.nq());
  std::mt19937_64 engine(seed);
  for (int i = 0; i < rounds; ++i) {
    random_configuration(model, engine, q);
    const VectorX<double> v = VectorX<double>::LinSpaced(n, -1, 1);
    rnea(model, work, q, v, v, r.tau);
    crba(model, work, q, r.M);
    EXPECT_TRUE(aba(model, work, q, v, r.tau, r.a).ok());
    forward_kinematics(model, q, kinematics);
    frame_jacobian(model, kinematics, FrameId(static_cast<int>(model.frames().size()) - 1),
                   FrameAxes::local, r.J);
  }
  return r;
}

TEST(Threads, EightOnOneModelMatchOneThread) {
  const Model<double> model = load_model("builtin:humanoid");
  constexpr unsigned kThreads = 8;
  std::vector<Result> alone(kThreads), together(kThreads);
  for (unsigned t = 0; t < kThreads; ++t) alone[t] = compute(model, t, 50);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] { together[t] = compute(model, t, 50); });
  }
  for (std::thread& thread : threads) thread.join();
  for (unsigned t = 0; t < kThreads; ++t) {
    EXPECT_EQ(together[t].tau, alone[t].tau);
    EXPECT_EQ(together[t].a, alone[t].a);
    EXPECT_EQ(together[t].M, alone[t].M);
    EXPECT_EQ(together[t].J, alone[t].J);
  }
}

}  // namespace
}  // namespace limb
