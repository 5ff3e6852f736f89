// Overhead of limb's math types over plain Eigen: each row computes the same on the same numbers
// with limb's types and with the code that an Eigen user would write.
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
  std::array<Eigen::Matrix3d, kStates> R;  // any orientation; those of X are less than a half turn
  std::array<Quaternion<double>, kStates> q;
  std::array<Inertia<double>, kStates> I;
  std::array<double, kStates> mass;
  std::array<Eigen::Vector3d, kStates> com;
  std::array<Eigen::Matrix3d, kStates> tensor;  // about the mass centre
  std::array<Eigen::Isometry3d, kStates> eigen_X;
  std::array<Eigen::Quaterniond, kStates> eigen_q;
  std::array<Matrix6<double>, kStates> eigen_I, eigen_Ad;
  std::array<Vector6<double>, kStates> eigen_V;
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
    d.mass[i] = d.I[i].mass();
    d.com[i] = d.I[i].com();
    d.tensor[i] = d.I[i].tensor_about_com();
    d.eigen_X[i].matrix() = d.X[i].matrix();
    d.eigen_q[i] = Eigen::Quaterniond(d.q[i].w(), d.q[i].x(), d.q[i].y(), d.q[i].z());
    d.eigen_I[i] = d.I[i].matrix();
    d.eigen_Ad[i] = d.X[i].adjoint();
    d.eigen_V[i] = d.V[i].vector();
  }
  std::normal_distribution<double> normal;
  for (Eigen::Matrix3d& R : d.R) {
    const auto part = [&] { return normal(engine); };
    R = to_matrix(quat_xyzw(part(), part(), part(), part()).normalized());
  }
  return d;
}

/// Keeps the compiler from dropping the result.
template <typename Result>
void keep(const Result& result) {
  benchmark::DoNotOptimize(result);
}

using Eigen::Isometry3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

/// Along a chain of bodies, each step depending on the previous one, as in a recursion.
std::vector<Timing> along_a_chain(const Data& d) {
  std::vector<Timing> t;
  t.push_back(side_by_side(
      "pose * pose (Isometry3d)",
      [&, X = Pose<double>()](int i) mutable {
        X = X * d.X[i & kMask];
        keep(X);
      },
      [&, X = Isometry3d(Isometry3d::Identity())](int i) mutable {
        X = X * d.eigen_X[i & kMask];
        keep(X);
      }));
  t.push_back(side_by_side(
      "pose * point (Isometry3d)",
      [&, p = Vector3d(1, 2, 3)](int i) mutable {
        p = d.X[i & kMask] * p;
        keep(p);
      },
      [&, p = Vector3d(1, 2, 3)](int i) mutable {
        p = d.eigen_X[i & kMask] * p;
        keep(p);
      }));
  t.push_back(side_by_side(
      "quaternion * quaternion (Quaterniond)",
      [&, q = Quaternion<double>()](int i) mutable {
        q = q * d.q[i & kMask];
        keep(q);
      },
      [&, q = Quaterniond(1, 0, 0, 0)](int i) mutable {
        q = q * d.eigen_q[i & kMask];
        keep(q);
      }));
  t.push_back(side_by_side(
      "quaternion rotates a vector (Quaterniond)",
      [&, p = Vector3d(1, 2, 3)](int i) mutable {
        p = d.q[i & kMask].rotate(p);
        keep(p);
      },
      [&, p = Vector3d(1, 2, 3)](int i) mutable {
        p = d.eigen_q[i & kMask] * p;
        keep(p);
      }));
  t.push_back(side_by_side(
      "motion to the child (Isometry3d, cross)",
      [&, V = d.V[0]](int i) mutable {
        V = d.X[i & kMask].inv_act(V);
        keep(V);
      },
      [&, V = d.V[0]](int i) mutable {
        const Isometry3d& X = d.eigen_X[i & kMask];
        const Vector3d v = X.linear().transpose() * (V.v - X.translation().cross(V.w));
        V.w = X.linear().transpose() * V.w;
        V.v = v;
        keep(V);
      }));
  t.push_back(side_by_side(
      "motion to the child (6x6 adjoint)",
      [&, V = d.V[0]](int i) mutable {
        V = d.X[i & kMask].inv_act(V);
        keep(V);
      },
      [&, V = d.eigen_V[0]](int i) mutable {
        V = (d.X[i & kMask].inverse().adjoint() * V).eval();
        keep(V);
      }));
  t.push_back(side_by_side(
      "force to the parent (Isometry3d, cross)",
      [&, F = d.F[0]](int i) mutable {
        F = d.X[i & kMask].act(F);
        keep(F);
      },
      [&, F = d.F[0]](int i) mutable {
        const Isometry3d& X = d.eigen_X[i & kMask];
        F.f = X.linear() * F.f;
        F.n = X.linear() * F.n + X.translation().cross(F.f);
        keep(F);
      }));
  t.push_back(side_by_side(
      "inertia to the parent (6x6 products)",
      [&, I = d.I[0]](int i) mutable {
        I = d.I[i & kMask] + I.transformed(d.X[i & kMask]);
        keep(I);
      },
      [&, I = d.eigen_I[0]](int i) mutable {
        const Matrix6<double> A = d.X[i & kMask].inverse().adjoint();
        I = d.eigen_I[i & kMask] + A.transpose() * I * A;
        keep(I);
      }));
  return t;
}

