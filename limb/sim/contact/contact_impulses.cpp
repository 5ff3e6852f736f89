// The impulses of a step: those of what touches, over the whole step, and then those of what lands
// in it, each at its moment.
#include <algorithm>
#include <cmath>

#include "limb/sim/contact/contacts.hpp"
#include "limb/sim/sticking_joints.hpp"

namespace limb {
namespace {

using Vector = Vector3<double>;

/// m/s; the wish of a contact that is not there yet: nothing comes in faster.
constexpr double kNotYet = -1e3;
/// Of a sum over contacts.
constexpr double kRounding = 64 * std::numeric_limits<double>::epsilon();

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

/// What each row's velocity shall at least be, and with it b; the softness of springs.
void Contacts::set_targets(double h, const StickingJoints* joints, int joint_rows) {
  const ContactParameters& parameters = setup_.parameters;
  const int n = static_cast<int>(candidates_.size());
  for (int c = 0; c < n; ++c) {
    Candidate& now = candidates_[at(c)];
    const int i = 3 * c;
    const double gap = now.point.gap;
    now.height = gap;
    now.softness = 0;
    now.lands = now.bounces = false;
    if (std::isfinite(parameters.stiffness)) {
      // p = h (-k (gap + h u) - c u): the spring and the damper at the end of the step.
      const double stiff = h * parameters.stiffness + parameters.damping;
      now.softness = 1 / (h * stiff);
      now.target = -parameters.stiffness * gap / stiff;
    } else {
      // No deeper than the surface at the end of the step. What lands fast does so on its own; what
      // comes in fast and is there already is thrown back.
      const bool fast = -u_begin_[i] > parameters.restitution_speed;
      now.lands = fast && gap > 0 && gap + h * std::min(u_begin_[i], u_free_[i]) < 0;
      now.target = now.lands ? kNotYet : -std::max(gap, 0.0) / h;
      now.bounces = fast && gap <= 0 && now.restitution > 0 && gap + h * u_free_[i] < 0;
      if (now.bounces) now.target = std::max(now.target, -now.restitution * u_begin_[i]);
    }
    solver_.A(i, i) += now.softness;
    solver_.b[i] = u_free_[i] - now.target;
    solver_.b[i + 1] = u_free_[i + 1];
    solver_.b[i + 2] = u_free_[i + 2];
    solver_.mu[c] = now.point.friction;
  }
  for (int r = 0; r < joint_rows; ++r) {
    // With loops the velocity differs from the one that the joints know.
    solver_.b[3 * n + r] = joints->wish(r) + u_free_[3 * n + r] - joints->end_velocity(r);
    solver_.lower[r] = joints->lower(r);
    solver_.upper[r] = joints->upper(r);
  }
}

/// Impulses of the last step, for the same places.
void Contacts::warm_start(double h, const StickingJoints* joints, int joint_rows) {
  const int n = static_cast<int>(candidates_.size());
  std::size_t from = 0;
  for (int c = 0; c < n; ++c) {
    const Candidate& now = candidates_[at(c)];
    Vector p = Vector::Zero();
    // Both lists come from the same order of pairs: the search seldom goes far.
    for (std::size_t k = 0; k < points_.size(); ++k) {
      const ContactPoint& last = points_[(from + k) % points_.size()];
      if (last.shape != now.point.shape || last.other != now.point.other ||
          last.feature != now.point.feature) {
        continue;
      }
      p = h * (now.axes_W.transpose() * last.force_W);
      from += k + 1;
      break;
    }
    p[0] = std::max(p[0], 0.0);
    const double size = std::hypot(p[1], p[2]), bound = now.point.friction * p[0];
    if (size > bound) p.tail<2>() *= bound / size;
    solver_.p.segment<3>(3 * c) = p;
  }
  for (int r = 0; r < joint_rows; ++r) {
    const double last = step_ > 0 ? joint_impulse_[joints->row(r)] * h / step_ : 0;
    solver_.p[3 * n + r] = std::clamp(last, joints->lower(r), joints->upper(r));
  }
}

/// Solves the problem that is set, at that time of the step, and adds its impulses. Newton's
/// restitution at several places with friction may ask for more energy than there is; then nothing
/// bounces.
void Contacts::solve_problem(double h, double time, int joint_rows) {
  const int n = static_cast<int>(candidates_.size()), size = 3 * n + joint_rows;
  ContactReport& report = pending_report_;
  const auto change = [&](int i) {  // of the velocity
    const double soft = i < 3 * n && i % 3 == 0 ? candidates_[at(i / 3)].softness : 0;
    return solver_.velocity()[i] - solver_.b[i] - soft * solver_.p[i];
  };
  bool bounces = false;
  for (const Candidate& now : candidates_) bounces |= now.bounces;
  ConeSolver::Report solved;
  double energy = 0, moment = 0;
  while (true) {
    solved = solver_.solve(setup_.parameters.solver);
    report.sweeps += solved.sweeps;
    report.newton_steps += solved.newton_steps;
    // What the impulses add to the motion without them: p (u_free + u_end) / 2, of what bounces at
    // its moment, not in the middle of the step.
    moment = bounces ? time - h / 2 : 0;
    double rounding = 0;
    energy = 0;
    for (int i = 0; i < size; ++i) {
      const double work = solver_.p[i] * (u_free_[i] + drift_[i] * moment + change(i) / 2);
      energy += work;
      rounding += kRounding * std::abs(solver_.p[i] * u_free_[i]);
    }
    if (!bounces || energy <= rounding) break;
    bounces = false;
    for (int c = 0; c < n; ++c) {
      Candidate& now = candidates_[at(c)];
      if (now.bounces) now.target = 0;
      now.bounces = false;
      solver_.b[3 * c] = u_free_[3 * c] - now.target;
    }
  }
  report.residual = std::max(report.residual, solved.residual);
  report.converged &= solved.converged;
  report.impulse_energy += energy;
  for (int i = 0; i < size; ++i) {
    const double p = solver_.p[i];
    u_end_[i] = u_free_[i] + change(i);
    // All forces together change the kinetic energy by their sum of p (u_begin + u_end) / 2.
    const double work = p * ((u_begin_[i] + u_end_[i]) / 2 + drift_[i] * moment);
    (i < 3 * n ? report.dissipated : report.joints_dissipated) -= work;
    impulse_[i] += p;
    late_[i] += time * p;
    if (i < 3 * n && i % 3 == 0) {
      const double power = std::abs(p * solver_.velocity()[i]) / h;
      report.complementarity = std::max(report.complementarity, power);
    }
  }
}

/// Impulses of what touches act from the begin of the step on. What comes down fast in between
/// would share its impact between this step and the next if it were one of them, with other
/// contacts as they were before it, and the motion would hang on the share. So it is left out at
/// first, and then meets the ground at its moment: one problem of all contacts for each landing.
void Contacts::solve_step(double h, const StickingJoints* joints, int joint_rows) {
  constexpr int kMostLandings = 4;  // of a step; more come down as slow things do
  set_targets(h, joints, joint_rows);
  warm_start(h, joints, joint_rows);
  impulse_.setZero();
  late_.setZero();
  drift_.setZero();
  const auto size = 3 * static_cast<Eigen::Index>(candidates_.size()) + joint_rows;
  solve_problem(h, 0, joint_rows);
  drift_.head(size) = (u_end_ - u_begin_).head(size) / h;
  double time = 0;
  for (int k = 1; k <= kMostLandings; ++k) {
    const double last = time;
    time = next_landing(h, last);
    if (!(time < h)) break;
    set_landing(h, last, time, k == kMostLandings, joint_rows);
    solve_problem(h, time, joint_rows);
  }
}

/// Velocity of a gap at a time of the step. Between landings positions move with the velocities of
/// the step's end; what bounces falls on the parabola for which, in the leapfrog method, they are
/// those in the middle.
double Contacts::closing(int c, double h, double time) const {
  return u_end_[3 * c] + drift(c) * (time - h / 2);
}
double Contacts::drift(int c) const {
  return candidates_[at(c)].restitution > 0 ? drift_[3 * c] : 0;
}

/// @returns h if nothing lands any more.
double Contacts::next_landing(double h, double last) {
  double first = h;
  for (int c = 0; c < static_cast<int>(candidates_.size()); ++c) {
    Candidate& now = candidates_[at(c)];
    now.landing = std::numeric_limits<double>::infinity();
    const double left = h - last, u = closing(c, h, last), a = drift(c);
    if (!now.lands || now.height + (u + a * left / 2) * left >= 0) continue;
    // The first root of height + u t + a t^2 / 2, which begins above zero and ends below.
    const double root = std::sqrt(std::max(u * u - 2 * a * now.height, 0.0));
    const double t = u < 0 ? 2 * now.height / (root - u) : -(u + root) / a;
    now.landing = last + std::clamp(t, 0.0, left);
    first = std::min(first, now.landing);
  }
  return first;
}

/// The problem of what lands at that time, or next to it. All that touches takes part.
void Contacts::set_landing(double h, double last, double time, bool all, int joint_rows) {
  constexpr double kTogether = 0.01;  // of the step
  const double left = std::max(h - time, kTogether * h);
  const int n = static_cast<int>(candidates_.size()), size = 3 * n + joint_rows;
  for (int c = 0; c < n; ++c) {
    Candidate& now = candidates_[at(c)];
    const double t = time - last, u = closing(c, h, time);
    now.height = std::max(now.height + (closing(c, h, last) + u) / 2 * t, 0.0);
    now.bounces = false;
    if (now.landing <= time + kTogether * h) {
      now.lands = false;
      now.target = 0;
      now.bounces = now.restitution > 0 && -u > setup_.parameters.restitution_speed;
      if (now.bounces) {
        now.target = std::max(-now.restitution * u - drift(c) * (time - h / 2), 0.0);
      }
    } else if (now.lands && !all) {
      now.target = kNotYet;
    } else {  // What is pressed on stays so; the rest ends no deeper than the surface.
      const bool pressed = impulse_[3 * c] > 0 && u_end_[3 * c] <= 0;
      now.target = pressed ? u_end_[3 * c] : -now.height / left;
    }
    solver_.b.segment<3>(3 * c) = u_end_.segment<3>(3 * c);
    solver_.b[3 * c] -= now.target;
  }
  for (int r = 0; r < joint_rows; ++r) {
    solver_.b[3 * n + r] = solver_.velocity()[3 * n + r];
    // Friction that has done its part adds what is left of it.
    if (!std::isfinite(solver_.upper[r] - solver_.lower[r])) continue;
    solver_.lower[r] -= solver_.p[3 * n + r];
    solver_.upper[r] -= solver_.p[3 * n + r];
  }
  u_begin_.head(size) = u_free_.head(size) = u_end_.head(size);
  solver_.p.head(size).setZero();
}

void Contacts::note_result(double h) {
  ContactReport& report = pending_report_;
  pending_points_.clear();
  pending_stored_ = 0;
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    Candidate& now = candidates_[c];
    const auto i = 3 * static_cast<Eigen::Index>(c);
    const Vector p = impulse_.segment<3>(i), u = u_end_.segment<3>(i);
    report.cone = std::max(report.cone, (std::hypot(p[1], p[2]) - now.point.friction * p[0]) / h);
    report.penetration = std::max(report.penetration, -now.point.gap);
    report.touching += p[0] > 0 ? 1 : 0;
    now.point.force_W = now.axes_W * p / h;
    now.point.velocity_W = now.axes_W * u;
    if (now.softness > 0 && p[0] > 0) {
      const double depth = std::min(now.point.gap + h * u[0], 0.0);
      pending_stored_ += setup_.parameters.stiffness * depth * depth / 2;
    }
    pending_points_.push_back(now.point);
  }
  report.contacts = static_cast<int>(candidates_.size());
  report.dissipated -= pending_stored_ - stored_;
}

}  // namespace limb
