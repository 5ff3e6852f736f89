// Recorded states of real robots (Pinocchio 3.7): frames, Jacobians, mass centre, energies,
// centroidal momentum and the manifold, fixed and free base, read from their URDF files.
#include <gtest/gtest.h>

#include <iostream>
#include <map>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/kinematics/centroidal_momentum.hpp"
#include "limb/dynamics/kinematics/energy.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/model/convert/convert_pinocchio.hpp"
#include "limb/model/core/load.hpp"
#include "limb/model/testing/golden.hpp"

namespace limb {
namespace {

using Json = nlohmann::json;
using Vector = VectorX<double>;
using Matrix = MatrixX<double>;
using testing::matrix_of;
using testing::vector_of;

class Golden : public testing::GoldenTest {
 protected:
  void SetUp() override {
    GoldenTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    model_ = std::make_unique<Model<double>>(load_model(urdf_, base()).without_couplings());
    std::vector<std::string> names;
    for (const Json& joint : golden_["joints"]) names.push_back(joint["name"]);
    convention_ = std::make_unique<PinocchioConvention>(*model_, names);
  }

  // Against the larger of 1 and the size of the whole field. A dozen levels of rotations and sums
  // over 33 bodies, in another order than the recording program's; the worst field of each file is
  // printed. Largest seen: 41 eps (Jdotv_lwa_spatial of talos).
  void expect(const std::string& field, const Matrix& found, const Json& expected) {
    const Matrix want = expected.is_number()     ? Matrix::Constant(1, 1, expected.get<double>())
                        : expected[0].is_array() ? matrix_of(expected)
                                                 : Matrix(vector_of(expected));
    ASSERT_EQ(found.rows(), want.rows()) << field;
    ASSERT_EQ(found.cols(), want.cols()) << field;
    const double error = (found - want).norm() / std::max(1.0, want.norm());
    worst_[field].add(error);
    ++compared_;
    EXPECT_LT(error, 256 * std::numeric_limits<double>::epsilon()) << field;
  }
  void number(const std::string& field, double found, const Json& expected) {
    expect(field, Matrix::Constant(1, 1, found), expected);
  }

  std::unique_ptr<Model<double>> model_;
  std::unique_ptr<PinocchioConvention> convention_;
  std::map<std::string, Worst> worst_;
  int compared_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Robots, Golden, testing::golden_files(), testing::golden_name);

TEST_P(Golden, Kinematics) {
  const Model<double>& model = *model_;
  const PinocchioConvention& to = *convention_;
  Kinematics<double> k(model);
  SubtreeScratch<double> scratch(model);
  Matrix6X<double> J(6, model.nv());
  const auto local = FrameAxes::local, aligned = FrameAxes::local_world_aligned;
  const auto spatial = AccelerationKind::spatial, classical = AccelerationKind::classical;

  for (const Json& state : golden_["states"]) {
    const Vector q = to.q_from(vector_of(state["q"]));
    const Vector v = to.v_from(q, vector_of(state["v"]));
    const Vector a = to.a_from(q, v, vector_of(state["a"]));
    forward_kinematics(model, q, v, a, k);

    number("kinetic_energy", kinetic_energy(model, k, JointEffects::none()),
           state["kinetic_energy"]);
    number("potential_energy", potential_energy(model, k), state["potential_energy"]);
    expect("com", center_of_mass(model, k), state["com"]);
    expect("vcom", center_of_mass_velocity(model, k), state["vcom"]);
    expect("acom", center_of_mass_acceleration(model, k), state["acom"]);
    expect("hg", centroidal_momentum(model, k).vector(), state["hg"]);
    expect("dhg", centroidal_momentum_rate(model, k).vector(), state["dhg"]);
    if (state.contains("Ag")) {
      centroidal_matrix(model, k, scratch, J);
      expect("Ag", to.jacobian_to(q, J), state["Ag"]);
    }
    Vector moved(model.nq()), neutral_q(model.nq()), step(model.nv());
    integrate(model, q, v, moved);
    expect("q_integrate_v", to.q_to(moved), state["q_integrate_v"]);
    neutral(model, neutral_q);
    difference(model, neutral_q, q, step);
    expect("difference_neutral_q", to.v_to(q, step), state["difference_neutral_q"]);

    for (const auto& [name, expected] : state["frames"].items()) {
      const FrameId frame = model.find_frame(name);
      const Pose<double> X = frame_pose(model, k, frame);
      expect("R", X.R, expected["R"]);
      expect("p", X.p, expected["p"]);
      const auto velocity = [&](FrameAxes axes) {
        return frame_velocity(model, k, frame, axes).vector();
      };
      expect("v_local", velocity(local), expected["v_local"]);
      expect("v_world", velocity(FrameAxes::world), expected["v_world"]);
      expect("v_lwa", velocity(aligned), expected["v_lwa"]);
      const auto jacobian = [&](FrameAxes axes) {
        frame_jacobian(model, k, frame, axes, J);
        return to.jacobian_to(q, J);
      };
      if (expected.contains("J_local")) {
        expect("J_local", jacobian(local), expected["J_local"]);
        expect("J_world", jacobian(FrameAxes::world), expected["J_world"]);
        expect("J_lwa", jacobian(aligned), expected["J_lwa"]);
      }
      const auto bias = [&](AccelerationKind kind) {
        return frame_bias_acceleration(model, k, frame, aligned, kind).vector();
      };
      expect("Jdotv_lwa_classical", bias(classical), expected["Jdotv_lwa_classical"]);
      expect("Jdotv_lwa_spatial", bias(spatial), expected["Jdotv_lwa_spatial"]);
      frame_jacobian_rate(model, k, frame, aligned, J);
      expect("Jdotv_lwa_classical (Jdot formed)", J * v, expected["Jdotv_lwa_classical"]);
      expect("acc_lwa_classical", frame_acceleration(model, k, frame, aligned, classical).vector(),
             expected["acc_lwa_classical"]);
      expect("acc_local_spatial", frame_acceleration(model, k, frame, local, spatial).vector(),
             expected["acc_local_spatial"]);
    }
  }
  EXPECT_EQ(worst_.size(), 23u) << "every field was compared";
  Worst worst;
  std::string worst_field;
  for (const auto& [field, error] : worst_) {
    worst.add(error.value());
    if (worst.value() == error.value()) worst_field = field;
  }
  std::cout << "worst of " << compared_ << " comparisons: " << worst_field << " " << worst.value()
            << "\n";
}

}  // namespace
}  // namespace limb
