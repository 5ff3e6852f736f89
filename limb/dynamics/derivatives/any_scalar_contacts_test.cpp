// Constrained dynamics, impacts and operational space with the scalars Dual and ComplexStep.
#include "limb/dynamics/derivatives/any_scalar.hpp"
#include "limb/dynamics/testing/directional.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using testing::Inputs;
using testing::Record;
using testing::Sample;

constexpr double kEps = std::numeric_limits<double>::epsilon();

template <typename S>
Record<S> contacts(const Model<S>& model, const Inputs<S>& x) {
  Record<S> r;
  const int n = model.nv();
  const FrameId foot = model.find_frame("FL_foot"), other = model.find_frame("RR_foot");
  const FrameId trunk = model.find_frame("trunk");
  std::vector<Contact<S>> held;
  for (const FrameId id : {foot, other}) {
    const Frame<S>& frame = model.frame(id);
    Contact<S> contact{frame.body};
    contact.X_FC = frame.X_BF;
    contact.axes = ContactAxes::world;
    held.push_back(contact);
  }
  const ConstraintSet<S> set(model, held);
  ConstraintWorkspace<S> work(model, set);
  VectorX<S> y(n), f(set.rows());
  constrained_forward_dynamics<S>(model, set, work, x.q, x.v, x.tau, y, f);
  r.add("a", y);
  r.add("f", f);
  constrained_inverse_dynamics<S>(model, set, work, x.q, x.v, x.a, y, f);
  r.add("tau", y);
  r.add("least f", f);
  const VectorX<S> restitution = VectorX<S>::Constant(set.rows(), S(0.3));
  impact<S>(model, set, work, x.q, x.v, restitution, y, f);
  r.add("v after", y);
  r.add("impulse", f);
  Kinematics<S> k(model);
  forward_kinematics(model, x.q, x.v, k);
  Matrix6X<S> J(6, n);
  const FrameAxes axes = FrameAxes::local_world_aligned;
  frame_jacobian<S>(model, k, trunk, axes, J);
  const Vector6<S> drift = frame_jacobian_rate_times_v<S>(model, k, trunk, axes).vector();
  OperationalSpace<S> task(model, 6);
  EXPECT_TRUE(operational_space<S>(model, set, work, x.q, x.v, J, drift, task).ok());
  r.add("Lambda", task.Lambda);
  r.add("J_bar", task.J_bar);
  r.add("N", task.N);
  r.add("mu", task.mu);
  r.add("rho", task.rho);
  r.add("singular values", Vector2<S>(task.smallest_singular_value, task.largest_singular_value));
  return r;
}

Record<double> contacts_of_facade(const Robot& start, const Inputs<double>& x) {
  Robot robot = start;
  robot.set_state(x.q, x.v, x.a);
  for (const char* foot : {"FL_foot", "RR_foot"}) robot.add_contact(foot);
  Record<double> r;
  r.add("a", robot.constrained_forward_dynamics(x.tau).a);
  r.add("f", robot.constrained_forward_dynamics(x.tau).f);
  r.add("tau", robot.constrained_inverse_dynamics(x.a).tau);
  r.add("least f", robot.constrained_inverse_dynamics(x.a).f);
  r.add("v after", robot.impact(0.3).v);
  r.add("impulse", robot.impact(0.3).impulse);
  const auto& task = robot.operational_space("trunk", FrameAxes::local_world_aligned);
  r.add("Lambda", task.Lambda);
  r.add("J_bar", task.J_bar);
  r.add("N", task.N);
  r.add("mu", task.mu);
  r.add("rho", task.rho);
  r.add("singular values",
        Eigen::Vector2d(task.smallest_singular_value, task.largest_singular_value));
  return r;
}

// A quadruped on two feet: the trunk can be moved in all directions, though hardly about the line
// through the feet.
TEST(AnyScalar, ContactsAndTasks) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    const Sample s = testing::sample_of("quadruped", load_model("builtin:quadruped"), seed);
    testing::expect_same_derivatives(
        s, seed, {1e6 * kEps, 1e9 * kEps, 1e-5, 1e-6},
        [](const auto& model, const auto& x) { return contacts(model, x); }, contacts_of_facade);
  }
}

/// Operational space of the tool position of a nearly stretched arm.
template <typename S>
Record<S> stretched(const Model<S>& model, const Inputs<S>& x) {
  Record<S> r;
  Workspace<S> work(model);
  Kinematics<S> k(model);
  forward_kinematics(model, x.q, x.v, k);
  MatrixX<S> J(3, 2);
  const FrameId tool = model.find_frame("tool");
  Matrix3X<S> J_point(3, 2);
  point_jacobian<S>(model, k, tool, Vector3<S>(S(0), S(0), S(0)), J_point);
  J = J_point;
  const VectorX<S> drift =
      point_jacobian_rate_times_v<S>(model, k, tool, Vector3<S>(S(0), S(0), S(0)));
  OperationalSpace<S> task(model, 3);
  EXPECT_TRUE(operational_space<S>(model, work, x.q, x.v, J, drift, task).ok());
  EXPECT_EQ(task.damped, 2);
  r.add("Lambda", task.Lambda);
  r.add("mu", task.mu);
  r.add("singular value", task.largest_singular_value);
  return r;
}

// One direction cannot be moved and one only barely: both are damped. The latter has 1e-7 of the
// largest singular value of J M^-1 J^T, which magnifies rounding errors accordingly.
TEST(AnyScalar, DampedTasks) {
  for (const double elbow : {2e-4, -1e-4}) {
    Sample s = testing::sample_of("2r", load_model("builtin:2r"), 1);
    s.q = Eigen::Vector2d(0.3, elbow);
    testing::expect_same_derivatives(
        s, 1, {1e-6, 1e-6, 1e-3, 1e-7},
        [](const auto& model, const auto& x) { return stretched(model, x); },
        [](const Robot& robot, const Inputs<double>& x) {
          return stretched<double>(robot.model(), x);
        });
  }
}

}  // namespace
}  // namespace limb
