#include "limb/sim/contact/delassus_matrix.hpp"

#include <bit>
#include <cmath>

#include "limb/batch/compiled.hpp"
#include "limb/dynamics/factor/packed_factor.hpp"
#include "limb/dynamics/kinematics/columns.hpp"
#include "limb/dynamics/recursive/crba.hpp"

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

DelassusMatrix::DelassusMatrix(const Model<double>& model)
    : n_(model.nv()),
      words_((at(n_) + 63) / 64),
      work_(model, Loops::open),
      M_(MatrixX<double>::Zero(n_, n_)),
      M_plain_(M_),
      factor_(model),
      kinematics_(model),
      loop_rows_(count_loop_rows(model)),
      q_(VectorX<double>::Zero(model.nq())),
      v_(VectorX<double>::Zero(model.uncoupled_nv())),
      x_(VectorX<double>::Zero(n_)),
      loops_(MatrixX<double>::Zero(loop_rows_, loop_rows_)),
      u_loops_(VectorX<double>::Zero(loop_rows_)),
      p_loops_(u_loops_),
      solve_(std::max(loop_rows_, 1)) {
  column_ranges_.resize(model.bodies().size());
  speeds_.resize(model.bodies().size());
  bias_motions_.resize(model.bodies().size());
  for (std::size_t body = 1; body < model.bodies().size(); ++body) {
    column_ranges_[body].begin = columns_.size();
    for_each_ancestor(model, body, [&](std::size_t i, int j, std::size_t index) {
      for_each_column(model, i, j, [&](int column, double ratio) {
        columns_.push_back({static_cast<int>(index), static_cast<int>(i), column, ratio});
      });
    });
    column_ranges_[body].end = columns_.size();
    const Joint<double>& joint = model.bodies()[body].joint;
    std::vector<double> q(at(joint.nq()));
    joint.neutral(q.data());
    Motion<double> S[6];
    joint.subspace(q.data(), S);
    // The axes of a universal joint have constant length.
    for (int j = 0; j < joint.nv(); ++j) unit_speeds_.push_back({S[j].v.norm(), S[j].w.norm()});
  }
}

const Kinematics<double>& DelassusMatrix::update_kinematics(const Model<double>& model,
                                                            const VectorX<double>& q) {
  forward_kinematics(model, q, kinematics_);
  has_plain_ = has_plain_ && q == q_;
  q_ = q;
  blocks_.clear();
  rows_ = 0;
  return kinematics_;
}

const std::vector<DelassusMatrix::Speed>& DelassusMatrix::speed_bounds(const Model<double>& model,
                                                                       const VectorX<double>& v) {
  model.coupling().expand_velocity(v.data(), v_.data());
  for (std::size_t i = 1; i < speeds_.size(); ++i) {
    const Body<double>& body = model.bodies()[i];
    const auto parent = at(body.parent.value());
    const double arm = (kinematics_.X_WB[i].p - kinematics_.X_WB[parent].p).norm();
    Speed speed = speeds_[parent];
    if (parent > 0) speed.linear += speed.angular * arm;
    for (int j = body.v_start; j < body.v_start + body.joint.nv(); ++j) {
      speed.linear += std::abs(v_[j]) * unit_speeds_[at(j)].linear;
      speed.angular += std::abs(v_[j]) * unit_speeds_[at(j)].angular;
    }
    speeds_[i] = speed;
  }
  return speeds_;
}

const std::vector<DelassusMatrix::BiasMotion>& DelassusMatrix::bias_motions(
    const Model<double>& model, const VectorX<double>& v) {
  model.coupling().expand_velocity(v.data(), v_.data());
  for (std::size_t i = 1; i < bias_motions_.size(); ++i) {
    const Body<double>& body = model.bodies()[i];
    const auto parent = at(body.parent.value());
    const BiasMotion& below = bias_motions_[parent];
    Vector3<double> turn = Vector3<double>::Zero(), slide = turn;
    for (int j = body.v_start; j < body.v_start + body.joint.nv(); ++j) {
      turn += v_[j] * kinematics_.S_W[at(j)].w;
      slide += v_[j] * kinematics_.S_W[at(j)].v;
    }
    Vector3<double> arm = Vector3<double>::Zero();
    if (parent > 0) arm = kinematics_.X_WB[i].p - kinematics_.X_WB[parent].p;
    BiasMotion& now = bias_motions_[i];
    now.w = below.w + turn;
    now.dw = below.dw + below.w.cross(turn);
    now.a = below.a + below.dw.cross(arm) + below.w.cross(below.w.cross(arm) + 2 * slide);
  }
  return bias_motions_;
}

