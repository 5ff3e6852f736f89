#include "python/src/robot.hpp"

#include "limb/dynamics/kinematics/check_state.hpp"

namespace limb::python {

Base base_named(const std::string& name) {
  if (name == "described") return Base::described;
  if (name == "fixed") return Base::fixed;
  if (name == "free") return Base::free;
  fail("load", "base", "'" + name + "'", "'described', 'fixed' or 'free'");
}

Robot::Robot(Origin origin, Description<double> description, const JointEffects& effects)
    : origin_(std::move(origin)),
      description_(std::move(description)),
      model_(build_model(description_, base_named(origin_.base))),
      effects_(effects) {
  const auto& rows = model_.coupling().rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Body<double>& body = model_.bodies()[i + 1];
    const int place = quaternion_offset(body.joint.type());
    if (place >= 0) quaternions_.push_back({rows[i].yq + place, body.name});
  }
}

FrameId Robot::frame(const char* call, std::string_view name) const {
  try {
    return model_.find_frame(name);
  } catch (const Error& error) {
    // The message starts with the C++ call; replace it by the Python call.
    const std::string_view text = error.what();
    const std::size_t colon = text.find(": ");
    throw Error(std::string(call) + ": " + std::string(text.substr(colon + 2)));
  }
}

void Robot::fail_singular(const char* call, int velocity) const {
  const auto& rows = model_.coupling().rows();
  std::string joint;
  for (std::size_t i = 0; i < rows.size() && joint.empty(); ++i) {
    for (const auto& term : rows[i].terms) {
      if (term.y == velocity) joint = model_.bodies()[i + 1].name;
    }
  }
  fail_computation(call, "the mass matrix is singular: no inertia opposes joint '" + joint + "'");
}

}  // namespace limb::python
