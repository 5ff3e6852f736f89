#pragma once

#include <memory>
#include <string>

#include "limb/control/locomotion.hpp"
#include "limb/sim/simulation.hpp"

/// Whole-body control and locomotion in a simulation: what a scenario says of them, and what a run
/// says of their quadratic programs.
namespace limb {

struct LeggedSetup {
  std::vector<Foot> feet;
  double friction = 0.6;  ///< that the forces may use

  /// Of balance: the mass centre goes by `shift` from one time to the other by least jerk, and
  /// stays. Several add up: a squat is one down and one up.
  struct Move {
    double begin = 0, end = 0;  ///< s
    Vector3<double> shift = Vector3<double>::Zero();
  };
  std::vector<Move> moves;

  /// Of locomotion: from a time on this gait, and this velocity after `ramp` from the one before.
  /// Before the first the robot stands.
  struct Command {
    double begin = 0, ramp = 0.5;  ///< s
    VelocityCommand velocity;
    Gait gait = Gait::trot();
  };
  std::vector<Command> commands;  ///< in the order of time
  double clearance = 0.08;        ///< m, of feet in the air
};

/// What the programs of a run came to: the worst of all steps, and the last one.
struct ProgramWatch {
  long steps = 0, unsolved = 0, fall_backs = 0;
  long predictions = 0, predictions_unsolved = 0;  ///< of forces over a horizon
  QpResiduals residuals;
  double outside_cone = 0, over_limit = 0;  ///< N, N m
  int iterations = 0;

  WholeBodyReport last;
  Vector3<double> wanted = Vector3<double>::Zero(), mass_center = Vector3<double>::Zero();
  Matrix3X<double> feet;  ///< wanted force of each foot, N: normal, tangential, its bound
  VectorX<double> share;  ///< of what its motor can, the torque on each velocity, -1 to 1

  /// After a step.
  void take(const WholeBody& body, const Vector3<double>& wanted_mass_center);
  void prepare(const WholeBody& body);
};

/// @param torque_limit  of each velocity; empty: the model's.
/// @throws Error as Balance and Locomotion, for moves and commands out of order.
Controller make_balance(const Model<double>& model, const LeggedSetup& setup,
                        VectorIn<double>& target, const VectorX<double>& torque_limit,
                        std::shared_ptr<ProgramWatch> watch);
Controller make_locomotion(const Model<double>& model, const LeggedSetup& setup,
                           VectorIn<double>& target, const VectorX<double>& torque_limit,
                           double period, std::shared_ptr<ProgramWatch> watch);

}  // namespace limb
