#include "limb/sim/compiled_motion.hpp"

#include <array>

#include "limb/batch/compiled.hpp"
#include "limb/dynamics/aba_impl.hpp"

namespace limb {
namespace {

using codegen::Program;
using codegen::Tracer;
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

/// q, v, tau and the wrenches at the ports, six numbers each -> a.
codegen::Trace record(const Model<double>& robot, const std::vector<WrenchPort>& ports,
                      const JointEffects& effects) {
  const Model<Traced> model = robot.cast<Traced>();
  const Canonical<Traced>& canonical = model.canonical();
  Workspace<Traced> work(model);
  Tracer tracer("aba_with_wrenches");
  const VectorX<Traced> q = tracer.input("q", model.position_size());
  const VectorX<Traced> v = tracer.input("v", model.velocity_size());
  const VectorX<Traced> tau = tracer.input("tau", model.velocity_size());
  const MatrixX<Traced> F = tracer.input("F", 6, static_cast<int>(ports.size()));

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

}  // namespace

struct CompiledMotion::Parts {
  Parts(const Model<double>& robot, const CompileOptions& options)
      : model(robot), effects(options.effects), plain(robot, {Function::aba}, options) {}

  /// Adds a wrench to the numbers of its port. @returns false if it has none.
  bool add(const FrameWrench<double>& wrench, WrenchAxes axes) {
    const int at = port_of[static_cast<std::size_t>(axes)][std::size_t(wrench.frame.value())];
    if (at < 0) return false;
    F.col(at) += wrench.F_F.vector();
    return true;
  }

  const Model<double>& model;
  JointEffects effects;
  Compiled plain;
  std::vector<WrenchPort> ports;
  std::unique_ptr<Program> pushed;          ///< if there are ports, and machine code
  std::array<std::vector<int>, 2> port_of;  ///< of each frame, for both axes; -1: none
  MatrixX<double> F;
};

CompiledMotion::CompiledMotion(const Model<double>& model, const JointEffects& effects) {
  CompileOptions options;
  options.effects = effects;
  parts_ = std::make_unique<Parts>(model, options);
}

CompiledMotion::~CompiledMotion() = default;

void CompiledMotion::set_ports(const std::vector<WrenchPort>& ports) {
  Parts& p = *parts_;
  if (ports == p.ports) return;
  p.ports = ports;
  p.pushed.reset();
  std::vector<WrenchPort> different;
  for (auto& table : p.port_of) table.assign(p.model.frames().size(), -1);
  for (const WrenchPort& port : ports) {
    int& at = p.port_of[static_cast<std::size_t>(port.axes)][std::size_t(port.frame.value())];
    if (at >= 0) continue;
    at = static_cast<int>(different.size());
    different.push_back(port);
  }
  p.F.setZero(6, static_cast<Eigen::Index>(different.size()));
  if (different.empty() || !codegen::why_no_machine_code().empty()) return;
  p.pushed = std::make_unique<Program>(record(p.model, different, p.effects));
}

bool CompiledMotion::accelerate(const State<double>& s, const Loads& loads, VectorX<double>& a) {
  Parts& p = *parts_;
  if (loads.wrenches.empty() && loads.world_wrenches.empty()) {
    p.plain.aba(s.q, s.v, loads.tau, a);
    return true;
  }
  if (p.pushed == nullptr) return false;
  p.F.setZero();
  for (const auto& wrench : loads.wrenches) {
    if (!p.add(wrench, WrenchAxes::frame)) return false;
  }
  for (const auto& wrench : loads.world_wrenches) {
    if (!p.add(wrench, WrenchAxes::world)) return false;
  }
  const double* const inputs[] = {s.q.data(), s.v.data(), loads.tau.data(), p.F.data()};
  double* const outputs[] = {a.data()};
  p.pushed->run(inputs, outputs);
  return true;
}

}  // namespace limb
