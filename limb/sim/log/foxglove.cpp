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
                  kFlag = R"({"type":"boolean"})", kIndex = R"({"type":"integer","minimum":0})",
                  kNanoseconds = R"({"type":"integer","minimum":0,"maximum":999999999})",
                  kBytes = R"({"type":"string","contentEncoding":"base64"})";

/// The first `required` properties are required.
std::string object(const std::string& title, Properties properties, std::size_t required = 100) {
  std::string all, names;
  std::size_t i = 0;
  for (const auto& [name, schema] : properties) {
    all += fmt::format("{}\"{}\":{}", all.empty() ? "" : ",", name, schema);
    if (i++ < required) names += fmt::format("{}\"{}\"", names.empty() ? "" : ",", name);
  }
  if (!names.empty()) names = R"(,"required":[)" + names + "]";
  return fmt::format(R"({{"title":"{}","type":"object","properties":{{{}}}{}}})", title, all,
                     names);
}
std::string list(const std::string& items) {
  return R"({"type":"array","items":)" + items + "}";
}
/// Names of the values 0, 1, ...
std::string choice(const std::string& title, std::initializer_list<const char*> names) {
  std::string values;
  int value = 0;
  for (const char* name : names) {
    values += fmt::format(R"({}{{"title":"{}","const":{}}})", value == 0 ? "" : ",", name, value);
    ++value;
  }
  return fmt::format(R"({{"title":"{}","oneOf":[{}]}})", title, values);
}
std::string time_schema() {
  return object("time", {{"sec", kIndex}, {"nsec", kNanoseconds}}, 0);
}
std::string duration_schema() {
  return object("duration", {{"sec", R"({"type":"integer"})"}, {"nsec", kNanoseconds}}, 0);
}
std::string vector_schema(const char* title = "foxglove.Vector3") {
  return object(title, {{"x", kNumber}, {"y", kNumber}, {"z", kNumber}});
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
                  list(object("foxglove.FrameTransform", {{"timestamp", time_schema()},
                                                          {"parent_frame_id", kText},
                                                          {"child_frame_id", kText},
                                                          {"translation", vector_schema()},
                                                          {"rotation", quaternion_schema()}}))}});
}

std::string joint_states_schema() {
  return object("foxglove.JointStates", {{"timestamp", time_schema()},
                                         {"joints", list(object("foxglove.JointState",
                                                                {{"name", kText},
                                                                 {"position", kNumber},
                                                                 {"velocity", kNumber},
                                                                 {"acceleration", kNumber},
                                                                 {"effort", kNumber}},
                                                                1))}});
}

std::string scene_update_schema() {
  const std::string vector = vector_schema(), points = list(vector_schema("foxglove.Point3"));
  const std::string color =
      object("foxglove.Color", {{"r", kNumber}, {"g", kNumber}, {"b", kNumber}, {"a", kNumber}});
  const std::string colors = list(color), indices = list(kIndex);
  const std::string pose =
      object("foxglove.Pose", {{"position", vector}, {"orientation", quaternion_schema()}});
  const std::string deletion =
      object("foxglove.SceneEntityDeletion",
             {{"timestamp", time_schema()},
              {"type", choice("foxglove.SceneEntityDeletionType", {"MATCHING_ID", "ALL"})},
              {"id", kText}});
  const std::string pair = object("foxglove.KeyValuePair", {{"key", kText}, {"value", kText}});
  const std::string arrow = object("foxglove.ArrowPrimitive", {{"pose", pose},
                                                               {"shaft_length", kNumber},
                                                               {"shaft_diameter", kNumber},
                                                               {"head_length", kNumber},
                                                               {"head_diameter", kNumber},
                                                               {"color", color}});
  const std::string cube =
      object("foxglove.CubePrimitive", {{"pose", pose}, {"size", vector}, {"color", color}});
  const std::string sphere =
      object("foxglove.SpherePrimitive", {{"pose", pose}, {"size", vector}, {"color", color}});
  const std::string cylinder = object("foxglove.CylinderPrimitive", {{"pose", pose},
                                                                     {"size", vector},
                                                                     {"bottom_scale", kNumber},
                                                                     {"top_scale", kNumber},
                                                                     {"color", color}});
  const std::string line =
      object("foxglove.LinePrimitive",
             {{"type", choice("foxglove.LineType", {"LINE_STRIP", "LINE_LOOP", "LINE_LIST"})},
              {"pose", pose},
              {"thickness", kNumber},
              {"scale_invariant", kFlag},
              {"points", points},
              {"color", color},
              {"colors", colors},
              {"indices", indices}});
  const std::string triangles = object("foxglove.TriangleListPrimitive", {{"pose", pose},
                                                                          {"points", points},
                                                                          {"color", color},
                                                                          {"colors", colors},
                                                                          {"indices", indices}});
  const std::string text = object("foxglove.TextPrimitive", {{"pose", pose},
                                                             {"billboard", kFlag},
                                                             {"font_size", kNumber},
                                                             {"scale_invariant", kFlag},
                                                             {"color", color},
                                                             {"text", kText}});
  const std::string model = object("foxglove.ModelPrimitive", {{"pose", pose},
                                                               {"scale", vector},
                                                               {"color", color},
                                                               {"override_color", kFlag},
                                                               {"url", kText},
                                                               {"media_type", kText},
                                                               {"data", kBytes}});
  return object("foxglove.SceneUpdate",
                {{"deletions", list(deletion)},
                 {"entities", list(object("foxglove.SceneEntity", {{"timestamp", time_schema()},
                                                                   {"frame_id", kText},
                                                                   {"id", kText},
                                                                   {"lifetime", duration_schema()},
                                                                   {"frame_locked", kFlag},
                                                                   {"metadata", list(pair)},
                                                                   {"arrows", list(arrow)},
                                                                   {"cubes", list(cube)},
                                                                   {"spheres", list(sphere)},
                                                                   {"cylinders", list(cylinder)},
                                                                   {"lines", list(line)},
                                                                   {"triangles", list(triangles)},
                                                                   {"texts", list(text)},
                                                                   {"models", list(model)}}))}});
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
