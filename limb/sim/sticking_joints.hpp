#pragma once

#include <Eigen/Cholesky>

#include "limb/dynamics/aba.hpp"
#include "limb/sim/joint_laws.hpp"

namespace limb {

/// Coulomb friction and hard stops of the model's joints, exact for a step of any length: impulses
/// p within their bounds such that, at the end of the step,
///
///   friction   |p| <= h f,    and the joint stands still where |p| < h f
///   stops       p >= 0,       and the joint moves away from the stop, or p > 0
///
/// A joint that sticks does not creep. The velocities at the end of the step are v + M^-1 G^T p,
/// with the loops of the model closed. [Stewart 2000, time-stepping with friction]
class StickingJoints {
 public:
  struct Parameters {
    bool friction = true, stops = true;
    FrictionCurve curve = {};  ///< its static ratio and Stribeck's speed
    double restitution = 0;    ///< of a stop: part of the speed that comes back, 0 to 1
  };
  StickingJoints(const Model<double>& model, const Parameters& parameters);

  int rows() const { return static_cast<int>(rows_.size()); }
  /// Changes v, the velocities at the end of a step of length h without these impulses. The step
  /// began in `before`; `work` is one of forward dynamics. No allocation.
  void apply(const Model<double>& model, Workspace<double>& work, const State<double>& before,
             double h, VectorX<double>& v);

  // For a problem that holds other impulses too: the rows that matter in a step, in the arguments
  // of apply(), and what each is bound by.

  /// @returns how many.
  int choose_rows(const Model<double>& model, const State<double>& before, double h,
                  const VectorX<double>& v);
  int row(int k) const { return active_[static_cast<std::size_t>(k)]; }  ///< among all rows()
  int joint_velocity(int k) const { return rows_[static_cast<std::size_t>(row(k))].place.v; }
  double lower(int k) const { return lower_[k]; }
  double upper(int k) const { return upper_[k]; }
  double wish(int k) const { return wish_[k]; }  ///< end velocity less the wanted one
  double end_velocity(int k) const { return v_[joint_velocity(k)]; }
  /// How far the joint is beyond its stop at the begin, and the way back: +1 or -1; of friction 0.
  double beyond(int k) const { return beyond_[k]; }
  double way_back(int k) const { return rows_[static_cast<std::size_t>(row(k))].sign; }
  /// Whether the end velocities v, which other impulses have changed, pass stops that were not
  /// chosen. They will be, by choose_rows(), until forget_missed().
  bool find_missed(const Model<double>& model, double h, const VectorX<double>& v);
  void forget_missed();

 private:
  struct Row {
    JointPlace place;
    double friction;     ///< N m or N; 0: a stop
    double level, sign;  ///< of a stop: sign (q - level) >= 0
  };
  double velocity(const Row& row) const { return v_[row.place.v]; }
  void responses(const Model<double>& model, Workspace<double>& work, const State<double>& before);
  enum class At : char { free, lower, upper };
  void solve_free();
  At place_of(Eigen::Index i, double slack) const;
  void pivot();

  Parameters parameters_;
  std::vector<Row> rows_;
  // Of the rows that matter in a step:
  std::vector<int> active_;
  VectorX<double> q_, v_, unit_, own_, a0_, zero_;
  MatrixX<double> response_;  ///< columns M^-1 G^T of the active rows, in the robot's velocities
  MatrixX<double> W_;         ///< G M^-1 G^T of the active rows
  VectorX<double> p_, lower_, upper_, wish_, right_, beyond_;
  std::vector<char> missed_;  ///< of all rows
  std::vector<At> at_, next_;
  std::vector<int> free_;
  MatrixX<double> block_;
  Eigen::LDLT<MatrixX<double>> factor_;
};

}  // namespace limb
