#include "python/src/options.hpp"

#include <fmt/format.h>

namespace limb::python {
namespace {

[[noreturn]] void fail_value(const char* call, const char* name, nb::handle value,
                             const char* expected) {
  fail(call, name, nb::cast<std::string>(nb::repr(value)), expected);
}

void set_value(const char* call, const Option& option, nb::handle value) {
  if (auto* number = std::get_if<double*>(&option.value)) {
    if (!nb::try_cast(value, **number)) fail_value(call, option.name, value, "a number");
  } else if (auto* integer = std::get_if<int*>(&option.value)) {
    if (!nb::try_cast(value, **integer)) fail_value(call, option.name, value, "an integer");
  } else if (auto* vector = std::get_if<Vector3<double>*>(&option.value)) {
    **vector = read_vector(call, option.name, value, 3);
  } else if (auto* gains = std::get_if<TaskGains*>(&option.value)) {
    const Numbers pair = vector_of(call, option.name, value, 2);
    **gains = {pair[0], pair[1]};
  } else {
    if (!nb::isinstance<nb::dict>(value)) fail_value(call, option.name, value, "a dict of options");
    set_options(call, std::get<Options>(option.value), nb::borrow<nb::dict>(value));
  }
}

std::string value_text(const Option& option) {
  if (auto* number = std::get_if<double*>(&option.value)) return to_text(**number);
  if (auto* integer = std::get_if<int*>(&option.value)) return std::to_string(**integer);
  if (auto* vector = std::get_if<Vector3<double>*>(&option.value)) {
    const Vector3<double>& x = **vector;
    return fmt::format("({}, {}, {})", to_text(x[0]), to_text(x[1]), to_text(x[2]));
  }
  if (auto* gains = std::get_if<TaskGains*>(&option.value)) {
    return fmt::format("({}, {})", to_text((*gains)->stiffness), to_text((*gains)->damping));
  }
  return "dict(" + text_of(std::get<Options>(option.value)) + ")";
}

Options options_of(QpOptions& o) {
  return {{"tolerance", &o.tolerance},
          {"max_outer", &o.max_outer},
          {"max_inner", &o.max_inner},
          {"equilibrate_every", &o.equilibrate_every}};
}

}  // namespace

void set_options(const char* call, const Options& options, const nb::dict& given) {
  for (const auto& [key, value] : given) {
    const std::string name = nb::cast<std::string>(nb::str(key));
    bool found = false;
    for (const Option& option : options) {
      if (name != option.name) continue;
      set_value(call, option, value);
      found = true;
    }
    if (found) continue;
    std::string all;
    for (const Option& option : options)
      all += (all.empty() ? "" : ", ") + std::string(option.name);
    fail(call, "option", "'" + name + "'", "one of " + all);
  }
}

std::string text_of(const Options& options) {
  std::string text;
  for (const Option& option : options) {
    text += (text.empty() ? "" : ", ") + std::string(option.name) + "=" + value_text(option);
  }
  return text;
}

Options options_of(WholeBodyOptions& o) {
  return {{"friction", &o.friction},
          {"cone_faces", &o.cone_faces},
          {"max_normal_force", &o.max_normal_force},
          {"effort_share", &o.effort_share},
          {"mass_center_weight", &o.mass_center_weight},
          {"turn_weight", &o.turn_weight},
          {"swing_weight", &o.swing_weight},
          {"posture_weight", &o.posture_weight},
          {"force_weight", &o.force_weight},
          {"contact_damping", &o.contact_damping},
          {"contact_brake", &o.contact_brake},
          {"limit_rate", &o.limit_rate},
          {"fall_back_stiffness", &o.fall_back_stiffness},
          {"fall_back_damping", &o.fall_back_damping},
          {"qp", options_of(o.qp)}};
}

Options options_of(BalanceOptions& o) {
  return {{"mass_center", &o.mass_center},
          {"turn", &o.turn},
          {"posture", &o.posture},
          {"whole_body", options_of(o.whole_body)}};
}

Options options_of(LocomotionOptions& o) {
  MpcOptions& m = o.mpc;
  const Options mpc = {{"steps", &m.steps},
                       {"step", &m.step},
                       {"friction", &m.friction},
                       {"max_normal_force", &m.max_normal_force},
                       {"turn", &m.turn},
                       {"position", &m.position},
                       {"angular_velocity", &m.angular_velocity},
                       {"velocity", &m.velocity},
                       {"force", &m.force},
                       {"qp", options_of(m.qp)}};
  return {{"control_period", &o.control_period},
          {"mpc_period", &o.mpc_period},
          {"clearance", &o.clearance},
          {"search_speed", &o.search_speed},
          {"search_share", &o.search_share},
          {"foothold_gain", &o.foothold_gain},
          {"farthest_step", &o.farthest_step},
          {"max_position_lead", &o.max_position_lead},
          {"max_yaw_lead", &o.max_yaw_lead},
          {"mass_center", &o.mass_center},
          {"turn", &o.turn},
          {"swing", &o.swing},
          {"posture", &o.posture},
          {"mpc", mpc},
          {"whole_body", options_of(o.whole_body)}};
}

}  // namespace limb::python
