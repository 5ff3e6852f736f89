#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <iterator>

#include "limb/dynamics/ik/inverse_kinematics.hpp"
#include "limb/math/check.hpp"
#include "python/src/arrays.hpp"
#include "python/src/bind.hpp"

namespace limb::python {
namespace {

constexpr const char* kName = "inverse_kinematics";

/// Goals {frame: pose (..., 4, 4) or position (..., 3)}.
struct Goals {
  std::vector<FrameId> frames;
  std::vector<std::string> names;
  std::vector<nb::object> values;
  std::vector<bool> is_pose;
};

Goals read_goals(const Robot& r, nb::handle given) {
  if (!nb::isinstance<nb::dict>(given) || nb::len(given) == 0) {
    fail(kName, "goals", nb::cast<std::string>(nb::str(given.type().attr("__name__"))),
         "a dict {frame: pose or position}");
  }
  Goals goals;
  const nb::object asarray = nb::module_::import_("numpy").attr("asarray");
  for (const auto& [key, value] : nb::borrow<nb::dict>(given)) {
    const std::string name = nb::cast<std::string>(nb::str(key));
    goals.frames.push_back(r.frame(kName, name));
    goals.names.push_back("goals['" + name + "']");
    goals.values.push_back(asarray(value));
    const auto* x = reinterpret_cast<PyArrayObject*>(goals.values.back().ptr());
    const int rank = PyArray_NDIM(x);
    goals.is_pose.push_back(rank >= 2 && PyArray_DIM(x, rank - 1) == 4);
  }
  return goals;
}

/// Index of the text of a status in the table of python/limb/results.py.
int stop_index(Status status) {
  constexpr Status kStops[] = {Status::ok, Status::unreachable, Status::local_minimum,
                               Status::no_progress, Status::iteration_limit};
  return static_cast<int>(std::ranges::find(kStops, status) - std::begin(kStops));
}

nb::object call_ik(const Robot& r, nb::handle given, nb::handle q_start, double position_tolerance,
                   double rotation_tolerance, int max_iterations, int restarts, unsigned seed,
                   bool ignore_limits, nb::handle posture, const std::vector<std::string>& locked,
                   nb::handle out, nb::handle check) {
  const Goals goals = read_goals(r, given);
  const int count = static_cast<int>(goals.frames.size());
  IkOptions<double> options;
  options.position_tolerance = position_tolerance;
  options.rotation_tolerance = rotation_tolerance;
  options.max_iterations = max_iterations;
  options.restarts = restarts;
  options.seed = seed;
  options.limits = ignore_limits ? LimitUse::ignore : LimitUse::respect;
  if (!locked.empty()) options.locked = locked_joints(r.model(), std::span(locked));
  if (!posture.is_none()) {
    Leading leading;
    nb::object back;
    const Argument argument = position(r, posture, "posture");
    const ArrayIn x = read_array(kName, argument, leading, back);
    if (leading.rank > 0 || x.is_float) {
      throw Error(
          "inverse_kinematics: posture is a batch or float32, expected one vector of float64");
    }
    options.posture = ConstVector(static_cast<const double*>(x.data), r.nq());
  }
  const nb::object start =
      q_start.is_none() ? nb::object(nb::cast(&r, nb::rv_policy::reference).attr("neutral")())
                        : nb::borrow(q_start);
  std::vector<Argument> arguments = {position(r, start, "q_start")};
  for (std::size_t k = 0; k < goals.frames.size(); ++k) {
    if (goals.is_pose[k]) {
      arguments.push_back({goals.names[k].c_str(), goals.values[k], 16, Argument::Kind::matrix, 4});
    } else {
      arguments.push_back({goals.names[k].c_str(), goals.values[k], 3});
    }
  }
  const Result results[] = {Result::vector(r.nq()), Result::number(), Result::vector(count),
                            Result::vector(count), Result::number()};
  const nb::handle type = result_type("ik_result");
  return map({kName, r, arguments, results, {out, check}, type}, [&](Workspaces&,
                                                                     const double* const* in,
                                                                     double* const* to) {
    // Not pooled: its size depends on the number of goals, and the iterations take longer.
    IkScratch<double> scratch(r.model(), count);
    std::vector<FrameGoal<double>> targets;
    for (std::size_t k = 0; k < goals.frames.size(); ++k) {
      const double* x = in[k + 1];
      if (goals.is_pose[k]) {
        const Matrix4<double> X = Eigen::Map<const Eigen::Matrix<double, 4, 4, Eigen::RowMajor>>(x);
        targets.push_back(FrameGoal<double>::pose(goals.frames[k], Pose<double>::from_matrix(X)));
      } else {
        targets.push_back(
            FrameGoal<double>::position(goals.frames[k], Vector3<double>(x[0], x[1], x[2])));
      }
    }
    const auto& report =
        inverse_kinematics(r.model(), scratch, std::span<const FrameGoal<double>>(targets),
                           ConstVector(in[0], r.nq()), Vector(to[0], r.nq()), options);
    *to[1] = stop_index(report.status);
    for (int k = 0; k < count; ++k) {
      to[2][k] = report.errors[static_cast<std::size_t>(k)].position;
      to[3][k] = report.errors[static_cast<std::size_t>(k)].rotation;
    }
    *to[4] = report.iterations;
  });
}

}  // namespace

void bind_inverse_kinematics(RobotClass& c) {
  c.def("inverse_kinematics", call_ik, "goals"_a, "q_start"_a = nb::none(), nb::kw_only(),
        "position_tolerance"_a = 1e-8, "rotation_tolerance"_a = 1e-8, "max_iterations"_a = 500,
        "restarts"_a = 0, "seed"_a = 1, "ignore_limits"_a = false, "posture"_a = nb::none(),
        "locked"_a = nb::list(), "out"_a = nb::none(), "check"_a = nb::none(),
        nb::sig("def inverse_kinematics(self, goals: Mapping[str, ArrayLike], q_start: ArrayLike | "
                "None = None, *, position_tolerance: float = 1e-8, rotation_tolerance: float = "
                "1e-8, max_iterations: int = 500, restarts: int = 0, seed: int = 1, "
                "ignore_limits: bool = False, posture: ArrayLike | None = None, locked: "
                "Sequence[str] = [], out: tuple[Array, ...] | None = None, check: bool | None = "
                "None) -> IkResult"),
        Doc("Configurations at which frames reach their goals, within the joint limits: damped "
            "least\n"
            "squares, then towards a preferred posture in the null space.\n\n"
            "Args:\n"
            "    goals: `{frame: pose}`, a 4 x 4 matrix, or `{frame: position}`, 3 numbers; one or "
            "a\n"
            "        batch.\n"
            "    q_start: Initial configuration; neutral if not given.\n"
            "    locked: Joints that keep their initial position."
            "\n    position_tolerance: Largest error of positions, m.\n    rotation_tolerance: "
            "Largest error of orientations, rad.\n    max_iterations: Limit of iterations per "
            "start.\n    restarts: Number of further random starts.\n    ignore_limits: Whether "
            "joints may leave their limits.\n    posture: Configuration to stay close to where the "
            "goals leave freedom, `(nq,)`."));
}

}  // namespace limb::python
