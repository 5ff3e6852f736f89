#include "cli/log_scene.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "limb/legged/terrain.hpp"
#include "limb/sim/contact/shape.hpp"

namespace limb::cli {
namespace {

using Json = nlohmann::json;
using Vec = Vector3<double>;
using Kind = ContactShape::Kind;

/// Points of a shape about its own origin.
std::vector<Vec> points_of(Kind kind, const Vec& size, const MeshHull* hull) {
  std::vector<Vec> points;
  constexpr int kRound = 20;
  switch (kind) {
    case Kind::sphere:
      points.push_back(Vec::Zero());
      break;
    case Kind::capsule:
      for (const double z : {-0.5, 0.5}) points.push_back({0, 0, z * size[1]});
      break;
    case Kind::cylinder:
      for (int i = 0; i < kRound; ++i) {
        const double angle = 2 * std::numbers::pi * i / kRound;
        for (const double z : {-0.5, 0.5}) {
          points.push_back({size[0] * std::cos(angle), size[0] * std::sin(angle), z * size[1]});
        }
      }
      break;
    case Kind::box:
      for (int i = 0; i < 8; ++i) {
        points.push_back({(i & 1 ? 0.5 : -0.5) * size[0], (i & 2 ? 0.5 : -0.5) * size[1],
                          (i & 4 ? 0.5 : -0.5) * size[2]});
      }
      break;
    case Kind::ellipsoid:
      for (int j = -4; j <= 4; ++j) {
        const double up = std::numbers::pi / 8 * j;
        for (int i = 0; i < kRound; ++i) {
          const double angle = 2 * std::numbers::pi * i / kRound;
          points.push_back(size.cwiseProduct(
              Vec(std::cos(up) * std::cos(angle), std::cos(up) * std::sin(angle), std::sin(up))));
        }
      }
      break;
    case Kind::mesh:
      for (Eigen::Index i = 0; hull != nullptr && i < hull->vertices.cols(); ++i) {
        points.push_back(hull->vertices.col(i));
      }
      break;
  }
  return points;
}

Solid solid_of(const std::string& name, std::size_t body, Kind kind, const Vec& size,
               const Pose<double>& X_BS, const MeshHull* hull = nullptr) {
  Solid solid{name, body, points_of(kind, size, hull), 0};
  if (kind == Kind::sphere || kind == Kind::capsule) solid.radius = size[0];
  for (Vec& p : solid.points) p = X_BS * p;
  return solid;
}

std::vector<double> numbers_of(const Json& list) {
  return list.get<std::vector<double>>();
}

Pose<double> pose_of(const Json& list) {
  const std::vector<double> x = numbers_of(list);
  return {Eigen::Quaterniond(x.at(6), x.at(3), x.at(4), x.at(5)).normalized().toRotationMatrix(),
          Vec(x.at(0), x.at(1), x.at(2))};
}

/// Solids and ground of the metadata "contact" (contact_geometry.hpp).
void read_contact(const Json& contact, LogScene& scene) {
  constexpr const char* kKinds[] = {"sphere", "capsule", "cylinder", "box", "ellipsoid"};
  for (const Json& shape : contact.at("shapes")) {
    const std::string body = shape.at("body"), kind = shape.at("kind");
    const auto k = static_cast<std::size_t>(std::find(std::begin(kKinds), std::end(kKinds), kind) -
                                            std::begin(kKinds));
    const auto& bodies = scene.model.bodies();
    const auto found = std::find_if(bodies.begin(), bodies.end(),
                                    [&](const Body<double>& one) { return one.name == body; });
    if (k >= std::size(kKinds) || found == bodies.end()) continue;
    const std::vector<double> size = numbers_of(shape.at("size"));
    scene.solids.push_back(solid_of(
        shape.at("name"), static_cast<std::size_t>(found - bodies.begin()), static_cast<Kind>(k),
        Vec(size.at(0), size.at(1), size.at(2)), pose_of(shape.at("pose"))));
  }
  const Json& ground = contact.at("ground");
  Ground made;
  for (const Json& one : ground.at("half_spaces")) {
    const std::vector<double> x = numbers_of(one);
    made.add_half_space({x.at(0), x.at(1), x.at(2)}, x.at(3));
  }
  for (const Json& one : ground.at("boxes")) {
    const std::vector<double> half = numbers_of(one.at("half"));
    made.add_box(pose_of(one.at("pose")), 2 * Vec(half.at(0), half.at(1), half.at(2)));
  }
  if (made.size() > 0) scene.ground = std::move(made);
}

/// A plane at the height of the contacts, if they are level.
std::optional<Ground> ground_of_contacts(const LogData& log) {
  const LogSeries* support = log.find("support");
  if (support == nullptr) return std::nullopt;
  std::vector<double> heights;
  for (std::size_t i = 0; i < support->fields.size(); ++i) {
    if (!support->fields[i].ends_with(".z")) continue;
    for (const double z : support->values[i]) {
      if (std::isfinite(z)) heights.push_back(z);
    }
  }
  if (heights.empty()) return std::nullopt;
  std::sort(heights.begin(), heights.end());
  const auto at = [&](double share) {
    return heights[static_cast<std::size_t>(share * static_cast<double>(heights.size() - 1))];
  };
  constexpr double kLevel = 0.02;  // m
  if (at(0.95) - at(0.05) > kLevel) return std::nullopt;
  return Ground::plane({}, at(0.5));
}

}  // namespace

LogScene read_scene(const LogData& log, const std::string& model, Base base,
                    const ReadOptions& options) {
  Diagnostics found;
  const Description<double> description = parse_robot(model, options, found);
  LogScene scene{load_model(model, base, options), {}, std::nullopt};
  if (const auto contact = log.metadata.find("contact"); contact != log.metadata.end()) {
    try {
      read_contact(Json::parse(contact->second), scene);
    } catch (const std::exception&) {  // of another version: only the picture lacks something
      scene.solids.clear();
    }
  }
  if (!scene.ground) scene.ground = ground_of_contacts(log);
  // Solids of links that the log does not have: those of the robot file.
  std::vector<std::pair<std::string, std::size_t>> drawn;
  for (const Solid& solid : scene.solids) drawn.emplace_back(solid.name, solid.body);
  try {
    for (const ContactShape& shape : shapes_of(description, scene.model)) {
      const auto body = static_cast<std::size_t>(shape.body.value());
      const std::pair<std::string, std::size_t> one(shape.name, body);
      if (std::find(drawn.begin(), drawn.end(), one) != drawn.end()) continue;
      scene.solids.push_back(
          solid_of(shape.name, body, shape.kind, shape.size, shape.X_BS, shape.hull.get()));
    }
  } catch (const Error&) {  // bodies that another base renames
  }
  return scene;
}

std::vector<Vec> lowest_points(const Solid& solid, const Pose<double>& X_WB, const Ground* ground,
                               double slack) {
  std::vector<Vec> points;
  std::vector<double> gaps;
  for (const Vec& p_B : solid.points) {
    Vec p = X_WB * p_B;
    p.z() -= solid.radius;
    const double below = ground != nullptr ? ground_height(*ground, p.x(), p.y()) : 0;
    points.push_back(p);
    gaps.push_back(p.z() - (std::isfinite(below) ? below : 0));
  }
  if (points.empty()) return {};
  const double lowest = *std::min_element(gaps.begin(), gaps.end());
  std::vector<Vec> result;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (gaps[i] <= lowest + slack) result.push_back(points[i]);
  }
  return result;
}

}  // namespace limb::cli
