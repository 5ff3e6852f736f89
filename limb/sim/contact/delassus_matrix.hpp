#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "limb/dynamics/factor/mass_factor.hpp"
#include "limb/dynamics/factor/semidefinite_solver.hpp"
#include "limb/dynamics/kinematics/forward_kinematics.hpp"

namespace limb {

class StepFunctions;

/// Delassus matrix A = J M^-1 J^T of impulses at points and joints of a robot, with the Jacobian J
/// of their velocities, by the sparse factor of M. The loops of the model stay closed: their
/// impulses are eliminated, so that A is that of the robot with its loops.
///
/// One configuration at a time: update_kinematics(), add rows, compute(). Allocates only when the
/// number of rows reaches a new maximum.
class DelassusMatrix {
 public:
  explicit DelassusMatrix(const Model<double>& model);

  /// Uses compiled code, which must outlive this; null: the templates.
  /// @param poses whether factorize_with_bias() should compute the poses, too.
  void set_compiled(const StepFunctions* compiled, bool poses = false) {
    compiled_ = compiled;
    poses_with_bias_ = poses;
  }

  /// Adds to the diagonal of M, for each joint velocity before couplings (World, implicit forces);
  /// null: nothing. M below includes it. It must outlive its use.
  void set_added_inertia(const VectorX<double>* added) { added_ = added; }

  /// Computes the poses of all bodies at q and removes all rows.
  const Kinematics<double>& update_kinematics(const Model<double>& model, const VectorX<double>& q);
  const Kinematics<double>& kinematics() const { return kinematics_; }
  /// Upper bounds of the speed of each body's origin, m/s, and of its angular speed, rad/s: sums
  /// over the joints between the body and the root. The inner ones are relative to the free base of
  /// the body, if it has one.
  struct Speed {
    double linear = 0, angular = 0, inner_linear = 0, inner_angular = 0;
  };
  const std::vector<Speed>& speed_bounds(const Model<double>& model, const VectorX<double>& v);
  /// m/s; the same for all points within the given distance of the joints that move them, by the
  /// sums of all velocities: a larger bound that costs little.
  double speed_bound(const Model<double>& model, const VectorX<double>& v, double reach);
  /// m; largest distance of a body's origin from that of any joint that moves it; infinite if it
  /// depends on the configuration.
  double reach(int body) const;
  /// Motion of each body while v is constant: angular velocity, its rate, and the (bias)
  /// acceleration of the origin, in world axes.
  struct BiasMotion {
    Vector3<double> w = Vector3<double>::Zero(), dw = w, a = w;
  };
  const std::vector<BiasMotion>& bias_motions(const Model<double>& model, const VectorX<double>& v);

  /// Adds three rows: the velocity of the point of body a at p_W relative to body b, along the
  /// columns of axes_W.
  void add_point(int a, int b, const Vector3<double>& p_W, const Matrix3<double>& axes_W);
  /// Adds `rows` (at most three) rows: the angular velocity of body a relative to body b, along the
  /// columns of axes_W from `first` on.
  void add_rotation(int a, int b, const Matrix3<double>& axes_W, int first, int rows);
  /// Adds one row: a joint velocity, by its index before couplings.
  void add_joint(const Model<double>& model, int joint_velocity);
  int rows() const { return rows_; }

  /// Factorizes the mass matrix, unless its factor is that of the same q and added inertia, and
  /// computes A. @returns as factorize_mass.
  FactorReport compute(const Model<double>& model, MatrixX<double>& A);

  /// Factorizes the mass matrix at q for accelerations() only: there are no rows.
  FactorReport factorize(const Model<double>& model, const VectorX<double>& q);
  /// The same, and the bias force at v, where compiled code computes both together with the poses
  /// of the bodies. @returns false, with unspecified tau, if it does not or the factor is there
  /// already.
  bool factorize_with_bias(const VectorX<double>& q, const VectorX<double>& v,
                           VectorX<double>& tau);
  /// a = M^-1 tau, projected onto the motions that keep loops closed. a may be tau.
  void accelerations(const VectorX<double>& tau, VectorX<double>& a);

  /// u = J v of all rows; with loops, of the nearest v (in the metric of M) that keeps them closed.
  void row_velocities(const VectorX<double>& v, VectorX<double>& u);
  /// The same for two vectors; with loops, the second one counts for apply_impulses().
  void row_velocities(const VectorX<double>& v, VectorX<double>& u, const VectorX<double>& other_v,
                      VectorX<double>& other_u);
  /// v += M^-1 J^T p, and removes the loop-opening part of the v of the last row_velocities().
  void apply_impulses(const VectorX<double>& p, VectorX<double>& v);
  /// u = M^-1 J^T p, projected onto the motions that keep loops closed.
  void displacement(const VectorX<double>& p, VectorX<double>& u);

