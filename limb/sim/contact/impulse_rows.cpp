#include "limb/sim/contact/impulse_rows.hpp"

#include <bit>
#include <cmath>

#include "limb/dynamics/columns.hpp"

namespace limb {
namespace {

constexpr double kRankTolerance = 1e-11;

int count_loop_rows(const Model<double>& model) {
  int rows = 0;
  for (const Loop<double>& loop : model.loops()) {
    rows += loop.kind == LoopDescription<double>::Kind::weld ? 6 : 3;
  }
  return rows;
}

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

ImpulseRows::ImpulseRows(const Model<double>& model)
    : n_(model.velocity_size()),
      words_((at(n_) + 63) / 64),
      work_(model, Loops::open),
      factor_(model),
      kinematics_(model),
      loop_rows_(count_loop_rows(model)),
      q_(VectorX<double>::Zero(model.position_size())),
      x_(VectorX<double>::Zero(n_)),
      root_(x_),
      loops_(MatrixX<double>::Zero(loop_rows_, loop_rows_)),
      u_loops_(VectorX<double>::Zero(loop_rows_)),
      p_loops_(u_loops_),
      solve_(std::max(loop_rows_, 1)) {}

const Kinematics<double>& ImpulseRows::place(const Model<double>& model, const VectorX<double>& q,
                                             const VectorX<double>& v) {
  forward_kinematics(model, q, v, kinematics_);
  q_ = q;
  blocks_.clear();
  rows_ = 0;
  return kinematics_;
}

ImpulseRows::Block& ImpulseRows::add_block(int rows) {
  blocks_.push_back({rows_, rows});
  rows_ += rows;
  if (J_.size() < blocks_.size() * at(n_)) {
    J_.resize(2 * blocks_.size() * at(n_));
    Y_.resize(J_.size());
    support_.resize(2 * blocks_.size() * words_);
  }
  Four* J = columns(J_, blocks_.size() - 1);
  for (int k = 0; k < n_; ++k) J[k].setZero();
  std::uint64_t* bits = support(blocks_.size() - 1);
  for (std::size_t w = 0; w < words_; ++w) bits[w] = 0;
  return blocks_.back();
}

void ImpulseRows::mark(int column) {
  support(blocks_.size() - 1)[at(column) / 64] |= std::uint64_t{1} << (at(column) % 64);
}

void ImpulseRows::add_body(const Model<double>& model, int body, double sign,
                           const Vector3<double>& p_W, const Matrix3<double>& axes_W) {
  Four* J = columns(J_, blocks_.size() - 1);
  for_each_ancestor(model, at(body), [&](std::size_t i, int j, std::size_t index) {
    const Motion<double>& S = kinematics_.S_W[index];
    const Vector3<double> r = p_W - kinematics_.X_WB[i].p;
    const Vector3<double> velocity = S.v + S.w.cross(r);
    Four row = Four::Zero();
    row.head<3>() = (sign * (axes_W.transpose() * velocity)).array();
    for_each_column(model, i, j, [&](int column, double ratio) {
      J[column] += ratio * row;
      mark(column);
    });
  });
}

void ImpulseRows::add_point(const Model<double>& model, int a, int b, const Vector3<double>& p_W,
                            const Matrix3<double>& axes_W) {
  add_block(3);
  if (a > 0) add_body(model, a, 1, p_W, axes_W);
  if (b > 0) add_body(model, b, -1, p_W, axes_W);
}

void ImpulseRows::add_joint(const Model<double>& model, int joint_velocity) {
  add_block(1);
  const int body = kinematics_.body_of_v[at(joint_velocity)];
  Four* J = columns(J_, blocks_.size() - 1);
  for_each_column(model, at(body), joint_velocity - model.bodies()[at(body)].v_start,
                  [&](int column, double ratio) {
                    J[column][0] += ratio;
                    mark(column);
                  });
}

/// The velocity of each loop's second side seen from its first, at the first one's place.
void ImpulseRows::add_loops(const Model<double>& model) {
  for (const Loop<double>& loop : model.loops()) {
    const int a = loop.body_a.value(), b = loop.body_b.value();
    const Pose<double> X_WL = kinematics_.X_WB[at(a)] * loop.X_AL;
    add_point(model, b, a, X_WL.p, X_WL.R);
    if (loop.kind != LoopDescription<double>::Kind::weld) continue;
    add_block(3);
    Four* J = columns(J_, blocks_.size() - 1);
    for (const int side : {b, a}) {
      if (side == 0) continue;
      for_each_ancestor(model, at(side), [&](std::size_t i, int j, std::size_t index) {
        Four row = Four::Zero();
        row.head<3>() =
            ((side == b ? 1.0 : -1.0) * (X_WL.R.transpose() * kinematics_.S_W[index].w)).array();
        for_each_column(model, i, j, [&](int column, double ratio) {
          J[column] += ratio * row;
          mark(column);
        });
      });
    }
  }
}

int ImpulseRows::finish(const Model<double>& model, MatrixX<double>& A) {
  const int singular = factorize_mass<double>(model, work_, q_, factor_, {true, false, false});
  if (singular >= 0) return singular;
  const int user_rows = rows_;
  user_blocks_ = blocks_.size();
  add_loops(model);
  const auto& F = factor_.packed();
  for (int k = 0; k < n_; ++k) root_[k] = std::sqrt(F.inverse[k]);

  // A factor's row k reaches the ancestors of k alone, which are marked wherever k is; couplings
  // mix branches, and there every row reaches all.
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    const Four* J = columns(J_, block);
    Four* Y = columns(Y_, block);
    std::uint64_t* bits = support(block);
    for (int k = 0; k < n_; ++k) Y[k] = J[k];
    for (int k = n_ - 1; k >= 0; --k) {
      if ((bits[at(k) / 64] >> (at(k) % 64) & 1) == 0) continue;
      const int* path = F.path_of(k);
      const double* row = F.row(k);
      const Four value = Y[k];
      for (int m = F.depth[at(k)] - 2; m >= 0; --m) {
        Y[path[m]] -= row[m] * value;
        bits[at(path[m]) / 64] |= std::uint64_t{1} << (at(path[m]) % 64);
      }
      Y[k] = root_[k] * value;
    }
  }

