#pragma once

#include <mutex>

#include "limb/control/whole_body/whole_body.hpp"
#include "python/src/eigen_conversion.hpp"

/// Shared by the controllers of legged robots: named feet, getters, reports.
namespace limb::python {

struct NamedFeet {
  std::vector<std::string> names;
  std::vector<Foot> feet;
};
/// From names of frames, each with one point at its origin, or from names with points (n, 3) in the
/// axes of the frame. @throws Error for other types.
NamedFeet feet_of(const char* call, const Robot& robot, nb::handle given);

/// "solved", or why a quadratic program has no solution.
std::string qp_text(Status status);
nb::object residuals_of(const QpResiduals& residuals);
nb::object report_of(const WholeBodyReport& report);

/// Getters of a controller with a WholeBody. `Bound` has body(), names and a mutex; steps of a run
/// lock the mutex and do not acquire the GIL.
template <typename Bound, typename Read>
void bind_getter(nb::class_<Bound>& c, const char* name, const char* text, Read read) {
  c.def_prop_ro(
      name,
      [read](Bound& self) {
        const std::lock_guard lock(self.mutex);
        return read(static_cast<const Bound&>(self));
      },
      nb::for_getter(nb::sig((std::string("def ") + name + "(self) -> Array").c_str())), text);
}

template <typename Bound>
void bind_getters(nb::class_<Bound>& c) {
  const auto feet = [](const Bound& h, auto&& of) {
    Dense rows(static_cast<Eigen::Index>(h.names.size()), 3);
    for (int i = 0; i < rows.rows(); ++i) rows.row(i) = of(i);
    return array_of(rows);
  };
  bind_getter(c, "mass_center", "Centre of mass in the last state, m.",
              [](const Bound& h) { return array_of(Numbers(h.body().mass_center())); });
  bind_getter(c, "mass_center_velocity", "Velocity of the centre of mass in the last state, m/s.",
              [](const Bound& h) { return array_of(Numbers(h.body().mass_center_velocity())); });
  bind_getter(c, "foot_positions", "(feet, 3), m.", [feet](const Bound& h) {
    return feet(h, [&](int i) { return h.body().foot_position(i); });
  });
  bind_getter(c, "foot_velocities", "(feet, 3), m/s.", [feet](const Bound& h) {
    return feet(h, [&](int i) { return h.body().foot_velocity(i); });
  });
  bind_getter(
      c, "foot_forces", "(feet, 3): planned force on each foot, N.",
      [feet](const Bound& h) { return feet(h, [&](int i) { return h.body().foot_force(i); }); });
  bind_getter(c, "forces", "(points, 3): planned forces at all points of all feet, N.",
              [](const Bound& h) { return array_of(Dense(h.body().forces().transpose())); });
  bind_getter(c, "torque", "(nv,): torques of the last step.",
              [](const Bound& h) { return array_of(Numbers(h.body().torque())); });
  bind_getter(c, "acceleration", "(nv,): accelerations planned in the last step.",
              [](const Bound& h) { return array_of(Numbers(h.body().acceleration())); });
  c.def_ro("feet", &Bound::names, "Frame names of the feet.");
}

}  // namespace limb::python
