#include "limb/sim/world/coordinate_units.hpp"

namespace limb {
namespace {

/// Whether velocity k of a joint is a translation; that of a helical joint is its rotation.
bool is_translation(const Joint<double>& joint, int k) {
  switch (joint.type()) {
    case JointType::prismatic:
    case JointType::translation:
      return true;
    case JointType::free:
      return k < 3;
    default:
      break;
  }
  std::vector<double> q(static_cast<std::size_t>(joint.nq()));
  std::vector<Motion<double>> S(static_cast<std::size_t>(joint.nv()));
  joint.neutral(q.data());
  joint.subspace(q.data(), S.data());
  return S[static_cast<std::size_t>(k)].w.isZero(0);
}

template <typename Unit>
std::vector<std::string> by_velocity(const Model<double>& model, const Unit& unit) {
  std::vector<std::string> units(static_cast<std::size_t>(model.nv()));
  const auto& rows = model.coupling().rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].yq < 0) continue;
    for (std::size_t k = 0; k < rows[i].terms.size(); ++k) {
      units[static_cast<std::size_t>(rows[i].terms[k].y)] =
          unit(is_translation(model.bodies()[i + 1].joint, static_cast<int>(k)));
    }
  }
  return units;
}

}  // namespace

std::vector<std::string> position_units(const Model<double>& model) {
  std::vector<std::string> units(static_cast<std::size_t>(model.nq()));
  const auto& rows = model.coupling().rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].yq < 0) continue;
    const Joint<double>& joint = model.bodies()[i + 1].joint;
    for (int k = 0; k < rows[i].nq; ++k) {
      const bool quaternion = rows[i].nq != rows[i].nv && (rows[i].nq == 4 || k >= 3);
      units[static_cast<std::size_t>(rows[i].yq + k)] = quaternion                 ? "1"
                                                        : is_translation(joint, k) ? "m"
                                                                                   : "rad";
    }
  }
  return units;
}

std::vector<std::string> velocity_units(const Model<double>& model, const std::string& suffix) {
  return by_velocity(model, [&](bool moves) { return (moves ? "m" : "rad") + suffix; });
}

std::vector<std::string> force_units(const Model<double>& model) {
  return by_velocity(model, [](bool moves) { return std::string(moves ? "N" : "N m"); });
}

}  // namespace limb
