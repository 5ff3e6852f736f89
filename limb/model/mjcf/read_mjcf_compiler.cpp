#include "limb/model/mjcf/read_mjcf_compiler.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

namespace limb::mjcf {
namespace {

constexpr double kDegree = std::numbers::pi / 180;
/// Shorter vectors have no direction; the same threshold as in MuJoCo.
constexpr double kMinLength = 1e-15;

constexpr std::array<const char*, 5> kOrientations = {"quat", "axisangle", "euler", "xyaxes",
                                                      "zaxis"};

Matrix3<double> axis_angle_rotation(const Vector3<double>& unit_axis, double angle) {
  return to_matrix(quaternion_from_axis_angle<double>(unit_axis, angle));
}

/// Orientation from the numbers of one attribute; nullopt if a direction has no length.
std::optional<Matrix3<double>> from_numbers(std::string_view form, const std::vector<double>& x,
                                            const Compiler& compiler) {
  const auto vector = [&](std::size_t i) { return Vector3<double>(x[i], x[i + 1], x[i + 2]); };
  if (form == "quat") {
    const Vector4<double> q(x[0], x[1], x[2], x[3]);
    if (!(q.norm() > kMinLength)) return std::nullopt;
    return to_matrix(Quaternion<double>::from_wxyz(q.normalized()));
  }
  if (form == "axisangle") {
    if (!(vector(0).norm() > kMinLength)) return std::nullopt;
    return axis_angle_rotation(vector(0).normalized(), x[3] * compiler.angle_unit);
  }
  if (form == "euler") {
    Matrix3<double> R = Matrix3<double>::Identity();
    for (std::size_t i = 0; i < 3; ++i) {
      const char letter = compiler.eulerseq[i];
      const bool intrinsic = letter >= 'a';
      const Matrix3<double> part =
          axis_rotation<double>(letter - (intrinsic ? 'x' : 'X'), x[i] * compiler.angle_unit);
      R = intrinsic ? Matrix3<double>(R * part) : Matrix3<double>(part * R);
    }
    return R;
  }
  if (form == "xyaxes") {
    if (!(vector(0).norm() > kMinLength)) return std::nullopt;
    Matrix3<double> R;
    R.col(0) = vector(0).normalized();
    const Vector3<double> y = vector(3) - R.col(0).dot(vector(3)) * R.col(0);
    if (!(y.norm() > kMinLength)) return std::nullopt;
    R.col(1) = y.normalized();
    R.col(2) = R.col(0).cross(R.col(1)).normalized();
    return R;
  }
  if (!(vector(0).norm() > kMinLength)) return std::nullopt;
  return rotation_z_to(vector(0));
}

std::size_t size_of(std::string_view form) {
  return form == "quat" || form == "axisangle" ? 4 : form == "xyaxes" ? 6 : 3;
}

}  // namespace

Compiler::Compiler() : angle_unit(kDegree) {}

void Compiler::read(const Node& node, Diagnostics& diagnostics) {
  expect_attributes(diagnostics, node,
                    {"alignfree",         "angle",        "assetdir",      "autolimits",
                     "balanceinertia",    "boundinertia", "boundmass",     "conflict",
                     "convexhull",        "coordinate",   "discardvisual", "eulerseq",
                     "exactmeshinertia",  "fitaabb",      "fusestatic",    "inertiafromgeom",
                     "inertiagrouprange", "meshdir",      "passthrough",   "savecanonical",
                     "savecompiled",      "saveinertial", "settotalmass",  "strippath",
                     "texturedir",        "usethread"});
  const Attributes a(node, diagnostics);
  const auto flag = [&](const char* name, bool fallback) {
    return a.keyword(name, {"true", "false"}, fallback ? "true" : "false") == "true";
  };
  const auto from_zero = [&](const char* name, double fallback) {
    const double value = a.number(name, fallback);
    if (value >= 0) return value;
    a.error("compiler-negative",
            fmt::format("attribute '{}' is {}, expected 0 or more", name, value), "it is ignored");
    return fallback;
  };
  if (a.keyword("coordinate", {"local", "global"}, "local") == "global") {
    a.error("coordinate-global", "attribute 'coordinate' is 'global', expected 'local'",
            "MuJoCo no longer supports global coordinates, and limb does not read them",
            "load and save the model with MuJoCo 2.3.3 or older");
  }
  if (a.has("angle")) {
    angle_unit = a.keyword("angle", {"radian", "degree"}, "degree") == "radian" ? 1 : kDegree;
  }
  if (const std::string text = a.text("eulerseq", eulerseq); text != eulerseq) {
    if (text.size() == 3 && text.find_first_not_of("xyzXYZ") == text.npos) {
      eulerseq = text;
    } else {
      a.error("eulerseq",
              fmt::format("attribute 'eulerseq' is '{}', expected three of the letters xyzXYZ",
                          text.substr(0, 20)),
              "'xyz' is used");
    }
  }
  autolimits = flag("autolimits", autolimits);
  balanceinertia = flag("balanceinertia", balanceinertia);
  exactmeshinertia = flag("exactmeshinertia", exactmeshinertia);
  fitaabb = flag("fitaabb", fitaabb);
  strippath = flag("strippath", strippath);
  if (a.has("inertiafromgeom")) {
    const std::string word = a.keyword("inertiafromgeom", {"true", "false", "auto"}, "auto");
    inertiafromgeom = word == "true"    ? InertiaFromGeom::yes
                      : word == "false" ? InertiaFromGeom::no
                                        : InertiaFromGeom::automatic;
  }
  if (const auto range = a.numbers("inertiagrouprange", 2)) {
    inertia_group_min = (*range)[0];
    inertia_group_max = (*range)[1];
  }
  boundmass = from_zero("boundmass", boundmass);
  boundinertia = from_zero("boundinertia", boundinertia);
  settotalmass = a.number("settotalmass", settotalmass);
  meshdir = a.text("meshdir", a.text("assetdir", meshdir));
  if (flag("alignfree", false)) {
    a.warn("alignfree-not-read", "attribute 'alignfree' is not read",
           "MuJoCo moves the frame of a free body to its mass centre, limb does not");
  }
  if (flag("discardvisual", false) || flag("fusestatic", false)) {
    a.note("compiler-not-read", "attributes 'discardvisual' and 'fusestatic' are not read",
           "bodies keep their names, and the motion is the same");
  }
}

Matrix3<double> orientation(const Attributes& attributes, const Compiler& compiler) {
  for (std::size_t level = 0; level < attributes.levels(); ++level) {
    const char* form = nullptr;
    const Node* holder = nullptr;
    for (const char* candidate : kOrientations) {
      const Node* node = attributes.at(level, candidate);
      if (node == nullptr) continue;
      if (form != nullptr) {
        attributes.error("orientation-twice",
                         fmt::format("orientation by '{}' and by '{}'", form, candidate),
                         "only one can be meant; the first is used");
        break;
      }
      form = candidate;
      holder = node;
    }
    if (form == nullptr) continue;
    const auto numbers = attributes.numbers_of(*holder, form, size_of(form));
    if (!numbers) break;
    if (const auto R = from_numbers(form, *numbers, compiler)) return *R;
    attributes.error("orientation-zero",
                     fmt::format("attribute '{}' is '{}', expected directions of length > 0 that "
                                 "are not parallel",
                                 form, attributes.text(form).substr(0, 60)),
                     "it gives no orientation");
    break;
  }
  return Matrix3<double>::Identity();
}

Pose<double> pose(const Attributes& attributes, const Compiler& compiler) {
  return {orientation(attributes, compiler), attributes.vector("pos")};
}

std::optional<std::vector<double>> active_range(const Attributes& a, const char* range_name,
                                                const char* limited_name,
                                                const Compiler& compiler) {
  const std::string limited = a.keyword(limited_name, {"true", "false", "auto"}, "auto");
  if (limited == "false" || !a.has(range_name)) return std::nullopt;
  const auto range = a.numbers(range_name, 2);
  if (limited == "true" || !range) return range;
  if (!compiler.autolimits || ((*range)[0] == 0 && (*range)[1] == 0)) return std::nullopt;
  return range;
}

Matrix3<double> rotation_z_to(const Vector3<double>& direction) {
  const Vector3<double> z = direction.normalized();
  const Vector3<double> axis = Vector3<double>::UnitZ().cross(z);
  const double sine = axis.norm();
  // Parallel to z the axis is arbitrary: MuJoCo rotates about x.
  if (sine < 1e-10)
    return axis_angle_rotation(Vector3<double>::UnitX(), z[2] > 0 ? 0 : std::numbers::pi);
  return axis_angle_rotation(axis / sine, std::atan2(sine, z[2]));
}

}  // namespace limb::mjcf
