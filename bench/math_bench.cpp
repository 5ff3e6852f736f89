// Question: do limb's math types cost anything over plain Eigen? Each row does the same job on the
// same numbers with limb's types and with what an Eigen user would write.
#include <array>
#include <random>

#include "bench/side_by_side.hpp"
#include "limb/math/inertia.hpp"
#include "limb/math/se3.hpp"

namespace limb::bench {
namespace {

constexpr int kStates = 128;  // rotating inputs, all in the first-level cache
constexpr int kMask = kStates - 1;

struct Data {
  std::array<Eigen::Vector3d, kStates> w, p;
  std::array<Motion<double>, kStates> V;
  std::array<Force<double>, kStates> F;
  std::array<Pose<double>, kStates> X;
  std::array<Quaternion<double>, kStates> q;
  std::array<Inertia<double>, kStates> I;
  std::array<Eigen::Isometry3d, kStates> eigen_X;
  std::array<Eigen::Quaterniond, kStates> eigen_q;
  std::array<Matrix6<double>, kStates> eigen_I, eigen_Ad, eigen_AdInv, eigen_AdDual;
  std::array<Vector6<double>, kStates> eigen_V, eigen_F;
};

Data make_data() {
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto vector = [&] {
    return Eigen::Vector3d(uniform(engine), uniform(engine), uniform(engine));
  };
  Data d;
  for (int i = 0; i < kStates; ++i) {
    d.w[i] = 1.8 * vector();
    d.p[i] = vector();
    d.V[i] = {vector(), vector()};
    d.F[i] = {vector(), vector()};
    d.X[i] = {so3::exp(d.w[i]), vector()};
    d.q[i] = quaternion_exp(d.w[i]);
    d.I[i] = Inertia<double>::from_com(2, vector(), Eigen::Vector3d(3, 4, 5).asDiagonal());
    d.eigen_X[i].matrix() = d.X[i].matrix();
    d.eigen_q[i] = Eigen::Quaterniond(d.q[i].w(), d.q[i].x(), d.q[i].y(), d.q[i].z());
    d.eigen_I[i] = d.I[i].matrix();
    d.eigen_Ad[i] = d.X[i].adjoint();
    d.eigen_AdInv[i] = d.X[i].inverse().adjoint();
    d.eigen_AdDual[i] = d.X[i].dual_adjoint();
    d.eigen_V[i] = d.V[i].vector();
    d.eigen_F[i] = d.F[i].vector();
  }
  return d;
}

/// Keeps the compiler from dropping the result.
template <typename Result>
void keep(const Result& result) {
  benchmark::DoNotOptimize(result);
}

std::vector<Timing> run() {
  static const Data d = make_data();
  const auto next = [](int i) { return (i + 1) & kMask; };
  std::vector<Timing> t;
  t.push_back(side_by_side(
      "pose * pose (Isometry3d)", [&](int i) { keep(Pose<double>(d.X[i & kMask] * d.X[next(i)])); },
      [&](int i) { keep(Eigen::Isometry3d(d.eigen_X[i & kMask] * d.eigen_X[next(i)])); }));
  t.push_back(side_by_side(
      "pose inverse (Isometry3d)", [&](int i) { keep(d.X[i & kMask].inverse()); },
      [&](int i) { keep(Eigen::Isometry3d(d.eigen_X[i & kMask].inverse())); }));
  t.push_back(side_by_side(
      "pose * point (Isometry3d)",
      [&](int i) { keep(Eigen::Vector3d(d.X[i & kMask] * d.p[next(i)])); },
      [&](int i) { keep(Eigen::Vector3d(d.eigen_X[i & kMask] * d.p[next(i)])); }));
  t.push_back(side_by_side(
      "quaternion * quaternion (Quaterniond)", [&](int i) { keep(d.q[i & kMask] * d.q[next(i)]); },
      [&](int i) { keep(Eigen::Quaterniond(d.eigen_q[i & kMask] * d.eigen_q[next(i)])); }));
  t.push_back(side_by_side(
      "quaternion rotates a vector (Quaterniond)",
      [&](int i) { keep(d.q[i & kMask].rotate(d.p[next(i)])); },
      [&](int i) { keep(Eigen::Vector3d(d.eigen_q[i & kMask] * d.p[next(i)])); }));
  t.push_back(side_by_side(
      "quaternion to matrix (Quaterniond)", [&](int i) { keep(to_matrix(d.q[i & kMask])); },
      [&](int i) { keep(d.eigen_q[i & kMask].toRotationMatrix()); }));
  t.push_back(side_by_side(
      "matrix to quaternion (Quaterniond)",
      [&](int i) { keep(quaternion_from_matrix(d.X[i & kMask].R)); },
      [&](int i) { keep(Eigen::Quaterniond(d.X[i & kMask].R)); }));
  t.push_back(side_by_side(
      "slerp (Quaterniond::slerp)", [&](int i) { keep(slerp(d.q[i & kMask], d.q[next(i)], 0.3)); },
      [&](int i) { keep(d.eigen_q[i & kMask].slerp(0.3, d.eigen_q[next(i)])); }));
  t.push_back(side_by_side(
      "so3 exp (AngleAxisd)", [&](int i) { keep(so3::exp(d.w[i & kMask])); },
      [&](int i) {
        const Eigen::Vector3d& w = d.w[i & kMask];
        const double angle = w.norm();
        keep(Eigen::AngleAxisd(angle, w / angle).toRotationMatrix());
      }));
  t.push_back(side_by_side(
      "so3 log (AngleAxisd)", [&](int i) { keep(so3::log(d.X[i & kMask].R)); },
      [&](int i) {
        const Eigen::AngleAxisd a(d.X[i & kMask].R);
        keep(Eigen::Vector3d(a.angle() * a.axis()));
      }));
  t.push_back(side_by_side(
      "motion to another frame (6x6 adjoint)",
      [&](int i) { keep(d.X[i & kMask].act(d.V[next(i)])); },
      [&](int i) { keep(Vector6<double>(d.eigen_Ad[i & kMask] * d.eigen_V[next(i)])); }));
  t.push_back(side_by_side(
      "motion back (6x6 adjoint of the inverse)",
      [&](int i) { keep(d.X[i & kMask].inv_act(d.V[next(i)])); },
      [&](int i) { keep(Vector6<double>(d.eigen_AdInv[i & kMask] * d.eigen_V[next(i)])); }));
  t.push_back(side_by_side(
      "force to another frame (6x6 dual adjoint)",
      [&](int i) { keep(d.X[i & kMask].act(d.F[next(i)])); },
      [&](int i) { keep(Vector6<double>(d.eigen_AdDual[i & kMask] * d.eigen_F[next(i)])); }));
  t.push_back(side_by_side(
      "motion x motion (6x6 ad)", [&](int i) { keep(cross(d.V[i & kMask], d.V[next(i)])); },
      [&](int i) { keep(Vector6<double>(ad(d.V[i & kMask]) * d.eigen_V[next(i)])); }));
  t.push_back(side_by_side(
      "inertia * motion (6x6)", [&](int i) { keep(d.I[i & kMask] * d.V[next(i)]); },
      [&](int i) { keep(Vector6<double>(d.eigen_I[i & kMask] * d.eigen_V[next(i)])); }));
  t.push_back(side_by_side(
      "inertia to another frame (6x6 products)",
      [&](int i) { keep(d.I[i & kMask].seen_from(d.X[next(i)])); },
      [&](int i) {
        const Matrix6<double>& A = d.eigen_AdInv[next(i)];
        keep(Matrix6<double>(A.transpose() * d.eigen_I[i & kMask] * A));
      }));
  return t;
}

}  // namespace
}  // namespace limb::bench

int main() {
  const std::string title = "limb math against plain Eigen " + std::to_string(EIGEN_WORLD_VERSION) +
                            "." + std::to_string(EIGEN_MAJOR_VERSION);
  limb::bench::print(title, "Eigen", limb::bench::run());
}
