#include "limb/sim/world/legged_controllers.hpp"

#include <algorithm>
#include <cmath>

#include "limb/base/check.hpp"
#include "limb/control/joint/reference_path.hpp"
#include "limb/math/quaternion.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;

WholeBodyOptions options_of(const LeggedSetup& setup, const Vector& torque_limit) {
  WholeBodyOptions options;
  options.friction = setup.friction;
  options.effort = torque_limit;
  return options;
}

/// Owns a copy of the model: Balance only refers to it.
class BalanceLaw {
 public:
  BalanceLaw(const Model<double>& model, const LeggedSetup& setup, VectorIn<double>& target,
             const BalanceOptions& options, std::shared_ptr<QpStatistics> statistics)
      : model_(model),
        balance_(model_, setup.feet, options),
        reference_(balance_.reference_at(target)),
        initial_mass_center_(reference_.mass_center),
        statistics_(std::move(statistics)) {
    for (const LeggedSetup::Move& move : setup.moves) {
      moves_.push_back({move.begin, move.shift, Quintic({}, {1, 0, 0}, move.end - move.begin)});
    }
    statistics_->prepare(balance_.whole_body());
  }

  const Vector& step(const ControlInput& now) {
    reference_.mass_center = initial_mass_center_;
    reference_.mass_center_velocity.setZero();
    reference_.mass_center_acceleration.setZero();
    for (const Move& move : moves_) {
      const PathPoint path = move.path.at(now.t - move.begin);
      reference_.mass_center += path.x * move.shift;
      reference_.mass_center_velocity += path.v * move.shift;
      reference_.mass_center_acceleration += path.a * move.shift;
    }
    const Vector& tau = balance_.step(now.q, now.v, reference_);
    statistics_->record(balance_.whole_body(), reference_.mass_center);
    return tau;
  }

 private:
  struct Move {
    double begin;
    Vector3<double> shift;
    Quintic path;
  };
  Model<double> model_;
  Balance balance_;
  Balance::Reference reference_;
  Vector3<double> initial_mass_center_;
  std::vector<Move> moves_;
  std::shared_ptr<QpStatistics> statistics_;
};

class LocomotionLaw {
 public:
  LocomotionLaw(const Model<double>& model, const LeggedSetup& setup, VectorIn<double>& target,
                const LocomotionOptions& options, std::shared_ptr<QpStatistics> statistics)
      : model_(model),
        locomotion_(model_, setup.feet, target, options),
        commands_(setup.commands),
        contact_(std::make_unique<bool[]>(setup.feet.size())),
        statistics_(std::move(statistics)) {
    for (const LeggedSetup::Command& command : commands_) {
      command.gait.check("make_locomotion", static_cast<int>(setup.feet.size()));
    }
    statistics_->prepare(locomotion_.whole_body());
  }

  const Vector& step(const ControlInput& now) {
    start_commands(now.t);
    const std::vector<Foot>& feet = locomotion_.whole_body().feet();
    for (std::size_t i = 0; i < feet.size(); ++i) {
      contact_[i] = now.contacts != nullptr && now.contacts->touches(model_, feet[i].frame);
    }
    BaseState base;
    base.X_WB.p = now.q.head<3>();
    base.X_WB.R = to_matrix(quat_xyzw(now.q[3], now.q[4], now.q[5], now.q[6]));
    base.V_WB_B = Motion<double>::from_vector(now.v.head<6>());
    const Vector& tau =
        locomotion_.step(base, now.q.tail(now.q.size() - 7), now.v.tail(now.v.size() - 6),
                         {contact_.get(), feet.size()}, velocity_at(now.t));
    const LocomotionReport& report = locomotion_.report();
    if (report.mpc_ran) {
      ++statistics_->predictions;
      statistics_->predictions_unsolved += report.mpc_status == Status::ok ? 0 : 1;
    }
    statistics_->record(locomotion_.whole_body(), locomotion_.desired_mass_center());
    return tau;
  }

