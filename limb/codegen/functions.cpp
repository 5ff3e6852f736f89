#include "limb/codegen/functions.hpp"

#include <algorithm>

#include "limb/base/nearest.hpp"
#include "limb/codegen/differentiate.hpp"
#include "limb/codegen/evaluate_impl.hpp"
#include "limb/dynamics/aba_impl.hpp"
#include "limb/dynamics/center_of_mass_impl.hpp"
#include "limb/dynamics/crba_impl.hpp"
#include "limb/dynamics/frames_impl.hpp"
#include "limb/dynamics/jacobian_impl.hpp"
#include "limb/dynamics/mass_factor_impl.hpp"
#include "limb/dynamics/momentum_impl.hpp"
#include "limb/dynamics/rnea_impl.hpp"
#include "limb/model/model_impl.hpp"

namespace limb {
namespace {

constexpr const char* kNames[kFunctionCount] = {"rnea",
                                                "bias",
                                                "gravity",
                                                "crba",
                                                "aba",
                                                "mass_inverse",
                                                "frame_poses",
                                                "frame_jacobians",
                                                "centroidal",
                                                "operational_space",
                                                "rnea_derivatives",
                                                "aba_derivatives"};

}  // namespace

const char* name(Function function) {
  return kNames[static_cast<int>(function)];
}

Function function_named(std::string_view text) {
  for (int k = 0; k < kFunctionCount; ++k) {
    if (text == kNames[k]) return static_cast<Function>(k);
  }
  const std::vector<std::string> known(std::begin(kNames), std::end(kNames));
  const std::string close = nearest(text, known);
  throw Error("compile: no function is named '" + std::string(text) + "'" +
              (close.empty() ? "" : " (closest: '" + close + "')"));
}

namespace codegen {
namespace {

bool uses_frames(Function f) {
  return f == Function::frame_poses || f == Function::frame_jacobians ||
         f == Function::operational_space;
}

bool uses_canonical(Function f) {
  return !uses_frames(f) && f != Function::centroidal;
}

/// Columns of dq for each tangent direction, in the robot's own coordinates.
std::vector<Direction> tangents(const Model<Traced>& model, const VectorX<Traced>& q) {
  std::vector<Direction> directions(static_cast<std::size_t>(model.velocity_size()));
  const auto move = [&](int direction, int entry, const Traced& derivative) {
    directions[static_cast<std::size_t>(direction)].emplace_back(q[entry].node(),
                                                                 derivative.node());
  };
  // q exp(w): a quaternion moves by q (w, 0) / 2.
  const auto move_quaternion = [&](int v, int x) {
    const Traced half(0.5), a = half * q[x], b = half * q[x + 1], c = half * q[x + 2],
                            d = half * q[x + 3];
    const Traced columns[3][4] = {{d, c, -b, -a}, {-c, d, a, -b}, {b, -a, d, -c}};
    for (int k = 0; k < 3; ++k) {
      for (int r = 0; r < 4; ++r) move(v + k, x + r, columns[k][r]);
    }
  };
  for (std::size_t i = 1; i < model.bodies().size(); ++i) {
    const auto& row = model.coupling().rows()[i - 1];
    if (row.yq < 0 || row.terms.empty()) continue;
    const JointType type = model.bodies()[i].joint.type();
    const int v = row.terms[0].y, x = row.yq;
    switch (type) {
      case JointType::spherical:
        move_quaternion(v, x);
        break;
      case JointType::free: {
        const Matrix3<Traced> R =
            to_matrix(quat_xyzw<Traced>(q[x + 3], q[x + 4], q[x + 5], q[x + 6]));
        for (int c = 0; c < 3; ++c) {
          for (int r = 0; r < 3; ++r) move(v + c, x + r, R(r, c));
        }
        move_quaternion(v + 3, x + 3);
        break;
      }
      case JointType::planar: {  // moves in its own axes
        using std::cos;
        using std::sin;
        const Traced c = cos(q[x + 2]), s = sin(q[x + 2]);
        move(v, x, c);
        move(v, x + 1, s);
        move(v + 1, x, -s);
        move(v + 1, x + 1, c);
        move(v + 2, x + 2, Traced(1));
        break;
      }
      default:
        for (int k = 0; k < row.nv; ++k) move(v + k, x + k, Traced(1));
    }
  }
  return directions;
}

/// The nodes through which a computation can see these values: users of -x or 2 x may use x itself.
std::vector<int> sources_of(const VectorX<Traced>& x) {
  const Graph& graph = Recording::graph();
  std::vector<int> nodes;
  for (const Traced& y : x) {
    int node = y.node();
    for (;;) {
      nodes.push_back(node);
      const Node& n = graph[node];
      if (n.op == Op::neg) {
        node = n.a;
      } else if (n.op == Op::mul && graph.is_constant(n.a)) {
        node = n.b;
      } else {
        break;
      }
    }
  }
  return nodes;
}

std::vector<int> nodes_of(const VectorX<Traced>& x) {
  std::vector<int> nodes;
  for (const Traced& y : x) nodes.push_back(y.node());
  return nodes;
}

/// One column a direction.
MatrixX<Traced> jacobian(const VectorX<Traced>& x, const std::vector<Direction>& directions,
                         const std::vector<int>& fixed = {}) {
  Graph& graph = Recording::graph();
  const std::vector<int> roots = nodes_of(x);
  MatrixX<Traced> J(x.size(), static_cast<Eigen::Index>(directions.size()));
  for (std::size_t c = 0; c < directions.size(); ++c) {
    const std::vector<int> column = differentiate(graph, roots, directions[c], fixed);
    for (std::size_t r = 0; r < column.size(); ++r) {
      J(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(c)) =
          Traced::of_node(graph, column[r]);
    }
  }
  return J;
}

std::vector<Direction> along(const VectorX<Traced>& v) {
  std::vector<Direction> directions;
  for (const Traced& x : v) directions.push_back({{x.node(), Traced(1).node()}});
  return directions;
}

/// A robot whose chosen bodies carry more.
Model<Traced> with_added(const Model<Traced>& model, const FunctionOptions& options,
                         const MatrixX<Traced>& added) {
  Model<Traced> heavier = model;
  for (std::size_t k = 0; k < options.added_inertias.size(); ++k) {
    const auto x = added.col(static_cast<Eigen::Index>(k));
    Matrix3<Traced> tensor;
    tensor << x[4], x[5], x[6], x[5], x[7], x[8], x[6], x[8], x[9];
    heavier = heavier.with_added_inertia(
        options.added_inertias[k],
        Inertia<Traced>(x[0], Vector3<Traced>(x[1], x[2], x[3]), tensor));
  }
  return heavier;
}

}  // namespace

void operational_space_of(const Model<Traced>& model, EvaluateScratch<Traced>& s,
                          const FunctionOptions& options, const VectorX<Traced>& q,
                          MatrixX<Traced>& Lambda, MatrixX<Traced>& J_bar) {
  using T = Traced;
  const int n = model.velocity_size(), rows = 6 * static_cast<int>(options.frames.size());
  factorize_mass<T>(model, s.work, q, s.factor, options.effects);
  s.factor.set_ready(true);
  forward_kinematics<T>(model, q, s.kinematics);
  MatrixX<T> B(n, rows), J(rows, n);
  Matrix6X<T> part(6, n);
  for (std::size_t k = 0; k < options.frames.size(); ++k) {
    frame_jacobian<T>(model, s.kinematics, options.frames[k], options.axes, part);
    for (int r = 0; r < 6; ++r) {
      for (int c = 0; c < n; ++c) {
        B(c, 6 * static_cast<int>(k) + r) = J(6 * static_cast<int>(k) + r, c) = part(r, c);
      }
    }
  }
  solve_mass_columns<T>(s.factor, B, B);
  MatrixX<T> A = J.lazyProduct(B);
  MatrixOut<T> factors(A);
  kernel::factorize_in_place<T>(factors);
  for (int c = 0; c < rows; ++c) {
    VectorX<T> x = VectorX<T>::Constant(rows, T(0));
    x[c] = T(1);
    VectorOut<T> column(x);
    kernel::solve_factorized<T>(factors, column);
    Lambda.col(c) = x;
  }
  J_bar = B.lazyProduct(Lambda);
}

Signature signature(const Model<double>& model, Function function, const FunctionOptions& options) {
  const int nq = model.position_size(), n = model.velocity_size();
  const int k = static_cast<int>(options.frames.size());
  if (uses_frames(function) && k == 0) {
    fail(name(function), "frames", "none", "at least one", "set FunctionOptions::frames");
  }
  // Rows of loops may depend on each other, which only numbers tell: no straight line of code does.
  if (!model.loops().empty() &&
      (function == Function::aba || function == Function::aba_derivatives)) {
    fail("compile", "model", "one with " + std::to_string(model.loops().size()) + " closed loops",
         "a tree for " + std::string(name(function)),
         "limb::aba and limb::constrained_forward_dynamics keep loops closed");
  }
  const Array q{"q", nq}, v{"v", n}, a{"a", n}, tau{"tau", n};
  Signature s;
  switch (function) {
    case Function::rnea:
      s = {{q, v, a}, {tau}};
      break;
    case Function::bias:
      s = {{q, v}, {tau}};
      break;
    case Function::gravity:
      s = {{q}, {tau}};
      break;
    case Function::crba:
      s = {{q}, {{"M", n, n}}};
      break;
    case Function::aba:
      s = {{q, v, tau}, {a}};
      break;
    case Function::mass_inverse:
      s = {{q}, {{"M_inverse", n, n}}};
      break;
    case Function::frame_poses:
      s = {{q}, {{"R", 3, 3 * k}, {"p", 3, k}}};
      break;
    case Function::frame_jacobians:
      s = {{q}, {{"J", 6, n * k}}};
      break;
    case Function::centroidal:
      s = {{q}, {{"A_G", 6, n}, {"com", 3}}};
      break;
    case Function::operational_space:
      s = {{q}, {{"Lambda", 6 * k, 6 * k}, {"J_bar", n, 6 * k}}};
      break;
    case Function::rnea_derivatives:
      s = {{q, v, a}, {{"dtau_dq", n, n}, {"dtau_dv", n, n}}};
      break;
    case Function::aba_derivatives:
      s = {{q, v, tau}, {{"da_dq", n, n}, {"da_dv", n, n}, {"M_inverse", n, n}}};
      break;
  }
  if (!options.added_inertias.empty()) {
    if (!uses_canonical(function)) {
      throw Error(std::string(name(function)) + ": inertias cannot be added to this function");
    }
    s.inputs.push_back({"added", 10, static_cast<int>(options.added_inertias.size())});
  }
  return s;
}

FunctionTracer::FunctionTracer(const Model<double>& model, const FunctionOptions& options)
    : model_(model), options_(options), traced_(model.cast<Traced>()) {}

Trace FunctionTracer::trace(Function function) const {
  const Signature shape = signature(model_, function, options_);
  Tracer tracer(name(function));
  std::vector<VectorX<Traced>> in;
  for (const Array& x : shape.inputs) {
    const MatrixX<Traced> entries = tracer.input(x.name, x.rows, x.cols);
    in.push_back(Eigen::Map<const VectorX<Traced>>(entries.data(), x.size()));
  }
  Model<Traced> heavier;
  const Model<Traced>* model = &traced_;
  if (!options_.added_inertias.empty()) {
    heavier =
        with_added(traced_, options_,
                   Eigen::Map<const MatrixX<Traced>>(in.back().data(), 10, in.back().size() / 10));
    model = &heavier;
  }
  std::vector<MatrixX<Traced>> out;
  for (const Array& x : shape.outputs) out.push_back(MatrixX<Traced>(x.rows, x.cols));
  EvaluateScratch<Traced> scratch(*model);
  std::vector<const Traced*> from;
  std::vector<Traced*> to;
  for (const auto& x : in) from.push_back(x.data());
  for (auto& x : out) to.push_back(x.data());

  const int n = model->velocity_size();
  if (function == Function::rnea_derivatives) {
    VectorX<Traced> tau(n);
    rnea<Traced>(*model, scratch.work, in[0], in[1], in[2], tau, options_.effects);
    out[0] = jacobian(tau, tangents(*model, in[0]));
    out[1] = jacobian(tau, along(in[1]));
  } else if (function == Function::aba_derivatives) {
    // tau(q, v, a(q, v, tau)) = tau: da = -M^-1 dtau at fixed a.
    VectorX<Traced> a(n), tau(n);
    aba<Traced>(*model, scratch.work, in[0], in[1], in[2], a, options_.effects);
    rnea<Traced>(*model, scratch.work, in[0], in[1], a, tau, options_.effects);
    mass_inverse<Traced>(*model, scratch.work, in[0], scratch.factor, out[2], options_.effects);
    const std::vector<int> fixed = sources_of(a);
    out[0] = -out[2].lazyProduct(jacobian(tau, tangents(*model, in[0]), fixed));
    out[1] = -out[2].lazyProduct(jacobian(tau, along(in[1]), fixed));
  } else {
    evaluate<Traced>(*model, function, options_, scratch, from.data(), to.data());
  }
  for (std::size_t k = 0; k < out.size(); ++k) tracer.output(shape.outputs[k].name, out[k]);
  return tracer.finish();
}

Trace trace(const Model<double>& model, Function function, const FunctionOptions& options) {
  return FunctionTracer(model, options).trace(function);
}

}  // namespace codegen
}  // namespace limb
