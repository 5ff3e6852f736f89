#include "limb/sim/world/compiled_motion.hpp"

#include <array>

#include "limb/batch/compiled.hpp"
#include "limb/codegen/record/trace_wrenches.hpp"
#include "limb/sim/world/compiled_loops.hpp"

namespace limb {

using codegen::Program;

struct CompiledMotion::Impl {
  Impl(const Model<double>& robot, const CompileOptions& options)
      : model(robot), effects(options.effects) {
    if (robot.loops().empty()) {
      tree = std::make_unique<Compiled>(robot, std::vector{DynamicsFunction::aba}, options);
      return;
    }
    spanning_tree = std::make_unique<Program>(codegen::trace_with_wrenches(robot, {}, effects));
    loops = std::make_unique<CompiledLoops>(robot, effects);
  }

  /// Adds a wrench to the column of its port. @returns false if it has none.
  bool add(const FrameWrench<double>& wrench, WrenchAxes axes) {
    const int at = port_of[static_cast<std::size_t>(axes)][std::size_t(wrench.frame.value())];
    if (at < 0) return false;
    F.col(at) += wrench.F_F.vector();
    return true;
  }

  const Model<double>& model;
  JointEffects effects;
  std::unique_ptr<Compiled> tree;          ///< of a robot without loops
  std::unique_ptr<Program> spanning_tree;  ///< of a robot with loops, without them
  std::unique_ptr<CompiledLoops> loops;    ///< or null
  std::vector<WrenchPort> ports;
  std::unique_ptr<Program> with_wrenches;   ///< null without ports or machine code
  std::array<std::vector<int>, 2> port_of;  ///< port index by axes and frame; -1: none
  MatrixX<double> F;
};

bool CompiledMotion::supports(const Model<double>& model) {
  return model.loops().empty() ||
         (model.coupling().is_identity() && codegen::why_no_machine_code().empty());
}

CompiledMotion::CompiledMotion(const Model<double>& model, const JointEffects& effects) {
  CompileOptions options;
  options.effects = effects;
  impl_ = std::make_unique<Impl>(model, options);
}

CompiledMotion::~CompiledMotion() = default;

void CompiledMotion::set_ports(const std::vector<WrenchPort>& ports) {
  Impl& p = *impl_;
  if (ports == p.ports) return;
  p.ports = ports;
  p.with_wrenches.reset();
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
  p.with_wrenches =
      std::make_unique<Program>(codegen::trace_with_wrenches(p.model, different, p.effects));
}

bool CompiledMotion::accelerate(const RobotState<double>& s, const AppliedLoads& loads,
                                VectorX<double>& a) {
  Impl& p = *impl_;
  const double* const inputs[] = {s.q.data(), s.v.data(), loads.tau.data(), p.F.data()};
  double* const outputs[] = {a.data()};
  if (loads.wrenches.empty() && loads.world_wrenches.empty()) {
    if (p.loops == nullptr) {
      p.tree->aba(s.q, s.v, loads.tau, a);
      return true;
    }
    p.spanning_tree->run(inputs, outputs);
    p.loops->constrain(s, a);
    return true;
  }
  if (p.with_wrenches == nullptr) return false;
  p.F.setZero();
  for (const auto& wrench : loads.wrenches) {
    if (!p.add(wrench, WrenchAxes::frame)) return false;
  }
  for (const auto& wrench : loads.world_wrenches) {
    if (!p.add(wrench, WrenchAxes::world)) return false;
  }
  p.with_wrenches->run(inputs, outputs);
  if (p.loops != nullptr) p.loops->constrain(s, a);
  return true;
}

bool CompiledMotion::close(RobotState<double>& s) {
  return impl_->loops == nullptr || impl_->loops->close(s);
}

}  // namespace limb
