#include "limb/dynamics/identify/base_parameters.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <random>

#include "limb/base/check.hpp"
#include "limb/base/number.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"

namespace limb {
namespace {

using Matrix = MatrixX<double>;
using Vector = VectorX<double>;

/// Rows of the regressor at random states and motions.
Matrix observations(const Model<double>& model, int states, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const int n = model.nv(), parameters = parameter_count(model);
  Kinematics<double> kinematics(model);
  RegressorScratch<double> scratch(model);
  Matrix W(n * states, parameters), Y(n, parameters);
  Vector q(model.nq()), v(n), a(n);
  for (int s = 0; s < states; ++s) {
    random_configuration(model, engine, q);
    for (int i = 0; i < n; ++i) {
      v[i] = 2 * uniform(engine);
      a[i] = 4 * uniform(engine);
    }
    forward_kinematics(model, q, v, a, kinematics);
    torque_regressor(model, kinematics, scratch, Y);
    W.middleRows(n * s, n) = Y;
  }
  return W;
}

/// Integers without decimals, other numbers with four digits.
std::string factor_text(double factor) {
  const double rounded = std::round(factor);
  const bool whole = std::abs(factor - rounded) < 1e-9;
  char text[32];
  std::snprintf(text, sizeof text, whole ? "%.0f" : "%.4g", whole ? rounded : factor);
  return text;
}

std::string group_text(const ParameterGroup& group, const std::vector<std::string>& names) {
  std::string text;
  for (const ParameterGroup::Term& term : group.terms) {
    const double size = std::abs(term.factor);
    if (!text.empty()) text += term.factor < 0 ? " - " : " + ";
    if (text.empty() && term.factor < 0) text += "-";
    if (std::abs(size - 1) > 1e-9) text += factor_text(size) + " ";
    text += names[static_cast<std::size_t>(term.parameter)];
  }
  return text;
}

}  // namespace

std::vector<std::string> parameter_names(const Model<double>& model, ParameterNames naming) {
  constexpr const char* kNames[] = {"m",   "mcx", "mcy", "mcz", "Ixx",
                                    "Ixy", "Iyy", "Ixz", "Iyz", "Izz"};
  const bool by_link = naming == ParameterNames::links;
  std::vector<std::string> names;
  for (int i = 1; i < model.body_count(); ++i) {
    std::string suffix(by_link ? "(" : "_");
    suffix += by_link ? model.body(BodyId(i)).link : std::to_string(i);
    if (by_link) suffix += ")";
    for (const char* name : kNames) names.push_back(std::string(name) + suffix);
  }
  return names;
}

BaseParameters base_parameters(const Model<double>& model, const BaseParameterOptions& options) {
  constexpr const char* kCall = "base_parameters";
  if (options.states < 0) fail(kCall, "states", std::to_string(options.states), "at least 0");
  if (!(options.tolerance > 0 && options.tolerance < 1)) {
    fail(kCall, "tolerance", to_text(options.tolerance), "between 0 and 1");
  }
  const int n = model.nv(), parameters = parameter_count(model);
  BaseParameters base;
  base.K = Matrix::Zero(0, parameters);
  if (n == 0 || parameters == 0) {
    for (int i = 0; i < parameters; ++i) base.unidentifiable.push_back(i);
    return base;
  }
  const int states = options.states > 0 ? options.states : 20 + 3 * parameters / n;
  // R of a first QR decomposition has the same column dependencies and far fewer rows.
  const Matrix W = observations(model, states, options.seed);
  const Matrix R = Eigen::HouseholderQR<Matrix>(W)
                       .matrixQR()
                       .topRows(std::min<Eigen::Index>(W.rows(), parameters))
                       .template triangularView<Eigen::Upper>();

  // Greedy from the root to the tips, moments of inertia before masses, so that parameters which a
  // body shares with its parent are assigned to the parent, as in the literature. A column that is
  // in the span of those kept so far depends on them.
  constexpr int kPreference[kBodyParameters] = {4, 5, 7, 6, 8, 9, 1, 2, 3, 0};
  const double scale = R.colwise().norm().maxCoeff();
  Matrix Q(R.rows(), 0);
  std::vector<int> kept, dependent;
  base.smallest_kept = 1;
  for (int i = 0; i < parameters; ++i) {
    const int c = i - i % kBodyParameters + kPreference[i % kBodyParameters];
    Vector rest = R.col(c);
    const double before = rest.norm();
    if (!(before > options.tolerance * scale)) {
      base.unidentifiable.push_back(c);
      continue;
    }
    for (int twice = 0; twice < 2; ++twice) rest -= Q * (Q.transpose() * rest);
    const double pivot = rest.norm() / before;
    if (pivot > options.tolerance) {
      Q.conservativeResize(Eigen::NoChange, Q.cols() + 1);
      Q.col(Q.cols() - 1) = rest.normalized();
      kept.push_back(c);
      base.smallest_kept = std::min(base.smallest_kept, pivot);
    } else {
      dependent.push_back(c);
      base.largest_dropped = std::max(base.largest_dropped, pivot);
    }
  }
  for (auto* list : {&base.unidentifiable, &kept, &dependent})
    std::sort(list->begin(), list->end());
  Matrix independent(R.rows(), static_cast<Eigen::Index>(kept.size()));
  for (std::size_t i = 0; i < kept.size(); ++i) {
    independent.col(static_cast<Eigen::Index>(i)) = R.col(kept[i]);
  }
  const Eigen::HouseholderQR<Matrix> solver(independent);
  base.K = Matrix::Zero(static_cast<Eigen::Index>(kept.size()), parameters);
  base.leading = kept;
  for (std::size_t i = 0; i < kept.size(); ++i) base.K(static_cast<Eigen::Index>(i), kept[i]) = 1;
  for (const int c : dependent) base.K.col(c) = solver.solve(R.col(c));
  const std::vector<std::string> names = parameter_names(model, options.names);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    ParameterGroup group;
    group.terms.push_back({kept[i], 1.0});
    for (const int c : dependent) {
      double& factor = base.K(static_cast<Eigen::Index>(i), c);
      if (std::abs(factor) < 1e-8) {
        factor = 0;  // rounding of the decomposition
      } else {
        group.terms.push_back({c, factor});
      }
    }
    group.text = group_text(group, names);
    base.groups.push_back(std::move(group));
  }
  return base;
}

}  // namespace limb
