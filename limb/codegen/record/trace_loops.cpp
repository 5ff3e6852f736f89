#include "limb/codegen/record/trace_loops.hpp"

#include "limb/codegen/record/function_tracer.hpp"
#include "limb/dynamics/factor/mass_factor_impl.hpp"
#include "limb/dynamics/kinematics/forward_kinematics_impl.hpp"
#include "limb/dynamics/kinematics/frames_impl.hpp"
#include "limb/dynamics/kinematics/jacobian_impl.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/recursive/workspace_impl.hpp"
#include "limb/math/polynomial.hpp"

namespace limb::codegen {
namespace {

using T = Traced;
constexpr FrameAxes kAxes = FrameAxes::local_world_aligned;

/// A loop: its two frames, the joints between them, and its number of rows. Common ancestors do not
/// move one frame against the other; they stay in the neutral configuration.
struct LoopFrames {
  const Loop<double>* loop;
  AnyFrame<T> a, b;
  int rows;
  std::vector<bool> between;  ///< for each body
};

/// A polynomial coupling at a configuration: p at q_a, and its indices in q and v.
struct TracedPolynomial {
  TracedPolynomial(const Model<double>& robot, const Loop<double>& loop, const VectorX<T>& q)
      : a(robot.body(loop.body_a)), b(robot.body(loop.body_b)) {
    std::vector<T> c;
    for (const double x : loop.polynomial) c.push_back(T(x));
    p = evaluate_polynomial<T>(c, q[a.q_start]);
    error = q[b.q_start] - p.value;
  }
  const Body<double>&a, &b;
  PolynomialValue<T> p;
  T error;
};

std::vector<LoopFrames> loop_frames(const Model<double>& model) {
  std::vector<LoopFrames> all;
  for (const Loop<double>& loop : model.loops()) {
    LoopFrames frames{&loop, AnyFrame<T>(loop.body_a, loop.X_AL.cast<T>()),
                      AnyFrame<T>(loop.body_b, loop.X_BL.cast<T>()), loop.rows(),
                      std::vector<bool>(model.bodies().size(), false)};
    for (const BodyId end : {loop.body_a, loop.body_b}) {
      for (int i = end.value(); i > 0; i = model.bodies()[std::size_t(i)].parent.value()) {
        frames.between[std::size_t(i)] =
            !frames.between[std::size_t(i)];  // on one of the two paths, not on both
      }
    }
    all.push_back(std::move(frames));
  }
  return all;
}

int rows_of(const std::vector<LoopFrames>& all) {
  int rows = 0;
  for (const LoopFrames& loop : all) rows += loop.rows;
  return rows;
}

/// The arguments, with constants for joints that are not between the two frames.
struct MaskedState {
  MaskedState(const Model<double>& robot, const LoopFrames& loop, const VectorX<T>& q_all,
              const VectorX<T>& v_all)
      : q(q_all.size()), v(robot.nv()) {
    VectorX<double> rest(robot.nq());
    neutral<double>(robot, rest);
    for (std::size_t i = 1; i < robot.bodies().size(); ++i) {
      const Body<double>& body = robot.bodies()[i];
      for (int k = body.q_start; k < body.q_start + body.joint.nq(); ++k) {
        q[k] = loop.between[i] ? q_all[k] : T(rest[k]);
      }
      for (int k = body.v_start; k < body.v_start + body.joint.nv(); ++k) {
        v[k] = loop.between[i] && v_all.size() > 0 ? v_all[k] : T(0);
        if (loop.between[i]) columns.push_back(k);
      }
    }
  }
  VectorX<T> q, v;
  std::vector<int> columns;
};

/// For a small rotation, half the sum of the cross products of the axes.
VectorX<T> error_of(const Model<T>& model, const Kinematics<T>& k, const LoopFrames& loop) {
  VectorX<T> e(loop.rows);
  const Pose<T> X_WA = frame_pose<T>(model, k, loop.a), X_WB = frame_pose<T>(model, k, loop.b);
  e.head<3>() = X_WB.p - X_WA.p;
  if (loop.rows == 6) {
    Vector3<T> rotation = X_WA.R.col(0).cross(X_WB.R.col(0));
    rotation = rotation + X_WA.R.col(1).cross(X_WB.R.col(1));
    rotation = rotation + X_WA.R.col(2).cross(X_WB.R.col(2));
    e.tail<3>() = rotation * T(0.5);
  }
  return e;
}

}  // namespace

LoopTraces trace_loops(const Model<double>& robot, const JointEffects& effects) {
  if (robot.loops().empty()) fail("trace_loops", "model", "a tree", "a robot with loops");
  if (!robot.coupling().is_identity()) {
    fail("trace_loops", "model", "one with couplings", "one without");
  }
  const Model<T> model = robot.cast<T>();
  const std::vector<LoopFrames> loops = loop_frames(robot);
  const int n = model.nv(), m = rows_of(loops);
  Kinematics<T> k(model);
  LoopTraces traces;
  for (const LoopFrames& loop : loops) {
    for (int r = 0; r < loop.rows; ++r) {
      const int last = traces.row_groups.empty() ? -1 : traces.row_groups.back();
      traces.row_groups.push_back(r % 3 == 0 ? last + 1 : last);
    }
  }
  const auto is_polynomial = [](const LoopFrames& loop) {
    return loop.loop->kind == LoopKind::polynomial;
  };
  {
    Tracer tracer("loop_error");
    const VectorX<T> q = tracer.input("q", model.nq());
    VectorX<T> e(m);
    int at = 0;
    for (const LoopFrames& loop : loops) {
      if (is_polynomial(loop)) {
        e[at++] = TracedPolynomial(robot, *loop.loop, q).error;
        continue;
      }
      forward_kinematics<T>(model, MaskedState(robot, loop, q, {}).q, k);
      e.segment(at, loop.rows) = error_of(model, k, loop);
      at += loop.rows;
    }
    tracer.output("e", e);
    traces.error = tracer.finish();
  }
  {
    Tracer tracer("loop_matrix");
    const VectorX<T> q = tracer.input("q", model.nq());
    VectorX<T> e(m);
    MatrixX<T> J = MatrixX<T>::Constant(m, n, T(0)), B = MatrixX<T>::Constant(n, m, T(0)), A(m, m);
    Matrix6X<T> J_a(6, n), J_b(6, n);
    int at = 0;
    for (const LoopFrames& loop : loops) {
      if (is_polynomial(loop)) {
        const TracedPolynomial joints(robot, *loop.loop, q);
        e[at] = joints.error;
        B(joints.b.v_start, at) = J(at, joints.b.v_start) = T(1);
        B(joints.a.v_start, at) = J(at, joints.a.v_start) = -joints.p.first;
        ++at;
        continue;
      }
      const MaskedState masked(robot, loop, q, {});
      forward_kinematics<T>(model, masked.q, k);
      e.segment(at, loop.rows) = error_of(model, k, loop);
      frame_jacobian<T>(model, k, loop.a, kAxes, J_a);
      frame_jacobian<T>(model, k, loop.b, kAxes, J_b);
      for (int r = 0; r < loop.rows; ++r) {
        for (const int c : masked.columns) {
          B(c, at + r) = J(at + r, c) = J_b(r, c) - J_a(r, c);
        }
      }
      at += loop.rows;
    }
    Workspace<T> work(model, Loops::open);
    MassFactor<T> factor(model);
    factorize_mass<T>(model, work, q, factor, effects);
    factor.set_ready(true);
    solve_mass_columns<T>(factor, B, B);
    for (int r = 0; r < m; ++r) {
      for (int c = 0; c <= r; ++c) {
        T sum = T(0);
        for (int i = 0; i < n; ++i) sum = sum + J(r, i) * B(i, c);
        A(r, c) = A(c, r) = sum;
      }
    }
    tracer.output("e", e);
    tracer.output("J", J);
    tracer.output("B", B);
    tracer.output("A", A);
    traces.matrix = tracer.finish();
  }
  {
    Tracer tracer("loop_drift");
    const VectorX<T> q = tracer.input("q", model.nq());
    const VectorX<T> v = tracer.input("v", n);
    VectorX<T> c(m);
    int at = 0;
    for (const LoopFrames& loop : loops) {
      if (is_polynomial(loop)) {
        const TracedPolynomial joints(robot, *loop.loop, q);
        const T rate = v[joints.a.v_start];
        c[at++] = -joints.p.second * rate * rate;
        continue;
      }
      const MaskedState masked(robot, loop, q, v);
      forward_kinematics<T>(model, masked.q, masked.v, k);
      const auto bias = [&](const AnyFrame<T>& frame) {
        return frame_bias_acceleration<T>(model, k, frame, kAxes, AccelerationKind::classical);
      };
      const Motion<T> A_a = bias(loop.a), A_b = bias(loop.b);
      c.segment<3>(at) = A_b.v - A_a.v;
      if (loop.rows == 6) c.segment<3>(at + 3) = A_b.w - A_a.w;
      at += loop.rows;
    }
    tracer.output("c", c);
    traces.drift = tracer.finish();
  }
  return traces;
}

}  // namespace limb::codegen
