#include "limb/codegen/wrenches.hpp"

#include <array>

#include "limb/codegen/functions.hpp"
#include "limb/dynamics/aba_impl.hpp"

namespace limb::codegen {
namespace {

using kernel::Triple;

/// The axes of the world in those of a step, after place(): three columns, each turned from step to
/// step. The recording keeps what steps of several frames share.
std::array<Triple<Traced>, 3> world_axes(const Canonical<Traced>& robot,
                                         const Workspace<Traced>& work, std::size_t i) {
  const Traced o(0), e(1);
  if (i == 0) return {{{e, o, o}, {o, e, o}, {o, o, e}}};
  const CanonicalStep<Traced>& step = robot.steps[i];
  auto axes = world_axes(robot, work, static_cast<std::size_t>(step.parent));
  for (Triple<Traced>& axis : axes) {
    if (step.kind == CanonicalStep<Traced>::Kind::revolute) {
      kernel::with_alpha(step, [&](const auto& alpha) {
        axis = kernel::to_child(step, alpha, work.cosine[i], work.sine[i], axis);
      });
    } else {
      axis = kernel::transpose_product(work.R[i], axis);
    }
  }
  return axes;
}

Triple<Traced> turned(const std::array<Triple<Traced>, 3>& axes, const Traced* x) {
  const auto sum = [&](auto part) {
    return axes[0].*part * x[0] + axes[1].*part * x[1] + axes[2].*part * x[2];
  };
  return {sum(&Triple<Traced>::x), sum(&Triple<Traced>::y), sum(&Triple<Traced>::z)};
}

}  // namespace

Trace trace_with_wrenches(const Model<double>& robot, std::span<const WrenchPort> ports,
                          const JointEffects& effects) {
  const Model<Traced> model = robot.cast<Traced>();
  const Canonical<Traced>& canonical = model.canonical();
  Workspace<Traced> work(model, Loops::open);
  Tracer tracer("aba_with_wrenches");
  const VectorX<Traced> q = tracer.input("q", model.position_size());
  const VectorX<Traced> v = tracer.input("v", model.velocity_size());
  const VectorX<Traced> tau = tracer.input("tau", model.velocity_size());
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
  kernel::place(canonical, kernel::joint_position<Traced>(model, q, work), work);
  for (std::size_t k = 0; k < ports.size(); ++k) {
    const Frame<Traced>& frame = model.frame(ports[k].frame);
    if (ports[k].axes == WrenchAxes::frame || frame.body.value() == 0) continue;
    const auto i =
        static_cast<std::size_t>(canonical.step_of_body[std::size_t(frame.body.value())]);
    const auto axes = world_axes(canonical, work, i);
    const Traced* column = F.data() + 6 * k;
    const Triple<Traced> f = turned(axes, column);
    const Vector3<Traced> p_CF = canonical.steps[i].X_BC.inverse() * frame.X_BF.p;
    work.f_external[i] = work.f_external[i] + f;
    work.n_external[i] =
        work.n_external[i] + kernel::add_cross(turned(axes, column + 3), kernel::triple(p_CF), f);
  }
  VectorX<Traced> a(model.velocity_size());
  VectorIn<Traced> q_in(q), v_in(v), tau_in(tau);
  VectorOut<Traced> a_out(a);
  kernel::forward_dynamics<true>(model, work, q_in, v_in, tau_in, effects, a_out);
  tracer.output("a", a);
  return tracer.finish();
}

}  // namespace limb::codegen
