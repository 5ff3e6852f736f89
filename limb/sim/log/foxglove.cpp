#include "limb/sim/log/foxglove.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "limb/sim/log/json_text.hpp"

namespace limb::foxglove {
namespace {

using Properties = std::initializer_list<std::pair<const char*, std::string>>;

const std::string kNumber = R"({"type":"number"})", kText = R"({"type":"string"})",
                  kFlag = R"({"type":"boolean"})";

/// All properties before `optional` are required.
std::string object(const std::string& title, Properties properties, std::size_t optional = 100) {
  std::string all, required;
  std::size_t i = 0;
  for (const auto& [name, schema] : properties) {
    all += fmt::format("{}\"{}\":{}", all.empty() ? "" : ",", name, schema);
    if (i++ < optional) required += fmt::format("{}\"{}\"", required.empty() ? "" : ",", name);
  }
  return fmt::format(R"({{"title":"{}","type":"object","properties":{{{}}},"required":[{}]}})",
                     title, all, required);
}
std::string list(const std::string& items) {
  return R"({"type":"array","items":)" + items + "}";
}
std::string time_schema(const char* title) {
  return object(title, {{"sec", R"({"type":"integer"})"}, {"nsec", R"({"type":"integer"})"}});
}
std::string vector_schema() {
  return object("foxglove.Vector3", {{"x", kNumber}, {"y", kNumber}, {"z", kNumber}});
}
std::string quaternion_schema() {
  return object("foxglove.Quaternion",
                {{"x", kNumber}, {"y", kNumber}, {"z", kNumber}, {"w", kNumber}});
}

void put_time(std::string& json, std::uint64_t time_ns) {
  fmt::format_to(std::back_inserter(json), R"("timestamp":{{"sec":{},"nsec":{}}})",
                 time_ns / 1'000'000'000, time_ns % 1'000'000'000);
}
// Seven digits: a micrometre in ten metres. Shorter messages are more useful here than exact ones,
// which the other topics have.
void put_vector(std::string& json, const char* name, const Vector3<double>& v) {
  fmt::format_to(std::back_inserter(json), R"("{}":{{"x":{:.7g},"y":{:.7g},"z":{:.7g}}})", name,
                 v.x(), v.y(), v.z());
}
void put_quaternion(std::string& json, const char* name, const Eigen::Quaterniond& q) {
  fmt::format_to(std::back_inserter(json),
                 R"("{}":{{"x":{:.7g},"y":{:.7g},"z":{:.7g},"w":{:.7g}}})", name, q.x(), q.y(),
                 q.z(), q.w());
}

}  // namespace

std::string frame_transforms_schema() {
  return object("foxglove.FrameTransforms",
                {{"transforms",
                  list(object("foxglove.FrameTransform", {{"timestamp", time_schema("time")},
                                                          {"parent_frame_id", kText},
                                                          {"child_frame_id", kText},
                                                          {"translation", vector_schema()},
                                                          {"rotation", quaternion_schema()}}))}});
}

std::string joint_states_schema() {
  return object("foxglove.JointStates", {{"timestamp", time_schema("time")},
                                         {"joints", list(object("foxglove.JointState",
                                                                {{"name", kText},
                                                                 {"position", kNumber},
                                                                 {"velocity", kNumber},
                                                                 {"acceleration", kNumber},
                                                                 {"effort", kNumber}},
                                                                1))}});
}

std::string scene_update_schema() {
  const std::string color =
      object("foxglove.Color", {{"r", kNumber}, {"g", kNumber}, {"b", kNumber}, {"a", kNumber}});
  const std::string pose = object(
      "foxglove.Pose", {{"position", vector_schema()}, {"orientation", quaternion_schema()}});
  const std::string arrow = object("foxglove.ArrowPrimitive", {{"pose", pose},
                                                               {"shaft_length", kNumber},
                                                               {"shaft_diameter", kNumber},
                                                               {"head_length", kNumber},
                                                               {"head_diameter", kNumber},
                                                               {"color", color}});
  // Lists that stay empty.
  const std::string none = list(R"({"type":"object"})");
  return object(
      "foxglove.SceneUpdate",
      {{"deletions", none},
       {"entities", list(object("foxglove.SceneEntity", {{"timestamp", time_schema("time")},
                                                         {"frame_id", kText},
                                                         {"id", kText},
                                                         {"lifetime", time_schema("duration")},
                                                         {"frame_locked", kFlag},
                                                         {"metadata", none},
                                                         {"arrows", list(arrow)},
                                                         {"cubes", none},
                                                         {"spheres", none},
                                                         {"cylinders", none},
                                                         {"lines", none},
                                                         {"triangles", none},
                                                         {"texts", none},
                                                         {"models", none}}))}});
}

void put_frame_transforms(std::string& json, std::uint64_t time_ns,
                          const std::vector<std::string>& frames, const VectorX<double>& values) {
  json += R"({"transforms":[)";
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto x = values.segment<7>(7 * static_cast<Eigen::Index>(i));
    if (!x.allFinite()) continue;
    json += json.back() == '[' ? "{" : ",{";
    put_time(json, time_ns);
    fmt::format_to(std::back_inserter(json), R"(,"parent_frame_id":"{}","child_frame_id":{},)",
                   kWorld, json_text(frames[i]));
    put_vector(json, "translation", x.head<3>());
    json += ',';
    put_quaternion(json, "rotation", Eigen::Quaterniond(x[6], x[3], x[4], x[5]));
    json += '}';
  }
  json += "]}";
}

