#pragma once

#include <memory>
#include <string>

#include "limb/control/locomotion/locomotion.hpp"
#include "limb/sim/world/simulation.hpp"

/// Whole-body control and locomotion in a simulation: their setup, and statistics of their
/// quadratic programs.
namespace limb {

struct LeggedSetup {
  std::vector<Foot> feet;
  double friction = 0.6;  ///< coefficient assumed by the controller

  /// For balance: the centre of mass moves by `shift` between two times with minimum jerk. Several
  /// add up: a squat is one down and one up.
  struct Move {
    double begin = 0, end = 0;  ///< s
    Vector3<double> shift = Vector3<double>::Zero();
  };
  std::vector<Move> moves;

  /// For locomotion: from a time on, this gait, and this velocity, reached from the previous one in
  /// `ramp`. Before the first command the robot stands.
  struct Command {
    double begin = 0, ramp = 0.5;  ///< s
    VelocityCommand velocity;
    Gait gait = Gait::trot();
  };
  std::vector<Command> commands;  ///< in order of time
  double clearance = 0.08;        ///< m, height of swing feet
};

/// Statistics of the quadratic programs of a run: maxima over all steps, and the last step.
struct QpStatistics {
  long steps = 0, unsolved = 0, fall_backs = 0;
  long predictions = 0, predictions_unsolved = 0;  ///< model predictive control
  QpResiduals residuals;
  double outside_cone = 0, over_limit = 0;  ///< N, N m
  int iterations = 0;

  WholeBodyReport last;
  Vector3<double> desired_mass_center = Vector3<double>::Zero(),
                  mass_center = Vector3<double>::Zero();
  Matrix3X<double> feet;  ///< desired force per foot, N: normal, tangential, its bound
  VectorX<double> share;  ///< torque over torque limit, per velocity, -1 to 1

  /// To be called after each step.
  void record(const WholeBody& body, const Vector3<double>& desired);
  void prepare(const WholeBody& body);
};

/// @param torque_limit  per velocity; empty: that of the model.
/// @throws Error as Balance and Locomotion, or for commands out of order.
Controller make_balance(const Model<double>& model, const LeggedSetup& setup,
                        VectorIn<double>& target, const VectorX<double>& torque_limit,
                        std::shared_ptr<QpStatistics> statistics);
Controller make_locomotion(const Model<double>& model, const LeggedSetup& setup,
                           VectorIn<double>& target, const VectorX<double>& torque_limit,
                           double period, std::shared_ptr<QpStatistics> statistics);

}  // namespace limb
