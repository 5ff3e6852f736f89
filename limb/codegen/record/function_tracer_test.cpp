// Parameters of each state (masses and placements), against robots built with them; robots with
// recorded numbers.
#include "limb/codegen/record/function_tracer.hpp"

#include <gtest/gtest.h>

#include "limb/codegen/record/evaluate_impl.hpp"
#include "limb/codegen/testing/run.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using codegen::Program;
using testing::Batch;
using testing::Sample;

constexpr double kEps = std::numeric_limits<double>::epsilon();

const std::vector<DynamicsFunction> kAll = {
    DynamicsFunction::rnea,        DynamicsFunction::crba,
    DynamicsFunction::crba_packed, DynamicsFunction::aba,
    DynamicsFunction::frame_poses, DynamicsFunction::frame_jacobians,
    DynamicsFunction::centroidal,  DynamicsFunction::rnea_derivatives};

TEST(Parameters, MatchARobotBuiltWithThem) {
  for (const Sample& s : testing::samples(2, 8)) {
    SCOPED_TRACE(s.name);
    const int last = s.model.body_count() - 1;
    FunctionOptions options;
    options.frames = {FrameId(static_cast<int>(s.model.frames().size()) - 1)};
    options.added_inertias = {BodyId(last)};
    options.shifted_joints = {BodyId(last / 2), BodyId(last)};
    options.rotated_joints = {BodyId(last - 1)};
    FunctionOptions plain;
    plain.frames = options.frames;
    for (const DynamicsFunction f : kAll) {
      SCOPED_TRACE(to_text(f));
      const Program p(codegen::trace(s.model, f, options));
      constexpr int kStates = 9;
      testing::Random random(3);
      Batch<double> in = testing::batch_of(p.inputs(), kStates, 0.0);
      for (auto& array : in.data) {
        for (double& x : array) x = random.uniform(-0.3, 0.3);
      }
      const std::size_t first_parameter = in.data.size() - 3;
      for (int i = 0; i < kStates; ++i) {
        std::copy(s.q.begin(), s.q.end(), in.data[0].begin() + i * s.q.size());
        // A point mass: mass, first moment, tensor.
        const double m = random.uniform(0.1, 2);
        const Vector3<double> c = random.direction<double>() * 0.2;
        const Matrix3<double> I =
            m * (c.squaredNorm() * Matrix3<double>::Identity() - c * c.transpose());
        const double load[] = {m,       m * c[0], m * c[1], m * c[2], I(0, 0),
                               I(0, 1), I(0, 2),  I(1, 1),  I(1, 2),  I(2, 2)};
        std::copy(std::begin(load), std::end(load), in.data[first_parameter].begin() + 10 * i);
      }
      const Batch<double> out = run_rows(p, in, kStates);
      EXPECT_TRUE(same_bits(run_each(p, in, kStates), out));
      for (int i = 0; i < kStates; ++i) {
        const auto from = in.pointers(i, p.inputs());
        const Model<double> changed =
            codegen::with_parameters<double>(s.model, options, from.data() + first_parameter);
        codegen::EvaluateScratch<double> scratch(changed);
        Batch<double> expected = testing::batch_of(p.outputs(), 1, 0.0);
        codegen::evaluate<double>(changed, f, plain, scratch, from.data(),
                                  expected.pointers(0, p.outputs()).data());
        // Other rounding order; the mass matrix's condition (below 1e4) where it is inverted.
        const double tolerance = (f == DynamicsFunction::aba ? 1e6 : 1024) * kEps;
        for (std::size_t k = 0; k < expected.data.size(); ++k) {
          const std::size_t size = expected.data[k].size();
          const std::vector<double> found(
              out.data[k].begin() + static_cast<std::ptrdiff_t>(size) * i,
              out.data[k].begin() + static_cast<std::ptrdiff_t>(size) * (i + 1));
          EXPECT_LT(testing::relative(found, expected.data[k], 1), tolerance) << i;
        }
      }
    }
  }
}

TEST(Parameters, ReportErrors) {
  const Model<double> arm = load_model("builtin:2r");
  FunctionOptions options;
  options.shifted_joints = {BodyId(3)};
  EXPECT_EQ(testing::message([&] { codegen::trace(arm, DynamicsFunction::rnea, options); }),
            "rnea: body of a parameter is 3, expected 1 to 2");
  EXPECT_EQ(testing::message([&] {
              codegen::Tracer tracer("t");
              codegen::record(arm.cast<Traced>(), DynamicsFunction::gravity, {});
            }),
            "gravity: arguments has 0 entries, expected 1");
}

// Gravity of a planar arm whose first link has a recorded length.
TEST(Record, TakesRobotsWithRecordedNumbers) {
  const Model<double> arm = load_model("builtin:2r");
  codegen::Tracer tracer("of_length");
  const VectorX<Traced> q = tracer.input("q", 2), growth = tracer.input("growth", 1);
  const Model<Traced> longer =
      arm.cast<Traced>().with_shifted_joint(BodyId(2), Vector3<Traced>(growth[0], 0, 0));
  tracer.output("tau", codegen::record(longer, DynamicsFunction::gravity, {q})[0]);
  const Program p(tracer.finish());
  const double q0[] = {0.3, 0.5}, growth0[] = {0.25};
  double tau[2];
  const double* in[] = {q0, growth0};
  double* out[] = {tau};
  p.run(in, out);
  const Model<double> built = arm.with_shifted_joint(BodyId(2), Vector3<double>(0.25, 0, 0));
  Workspace<double> work(built);
  VectorX<double> expected(2);
  gravity(built, work, Eigen::Map<const VectorX<double>>(q0, 2), expected);
  EXPECT_NEAR(tau[0], expected[0], 64 * kEps * std::abs(expected[0]));
  EXPECT_NEAR(tau[1], expected[1], 64 * kEps * std::abs(expected[1]));
}

}  // namespace
}  // namespace limb