void put_joint_states(std::string& json, std::uint64_t time_ns,
                      const std::vector<std::string>& joints, const VectorX<double>& values) {
  json += '{';
  put_time(json, time_ns);
  json += R"(,"joints":[)";
  for (std::size_t i = 0; i < joints.size(); ++i) {
    json += (i == 0 ? R"({"name":)" : R"(,{"name":)") + json_text(joints[i]);
    const char* names[] = {"position", "velocity", "effort"};
    for (std::size_t k = 0; k < 3; ++k) {
      const double value = values[static_cast<Eigen::Index>(3 * i + k)];
      if (!std::isfinite(value)) continue;
      fmt::format_to(std::back_inserter(json), R"(,"{}":{:.7g})", names[k], value);
    }
    json += '}';
  }
  json += "]}";
}

void put_arrows(std::string& json, std::uint64_t time_ns, const std::string& id,
                const VectorX<double>& values) {
  json += R"({"deletions":[],"entities":[{)";
  put_time(json, time_ns);
  fmt::format_to(std::back_inserter(json),
                 R"(,"frame_id":"{}","id":{},"lifetime":{{"sec":0,"nsec":0}},"frame_locked":false,)"
                 R"("metadata":[],"arrows":[)",
                 kWorld, json_text(id));
  for (Eigen::Index i = 0; i + 6 <= values.size(); i += 6) {
    const Vector3<double> p = values.segment<3>(i), v = values.segment<3>(i + 3);
    const double length = v.norm();
    if (!p.allFinite() || !std::isfinite(length) || length == 0) continue;
    json += json.back() == '[' ? R"({"pose":{)" : R"(,{"pose":{)";
    put_vector(json, "position", p);
    json += ',';
    // Arrows point along x.
    put_quaternion(json, "orientation",
                   Eigen::Quaterniond::FromTwoVectors(Vector3<double>::UnitX(), v));
    // Slender, and never wider than long.
    const double width = std::min(0.02, length / 5);
    fmt::format_to(std::back_inserter(json),
                   R"(}},"shaft_length":{:.7g},"shaft_diameter":{:.7g},"head_length":{:.7g},)"
                   R"("head_diameter":{:.7g},"color":{{"r":0.85,"g":0.2,"b":0.1,"a":1}}}})",
                   0.8 * length, width, 0.2 * length, 2 * width);
  }
  json +=
      R"(],"cubes":[],"spheres":[],"cylinders":[],"lines":[],"triangles":[],"texts":[],"models":[]}]})";
}

}  // namespace limb::foxglove
