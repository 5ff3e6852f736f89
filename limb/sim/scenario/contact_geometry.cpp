#include "limb/sim/scenario/contact_geometry.hpp"

#include <fmt/format.h>

#include "limb/sim/log/json_text.hpp"

namespace limb {
namespace {

constexpr std::size_t kMaxBoxes = 1000;

const char* text_of(ContactShape::Kind kind) {
  constexpr const char* kNames[] = {"sphere", "capsule", "cylinder", "box", "ellipsoid", "mesh"};
  return kNames[static_cast<std::size_t>(kind)];
}

template <typename Numbers>
std::string list_of(const Numbers& x) {
  std::string text = "[";
  for (Eigen::Index i = 0; i < x.size(); ++i)
    text += fmt::format("{}{:.6g}", i > 0 ? "," : "", x[i]);
  return text + "]";
}

std::string pose_list(const Pose<double>& X) {
  Eigen::Matrix<double, 7, 1> x;
  x << X.p, Eigen::Quaterniond(X.R).coeffs();  // x y z w
  return list_of(x);
}

}  // namespace

std::string contact_geometry_json(const ContactSetup& contact, const Model<double>& model) {
  std::string shapes, half_spaces, boxes;
  for (const ContactShape& shape : contact.shapes) {
    if (shape.kind == ContactShape::Kind::mesh) continue;
    shapes += fmt::format(R"({}{{"name":{},"body":{},"kind":"{}","pose":{},"size":{}}})",
                          shapes.empty() ? "" : ",", json_text(shape.name),
                          json_text(model.body(shape.body).name), text_of(shape.kind),
                          pose_list(shape.X_BS), list_of(shape.size));
  }
  for (const Ground::HalfSpace& one : contact.ground.half_spaces()) {
    Vector4<double> x;
    x << one.normal, one.level;
    half_spaces += fmt::format("{}{}", half_spaces.empty() ? "" : ",", list_of(x));
  }
  const auto& all = contact.ground.boxes();
  for (std::size_t i = 0; i < std::min(all.size(), kMaxBoxes); ++i) {
    boxes += fmt::format(R"({}{{"pose":{},"half":{}}})", boxes.empty() ? "" : ",",
                         pose_list(all[i].X_WG), list_of(all[i].half));
  }
  const bool complete = all.size() <= kMaxBoxes && contact.ground.height_fields().empty();
  return fmt::format(
      R"({{"shapes":[{}],"ground":{{"half_spaces":[{}],"boxes":[{}],"complete":{}}}}})", shapes,
      half_spaces, boxes, complete);
}

}  // namespace limb