/// Independent steps, as in a loop over bodies or frames.
std::vector<Timing> one_by_one(const Data& d) {
  const auto next = [](int i) { return (i + 1) & kMask; };
  std::vector<Timing> t;
  t.push_back(side_by_side(
      "pose * pose (Isometry3d)", [&](int i) { keep(Pose<double>(d.X[i & kMask] * d.X[next(i)])); },
      [&](int i) { keep(Isometry3d(d.eigen_X[i & kMask] * d.eigen_X[next(i)])); }));
  t.push_back(side_by_side(
      "pose * point (Isometry3d)", [&](int i) { keep(Vector3d(d.X[i & kMask] * d.p[next(i)])); },
      [&](int i) { keep(Vector3d(d.eigen_X[i & kMask] * d.p[next(i)])); }));
  t.push_back(side_by_side(
      "motion to the parent (Isometry3d, cross)",
      [&](int i) { keep(d.X[i & kMask].act(d.V[next(i)])); },
      [&](int i) {
        const Isometry3d& X = d.eigen_X[i & kMask];
        const Vector3d w = X.linear() * d.V[next(i)].w;
        const Vector3d v = X.linear() * d.V[next(i)].v + X.translation().cross(w);
        keep(v);
        keep(w);
      }));
  t.push_back(side_by_side(
      "motion to the parent (6x6, precomputed)",
      [&](int i) { keep(d.X[i & kMask].act(d.V[next(i)])); },
      [&](int i) { keep(Vector6<double>(d.eigen_Ad[i & kMask] * d.eigen_V[next(i)])); }));
  t.push_back(side_by_side(
      "pose inverse (Isometry3d)", [&](int i) { keep(d.X[i & kMask].inverse()); },
      [&](int i) { keep(Isometry3d(d.eigen_X[i & kMask].inverse())); }));
  t.push_back(side_by_side(
      "quaternion to matrix (Quaterniond)", [&](int i) { keep(to_matrix(d.q[i & kMask])); },
      [&](int i) { keep(d.eigen_q[i & kMask].toRotationMatrix()); }));
  t.push_back(side_by_side(
      "matrix to quaternion (Quaterniond)",
      [&](int i) { keep(quaternion_from_matrix(d.X[i & kMask].R)); },
      [&](int i) { keep(Quaterniond(d.X[i & kMask].R)); }));
  t.push_back(side_by_side(
      "matrix to quaternion, any orientation",
      [&](int i) { keep(quaternion_from_matrix(d.R[i & kMask])); },
      [&](int i) { keep(Quaterniond(d.R[i & kMask])); }));
  t.push_back(side_by_side(
      "slerp (Quaterniond::slerp)", [&](int i) { keep(slerp(d.q[i & kMask], d.q[next(i)], 0.3)); },
      [&](int i) { keep(d.eigen_q[i & kMask].slerp(0.3, d.eigen_q[next(i)])); }));
  t.push_back(side_by_side(
      "so3 exp (AngleAxisd)", [&](int i) { keep(so3::exp(d.w[i & kMask])); },
      [&](int i) {
        const Vector3d& w = d.w[i & kMask];
        const double angle = w.norm();
        keep(Eigen::AngleAxisd(angle, w / angle).toRotationMatrix());
      }));
  t.push_back(side_by_side(
      "so3 log (AngleAxisd)", [&](int i) { keep(so3::log(d.X[i & kMask].R)); },
      [&](int i) {
        const Eigen::AngleAxisd a(d.X[i & kMask].R);
        keep(Vector3d(a.angle() * a.axis()));
      }));
  t.push_back(side_by_side(
      "motion x motion (6x6 ad)", [&](int i) { keep(cross(d.V[i & kMask], d.V[next(i)])); },
      [&](int i) { keep(Vector6<double>(ad(d.V[i & kMask]) * d.eigen_V[next(i)])); }));
  t.push_back(side_by_side(
      "inertia * motion (mass, centre, tensor)",
      [&](int i) { keep(d.I[i & kMask] * d.V[next(i)]); },
      [&](int i) {
        const Motion<double>& V = d.V[next(i)];
        const Vector3d f = d.mass[i & kMask] * (V.v + V.w.cross(d.com[i & kMask]));
        const Vector3d n = d.tensor[i & kMask] * V.w + d.com[i & kMask].cross(f);
        keep(f);
        keep(n);
      }));
  t.push_back(side_by_side(
      "inertia * motion (6x6, precomputed)", [&](int i) { keep(d.I[i & kMask] * d.V[next(i)]); },
      [&](int i) { keep(Vector6<double>(d.eigen_I[i & kMask] * d.eigen_V[next(i)])); }));
  return t;
}

}  // namespace
}  // namespace limb::bench

int main() {
  using namespace limb::bench;
  static const Data data = make_data();
  const std::string eigen =
      "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION);
  print("limb math against plain " + eigen + ", along a chain", "Eigen", along_a_chain(data));
  print("limb math against plain " + eigen + ", one by one", "Eigen", one_by_one(data));
}