 private:
  using Array4 = Eigen::Array<double, 4, 1>;
  struct Block {
    int row = 0, rows = 0;
    int bodies = -1;                 ///< the same for blocks of the same two bodies; -1: of none
    std::size_t begin = 0, end = 0;  ///< of its velocities in marked_
    /// Three rows, and the velocities are all ancestors, in the factor, of the last one.
    bool chain = false;
  };
  /// A joint velocity that moves a body, and its column and ratio among the robot's velocities.
  struct Column {
    int index, body, column;
    double ratio;
  };
  struct ColumnRange {
    std::size_t begin = 0, end = 0;  ///< in columns_
  };
  void add_block(int rows, int bodies, const std::uint64_t* a, const std::uint64_t* b);
  int bodies(int a, int b) const { return a * static_cast<int>(column_ranges_.size()) + b; }
  void clear_block();
  template <int kBlocks>
  void half_solve(std::size_t block);
  template <int kBlocks>
  void half_solve_tree(std::size_t block);
  template <int N, int kBlocks>
  void half_solve_chain(std::size_t block);
  bool multiply_chains(MatrixX<double>& A);
  template <typename Rows>
  void set_rows(int a, int b, const Rows& rows);
  template <typename Rows>
  void add_body(int body, double sign, const Rows& rows);
  const double* joint_velocities(const Model<double>& model, const VectorX<double>& v);
  void add_loops(const Model<double>& model);
  struct JointRatio {
    int velocity;  ///< before couplings
    double ratio;
  };
  /// Adds one row: a sum of joint velocities.
  void add_joints(const Model<double>& model, std::span<const JointRatio> joints);
  Array4* columns(std::vector<Array4>& x, std::size_t block) {
    return x.data() + block * static_cast<std::size_t>(n_);
  }
  /// The velocities for which a block is nonzero after L^-T J^T, ascending.
  std::span<const int> marks(const Block& block) const {
    return {marked_.data() + block.begin, block.end - block.begin};
  }
  /// The velocities that move a body, as a set; null: the world.
  const std::uint64_t* body_support(int body) const {
    return body > 0 ? body_support_.data() + static_cast<std::size_t>(body) * words_ : nullptr;
  }
  void set_configuration(const VectorX<double>& q);
  FactorReport factorize_mass_matrix(const Model<double>& model);
  bool has_present_factor() const;
  void keep_added();
  void solve_response(const VectorX<double>& p);

  int n_;
  std::size_t words_;
  const StepFunctions* compiled_ = nullptr;
  bool poses_with_bias_ = false;
  bool has_poses_ = false;  ///< kinematics_ are those of q_
  Workspace<double> work_;
  MatrixX<double> M_, M_plain_;  ///< with and without the added inertia
  bool has_plain_ = false;       ///< M_plain_ is that of q_
  MassFactor<double> factor_;
  bool has_factor_ = false;         ///< factor_ is that of q_ and factored_added_
  VectorX<double> factored_added_;  ///< added inertia, or zero
  bool only_loops_ = false;         ///< the blocks are those of the loops, for this factor
  Kinematics<double> kinematics_;
  std::vector<Block> blocks_;
  int rows_ = 0, loop_rows_ = 0;
  std::vector<int> loop_row_groups_;  ///< a number for each row, the same where units are the same
  std::size_t user_blocks_ = 0;
  std::vector<Array4> J_, Y_,
      Z_;                    ///< of each block, for each velocity: J^T, L^-T J^T, D^-1 L^-T J^T
  MatrixX<double> Z_rows_;   ///< Z with one column per velocity, and zeros where it is not marked
  std::vector<int> marked_;  ///< velocities of all blocks
  VectorX<double> half_;     ///< scratch of half_solve()
  std::vector<Column> columns_;
  std::vector<ColumnRange> column_ranges_;  ///< of each body
  std::vector<Speed> speeds_;
  std::vector<Speed> unit_speeds_;  ///< of each joint velocity
  /// A body: its parent, joint velocities and distance from the parent's origin (m; negative:
  /// not constant).
  struct Link {
    int parent = 0, v_begin = 0, v_end = 0;
    double arm = -1;
    bool free_base = false;
  };
  std::vector<Link> links_;
  bool has_plain_columns_ = false;  ///< no couplings: each velocity is that of one joint
  std::vector<BiasMotion> bias_motions_;
  /// Sets of velocities: with their ancestors in the factor; of each body; of a joint.
  std::vector<std::uint64_t> paths_, body_support_, joint_support_;
  const VectorX<double>* added_ = nullptr;
  VectorX<double> q_, v_, x_, y_;
  // With loops: A including their rows, A_ll, and A_ll^+ A_lc.
  MatrixX<double> full_, loops_, solved_;
  VectorX<double> u_loops_, p_loops_;
  kernel::SemidefiniteSolver<double> solve_;
};

}  // namespace limb
