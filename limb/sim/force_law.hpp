#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "limb/dynamics/external.hpp"
#include "limb/dynamics/kinematics.hpp"
#include "limb/dynamics/wrench_port.hpp"
#include "limb/sim/equation.hpp"

/// What acts on a simulated robot besides weight, drives and joints. A new kind of force, contact
/// among them, is one more ForceLaw.
namespace limb {

/// A robot at a moment, as forces see it.
class Instant {
 public:
  Instant(const Model<double>& robot, const State<double>& s, Kinematics<double>& room)
      : model(robot), t(s.t), q(s.q), v(s.v), room_(room) {}

  const Model<double>& model;
  double t;
  const VectorX<double>&q, &v;

  /// Poses and velocities of all bodies; computed when first asked for.
  const Kinematics<double>& kinematics() {
    if (!computed_) forward_kinematics(model, q, v, room_);
    computed_ = placed_ = true;
    return room_;
  }
  /// Poses alone, in half the time.
  const Kinematics<double>& poses() {
    if (!placed_) forward_kinematics(model, q, room_);
    placed_ = true;
    return room_;
  }

 private:
  Kinematics<double>& room_;
  bool computed_ = false, placed_ = false;
};

/// Where forces add up.
struct Loads {
  VectorX<double> tau;                              ///< on the robot's own velocities
  std::vector<FrameWrench<double>> wrenches;        ///< each at its frame's origin, in its axes
  std::vector<FrameWrench<double>> world_wrenches;  ///< each at its frame's origin, in the world's

  void add(const WrenchPort& port, const Force<double>& F) {
    (port.axes == WrenchAxes::world ? world_wrenches : wrenches).push_back({port.frame, F});
  }
};

class ForceLaw {
 public:
  virtual ~ForceLaw() = default;

  /// Adds what acts now. Must not allocate.
  virtual void add(Instant& now, Loads& loads) = 0;
  /// How many wrenches add() appends at most.
  virtual int max_wrenches() const { return 0; }
  /// Appends the places of all of them, if these are known: compiled worlds are made for them, and
  /// take the templates' time where a wrench acts elsewhere.
  virtual void append_ports(std::vector<WrenchPort>&) const {}
  /// Energy that the law has stored and will return, J.
  virtual double energy(Instant&) const { return 0; }

  /// A step begins at t. A law that jumps in time takes now the value that it has just after t, and
  /// keeps it to the end of the step. Times never go back.
  virtual void hold(double) {}
  /// The next time after t at which it jumps. Integrators that choose their step end one there.
  virtual double next_jump(double) const { return std::numeric_limits<double>::infinity(); }
};

}  // namespace limb