DelassusMatrix::Block& DelassusMatrix::add_block(int rows) {
  blocks_.push_back({rows_, rows});
  rows_ += rows;
  if (J_.size() < blocks_.size() * at(n_)) {
    J_.resize(2 * blocks_.size() * at(n_));
    Y_.resize(J_.size());
    Z_.resize(J_.size());
    support_.resize(2 * blocks_.size() * words_);
  }
  Array4* J = columns(J_, blocks_.size() - 1);
  for (int k = 0; k < n_; ++k) J[k].setZero();
  std::uint64_t* bits = support(blocks_.size() - 1);
  for (std::size_t w = 0; w < words_; ++w) bits[w] = 0;
  return blocks_.back();
}

void DelassusMatrix::mark_column(int column) {
  support(blocks_.size() - 1)[at(column) / 64] |= std::uint64_t{1} << (at(column) % 64);
}

/// Adds sign times rows(S, p_WJ) for each velocity that moves the body; p_WJ is its joint's origin.
template <typename Rows>
void DelassusMatrix::add_body(int body, double sign, const Rows& rows) {
  Array4* J = columns(J_, blocks_.size() - 1);
  std::uint64_t* bits = support(blocks_.size() - 1);
  for (std::size_t k = column_ranges_[at(body)].begin; k < column_ranges_[at(body)].end; ++k) {
    const Column& c = columns_[k];
    const Vector3<double> row = rows(kinematics_.S_W[at(c.index)], kinematics_.X_WB[at(c.body)].p);
    const double factor = sign * c.ratio;
    J[c.column] += Array4(factor * row[0], factor * row[1], factor * row[2], 0);
    bits[at(c.column) / 64] |= std::uint64_t{1} << (at(c.column) % 64);
  }
}

void DelassusMatrix::add_point(int a, int b, const Vector3<double>& p_W,
                               const Matrix3<double>& axes_W) {
  add_block(3);
  const auto rows = [&](const Motion<double>& S, const Vector3<double>& p_WJ) {
    const double x = p_W[0] - p_WJ[0], y = p_W[1] - p_WJ[1], z = p_W[2] - p_WJ[2];
    const double u = S.v[0] + S.w[1] * z - S.w[2] * y, v = S.v[1] + S.w[2] * x - S.w[0] * z,
                 w = S.v[2] + S.w[0] * y - S.w[1] * x;
    Vector3<double> row;
    for (int r = 0; r < 3; ++r) row[r] = axes_W(0, r) * u + axes_W(1, r) * v + axes_W(2, r) * w;
    return row;
  };
  if (a > 0) add_body(a, 1, rows);
  if (b > 0) add_body(b, -1, rows);
}

void DelassusMatrix::add_joint(const Model<double>& model, int joint_velocity) {
  add_block(1);
  const int body = kinematics_.body_of_v[at(joint_velocity)];
  Array4* J = columns(J_, blocks_.size() - 1);
  for_each_column(model, at(body), joint_velocity - model.bodies()[at(body)].v_start,
                  [&](int column, double ratio) {
                    J[column][0] += ratio;
                    mark_column(column);
                  });
}

/// Velocity of the second side of each loop relative to its first, in the axes of the first.
void DelassusMatrix::add_loops(const Model<double>& model) {
  for (const Loop<double>& loop : model.loops()) {
    const int a = loop.body_a.value(), b = loop.body_b.value();
    const Pose<double> X_WL = kinematics_.X_WB[at(a)] * loop.X_AL;
    add_point(b, a, (kinematics_.X_WB[at(b)] * loop.X_BL).p, X_WL.R);
    if (loop.kind != LoopDescription<double>::Kind::weld) continue;
    add_block(3);
    const auto turn = [&](const Motion<double>& S, const Vector3<double>&) {
      return Vector3<double>(X_WL.R.transpose() * S.w);
    };
    if (b > 0) add_body(b, 1, turn);
    if (a > 0) add_body(a, -1, turn);
  }
}

FactorReport DelassusMatrix::factorize_mass_matrix(const Model<double>& model) {
  constexpr JointEffects kArmature = {true, false, false};
  if (compiled_ == nullptr && added_ == nullptr) {
    return factorize_mass<double>(model, work_, q_, factor_, kArmature);
  }
  if (!has_plain_) {
    if (compiled_ != nullptr) {
      compiled_->crba(q_, M_plain_);
    } else {
      crba<double>(model, work_, q_, M_plain_, kArmature);
    }
    has_plain_ = true;
  }
  M_ = M_plain_;
  if (added_ != nullptr) {
    // G^T diag(added) G
    for (const Coupling<double>::Row& row : model.coupling().rows()) {
      if (row.yq >= 0) {
        for (int k = 0; k < row.nv; ++k) {
          const int y = row.terms[at(k)].y;
          M_(y, y) += (*added_)[row.v + k];
        }
        continue;
      }
      for (const auto& a : row.terms) {
        for (const auto& b : row.terms) M_(a.y, b.y) += a.ratio * b.ratio * (*added_)[row.v];
      }
    }
  }
  return factorize_mass<double>(model, M_, factor_);
}

