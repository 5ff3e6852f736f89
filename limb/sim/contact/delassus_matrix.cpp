#include "limb/sim/contact/delassus_matrix.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "limb/dynamics/factor/packed_factor.hpp"
#include "limb/dynamics/kinematics/columns.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/pack4.hpp"
#include "limb/math/polynomial.hpp"
#include "limb/sim/contact/step_functions.hpp"

namespace limb {
namespace {

constexpr double kRankTolerance = 1e-11;
/// Blocks that multiply_chains() takes.
constexpr std::size_t kMostChains = 8;

int count_loop_rows(const Model<double>& model) {
  int rows = 0;
  for (const Loop<double>& loop : model.loops()) rows += loop.rows();
  return rows;
}

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

/// Whether all bits are the same.
bool is_same(const VectorX<double>& a, const VectorX<double>& b) {
  return std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)) == 0;
}

}  // namespace

DelassusMatrix::DelassusMatrix(const Model<double>& model)
    : n_(model.nv()),
      words_((at(n_) + 63) / 64),
      work_(model, Loops::open),
      M_(MatrixX<double>::Zero(n_, n_)),
      M_plain_(M_),
      factor_(model),
      factored_added_(VectorX<double>::Zero(model.uncoupled_nv())),
      kinematics_(model),
      loop_rows_(count_loop_rows(model)),
      q_(VectorX<double>::Zero(model.nq())),
      v_(VectorX<double>::Zero(model.uncoupled_nv())),
      x_(VectorX<double>::Zero(n_)),
      y_(x_),
      loops_(MatrixX<double>::Zero(loop_rows_, loop_rows_)),
      u_loops_(VectorX<double>::Zero(loop_rows_)),
      p_loops_(u_loops_),
      solve_(std::max(loop_rows_, 1)) {
  for (const Loop<double>& loop : model.loops()) {
    for (int r = 0; r < loop.rows(); ++r) {
      const bool first = r % 3 == 0;
      loop_row_groups_.push_back(loop_row_groups_.empty() ? 0 : loop_row_groups_.back() + first);
    }
  }
  has_plain_columns_ = model.coupling().is_identity();
  // The ancestors of a velocity in the factor, where L^-T J^T may be nonzero; with couplings, which
  // mix branches, these are all velocities before it.
  const auto& F = factor_.packed();
  paths_.assign(at(n_) * words_, 0);
  for (int k = 0; k < n_; ++k) {
    for (int m = 0; m < F.depth[at(k)]; ++m) {
      const std::size_t i = at(F.path_of(k)[m]);
      paths_[at(k) * words_ + i / 64] |= std::uint64_t{1} << (i % 64);
    }
  }
  half_ = VectorX<double>::Zero(8 * n_);
  joint_support_.assign(words_, 0);
  body_support_.assign(model.bodies().size() * words_, 0);
  column_ranges_.resize(model.bodies().size());
  speeds_.resize(model.bodies().size());
  bias_motions_.resize(model.bodies().size());
  links_.resize(model.bodies().size());
  for (std::size_t body = 1; body < model.bodies().size(); ++body) {
    column_ranges_[body].begin = columns_.size();
    for_each_ancestor(model, body, [&](std::size_t i, int j, std::size_t index) {
      for_each_column(model, i, j, [&](int column, double ratio) {
        columns_.push_back({static_cast<int>(index), static_cast<int>(i), column, ratio});
        for (std::size_t w = 0; w < words_; ++w) {
          body_support_[body * words_ + w] |= paths_[at(column) * words_ + w];
        }
      });
    });
    column_ranges_[body].end = columns_.size();
    const Joint<double>& joint = model.bodies()[body].joint;
    const bool turns = joint.type() == JointType::revolute || joint.type() == JointType::continuous;
    const Vector3<double>& p_PJ = model.bodies()[body].X_PJ.p;
    links_[body] = {model.bodies()[body].parent.value(), model.bodies()[body].v_start,
                    model.bodies()[body].v_start + joint.nv(), turns ? p_PJ.norm() : -1,
                    joint.type() == JointType::free && model.bodies()[body].parent.value() == 0};
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
  set_configuration(q);
  if (!has_poses_ && (compiled_ == nullptr || !compiled_->poses(q, kinematics_))) {
    forward_kinematics(model, q, kinematics_);
  }
  // Compiled code writes poses and axes only; couplings by polynomials depend on the positions.
  if (loop_rows_ > 0) model.coupling().expand_position(q.data(), kinematics_.q.data());
  has_poses_ = true;
  only_loops_ = false;
  blocks_.clear();
  marked_.clear();
  rows_ = 0;
  return kinematics_;
}

/// Keeps the mass matrix and its factor if q is the last one.
void DelassusMatrix::set_configuration(const VectorX<double>& q) {
  if (is_same(q, q_)) return;
  has_plain_ = has_factor_ = has_poses_ = false;
  q_ = q;
}

/// Velocities of the joints: v without couplings.
const double* DelassusMatrix::joint_velocities(const Model<double>& model,
                                               const VectorX<double>& v) {
  if (model.coupling().is_identity()) return v.data();
  model.coupling().expand_velocity(v.data(), v_.data());
  return v_.data();
}

const std::vector<DelassusMatrix::Speed>& DelassusMatrix::speed_bounds(const Model<double>& model,
                                                                       const VectorX<double>& v) {
  const double* const joint_v = joint_velocities(model, v);
  for (std::size_t i = 1; i < speeds_.size(); ++i) {
    const Link& link = links_[i];
    const auto parent = at(link.parent);
    Speed speed = speeds_[parent];
    if (parent > 0) {
      const double arm =
          link.arm >= 0 ? link.arm : (kinematics_.X_WB[i].p - kinematics_.X_WB[parent].p).norm();
      speed.linear += speed.angular * arm;
      speed.inner_linear += speed.inner_angular * arm;
    }
    double linear = 0, angular = 0;
    for (int j = link.v_begin; j < link.v_end; ++j) {
      linear += std::abs(joint_v[j]) * unit_speeds_[at(j)].linear;
      angular += std::abs(joint_v[j]) * unit_speeds_[at(j)].angular;
    }
    speed.linear += linear;
    speed.angular += angular;
    if (!link.free_base) {
      speed.inner_linear += linear;
      speed.inner_angular += angular;
    }
    speeds_[i] = speed;
  }
  return speeds_;
}

double DelassusMatrix::reach(int body) const {
  double sum = 0;
  for (int i = body; i > 0 && links_[at(i)].parent > 0; i = links_[at(i)].parent) {
    if (links_[at(i)].arm < 0) return std::numeric_limits<double>::infinity();
    sum += links_[at(i)].arm;
  }
  return sum;
}

double DelassusMatrix::speed_bound(const Model<double>& model, const VectorX<double>& v,
                                   double reach) {
  const double* const joint_v = joint_velocities(model, v);
  double linear = 0, angular = 0;
  for (std::size_t j = 0; j < unit_speeds_.size(); ++j) {
    linear += std::abs(joint_v[j]) * unit_speeds_[j].linear;
    angular += std::abs(joint_v[j]) * unit_speeds_[j].angular;
  }
  return linear + angular * reach;
}

const std::vector<DelassusMatrix::BiasMotion>& DelassusMatrix::bias_motions(
    const Model<double>& model, const VectorX<double>& v) {
  const double* const joint_v = joint_velocities(model, v);
  for (std::size_t i = 1; i < bias_motions_.size(); ++i) {
    const auto parent = at(links_[i].parent);
    const BiasMotion& below = bias_motions_[parent];
    Vector3<double> turn = Vector3<double>::Zero(), slide = turn;
    for (int j = links_[i].v_begin; j < links_[i].v_end; ++j) {
      turn += joint_v[j] * kinematics_.S_W[at(j)].w;
      slide += joint_v[j] * kinematics_.S_W[at(j)].v;
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

/// A block for the velocities in the sets a and b (null: empty), whose J is not set.
void DelassusMatrix::add_block(int rows, int bodies, const std::uint64_t* a,
                               const std::uint64_t* b) {
  const auto begin = marked_.size();
  for (std::size_t w = 0; w < words_; ++w) {
    std::uint64_t left = (a != nullptr ? a[w] : 0) | (b != nullptr ? b[w] : 0);
    for (; left != 0; left &= left - 1) {
      marked_.push_back(static_cast<int>(64 * w) + std::countr_zero(left));
    }
  }
  const std::size_t count = marked_.size() - begin;
  const bool chain = count > 0 && at(factor_.packed().depth[at(marked_.back())]) == count;
  blocks_.push_back({rows_, rows, bodies, begin, marked_.size(), chain && rows == 3});
  rows_ += rows;
  if (J_.size() < blocks_.size() * at(n_)) {
    J_.resize(2 * blocks_.size() * at(n_));
    Y_.resize(J_.size());
    Z_.resize(J_.size());
  }
}

/// Sets J of the last block to zero.
void DelassusMatrix::clear_block() {
  Array4* J = columns(J_, blocks_.size() - 1);
  for (const int k : marks(blocks_.back())) J[k].setZero();
}

/// J of the last block: rows(S, p_WJ) of each velocity that moves body a, minus those of body b;
/// p_WJ is the origin of the velocity's joint.
template <typename Rows>
void DelassusMatrix::set_rows(int a, int b, const Rows& rows) {
  const bool one = has_plain_columns_ && (a > 0) != (b > 0);
  if (!one) {
    clear_block();
    if (a > 0) add_body(a, 1, rows);
    if (b > 0) add_body(b, -1, rows);
    return;
  }
  // Each velocity once, and no others.
  Array4* const J = columns(J_, blocks_.size() - 1);
  const ColumnRange range = column_ranges_[at(std::max(a, b))];
  for (std::size_t k = range.begin; k < range.end; ++k) {
    const Column& c = columns_[k];
    const Array4 row = rows(kinematics_.S_W[at(c.index)], kinematics_.X_WB[at(c.body)].p);
    J[c.column] = a > 0 ? row : Array4(-row);
  }
}

template <typename Rows>
void DelassusMatrix::add_body(int body, double sign, const Rows& rows) {
  Array4* J = columns(J_, blocks_.size() - 1);
  for (std::size_t k = column_ranges_[at(body)].begin; k < column_ranges_[at(body)].end; ++k) {
    const Column& c = columns_[k];
    J[c.column] +=
        sign * c.ratio * rows(kinematics_.S_W[at(c.index)], kinematics_.X_WB[at(c.body)].p);
  }
}

void DelassusMatrix::add_point(int a, int b, const Vector3<double>& p_W,
                               const Matrix3<double>& axes_W) {
  add_block(3, bodies(a, b), body_support(a), body_support(b));
  Array4 axes[3];
  for (int i = 0; i < 3; ++i) axes[i] = Array4(axes_W(i, 0), axes_W(i, 1), axes_W(i, 2), 0);
  const auto rows = [&](const Motion<double>& S, const Vector3<double>& p_WJ) {
    const double x = p_W[0] - p_WJ[0], y = p_W[1] - p_WJ[1], z = p_W[2] - p_WJ[2];
    const double u = S.v[0] + S.w[1] * z - S.w[2] * y, v = S.v[1] + S.w[2] * x - S.w[0] * z,
                 w = S.v[2] + S.w[0] * y - S.w[1] * x;
    return Array4(axes[0] * u + axes[1] * v + axes[2] * w);
  };
  set_rows(a, b, rows);
}

void DelassusMatrix::add_rotation(int a, int b, const Matrix3<double>& axes_W, int first,
                                  int rows) {
  add_block(rows, bodies(a, b), body_support(a), body_support(b));
  const auto turn = [&](const Motion<double>& S, const Vector3<double>&) {
    Array4 row = Array4::Zero();
    for (int r = 0; r < rows; ++r) row[r] = axes_W.col(first + r).dot(S.w);
    return row;
  };
  set_rows(a, b, turn);
}

void DelassusMatrix::add_joints(const Model<double>& model, std::span<const JointRatio> joints) {
  const auto for_each = [&](const auto& use) {
    for (const JointRatio& joint : joints) {
      const int body = kinematics_.body_of_v[at(joint.velocity)];
      for_each_column(model, at(body), joint.velocity - model.bodies()[at(body)].v_start,
                      [&](int column, double ratio) { use(column, joint.ratio * ratio); });
    }
  };
  joint_support_.assign(words_, 0);
  for_each([&](int column, double) {
    for (std::size_t w = 0; w < words_; ++w) joint_support_[w] |= paths_[at(column) * words_ + w];
  });
  add_block(1, -1, joint_support_.data(), nullptr);
  clear_block();
  Array4* J = columns(J_, blocks_.size() - 1);
  for_each([&](int column, double ratio) { J[column][0] += ratio; });
}

void DelassusMatrix::add_joint(const Model<double>& model, int joint_velocity) {
  const JointRatio joint{joint_velocity, 1};
  add_joints(model, {&joint, 1});
}

/// Velocity of the second side of each loop relative to its first, in the axes of the first; of a
/// polynomial coupling that of joint b relative to its value.
void DelassusMatrix::add_loops(const Model<double>& model) {
  for (const Loop<double>& loop : model.loops()) {
    const int a = loop.body_a.value(), b = loop.body_b.value();
    if (loop.kind == LoopKind::polynomial) {
      const Body<double>&leader = model.body(loop.body_a), &follower = model.body(loop.body_b);
      const auto p = evaluate_polynomial(loop.polynomial, kinematics_.q[leader.q_start]);
      const JointRatio joints[] = {{follower.v_start, 1}, {leader.v_start, -p.first}};
      add_joints(model, joints);
      continue;
    }
    const Pose<double> X_WL = kinematics_.X_WB[at(a)] * loop.X_AL;
    add_point(b, a, (kinematics_.X_WB[at(b)] * loop.X_BL).p, X_WL.R);
    if (loop.kind == LoopKind::weld) add_rotation(b, a, X_WL.R, 0, 3);
  }
}

/// Whether the factor is that of q_ and the present added inertia.
bool DelassusMatrix::has_present_factor() const {
  return has_factor_ &&
         (added_ == nullptr ? factored_added_.isZero(0) : is_same(*added_, factored_added_));
}

void DelassusMatrix::keep_added() {
  if (added_ == nullptr) {
    factored_added_.setZero();
  } else {
    factored_added_ = *added_;
  }
}

bool DelassusMatrix::factorize_with_bias(const VectorX<double>& q, const VectorX<double>& v,
                                         VectorX<double>& tau) {
  if (compiled_ == nullptr || loop_rows_ > 0) return false;
  set_configuration(q);
  if (has_present_factor()) return false;
  keep_added();
  has_factor_ = compiled_->begin(q, v, factored_added_, factor_, tau,
                                 poses_with_bias_ ? &kinematics_ : nullptr);
  has_poses_ |= has_factor_ && poses_with_bias_;
  return has_factor_;
}

FactorReport DelassusMatrix::factorize_mass_matrix(const Model<double>& model) {
  constexpr JointEffects kArmature = {true, false, false};
  if (has_present_factor()) return {};
  keep_added();
  if (compiled_ != nullptr && compiled_->factorize(q_, factored_added_, factor_)) {
    has_factor_ = true;
    return {};
  }
  if (!has_plain_) {
    if (compiled_ != nullptr) {
      compiled_->mass_matrix(q_, M_plain_);
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
  const FactorReport report = factorize_mass<double>(model, M_, factor_);
  has_factor_ = report.ok();
  return report;
}

FactorReport DelassusMatrix::factorize(const Model<double>& model, const VectorX<double>& q) {
  if (loop_rows_ == 0) {
    set_configuration(q);
    return factorize_mass_matrix(model);
  }
  if (has_present_factor() && q == q_ && only_loops_) return {};
  MatrixX<double> none;
  update_kinematics(model, q);
  const FactorReport report = compute(model, none);
  only_loops_ = report.ok();
  return report;
}

void DelassusMatrix::accelerations(const VectorX<double>& tau, VectorX<double>& a) {
  if (loop_rows_ == 0 && &tau != &a && compiled_ != nullptr && compiled_->solve(factor_, tau, a)) {
    return;
  }
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

/// Y = L^-T J^T and Z = D^-1 Y of kBlocks blocks from the given one on, whose velocities are the
/// same: N ancestors of the last one. All intermediate results are in registers.
template <int N, int kBlocks>
void DelassusMatrix::half_solve_chain(std::size_t block) {
  using Pack = kernel::Pack4<double>;
  const auto& F = factor_.packed();
  const int* const marked = marked_.data() + blocks_[block].begin;
  Pack y[kBlocks][N];
  for (int b = 0; b < kBlocks; ++b) {
    const Array4* const J = columns(J_, block + static_cast<std::size_t>(b));
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i) y[b][i] = kernel::load_pack4(J[marked[i]].data());
  }
#pragma GCC unroll 16
  for (int i = N - 1; i > 0; --i) {
    const double* const row = F.row(marked[i]);
#pragma GCC unroll 16
    for (int m = 0; m < i; ++m) {
      for (int b = 0; b < kBlocks; ++b) y[b][m] = y[b][m] - row[m] * y[b][i];
    }
  }
  for (int b = 0; b < kBlocks; ++b) {
    const std::size_t now = block + static_cast<std::size_t>(b);
    Array4 *const Y = columns(Y_, now), *const Z = columns(Z_, now);
    const int first = blocks_[now].row;
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i) {
      const int k = marked[i];
      const Pack z = F.inverse[k] * y[b][i];
      kernel::store_pack4(y[b][i], Y[k].data());
      kernel::store_pack4(z, Z[k].data());
      // The row after those of the block is zero or written later.
      kernel::store_pack4(z, Z_rows_.col(k).data() + first);
    }
  }
}

template <int kBlocks>
void DelassusMatrix::half_solve(std::size_t block) {
  constexpr std::size_t kLongest = 16;
  const auto table = []<std::size_t... N>(std::index_sequence<N...>) {
    return std::array{&DelassusMatrix::half_solve_chain<static_cast<int>(N) + 1, kBlocks>...};
  };
  static constexpr auto kChains = table(std::make_index_sequence<kLongest>());
  const std::size_t n = marks(blocks_[block]).size();
  bool chains = true;
  for (int b = 0; b < kBlocks; ++b) chains &= blocks_[block + static_cast<std::size_t>(b)].chain;
  if (chains && n <= kLongest) {
    (this->*kChains[n - 1])(block);
  } else {
    half_solve_tree<kBlocks>(block);
  }
}

/// The same for any velocities.
template <int kBlocks>
void DelassusMatrix::half_solve_tree(std::size_t block) {
  using Pack = Eigen::Array<double, 4 * kBlocks, 1>;
  const auto& F = factor_.packed();
  const std::span<const int> marked = marks(blocks_[block]);
  double* const y = half_.data();
  const auto pack = [&](int k) { return Eigen::Map<Pack>(y + 4 * kBlocks * k); };
  for (int b = 0; b < kBlocks; ++b) {
    const Array4* J = columns(J_, block + static_cast<std::size_t>(b));
    for (const int k : marked) Eigen::Map<Array4>(y + 4 * (kBlocks * k + b)) = J[k];
  }
  for (std::size_t i = marked.size(); i-- > 0;) {
    const int k = marked[i];
    const int* path = F.path_of(k);
    const double* row = F.row(k);
    const Pack value = pack(k);
    for (int m = F.depth[at(k)] - 2; m >= 0; --m) pack(path[m]) -= row[m] * value;
  }
  for (int b = 0; b < kBlocks; ++b) {
    const std::size_t now = block + static_cast<std::size_t>(b);
    Array4 *Y = columns(Y_, now), *Z = columns(Z_, now);
    const auto [first, count] = std::pair(blocks_[now].row, blocks_[now].rows);
    for (const int k : marked) {
      Y[k] = Eigen::Map<const Array4>(y + 4 * (kBlocks * k + b));
      Z[k] = F.inverse[k] * Y[k];
      double* to = Z_rows_.col(k).data() + first;
      for (int r = 0; r < count; ++r) to[r] = Z[k][r];
    }
  }
}

/// A = Y^T Z of a few points, each of which is moved by a chain of velocities: two blocks at a
/// time, over the velocities that move both, which are the first ones of both chains. @returns
/// false if there are other blocks or many.
bool DelassusMatrix::multiply_chains(MatrixX<double>& A) {
  using Pack = kernel::Pack4<double>;
  if (blocks_.size() > kMostChains) return false;
  for (const Block& block : blocks_) {
    if (!block.chain) return false;
  }
  for (std::size_t j = 0; j < blocks_.size(); ++j) {
    const Array4* const Y = columns(Y_, j);
    const std::span<const int> own = marks(blocks_[j]);
    for (std::size_t i = 0; i <= j; ++i) {
      const Array4* const Z = columns(Z_, i);
      const std::span<const int> other = marks(blocks_[i]);
      const std::size_t shorter = std::min(own.size(), other.size());
      Pack sum[3] = {};
      for (std::size_t c = 0; c < shorter && own[c] == other[c]; ++c) {
        const int k = own[c];
        const Pack z = kernel::load_pack4(Z[k].data());
        for (int s = 0; s < 3; ++s) sum[s] = sum[s] + Y[k][s] * z;
      }
      double* const block = A.data() + blocks_[j].row * A.outerStride() + blocks_[i].row;
      double* const mirror = A.data() + blocks_[i].row * A.outerStride() + blocks_[j].row;
      for (int s = 0; s < 3; ++s) {
        double entries[4];
        kernel::store_pack4(sum[s], entries);
        for (int r = 0; r < 3; ++r) {
          block[s * A.outerStride() + r] = entries[r];
          mirror[r * A.outerStride() + s] = entries[r];
        }
      }
    }
  }
  return true;
}

FactorReport DelassusMatrix::compute(const Model<double>& model, MatrixX<double>& A) {
  const FactorReport report = factorize_mass_matrix(model);
  if (!report.ok()) return report;
  const int user_rows = rows_;
  user_blocks_ = blocks_.size();
  add_loops(model);
  constexpr int kLanes = 8;
  const int lanes = (rows_ + kLanes - 1) / kLanes * kLanes;
  // A block of one row writes four numbers, up to three beyond the last row.
  if (Z_rows_.rows() < lanes + kLanes) Z_rows_ = MatrixX<double>::Zero(2 * lanes + kLanes, n_);
  using Lanes = Eigen::Array<double, kLanes, 1>;
  // multiply_chains() does not need Z_rows_.
  const bool chains =
      loop_rows_ == 0 && blocks_.size() <= kMostChains &&
      std::all_of(blocks_.begin(), blocks_.end(), [](const Block& block) { return block.chain; });
  for (int k = 0; k < n_ && !chains; ++k) {
    for (int c = 0; c < lanes; c += kLanes) {
      Eigen::Map<Lanes>(Z_rows_.col(k).data() + c).setZero();
    }
  }
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    // Two points of the same bodies, such as the ends of a capsule, are solved together.
    const bool pair = block + 1 < blocks_.size() &&
                      blocks_[block].bodies == blocks_[block + 1].bodies &&
                      blocks_[block].bodies >= 0;
    if (pair) {
      half_solve<2>(block);
      ++block;
    } else {
      half_solve<1>(block);
    }
  }

  if (chains && multiply_chains(A)) return report;
  // A = Y^T Z: the rows of a block at once, against eight rows before it or its own at a time.
  MatrixX<double>& all = loop_rows_ > 0 ? full_ : A;
  if (loop_rows_ > 0 && full_.rows() < rows_) full_ = MatrixX<double>::Zero(2 * rows_, 2 * rows_);
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    const int first = blocks_[block].row, count = blocks_[block].rows;
    const Array4* Y = columns(Y_, block);
    for (int c = 0; c < first + count; c += kLanes) {
      Lanes sum[3] = {Lanes::Zero(), Lanes::Zero(), Lanes::Zero()};
      for (const int k : marks(blocks_[block])) {
        const Lanes z = Eigen::Map<const Lanes>(Z_rows_.col(k).data() + c);
        for (int r = 0; r < 3; ++r) sum[r] += Y[k][r] * z;
      }
      for (int r = 0; r < count; ++r) {
        double* to = all.col(first + r).data() + c;
        if (c + kLanes <= all.rows()) {  // rows of later blocks are written again below
          Eigen::Map<Lanes> target(to);
          target = sum[r];
        } else {
          for (int j = 0; j < first + count - c; ++j) to[j] = sum[r][j];
        }
      }
    }
    for (int r = 0; r < count; ++r) {
      for (int j = 0; j < first + r; ++j) all(first + r, j) = all(j, first + r);
    }
  }
  if (loop_rows_ > 0) {
    // A - A_cl A_ll^+ A_lc
    loops_ = full_.block(user_rows, user_rows, loop_rows_, loop_rows_);
    solve_.factorize(loops_, loop_rows_, kRankTolerance, loop_row_groups_.data());
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
    Array4 sum = Array4::Zero();
    for (const int k : marks(blocks_[block])) sum += v[k] * J[k];
    for (int r = 0; r < blocks_[block].rows; ++r) {
      const int row = blocks_[block].row + r;
      (block < user_blocks_ ? u[row] : u_loops_[row - rows_]) = sum[r];
    }
  }
  for (int r = 0; loop_rows_ > 0 && r < rows_; ++r) {
    for (int k = 0; k < loop_rows_; ++k) u[r] -= solved_(k, r) * u_loops_[k];
  }
}

void DelassusMatrix::row_velocities(const VectorX<double>& v, VectorX<double>& u,
                                    const VectorX<double>& other_v, VectorX<double>& other_u) {
  if (loop_rows_ > 0) {
    row_velocities(v, u);
    row_velocities(other_v, other_u);
    return;
  }
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    const Array4* J = columns(J_, block);
    Array4 sum = Array4::Zero(), other = sum;
    for (const int k : marks(blocks_[block])) {
      sum += v[k] * J[k];
      other += other_v[k] * J[k];
    }
    const int row = blocks_[block].row;
    for (int r = 0; r < blocks_[block].rows; ++r) {
      u[row + r] = sum[r];
      other_u[row + r] = other[r];
    }
  }
}

/// x_ = M^-1 (J^T p + J_loops^T p_loops), where p_loops keeps closed loops closed.
void DelassusMatrix::solve_response(const VectorX<double>& p) {
  y_.setZero();
  for (int r = 0; loop_rows_ > 0 && r < rows_; ++r) p_loops_ -= p[r] * solved_.col(r);
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    const Array4* Z = columns(Z_, block);
    Array4 weights = Array4::Zero();
    for (int r = 0; r < blocks_[block].rows; ++r) {
      const int row = blocks_[block].row + r;
      weights[r] = block < user_blocks_ ? p[row] : p_loops_[row - rows_];
    }
    if ((weights == 0).all()) continue;
    for (const int k : marks(blocks_[block])) y_[k] += (weights * Z[k]).sum();
  }
  if (compiled_ != nullptr && compiled_->solve_forward(factor_, y_, x_)) return;
  x_ = y_;
  kernel::solve_forward(factor_.packed(), n_, x_.data());
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