 private:
  void start_commands(double t) {
    while (started_ < commands_.size() && t >= commands_[started_].begin - 1e-9) {
      from_ = velocity_at(t);
      const Gait& gait = commands_[started_].gait;
      if (gait.name != locomotion_.gait().name) locomotion_.set_gait(gait);
      ++started_;
    }
  }
  VelocityCommand velocity_at(double t) const {
    if (started_ == 0) return {};
    const LeggedSetup::Command& now = commands_[started_ - 1];
    const double s = now.ramp > 0 ? std::clamp((t - now.begin) / now.ramp, 0.0, 1.0) : 1;
    const auto mix = [&](double a, double b) { return a + s * (b - a); };
    return {mix(from_.forward, now.velocity.forward), mix(from_.left, now.velocity.left),
            mix(from_.yaw_rate, now.velocity.yaw_rate)};
  }

  Model<double> model_;
  Locomotion locomotion_;
  std::vector<LeggedSetup::Command> commands_;
  std::size_t started_ = 0;
  VelocityCommand from_;
  std::unique_ptr<bool[]> contact_;
  std::shared_ptr<QpStatistics> statistics_;
};

template <typename Law>
Controller adapt(std::shared_ptr<Law> law) {
  return [law](const ControlInput& now, Vector& tau) { tau = law->step(now); };
}

}  // namespace

void QpStatistics::prepare(const WholeBody& body) {
  feet.setZero(3, static_cast<Eigen::Index>(body.feet().size()));
  share.setZero(body.model().nv());
}

void QpStatistics::record(const WholeBody& body, const Vector3<double>& desired) {
  last = body.report();
  ++steps;
  unsolved += last.status == Status::ok ? 0 : 1;
  fall_backs += last.fell_back ? 1 : 0;
  iterations = std::max(iterations, last.iterations);
  residuals.stationarity = std::max(residuals.stationarity, last.residuals.stationarity);
  residuals.primal = std::max(residuals.primal, last.residuals.primal);
  residuals.dual = std::max(residuals.dual, last.residuals.dual);
  residuals.complementarity = std::max(residuals.complementarity, last.residuals.complementarity);
  outside_cone = std::max(outside_cone, last.outside_cone);
  over_limit = std::max(over_limit, last.over_limit);
  desired_mass_center = desired;
  mass_center = body.mass_center();
  body.effort_shares(share);
  // These controllers assume level ground.
  feet.setZero();
  Eigen::Index point = 0;
  for (std::size_t i = 0; i < body.feet().size(); ++i) {
    auto foot = feet.col(static_cast<Eigen::Index>(i));
    for (std::size_t k = 0; k < body.feet()[i].points.size(); ++k) {
      const Vector3<double> f = body.forces().col(point++);
      foot += Vector3<double>(f.z(), f.head<2>().norm(), body.options().friction * f.z());
    }
  }
}

Controller make_balance(const Model<double>& model, const LeggedSetup& setup,
                        VectorIn<double>& target, const Vector& torque_limit,
                        std::shared_ptr<QpStatistics> statistics) {
  BalanceOptions options;
  options.whole_body = options_of(setup, torque_limit);
  return adapt(std::make_shared<BalanceLaw>(model, setup, target, options, std::move(statistics)));
}

Controller make_locomotion(const Model<double>& model, const LeggedSetup& setup,
                           VectorIn<double>& target, const Vector& torque_limit, double period,
                           std::shared_ptr<QpStatistics> statistics) {
  for (std::size_t i = 1; i < setup.commands.size(); ++i) {
    if (setup.commands[i].begin < setup.commands[i - 1].begin) {
      fail("make_locomotion", "begin of a command", to_text(setup.commands[i].begin),
           "commands in order of time");
    }
  }
  LocomotionOptions options;
  options.whole_body = options_of(setup, torque_limit);
  options.mpc.friction = setup.friction;
  options.clearance = setup.clearance;
  options.control_period = period;
  options.mpc_period = period * std::max(1.0, std::round(options.mpc_period / period));
  return adapt(
      std::make_shared<LocomotionLaw>(model, setup, target, options, std::move(statistics)));
}

}  // namespace limb