  MatrixX<double>& all = loop_rows_ > 0 ? full_ : A;
  if (loop_rows_ > 0 && full_.rows() < rows_) full_ = MatrixX<double>::Zero(2 * rows_, 2 * rows_);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const Four *Yi = columns(Y_, i), *Yj = columns(Y_, j);
      const std::uint64_t *in_i = support(i), *in_j = support(j);
      Four sum[3] = {Four::Zero(), Four::Zero(), Four::Zero()};
      for (std::size_t w = 0; w < words_; ++w) {
        for (std::uint64_t both = in_i[w] & in_j[w]; both != 0; both &= both - 1) {
          const auto k = 64 * w + static_cast<std::size_t>(std::countr_zero(both));
          for (int r = 0; r < 3; ++r) sum[r] += Yi[k][r] * Yj[k];
        }
      }
      for (int r = 0; r < blocks_[i].rows; ++r) {
        for (int c = 0; c < blocks_[j].rows; ++c) {
          const double entry = sum[r][c];
          all(blocks_[i].row + r, blocks_[j].row + c) = entry;
          all(blocks_[j].row + c, blocks_[i].row + r) = entry;
        }
      }
    }
  }
  if (loop_rows_ > 0) {
    // A - A_cl A_ll^+ A_lc
    loops_ = full_.block(user_rows, user_rows, loop_rows_, loop_rows_);
    solve_.factorize(loops_, loop_rows_, kRankTolerance);
    if (solved_.cols() < user_rows) solved_ = MatrixX<double>::Zero(loop_rows_, 2 * user_rows);
    for (int c = 0; c < user_rows; ++c) {
      u_loops_ = full_.block(user_rows, c, loop_rows_, 1);
      solve_.solve(u_loops_.data(), solved_.col(c).data());
    }
    for (int c = 0; c < user_rows; ++c) {
      for (int r = 0; r < user_rows; ++r) {
        double sum = full_(r, c);
        for (int k = 0; k < loop_rows_; ++k) sum -= full_(user_rows + k, r) * solved_(k, c);
        A(r, c) = sum;
      }
    }
    rows_ = user_rows;
  }
  return -1;
}

void ImpulseRows::velocities(const VectorX<double>& v, VectorX<double>& u) {
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    const Four* J = columns(J_, block);
    const std::uint64_t* bits = support(block);
    Four sum = Four::Zero();
    for (std::size_t w = 0; w < words_; ++w) {
      for (std::uint64_t left = bits[w]; left != 0; left &= left - 1) {
        const auto k = 64 * w + static_cast<std::size_t>(std::countr_zero(left));
        sum += v[static_cast<Eigen::Index>(k)] * J[k];
      }
    }
    for (int r = 0; r < blocks_[block].rows; ++r) {
      const int row = blocks_[block].row + r;
      (block < user_blocks_ ? u[row] : u_loops_[row - rows_]) = sum[r];
    }
  }
  for (int r = 0; loop_rows_ > 0 && r < rows_; ++r) {
    for (int k = 0; k < loop_rows_; ++k) u[r] -= solved_(k, r) * u_loops_[k];
  }
}

/// x_ = M^-1 (J^T p + J_loops^T p_loops), where p opens no loop that was closed.
void ImpulseRows::respond(const VectorX<double>& p) {
  x_.setZero();
  for (int r = 0; loop_rows_ > 0 && r < rows_; ++r) p_loops_ -= p[r] * solved_.col(r);
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    const Four* Y = columns(Y_, block);
    const std::uint64_t* bits = support(block);
    Four weights = Four::Zero();
    for (int r = 0; r < blocks_[block].rows; ++r) {
      const int row = blocks_[block].row + r;
      weights[r] = block < user_blocks_ ? p[row] : p_loops_[row - rows_];
    }
    for (std::size_t w = 0; w < words_; ++w) {
      for (std::uint64_t left = bits[w]; left != 0; left &= left - 1) {
        const auto k = 64 * w + static_cast<std::size_t>(std::countr_zero(left));
        x_[static_cast<Eigen::Index>(k)] += (weights * Y[k]).sum();
      }
    }
  }
  const auto& F = factor_.packed();
  for (int k = 0; k < n_; ++k) x_[k] *= root_[k];
  kernel::solve_forward(F, n_, x_.data());
}

void ImpulseRows::displace(const VectorX<double>& p, VectorX<double>& u) {
  p_loops_.setZero();
  respond(p);
  u = x_;
}

void ImpulseRows::apply(const VectorX<double>& p, VectorX<double>& v) {
  if (loop_rows_ > 0) {
    solve_.solve(u_loops_.data(), p_loops_.data());
    p_loops_ *= -1;
  }
  respond(p);
  v += x_;
}

}  // namespace limb