FactorReport DelassusMatrix::factorize(const Model<double>& model, const VectorX<double>& q) {
  if (loop_rows_ == 0) {
    has_plain_ = has_plain_ && q == q_;
    q_ = q;
    return factorize_mass_matrix(model);
  }
  MatrixX<double> none;
  update_kinematics(model, q);
  return compute(model, none);
}

void DelassusMatrix::accelerations(const VectorX<double>& tau, VectorX<double>& a) {
  solve_mass<double>(factor_, tau, x_);
  if (loop_rows_ > 0) {
    // M^-1 J_l^T p with J_l (x + M^-1 J_l^T p) = 0.
    a = x_;
    row_velocities(a, x_);  // writes the rows of the loops only, since there are no others
    solve_.solve(u_loops_.data(), p_loops_.data());
    p_loops_ *= -1;
    solve_response(x_);
    a += x_;
    return;
  }
  a = x_;
}

FactorReport DelassusMatrix::compute(const Model<double>& model, MatrixX<double>& A) {
  const FactorReport report = factorize_mass_matrix(model);
  if (!report.ok()) return report;
  const int user_rows = rows_;
  user_blocks_ = blocks_.size();
  add_loops(model);
  const auto& F = factor_.packed();

  // Row k of the factor is nonzero only for the ancestors of k, which are marked wherever k is;
  // with couplings, which mix branches, every row is full.
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    const Array4* J = columns(J_, block);
    Array4 *Y = columns(Y_, block), *Z = columns(Z_, block);
    std::uint64_t* bits = support(block);
    for (int k = 0; k < n_; ++k) Y[k] = J[k];
    for (int k = n_ - 1; k >= 0; --k) {
      if ((bits[at(k) / 64] >> (at(k) % 64) & 1) == 0) continue;
      const int* path = F.path_of(k);
      const double* row = F.row(k);
      const Array4 value = Y[k];
      for (int m = F.depth[at(k)] - 2; m >= 0; --m) {
        Y[path[m]] -= row[m] * value;
        bits[at(path[m]) / 64] |= std::uint64_t{1} << (at(path[m]) % 64);
      }
      Z[k] = F.inverse[k] * value;
    }
  }

  MatrixX<double>& all = loop_rows_ > 0 ? full_ : A;
  if (loop_rows_ > 0 && full_.rows() < rows_) full_ = MatrixX<double>::Zero(2 * rows_, 2 * rows_);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const Array4 *Yi = columns(Y_, i), *Zj = columns(Z_, j);
      const std::uint64_t *in_i = support(i), *in_j = support(j);
      Array4 sum[3] = {Array4::Zero(), Array4::Zero(), Array4::Zero()};
      for (std::size_t w = 0; w < words_; ++w) {
        for (std::uint64_t both = in_i[w] & in_j[w]; both != 0; both &= both - 1) {
          const auto k = 64 * w + static_cast<std::size_t>(std::countr_zero(both));
          for (int r = 0; r < 3; ++r) sum[r] += Yi[k][r] * Zj[k];
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
    solve_.factorize(loops_, loop_rows_, kRankTolerance, 3);
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
  return report;
}

void DelassusMatrix::row_velocities(const VectorX<double>& v, VectorX<double>& u) {
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    const Array4* J = columns(J_, block);
    const std::uint64_t* bits = support(block);
    Array4 sum = Array4::Zero();
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

/// x_ = M^-1 (J^T p + J_loops^T p_loops), where p_loops keeps closed loops closed.
void DelassusMatrix::solve_response(const VectorX<double>& p) {
  x_.setZero();
  for (int r = 0; loop_rows_ > 0 && r < rows_; ++r) p_loops_ -= p[r] * solved_.col(r);
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    const Array4* Z = columns(Z_, block);
    const std::uint64_t* bits = support(block);
    Array4 weights = Array4::Zero();
    for (int r = 0; r < blocks_[block].rows; ++r) {
      const int row = blocks_[block].row + r;
      weights[r] = block < user_blocks_ ? p[row] : p_loops_[row - rows_];
    }
    for (std::size_t w = 0; w < words_; ++w) {
      for (std::uint64_t left = bits[w]; left != 0; left &= left - 1) {
        const auto k = 64 * w + static_cast<std::size_t>(std::countr_zero(left));
        x_[static_cast<Eigen::Index>(k)] += (weights * Z[k]).sum();
      }
    }
  }
  const auto& F = factor_.packed();
  kernel::solve_forward(F, n_, x_.data());
}

void DelassusMatrix::displacement(const VectorX<double>& p, VectorX<double>& u) {
  p_loops_.setZero();
  solve_response(p);
  u = x_;
}

void DelassusMatrix::apply_impulses(const VectorX<double>& p, VectorX<double>& v) {
  if (loop_rows_ > 0) {
    solve_.solve(u_loops_.data(), p_loops_.data());
    p_loops_ *= -1;
  }
  solve_response(p);
  v += x_;
}

}  // namespace limb
