#include "limb/math/inertia_consistency.hpp"

#include <limits>

#include "limb/math/symmetric_eigen.hpp"

namespace limb {
namespace {

// Moments about the mass centre are differences of moments about the origin, formed and
// diagonalized in about ten roundings each; 32 leaves a margin.
constexpr int kRoundings = 32;

template <typename T>
Matrix3<T> symmetric_part(const Matrix3<T>& I) {
  return T(0.5) * (I + I.transpose());
}

/// Symmetric tensor about the mass centre; about the origin if the mass is not positive.
template <typename T>
Matrix3<T> central_tensor(const Inertia<T>& I) {
  const Matrix3<T> I_o = symmetric_part(I.tensor());
  return I.mass() > T(0) ? parallel_axis_to_com<T>(I_o, I.mass(), I.com()) : I_o;
}

/// Rounding in central_tensor: relative to the subtracted terms, not to the difference.
template <typename T>
T moment_tolerance(const Inertia<T>& I) {
  T scale = I.tensor().cwiseAbs().maxCoeff();
  if (I.mass() > T(0)) scale += I.first_moment().squaredNorm() / I.mass();
  return T(kRoundings) * epsilon<T>() * scale;
}

/// D J D with D = diag(1, 1, 1, s) / sqrt(tr S): independent of the units of length and mass.
template <typename T>
Matrix4<T> scaled(const Matrix4<T>& J) {
  const T size = std::abs(J.template topLeftCorner<3, 3>().trace()), mass = std::abs(J(3, 3));
  const T unit = T(1) / std::sqrt(size > T(0) ? size : T(1));
  const Vector4<T> d(unit, unit, unit, T(1) / std::sqrt(mass > T(0) ? mass : T(1)));
  return d.asDiagonal() * J * d.asDiagonal();
}

template <typename T>
bool is_finite(const Inertia<T>& I) {
  return std::isfinite(I.mass()) && I.first_moment().allFinite() && I.tensor().allFinite();
}

template <typename T>
std::string violation_text(std::string_view what, T found, bool zero, std::string_view limit) {
  std::string text = std::string(what) + " is " + to_text(double(found)) + ", expected > 0";
  if (zero) text += " (0 to rounding: " + std::string(limit) + ")";
  return text;
}

}  // namespace

template <Real T>
std::string InertiaReport<T>::text() const {
  std::string all;
  for (const std::string& violation : violations) all += (all.empty() ? "" : "; ") + violation;
  return all;
}

template <Real T>
InertiaReport<T> inertia_report(const Inertia<T>& I) {
  InertiaReport<T> report;
  auto& violations = report.violations;
  report.mass = I.mass();
  if (!is_finite(I)) {
    const T nan = std::numeric_limits<T>::quiet_NaN();
    report.moments.setConstant(nan);
    report.triangle_margin = report.pseudo_eigenvalue = report.scaled_eigenvalue = nan;
    violations.push_back("mass " + to_text(double(I.mass())) + ", first moment " +
                         to_text(I.first_moment()) + ", tensor " + to_text(I.tensor()) +
                         ": expected finite numbers");
    return report;
  }

  // The values.
  const Matrix3<T> I_com = central_tensor(I);
  report.moments = symmetric_eigen(I_com.template cast<double>()).values.template cast<T>();
  report.triangle_margin = report.moments[0] + report.moments[1] - report.moments[2];
  const Matrix4<T> J = pseudo_inertia<T>({I.mass(), I.first_moment(), symmetric_part(I.tensor())});
  report.pseudo_eigenvalue = T(smallest_eigenvalue(J.template cast<double>()));
  report.scaled_eigenvalue = T(smallest_eigenvalue(scaled(J).template cast<double>()));
  report.moment_tolerance = moment_tolerance(I);
  report.eigenvalue_tolerance = T(kRoundings) * epsilon<T>();

  // The conditions.
  const T asymmetry = (I.tensor() - I.tensor().transpose()).cwiseAbs().maxCoeff();
  const bool symmetric = asymmetry <= T(64) * epsilon<T>() * I.tensor().cwiseAbs().maxCoeff();
  if (!symmetric) {
    violations.push_back("tensor is not symmetric, off by " + to_text(double(asymmetry)));
  }
  if (!(report.mass > T(0))) violations.push_back(violation_text("mass", report.mass, false, ""));
  bool limit = symmetric && (report.mass > T(0) || (report.mass == T(0) && J.isZero(T(0))));
  const auto check_condition = [&](std::string_view what, T value, T shown, T tolerance,
                                   std::string_view name) {
    if (value > tolerance) return;
    const bool zero = value >= -tolerance;
    limit = limit && zero;
    violations.push_back(violation_text(what, shown, zero, name));
  };
  check_condition("smallest principal moment about the mass centre", report.moments[0],
                  report.moments[0], report.moment_tolerance, "a point mass or a rod");
  check_condition("I1 + I2 - I3 of the principal moments", report.triangle_margin,
                  report.triangle_margin, report.moment_tolerance,
                  "a plate, a rod or a point mass");
  check_condition("smallest eigenvalue of the pseudo-inertia", report.scaled_eigenvalue,
                  report.pseudo_eigenvalue, report.eigenvalue_tolerance, "a body without volume");
  report.limit = limit;
  return report;
}

template <Real T>
void check_consistent(std::string_view call, std::string_view argument, const Inertia<T>& I) {
  const InertiaReport<T> report = inertia_report(I);
  if (report.consistent()) return;
  fail(call, argument, "inconsistent [" + report.text() + "]", "the inertia of a solid body",
       "nearest_consistent() repairs a tensor");
}

template <Real T>
void check_realizable(std::string_view call, std::string_view argument, const Inertia<T>& I) {
  const InertiaReport<T> report = inertia_report(I);
  if (report.realizable()) return;
  fail(call, argument, "inconsistent [" + report.text() + "]",
       "the inertia of a body, point mass, rod or plate", "nearest_consistent() repairs a tensor");
}

template <Real T>
Inertia<T> nearest_consistent(const Inertia<T>& I, std::type_identity_t<T> floor) {
  check_positive("nearest_consistent", "floor", double(floor));
  check_positive("nearest_consistent", "mass", double(I.mass()));
  check_finite("nearest_consistent", "first moment", I.first_moment());
  check_finite("nearest_consistent", "tensor", I.tensor());
  if (inertia_report(I).consistent()) return I;

  const Matrix3<T> S = second_moments<T>(central_tensor(I));
  const SymmetricEigen eigen = symmetric_eigen(S.template cast<double>());
  const Vector3<T> found = eigen.values.cast<T>();
  const Matrix3<T> axes = eigen.vectors.cast<T>();
  const T least = std::max(floor * found.cwiseAbs().sum(), T(4) * moment_tolerance(I));
  if (!(least > T(0))) {
    fail("nearest_consistent", "inertia", "a point mass at the origin", "a body of some size",
         "give it the tensor of a small ball");
  }
  const Matrix3<T> nearest =
      symmetric_part<T>(axes * found.cwiseMax(least).asDiagonal() * axes.transpose());
  return {I.mass(), I.first_moment(),
          parallel_axis_from_com<T>(tensor_from_second_moments<T>(nearest), I.mass(), I.com())};
}

template struct InertiaReport<double>;
template struct InertiaReport<float>;
template InertiaReport<double> inertia_report(const Inertia<double>&);
template InertiaReport<float> inertia_report(const Inertia<float>&);
template void check_consistent(std::string_view, std::string_view, const Inertia<double>&);
template void check_consistent(std::string_view, std::string_view, const Inertia<float>&);
template void check_realizable(std::string_view, std::string_view, const Inertia<double>&);
template void check_realizable(std::string_view, std::string_view, const Inertia<float>&);
template Inertia<double> nearest_consistent(const Inertia<double>&, double);
template Inertia<float> nearest_consistent(const Inertia<float>&, float);

}  // namespace limb
