#include "limb/dynamics/kinematics/check_state.hpp"

namespace limb {

void check_configuration(const char* call, const char* argument, const Model<double>& model,
                         VectorIn<double>& q) {
  check_position(call, argument, model, q);
  check_finite(call, argument, std::span(q.data(), static_cast<std::size_t>(q.size())));
  const auto& rows = model.coupling().rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Body<double>& body = model.bodies()[i + 1];
    const int offset = quaternion_offset(body.joint.type());
    if (offset < 0) continue;
    const int at = rows[i].yq + offset;
    const double norm = q.segment<4>(at).stableNorm();
    if (std::abs(norm - 1) <= kQuaternionTolerance) continue;
    const auto entry = [&](int k) {
      return std::string(argument).append("[").append(std::to_string(k)).append("]");
    };
    fail(call,
         "norm of the quaternion " + entry(at) + " to " + entry(at + 3) + " of joint '" +
             body.name + "'",
         to_text(norm), "1 within " + to_text(kQuaternionTolerance),
         "normalize(model, " + std::string(argument) + ") makes it unit");
  }
}

}  // namespace limb
