#pragma once

#include <Eigen/LU>

#include "limb/sim/integrate/implicit_midpoint.hpp"
#include "limb/sim/integrate/step_end.hpp"

namespace limb {

// Symbols: z = (v, x) at the midpoint, z0 at the start, f the rates of z; q = q0 moved by h v / 2.
//   r(z) = z - z0 - h/2 f(t + h/2, q, z) = 0,   z1 = 2 z - z0,   q1 = q0 moved by h v
template <Real T>
struct ImplicitMidpoint<T>::Memory {
  explicit Memory(const ConfigurationSpace<T>& s) : space(s) {}

  ConfigurationSpace<T> space;
  RobotState<T> start;           ///< of the step
  RobotState<T> before, middle;  ///< of a part of it
  VectorX<T> a, dx, u, r, r0, z;
  MatrixX<T> J;
  Eigen::PartialPivLU<MatrixX<T>> factor;
  T h_of_factor = T(0);  ///< 0: no factor
  Equation<T>* equation = nullptr;
};

template <Real T>
ImplicitMidpoint<T>::ImplicitMidpoint(const ConfigurationSpace<T>& space, int extra, const T& step)
    : step_(step) {
  check_positive("ImplicitMidpoint", "step", double(step));
  const int n = space.nv();
  memory_.reset(new Memory(space));
  Memory& m = *memory_;
  m.a = m.u = VectorX<T>::Zero(n);
  m.dx = VectorX<T>::Zero(extra);
  m.z = m.r = m.r0 = VectorX<T>::Zero(n + extra);
  m.before.q.resize(space.nq());
  m.before.v = m.a;
  m.before.x = m.dx;
  m.start = m.middle = m.before;
  m.J.setIdentity(n + extra, n + extra);
  m.factor = Eigen::PartialPivLU<MatrixX<T>>(n + extra);
}

template <Real T>
ImplicitMidpoint<T>::~ImplicitMidpoint() = default;

template <Real T>
void ImplicitMidpoint<T>::residual(Equation<T>& equation, const T& h) {
  Memory& m = *memory_;
  const Eigen::Index n = m.a.size();
  m.middle.v = m.z.head(n);
  m.middle.x = m.z.tail(m.dx.size());
  m.u = (h / 2) * m.middle.v;
  m.space.move(m.before.q, m.u, m.middle.q);
  equation.rates(m.middle, m.a, m.dx);
  m.r.head(n) = m.middle.v - m.before.v - (h / 2) * m.a;
  m.r.tail(m.dx.size()) = m.middle.x - m.before.x - (h / 2) * m.dx;
}

template <Real T>
void ImplicitMidpoint<T>::differentiate(Equation<T>& equation, const T& h) {
  Memory& m = *memory_;
  residual(equation, h);
  m.r0 = m.r;
  for (Eigen::Index j = 0; j < m.z.size(); ++j) {
    const T z = m.z[j], d = std::sqrt(epsilon<T>()) * (T(1) + std::abs(z));
    m.z[j] = z + d;
    residual(equation, h);
    m.J.col(j) = (m.r - m.r0) / d;
    m.z[j] = z;
  }
  m.factor.compute(m.J);
  m.h_of_factor = h;
}

/// Newton steps with the present matrix; false if they do not converge fast enough.
template <Real T>
bool ImplicitMidpoint<T>::solve(Equation<T>& equation, const T& h) {
  Memory& m = *memory_;
  T before = std::numeric_limits<T>::infinity();
  constexpr int kIterations = 25;
  for (int i = 0; i < kIterations; ++i) {
    residual(equation, h);
    m.r0 = m.factor.solve(m.r);
    m.z -= m.r0;
    const T size = m.r0.template lpNorm<Eigen::Infinity>();
    const T scale = T(1) + m.z.template lpNorm<Eigen::Infinity>();
    if (!std::isfinite(size)) return false;
    // Converged at a few roundings; above, each step must be at most half of the last one.
    if (size <= T(4) * epsilon<T>() * scale) return true;
    if (size > before / 2) return size <= T(1024) * epsilon<T>() * scale;
    before = size;
  }
  return false;
}

/// A step of length h from s, or a part of one; false, with s unchanged, if Newton's method does
/// not converge.
template <Real T>
bool ImplicitMidpoint<T>::try_step(Equation<T>& equation, RobotState<T>& s, const T& h) {
  Memory& m = *memory_;
  const Eigen::Index n = m.a.size();
  copy_state(s, m.before);
  m.middle.t = s.t + h / 2;
  m.z.head(n) = s.v;
  m.z.tail(m.dx.size()) = s.x;
  bool done = m.h_of_factor == h && solve(equation, h);
  constexpr int kMatrices = 5;
  for (int i = 0; i < kMatrices && !done; ++i) {
    if (i == 0 || !m.z.allFinite()) {
      m.z.head(n) = s.v;
      m.z.tail(m.dx.size()) = s.x;
    }
    differentiate(equation, h);
    done = solve(equation, h);
  }
  if (!done) return false;
  accept(equation, s, h);
  return true;
}

/// The end of a step of length h with the velocities z in its middle.
template <Real T>
void ImplicitMidpoint<T>::accept(Equation<T>& equation, RobotState<T>& s, const T& h) {
  Memory& m = *memory_;
  const Eigen::Index n = m.a.size();
  m.middle.v = m.z.head(n);
  equation.end_part(h, m.middle.v, s.t == m.start.t);
  m.u = h * m.z.head(n);
  m.space.move(m.before.q, m.u, s.q);
  s.v = T(2) * m.z.head(n) - m.before.v;
  s.x = T(2) * m.z.tail(m.dx.size()) - m.before.x;
  s.t = m.before.t + h;
}

/// Where a force is discontinuous, such as the damper of a stop that is reached within the step,
/// the equations may have no solution. The step is then bisected towards the discontinuity, and the
/// short step across it is linearly implicit: one Newton step, which always exists and keeps stiff
/// forces stable.
template <Real T>
void ImplicitMidpoint<T>::step(Equation<T>& equation, RobotState<T>& s, const T& h) {
  Memory& m = *memory_;
  copy_state(s, m.start);
  if (try_step(equation, s, h)) return;
  m.h_of_factor = T(0);
  constexpr int kParts = 64;
  const T part = h / T(kParts);
  int left = kParts;
  while (left > 0) {
    // The longest power of two of parts that converges.
    int parts = left;
    while ((parts & (parts - 1)) != 0) parts &= parts - 1;
    bool done = false;
    for (; parts > 0 && !done; parts /= 2) {
      done = try_step(equation, s, T(parts) * part);
      if (done) left -= parts;
    }
    if (done) continue;
    m.z.head(m.a.size()) = s.v;
    m.z.tail(m.dx.size()) = s.x;
    differentiate(equation, part);
    m.z -= m.factor.solve(m.r0);
    if (!m.z.allFinite()) fail_motion("implicit-midpoint", double(s.t));
    accept(equation, s, part);
    --left;
    ++linear_steps_;
  }
  m.h_of_factor = T(0);
}

template <Real T>
void ImplicitMidpoint<T>::advance(Equation<T>& equation, RobotState<T>& s, const T& t_end) {
  memory_->equation = &equation;
  const auto [h, t] = next_step(s.t, step_, t_end);
  step(equation, s, h);
  s.t = t;
}

template <Real T>
void ImplicitMidpoint<T>::state_at(const T& t, RobotState<T>& s) {
  copy_state(memory_->start, s);
  step(*memory_->equation, s, t - s.t);
  s.t = t;
}

}  // namespace limb
