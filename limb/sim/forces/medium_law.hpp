#pragma once

#include "limb/model/core/description.hpp"
#include "limb/sim/forces/force_law.hpp"

namespace limb {

/// Drag of the air or liquid around the robot, for each link as for a box with its mass and its
/// principal moments of inertia (MJCF density, viscosity, wind). Along each principal axis i, with
/// the velocities v and w of the mass centre relative to the medium, edges b and their mean d:
///
///   f_i = -3 pi viscosity d v_i   - density / 2 b_j b_k |v_i| v_i
///   n_i = -pi viscosity d^3 w_i   - density / 64 b_i (b_j^4 + b_k^4) |w_i| w_i
///
/// There is no buoyancy and no added mass.
class MediumLaw final : public ForceLaw {
 public:
  struct Link {
    FrameId frame;
    BodyId body;
    Pose<double> X_FI;      ///< mass centre and principal axes in the frame of the link
    Pose<double> X_BI;      ///< the same in the body
    Vector3<double> edges;  ///< m, of the box
  };
  /// The links of this description that move in the model and have a mass.
  static std::vector<Link> links_of(const Model<double>& model,
                                    const Description<double>& description);

  /// @throws Error for a negative density or viscosity and numbers that are not finite.
  MediumLaw(const Model<double>& model, const MediumDescription& medium, std::vector<Link> links);
  void add(ForceInput& now, AppliedLoads& loads) override;
  void add_stiffness(ForceInput& now, JointStiffness& joints) override;
  int max_wrenches() const override { return static_cast<int>(links_.size()); }
  void append_ports(std::vector<WrenchPort>& ports) const override;
  EnergyEntry energy_entry() const override { return EnergyEntry::medium; }

 private:
  /// Force on one link per velocity: at a velocity of zero, and per magnitude of the velocity.
  struct Drag {
    double linear, angular;                         ///< N s/m, N m s
    Vector3<double> linear_square, angular_square;  ///< N s^2/m^2, N m s^2
  };
  /// Relative to the medium, at the mass centre, in principal axes.
  Motion<double> velocity(const Link& link, const Kinematics<double>& kinematics) const;

  MediumDescription medium_;
  std::vector<Link> links_;
  std::vector<Drag> drag_;
  std::vector<std::vector<int>> path_;  ///< of each link: the joint velocities that move it
  Eigen::Matrix<double, 6, Eigen::Dynamic> columns_;
};

}  // namespace limb
