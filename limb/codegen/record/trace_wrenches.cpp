#include "limb/codegen/record/trace_wrenches.hpp"

#include <array>

#include "limb/codegen/record/function_tracer.hpp"
#include "limb/dynamics/recursive/aba_impl.hpp"

namespace limb::codegen {
namespace {

using kernel::Vec3;

/// The world axes in the axes of a joint's body, after update_joint_transforms(): three columns,
/// each rotated from joint to joint. The recording shares what several frames have in common.
std::array<Vec3<Traced>, 3> world_axes(const Canonical<Traced>& robot,
                                       const WorkspaceData<Traced>& work, std::size_t i) {
  const Traced o(0), e(1);
  if (i == 0) return {{{e, o, o}, {o, e, o}, {o, o, e}}};
  const CanonicalJoint<Traced>& joint = robot.joints[i];
  auto axes = world_axes(robot, work, static_cast<std::size_t>(joint.parent));
  for (Vec3<Traced>& axis : axes) {
    if (joint.kind == CanonicalJoint<Traced>::Kind::revolute) {
      kernel::with_alpha(joint, [&](const auto& alpha) {
        axis = kernel::to_child(joint, alpha, work.cosine[i], work.sine[i], axis);
      });
    } else {
      axis = kernel::transpose_product(work.R[i], axis);
    }
  }
  return axes;
}

Vec3<Traced> rotated(const std::array<Vec3<Traced>, 3>& axes, const Traced* x) {
  const auto sum = [&](auto part) {
    return axes[0].*part * x[0] + axes[1].*part * x[1] + axes[2].*part * x[2];
  };
  return {sum(&Vec3<Traced>::x), sum(&Vec3<Traced>::y), sum(&Vec3<Traced>::z)};
}

}  // namespace

Trace trace_with_wrenches(const Model<double>& robot, std::span<const WrenchPort> ports,
                          const JointEffects& effects) {
  const Model<Traced> model = robot.cast<Traced>();
  const Canonical<Traced>& canonical = model.canonical();
  WorkspaceData<Traced> work(model, Loops::open);
  Tracer tracer("aba_with_wrenches");
  const VectorX<Traced> q = tracer.input("q", model.nq());
  const VectorX<Traced> v = tracer.input("v", model.nv());
  const VectorX<Traced> tau = tracer.input("tau", model.nv());
  MatrixX<Traced> F;
  if (!ports.empty()) F = tracer.input("F", 6, static_cast<int>(ports.size()));

  std::vector<FrameWrench<Traced>> local;
  for (std::size_t k = 0; k < ports.size(); ++k) {
    const VectorX<Traced> column = F.col(static_cast<Eigen::Index>(k));
    if (ports[k].axes == WrenchAxes::frame) {
      local.push_back({ports[k].frame, {column.head<3>(), column.tail<3>()}});
    }
  }
  kernel::set_external<Traced>("aba", model, work, local);
  kernel::update_joint_transforms(canonical, kernel::joint_position<Traced>(model, q, work), work);
  for (std::size_t k = 0; k < ports.size(); ++k) {
    const Frame<Traced>& frame = model.frame(ports[k].frame);
    if (ports[k].axes == WrenchAxes::frame || frame.body.value() == 0) continue;
    const auto i =
        static_cast<std::size_t>(canonical.joint_of_body[std::size_t(frame.body.value())]);
    const auto axes = world_axes(canonical, work, i);
    const Traced* column = F.data() + 6 * k;
    const Vec3<Traced> f = rotated(axes, column);
    const Vector3<Traced> p_CF = canonical.joints[i].X_BC.inverse() * frame.X_BF.p;
    work.f_external[i] = work.f_external[i] + f;
    work.n_external[i] =
        work.n_external[i] + kernel::add_cross(rotated(axes, column + 3), kernel::vec3(p_CF), f);
  }
  VectorX<Traced> a(model.nv());
  VectorIn<Traced> q_in(q), v_in(v), tau_in(tau);
  VectorOut<Traced> a_out(a);
  kernel::aba_with_effects<true>(model, work, q_in, v_in, tau_in, effects, a_out);
  tracer.output("a", a);
  return tracer.finish();
}

}  // namespace limb::codegen
