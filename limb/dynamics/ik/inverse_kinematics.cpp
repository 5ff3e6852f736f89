#include "limb/dynamics/ik/inverse_kinematics_impl.hpp"

#include <cstdio>

#include "limb/dynamics/kinematics/check_state.hpp"

namespace limb {
namespace {

template <Real T>
void check_goals(const Model<T>& model, GoalsIn<T> goals, const IkScratch<T>& scratch) {
  constexpr const char* kCall = "inverse_kinematics";
  const int count = static_cast<int>(goals.size());
  if (count == 0 || count > scratch.max_goals) {
    fail(kCall, "number of goals", std::to_string(count),
         "1 to " + std::to_string(scratch.max_goals), "the size of the scratch");
  }
  for (std::size_t i = 0; i < goals.size(); ++i) {
    const FrameGoal<T>& goal = goals[i];
    // Texts are built only on failure: they allocate.
    const auto name = [&](const char* what) {
      return std::string(what) + " of goals[" + std::to_string(i) + "]";
    };
    const int frames = static_cast<int>(model.frames().size()), id = goal.frame.value();
    if (id < 0 || id >= frames) {
      fail(kCall, name("frame"), std::to_string(id),
           "one of the " + std::to_string(frames) + " frames of the model");
    }
    if (!goal.X_WG.p.allFinite()) check_finite(kCall, name("p_WG"), goal.X_WG.p);
    if (!is_rotation(goal.X_WG.R)) check_rotation<T>(kCall, name("R_WG"), goal.X_WG.R);
    T largest = T(0);
    for (const Vector3<T>& weight : {goal.position_weight, goal.rotation_weight}) {
      for (int k = 0; k < 3; ++k) {
        if (!(std::isfinite(weight[k]) && weight[k] >= T(0))) {
          check_not_negative(kCall, name("weight"), double(weight[k]));
        }
      }
      largest = std::max(largest, weight.maxCoeff());
    }
    if (largest == T(0)) fail(kCall, name("every weight"), "0", "at least one positive weight");
  }
}

template <Real T>
void check_options(const Model<T>& model, const IkOptions<T>& options) {
  constexpr const char* kCall = "inverse_kinematics";
  check_positive(kCall, "position_tolerance", double(options.position_tolerance));
  check_positive(kCall, "rotation_tolerance", double(options.rotation_tolerance));
  check_positive(kCall, "posture_tolerance", double(options.posture_tolerance));
  if (options.max_iterations < 1) {
    fail(kCall, "max_iterations", std::to_string(options.max_iterations), "1 or more");
  }
  if (options.restarts < 0) fail(kCall, "restarts", std::to_string(options.restarts), "0 or more");
  if (options.posture.size() > 0) {
    check_configuration(kCall, "posture", model, options.posture);
  }
  if (!options.locked.empty()) {
    check_size(kCall, "locked", static_cast<std::ptrdiff_t>(options.locked.size()), model.nv());
  }
}

}  // namespace

template <Real T>
IkScratch<T>::IkScratch(const Model<T>& model, int goals)
    : max_goals(goals), kinematics(model), q_index_of_y(std::size_t(model.nv()), -1) {
  const int n = model.nv(), rows = 6 * goals;
  J_frame.setZero(6, n);
  J.setZero(rows, n);
  e.setZero(rows);
  Jd.setZero(rows);
  for (auto* x : {&q, &q_try, &q_kept, &q_best}) x->setZero(model.nq());
  for (auto* x : {&d, &g, &d_posture, &slope, &d_free, &target, &multiplier}) x->setZero(n);
  for (auto* x : {&H, &Z, &S}) x->setZero(n, n);
  std::size_t terms = std::size_t(n);
  for (std::size_t i = 0; i < model.coupling().rows().size(); ++i) {
    const auto& row = model.coupling().rows()[i];
    terms += 3 * row.terms.size();  // three per coordinate of a pose
    for (std::size_t j = 0; row.yq >= 0 && j < row.terms.size(); ++j) {
      if (ik::is_rate(model.bodies()[i + 1].joint.type(), int(j))) {
        q_index_of_y[std::size_t(row.terms[j].y)] = row.yq + int(j);
      }
    }
  }
  limits.reserve(terms);
  term_y.reserve(terms);
  term_ratio.reserve(terms);
  active_set.reserve(std::size_t(n) + 1);
  report.errors.reserve(std::size_t(goals));
  report.active_limits.reserve(terms);
}

template <Real T>
const IkReport<T>& inverse_kinematics(const Model<T>& model, IkScratch<T>& scratch,
                                      GoalsIn<T> goals, VectorIn<T>& q_start, VectorOut<T> q,
                                      const std::type_identity_t<IkOptions<T>>& options) {
  check_configuration("inverse_kinematics", "q_start", model, q_start);
  check_position<T>("inverse_kinematics", "q", model, q);
  check_kinematics("inverse_kinematics", model, scratch.kinematics, Kinematics<T>::Order::none);
  check_goals(model, goals, scratch);
  check_options(model, options);
  ik::Solver<T>(model, goals, scratch, options).solve(q_start);
  q = scratch.q;
  return scratch.report;
}

template <Real T>
std::vector<bool> locked_joints(const Model<T>& model, std::span<const std::string> joints) {
  std::vector<bool> locked(static_cast<std::size_t>(model.nv()));
  for (const std::string& name : joints) {
    const auto& row =
        model.coupling().rows()[static_cast<std::size_t>(model.find_body(name).value() - 1)];
    if (row.yq < 0) {
      throw Error("locked_joints: joint '" + name +
                  "' follows others and has no velocity of its own");
    }
    for (const auto& term : row.terms) locked[static_cast<std::size_t>(term.y)] = true;
  }
  return locked;
}

template <typename T>
std::string IkReport<T>::text(const Model<T>& model) const {
  const auto short_text = [](T x) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.3g", double(x));
    return std::string(digits);
  };
  std::string text(ok() ? "converged" : to_text(status));
  text += " after " + std::to_string(iterations) + " iterations";
  if (restarts > 0) text += " and " + std::to_string(restarts) + " restarts";
  for (std::size_t i = 0; i < errors.size(); ++i) {
    text += (i == 0 ? ": goal " : ", goal ") + std::to_string(i) + " is " +
            short_text(errors[i].position) + " m and " + short_text(errors[i].rotation) +
            " rad away";
  }
  for (const ActiveLimit& limit : active_limits) {
    text += "; joint '" + model.body(limit.body).name + "' is at its ";
    text += limit.side == ActiveLimit::Side::lower ? "lower limit" : "upper limit";
  }
  return text + "; smallest singular value " + short_text(smallest_singular_value);
}

template struct IkReport<double>;
template struct IkScratch<double>;
template const IkReport<double>& inverse_kinematics(const Model<double>&, IkScratch<double>&,
                                                    GoalsIn<double>, VectorIn<double>&,
                                                    VectorOut<double>, const IkOptions<double>&);
template std::vector<bool> locked_joints(const Model<double>&, std::span<const std::string>);

}  // namespace limb
