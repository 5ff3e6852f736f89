#include "limb/symbolic/derive/recursive_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "limb/dynamics/recursive/crba_impl.hpp"
#include "limb/dynamics/recursive/rnea_impl.hpp"
#include "limb/model/core/model_impl.hpp"
#include "limb/symbolic/derive/exact_description.hpp"
#include "limb/symbolic/derive/templates.hpp"

namespace limb::symbolic {
namespace {

using T = Traced;
using Op = TapeNode::Op;

VectorX<T> inputs(const char* letter, int n) {
  VectorX<T> x(n);
  for (int i = 0; i < n; ++i) x[i] = T::input(fmt::format("{}{}", letter, i + 1));
  return x;
}

void add_output(RecursiveForm& form, const std::string& name, const MatrixX<T>& value) {
  RecursiveForm::Output output{
      name, static_cast<int>(value.rows()), static_cast<int>(value.cols()), {}};
  for (Eigen::Index i = 0; i < value.rows(); ++i) {
    for (Eigen::Index j = 0; j < value.cols(); ++j) output.nodes.push_back(value(i, j).node());
  }
  form.outputs.push_back(std::move(output));
}

/// Coulomb friction of the joints, as in kernel::add_velocity_torques, without a branch.
void add_friction(const Model<T>& model, const VectorX<T>& v, VectorX<T>& tau) {
  const VectorX<T> all = model.coupling().expand_velocity(v);
  VectorX<T> forces = VectorX<T>::Constant(model.uncoupled_nv(), T(0));
  for (const Body<T>& body : model.bodies()) {
    for (int k = 0; k < body.joint.nv(); ++k) {
      const int at = body.v_start + k;
      forces[at] = body.friction * sign(all[at]);
    }
  }
  tau += model.coupling().reduce_force(forces);
}

/// Runs the recursive algorithms on the traced model.
void record(const Model<T>& model, const RecursiveOptions& options, RecursiveForm& form) {
  form.nq = model.nq();
  form.nv = model.nv();
  const VectorX<T> q = inputs("q", form.nq), v = inputs("qd", form.nv), a = inputs("qdd", form.nv);
  const JointEffects effects{.armature = true, .damping = true, .friction = false};
  Workspace<T> work(model);
  const VectorX<T> zero = VectorX<T>::Constant(form.nv, T(0));
  VectorX<T> G = zero, h = zero, tau = zero;
  if (options.V || options.G) gravity(model, work, q, G);
  if (options.M) {
    MatrixX<T> M = MatrixX<T>::Constant(form.nv, form.nv, T(0));
    crba(model, work, q, M);
    add_output(form, "M", M);
  }
  if (options.V) {
    rnea(model, work, q, v, zero, h, JointEffects::none());
    add_output(form, "V", VectorX<T>(h - G));
  }
  if (options.G) add_output(form, "G", G);
  if (options.tau) {
    rnea(model, work, q, v, a, tau, effects);
    add_friction(model, v, tau);
    form.friction = std::any_of(model.bodies().begin(), model.bodies().end(), [](const auto& b) {
      return !b.friction.is_constant() || b.friction.constant() != 0;
    });
    add_output(form, "tau", tau);
  }
}

bool has_manifold_joint(const Model<double>& model) {
  return std::any_of(model.bodies().begin(), model.bodies().end(), [](const Body<double>& body) {
    const JointType type = body.joint.type();
    return type == JointType::free || type == JointType::planar || type == JointType::spherical;
  });
}

/// The nodes that the outputs depend on.
std::vector<bool> needed(const RecursiveForm& form) {
  std::vector<bool> need(form.tape.nodes().size(), false);
  for (const auto& output : form.outputs) {
    for (const int node : output.nodes) need[static_cast<std::size_t>(node)] = true;
  }
  for (std::size_t i = need.size(); i-- > 0;) {
    if (!need[i]) continue;
    const TapeNode& n = form.tape.nodes()[i];
    if (n.a >= 0) need[static_cast<std::size_t>(n.a)] = true;
    if (n.b >= 0) need[static_cast<std::size_t>(n.b)] = true;
  }
  return need;
}

bool is_assignment(const TapeNode& n) {
  return n.op != Op::input && n.op != Op::constant;
}

}  // namespace

std::size_t RecursiveForm::size() const {
  const std::vector<bool> need = needed(*this);
  std::size_t count = 0;
  for (std::size_t i = 0; i < need.size(); ++i)
    count += need[i] && is_assignment(tape.nodes()[i]) ? 1 : 0;
  return count;
}

RecursiveForm derive_recursive(const std::string& path, const RecursiveOptions& options) {
  Description<double> description = load_description(path, options.robot.read);
  if (!description.loops.empty()) {
    throw Error(fmt::format(
        "symbolic: loop '{}' connects '{}' and '{}': recursive forms exist only for "
        "open chains and trees",
        description.loops[0].name, description.loops[0].link_a, description.loops[0].link_b));
  }
  for (const auto& coupling : description.couplings) {
    if (!coupling.is_polynomial()) continue;
    throw Error(fmt::format(
        "symbolic: joint '{}' follows a polynomial of another joint: recursive forms exist only "
        "for linear couplings",
        coupling.joint));
  }
  RecursiveForm form;
  const Recording recording(form.tape);
  const Model<double> model = build_model(description, options.robot.base);
  const bool plain = options.robot.parameters == Parameters::numbers ||
                     (options.robot.parameters == Parameters::named && has_manifold_joint(model));
  if (plain) {
    form.robot = model.name();
    snap_rotations(description, form.notes);
    record(build_model(description, options.robot.base).cast<T>(), options, form);
    return form;
  }
  const Robot robot = load_robot(path, options.robot);
  form.robot = robot.model.name();
  form.notes = robot.notes;
  record(robot.model.cast<T>(), options, form);
  const std::vector<bool> need = needed(form);
  for (const Symbol& s : robot.ring->symbols()) {
    if (s.kind != Symbol::Kind::parameter) continue;
    const auto used = [&](const auto& entry) {
      return entry.second == s.name && need[static_cast<std::size_t>(entry.first)];
    };
    if (std::none_of(form.tape.names().begin(), form.tape.names().end(), used)) continue;
    form.parameters.push_back(s.name);
    form.defaults.push_back(s.value.value_or(0));
  }
  return form;
}

std::vector<std::vector<double>> evaluate(const RecursiveForm& form,
                                          const std::unordered_map<std::string, double>& values) {
  const std::vector<TapeNode>& nodes = form.tape.nodes();
  const std::vector<bool> need = needed(form);
  std::vector<double> x(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!need[i]) continue;
    const TapeNode& n = nodes[i];
    const double a = n.a < 0 ? 0 : x[static_cast<std::size_t>(n.a)];
    const double b = n.b < 0 ? 0 : x[static_cast<std::size_t>(n.b)];
    switch (n.op) {
      case Op::input:
        x[i] = values.at(form.tape.names().at(static_cast<int>(i)));
        break;
      case Op::constant:
        x[i] = n.value;
        break;
      case Op::negate:
        x[i] = -a;
        break;
      case Op::add:
        x[i] = a + b;
        break;
      case Op::subtract:
        x[i] = a - b;
        break;
      case Op::multiply:
        x[i] = a * b;
        break;
      case Op::divide:
        x[i] = a / b;
        break;
      case Op::sin:
        x[i] = std::sin(a);
        break;
      case Op::cos:
        x[i] = std::cos(a);
        break;
      case Op::sqrt:
        x[i] = std::sqrt(a);
        break;
      case Op::sign:
        x[i] = (a > 0) - (a < 0);
        break;
    }
  }
  std::vector<std::vector<double>> results;
  for (const auto& output : form.outputs) {
    auto& result = results.emplace_back();
    for (const int node : output.nodes) result.push_back(x[static_cast<std::size_t>(node)]);
  }
  return results;
}

}  // namespace limb::symbolic
