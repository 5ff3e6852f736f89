#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "limb/estimate/filter_state.hpp"
#include "limb/estimate/leg_kinematics.hpp"
#include "limb/math/noise_source.hpp"

/// Walks whose sensors are known exactly, for any robot with a floating base: what filters are
/// tested and tuned against where there is no log. Kinematics only; nothing here falls over.
namespace limb {

struct WalkOptions {
  std::vector<std::string> feet;  ///< frames: front left, front right, rear left, ...; left, right
  std::string imu;                ///< frame of the sensor; empty: the base's own
  double rate = 400;              ///< Hz, of all sensors
  double duration = 10;           ///< s
  double rest = 1;                ///< s of standing at the begin, and at the end
  double speed = 0.3;             ///< m/s
  double turning = 0.3;           ///< rad/s, the largest; it swings from left to right
  double period = 0.6;            ///< s, of the gait
  double duty = 0.6;              ///< part of the period that a foot stands
  double step_height = 0.06;      ///< m
  double sway = 0.01;             ///< m, of the base up and down and sideways
  double tilt = 0.05;             ///< rad, of the base in roll and pitch
  /// Part of the height by which straight legs bend; NaN: one of 0.1 to 0.3 with which feet reach.
  double crouch = std::numeric_limits<double>::quiet_NaN();
  /// Configuration in which it stands; empty: found, from the neutral one.
  VectorX<double> posture = {};
  /// A standing foot that is dragged away, though its contact stays.
  struct Slip {
    int foot = 0;
    double begin = 0, end = 0;                           ///< s
    Vector3<double> velocity = Vector3<double>::Zero();  ///< m/s, world axes
  };
  std::vector<Slip> slips = {};
};

/// One instant of a walk, without errors.
struct WalkInstant {
  double t = 0;
  VectorX<double> q, v;  ///< of the whole robot, base included
  ImuSample imu;         ///< at this instant
  FilterState truth;     ///< of the sensor; biases zero, no feet
  std::vector<bool> contact;
  std::vector<Vector3<double>> p_WF;
  /// Joint motion that moves a foot by a world vector, nv x 3 each: for feet that creep.
  std::vector<MatrixX<double>> by_foot;
};

class SyntheticWalk {
 public:
  /// @throws Error if an option makes no sense, or a foot cannot reach where it should be.
  SyntheticWalk(const Model<double>& model, const WalkOptions& options);

  const Model<double>& model() const { return legs_.model(); }
  const WalkOptions& options() const { return options_; }
  const std::vector<WalkInstant>& instants() const { return instants_; }
  /// m, of the sensor over ground.
  double length() const { return length_; }

 private:
  void plan();
  WalkOptions options_;
  LegKinematics legs_;
  std::vector<WalkInstant> instants_;
  double length_ = 0;
};

/// Configuration with bent legs, the feet at one height and level: by inverse kinematics from the
/// neutral one. @throws Error if none is found.
VectorX<double> standing_posture(const Model<double>& model, const LegKinematics& legs,
                                 double crouch);

/// How the sensors of a walk differ from the truth: white noise, biases that walk, encoders, and
/// feet that creep.
struct WalkErrors {
  ImuNoise imu;
  Vector3<double> gyro_bias = Vector3<double>::Zero();   ///< at the begin, rad/s
  Vector3<double> accel_bias = Vector3<double>::Zero();  ///< m/s^2
  double encoder = 0;                                    ///< rad, deviation of a sample
  double encoder_rate = 0;                               ///< rad/s
  double creep = 0;                                      ///< m/sqrt(s), of standing feet
};

/// The walk as its sensors show it, instant by instant; the same for the same seed.
class NoisyWalk {
 public:
  NoisyWalk(const SyntheticWalk& walk, const WalkErrors& errors, std::uint64_t seed);

  /// Reads the sensors at the next instant. @returns false at the end.
  bool next();

  const WalkInstant& instant() const { return walk_.instants()[at_ - 1]; }
  const ImuSample& imu() const { return imu_; }
  const VectorX<double>& q() const { return q_; }  ///< the base's numbers are the truth
  const VectorX<double>& v() const { return v_; }
  /// The truth with the biases of now.
  const FilterState& truth() const { return truth_; }
  NoiseSource& noise() { return noise_; }

 private:
  Vector3<double> normal(double deviation);

  const SyntheticWalk& walk_;
  WalkErrors errors_;
  NoiseSource noise_;
  std::size_t at_ = 0;
  ImuSample imu_;
  VectorX<double> q_, v_;
  FilterState truth_;
  std::vector<Vector3<double>> creep_;
};

}  // namespace limb
