#pragma once

#include "limb/sim/forces/joint_laws.hpp"

namespace limb {

/// Springs, dampers, stops and servos on linear combinations L = sum(ratio * q) of joint
/// coordinates, as MJCF files have them: a servo of one joint, or tendons over several joints.
class TendonLaw final : public ForceLaw {
 public:
  /// Everything that acts on one combination. The control of a servo is constant.
  struct Item {
    std::vector<CouplingDescription<double>::Term> terms;
    double stiffness = 0, damping = 0, rest_min = 0, rest_max = 0;
    std::optional<double> lower, upper;  ///< soft stops, as SoftStops
    struct Motor {
      double gear = 1;
      ServoDescription servo;
      double control = 0;
    };
    std::optional<Motor> motor;
  };

  /// Items with a motor and something else, as two items each: laws of motors and of the rest have
  /// different entries in the energy ledger.
  static void split(const std::vector<Item>& items, std::vector<Item>& motors,
                    std::vector<Item>& others);
  /// The item with the damping that its damping ratio means in the configuration q.
  static Item with_damping(const Model<double>& model, const VectorX<double>& q, Item item);

  /// @param q  configuration for whose inertia the stops are made. Damping ratios do not act
  /// (with_damping).
  TendonLaw(const Model<double>& model, const VectorX<double>& q, const std::vector<Item>& items);
  void add(ForceInput& now, AppliedLoads& loads) override;
  void add_stiffness(ForceInput& now, JointStiffness& joints) override;
  double energy(ForceInput& now) const override;
  EnergyEntry energy_entry() const override { return entry_; }

 private:
  struct Term {
    JointCoordinate coordinate;
    double ratio;
  };
  struct Row {
    std::vector<Term> terms;
    double sum_of_ratios = 0;  ///< of their magnitudes
    Item item;
    double stop_stiffness = 0, stop_damping = 0;
  };
  /// Force along L, and its damping and stiffness.
  struct Response {
    double force = 0, damping = 0, stiffness = 0;
  };
  void expand(const ForceInput& now) const;
  double length(const Row& row) const;
  Response response(const Row& row) const;

  std::vector<Row> rows_;
  EnergyEntry entry_ = EnergyEntry::motors;  ///< tendons, if any item is more than a motor
  mutable VectorX<double> q_, v_;
  VectorX<double> tau_joints_, tau_;
};

/// Forces that cancel a part of the weight of links (MJCF gravcomp).
class GravityCompensation final : public ForceLaw {
 public:
  struct Link {
    FrameId frame;
    double mass = 0;                                   ///< kg, that is held
    Vector3<double> center = Vector3<double>::Zero();  ///< in the frame
  };
  explicit GravityCompensation(std::vector<Link> links) : links_(std::move(links)) {}
  void add(ForceInput& now, AppliedLoads& loads) override;
  int max_wrenches() const override { return static_cast<int>(links_.size()); }
  void append_ports(std::vector<WrenchPort>& ports) const override;
  /// That of the held mass: the sum with the potential energy is constant.
  double energy(ForceInput& now) const override;
  EnergyEntry energy_entry() const override { return EnergyEntry::conservative; }

 private:
  std::vector<Link> links_;
};

}  // namespace limb
