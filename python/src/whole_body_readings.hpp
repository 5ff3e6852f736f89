#pragma once

#include <mutex>

#include "limb/control/whole_body.hpp"
#include "python/src/numbers.hpp"

/// What controllers of legged robots share: feet by name, readings, reports.
namespace limb::python {

struct NamedFeet {
  std::vector<std::string> names;
  std::vector<Foot> feet;
};
/// Names of frames, each with one point at its origin, or names with points (n, 3) in their axes.
/// @throws Error for something else.
NamedFeet feet_of(const char* call, const Robot& robot, nb::handle given);

nb::object residuals_of(const QpResiduals& residuals);
nb::object report_of(const WholeBodyReport& report);

/// Readings of any controller that holds a WholeBody: `Held` has body(), names and a mutex, which
/// steps of a run lock: they take no lock of Python's meanwhile.
template <typename Held, typename Read>
void bind_reading(nb::class_<Held>& c, const char* name, const char* text, Read read) {
  c.def_prop_ro(
      name,
      [read](Held& self) {
        const std::lock_guard lock(self.mutex);
        return read(static_cast<const Held&>(self));
      },
      nb::for_getter(nb::sig((std::string("def ") + name + "(self) -> Array").c_str())), text);
}

template <typename Held>
void bind_readings(nb::class_<Held>& c) {
  const auto feet = [](const Held& h, auto&& of) {
    Dense rows(static_cast<Eigen::Index>(h.names.size()), 3);
    for (int i = 0; i < rows.rows(); ++i) rows.row(i) = of(i);
    return array_of(rows);
  };
  bind_reading(c, "mass_center", "In the last state, m.",
               [](const Held& h) { return array_of(Numbers(h.body().mass_center())); });
  bind_reading(c, "mass_center_velocity", "In the last state, m/s.",
               [](const Held& h) { return array_of(Numbers(h.body().mass_center_velocity())); });
  bind_reading(c, "foot_positions", "(feet, 3), m.", [feet](const Held& h) {
    return feet(h, [&](int i) { return h.body().foot_position(i); });
  });
  bind_reading(c, "foot_velocities", "(feet, 3), m/s.", [feet](const Held& h) {
    return feet(h, [&](int i) { return h.body().foot_velocity(i); });
  });
  bind_reading(c, "foot_forces", "(feet, 3): N on each foot, as planned.", [feet](const Held& h) {
    return feet(h, [&](int i) { return h.body().foot_force(i); });
  });
  bind_reading(c, "forces", "(points, 3): N at all points of all feet.",
               [](const Held& h) { return array_of(Dense(h.body().forces().transpose())); });
  bind_reading(c, "torque", "(nv,), of the last step.",
               [](const Held& h) { return array_of(Numbers(h.body().torque())); });
  bind_reading(c, "acceleration", "(nv,), that the last step expects.",
               [](const Held& h) { return array_of(Numbers(h.body().acceleration())); });
  c.def_ro("feet", &Held::names, "Names of their frames.");
}

}  // namespace limb::python
