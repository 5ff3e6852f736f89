#pragma once

#include <cstdint>
#include <vector>

#include "limb/dynamics/kinematics.hpp"
#include "limb/dynamics/mass_factor.hpp"
#include "limb/dynamics/positive_solve.hpp"

namespace limb {

class Compiled;

/// What impulses at points and joints of a robot do to each other: the rows J of their velocities,
/// and the response A = J M^-1 J^T, by the sparse factor of M. The loops of the model stay closed:
/// their impulses are eliminated, so that A is the response of the robot with its loops.
///
/// One configuration at a time: place(), add rows, finish(). Memory grows to the largest number of
/// rows seen; nothing else allocates.
class ImpulseRows {
 public:
  explicit ImpulseRows(const Model<double>& model);

  /// Takes the mass matrix from compiled code, which must live as long; null: from the template.
  void use(const Compiled* compiled) { compiled_ = compiled; }

  /// Where all bodies are. Removes all rows.
  const Kinematics<double>& place(const Model<double>& model, const VectorX<double>& q);
  const Kinematics<double>& kinematics() const { return kinematics_; }
  /// Bounds of how fast each body's origin moves, m/s, and how fast it turns, rad/s: sums of what
  /// the joints below it may add.
  struct Speed {
    double linear = 0, angular = 0;
  };
  const std::vector<Speed>& speed_bounds(const Model<double>& model, const VectorX<double>& v);
  /// How the path of each body bends while v stays as it is: angular velocity, its rate, and the
  /// acceleration of the origin, in world axes.
  struct Bend {
    Vector3<double> w = Vector3<double>::Zero(), dw = w, a = w;
  };
  const std::vector<Bend>& bends(const Model<double>& model, const VectorX<double>& v);

  /// Three rows: the velocity of body a's point at p_W seen from body b, along the columns of axes.
  void add_point(int a, int b, const Vector3<double>& p_W, const Matrix3<double>& axes_W);
  /// One row: a joint velocity, by its index among all of them.
  void add_joint(const Model<double>& model, int joint_velocity);
  int rows() const { return rows_; }

  /// Factors the mass matrix and computes A. @returns -1, or a velocity that no inertia opposes.
  int finish(const Model<double>& model, MatrixX<double>& A);

  /// u = J v of all rows; with loops, of the v nearest to it at which they do not open.
  void velocities(const VectorX<double>& v, VectorX<double>& u);
  /// v += M^-1 J^T p, and loops that open with the v of the last velocities() are closed.
  void apply(const VectorX<double>& p, VectorX<double>& v);
  /// u = M^-1 J^T p that moves within the loops.
  void displace(const VectorX<double>& p, VectorX<double>& u);

 private:
  using Four = Eigen::Array<double, 4, 1>;
  struct Block {
    int row = 0, rows = 0;
  };
  /// A joint velocity that moves a body, and which of the robot's own it is.
  struct Column {
    int index, body, column;
    double ratio;
  };
  struct Way {
    std::size_t begin = 0, end = 0;  ///< in columns_
  };
  Block& add_block(int rows);
  template <typename Rows>
  void add_body(int body, double sign, const Rows& rows);
  void add_loops(const Model<double>& model);
  Four* columns(std::vector<Four>& x, std::size_t block) {
    return x.data() + block * static_cast<std::size_t>(n_);
  }
  std::uint64_t* support(std::size_t block) { return support_.data() + block * words_; }
  void mark(int column);
  void respond(const VectorX<double>& p);

  int n_;
  std::size_t words_;
  const Compiled* compiled_ = nullptr;
  Workspace<double> work_;
  MatrixX<double> M_;
  MassFactor<double> factor_;
  Kinematics<double> kinematics_;
  std::vector<Block> blocks_;
  int rows_ = 0, loop_rows_ = 0;
  std::size_t user_blocks_ = 0;
  std::vector<Four> J_, Y_, Z_;  ///< of each block, for each velocity: J^T, L^-T J^T, D^-1 L^-T J^T
  std::vector<Column> columns_;
  std::vector<Way> ways_;  ///< of each body
  std::vector<Speed> speeds_;
  std::vector<Speed> unit_speeds_;  ///< of each joint velocity
  std::vector<Bend> bends_;
  std::vector<std::uint64_t> support_;
  VectorX<double> q_, v_, x_;
  // Of the loops: their response, its pseudo-inverse, and that times what couples them to the rows.
  MatrixX<double> full_, loops_, solved_;
  VectorX<double> u_loops_, p_loops_;
  kernel::PositiveSolve<double> solve_;
};

}  // namespace limb
