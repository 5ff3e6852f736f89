#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "limb/estimate/contact/leg_kinematics.hpp"
#include "limb/estimate/filter/filter_state.hpp"
#include "limb/math/noise_generator.hpp"

/// Synthetic walks with exactly known sensor signals, for any robot with a floating base: to test
/// and tune filters without logs. Purely kinematic, without dynamics.
namespace limb {

struct WalkOptions {
  std::vector<std::string> feet;  ///< frames: front left, front right, rear left, ...; left, right
  std::string imu;                ///< frame of the sensor; empty: that of the base
  double rate = 400;              ///< Hz, of all sensors
  double duration = 10;           ///< s
  double rest = 1;                ///< s, initial and final rest
  double speed = 0.3;             ///< m/s
  double turning = 0.3;       ///< rad/s, amplitude of the yaw rate, which alternates left and right
  double period = 0.6;        ///< s, of the gait
  double duty = 0.6;          ///< fraction of the period in stance
  double step_height = 0.06;  ///< m
  double sway = 0.01;         ///< m, of the base up and down and sideways
  double tilt = 0.05;         ///< rad, of the base in roll and pitch
  /// Fraction by which straight legs are shortened; NaN: a feasible one from 0.1 to 0.3.
  double crouch = std::numeric_limits<double>::quiet_NaN();
  /// Standing configuration; empty: found from the neutral one.
  VectorX<double> posture = {};
  /// A foot that slides while it is in contact.
  struct Slip {
    int foot = 0;
    double begin = 0, end = 0;                           ///< s
    Vector3<double> velocity = Vector3<double>::Zero();  ///< m/s, world axes
  };
  std::vector<Slip> slips = {};
};

/// One instant of a walk, without sensor errors.
struct WalkInstant {
  double t = 0;
  VectorX<double> q, v;  ///< of the whole robot, base included
  ImuSample imu;         ///< at this instant
  FilterState truth;     ///< of the sensor; biases zero, no feet
  std::vector<bool> contact;
  std::vector<Vector3<double>> p_WF;
  /// Joint displacement per displacement of a foot in world axes, nv x 3 each: for creeping feet.
  std::vector<MatrixX<double>> dq_by_foot;
};

class SyntheticWalk {
 public:
  /// @throws Error for invalid options, or if a foot cannot reach its target.
  SyntheticWalk(const Model<double>& model, const WalkOptions& options);

  const Model<double>& model() const { return legs_.model(); }
  const WalkOptions& options() const { return options_; }
  const std::vector<WalkInstant>& instants() const { return instants_; }
  /// m, length of the path of the sensor in the plane.
  double length() const { return length_; }

 private:
  void plan();
  WalkOptions options_;
  LegKinematics legs_;
  std::vector<WalkInstant> instants_;
  double length_ = 0;
};

/// Configuration with bent legs and level feet at the same height, by inverse kinematics from the
/// neutral one. @throws Error if there is no solution.
VectorX<double> standing_posture(const Model<double>& model, const LegKinematics& legs,
                                 double crouch);

/// Sensor errors of a walk: white noise, random walk of the biases, encoder noise, creeping feet.
struct WalkErrors {
  ImuNoise imu;
  Vector3<double> gyro_bias = Vector3<double>::Zero();   ///< initial, rad/s
  Vector3<double> accel_bias = Vector3<double>::Zero();  ///< m/s^2
  double encoder = 0;                                    ///< rad, standard deviation of a sample
  double encoder_rate = 0;                               ///< rad/s
  double creep = 0;                                      ///< m/sqrt(s), of feet in contact
};

/// The sensor signals of a walk with errors, instant by instant; reproducible by the seed.
class NoisyWalk {
 public:
  NoisyWalk(const SyntheticWalk& walk, const WalkErrors& errors, std::uint64_t seed);

  /// Reads the sensors at the next instant. @returns false at the end.
  bool next();

  const WalkInstant& instant() const { return walk_.instants()[at_ - 1]; }
  const ImuSample& imu() const { return imu_; }
  const VectorX<double>& q() const { return q_; }  ///< base entries are the truth
  const VectorX<double>& v() const { return v_; }
  /// The truth with the present biases.
  const FilterState& truth() const { return truth_; }
  NoiseGenerator& noise() { return noise_; }

 private:
  Vector3<double> normal(double deviation);

  const SyntheticWalk& walk_;
  WalkErrors errors_;
  NoiseGenerator noise_;
  std::size_t at_ = 0;
  ImuSample imu_;
  VectorX<double> q_, v_;
  FilterState truth_;
  std::vector<Vector3<double>> creep_;
};

}  // namespace limb
