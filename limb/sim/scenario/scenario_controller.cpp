#include "limb/sim/scenario/scenario_controller.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "limb/math/euler.hpp"

namespace limb {
namespace {

using Keys = RecipeFields::Keys;
using Kind = ControllerSetup::Kind;
using Sign = ScenarioValues::Sign;

const std::string kOwner = "controller";
const Keys kRows = {"x", "y", "z", "rx", "ry", "rz"};

/// A list of directions.
void read_rows(const TomlValue& t, RecipeFields& fields, const char* key,
               std::array<bool, 6>& rows) {
  if (t.find(key) == nullptr) return;
  rows = {};
  for (const std::string& name : fields.texts(t, kOwner, key)) {
    const auto found = std::find(kRows.begin(), kRows.end(), name);
    if (found == kRows.end()) {
      fields.error(
          *t.find(key), "scenario-bad-value",
          fmt::format("{}: {} has '{}', expected some of x, y, z, rx, ry, rz", kOwner, key, name));
      return;
    }
    rows[static_cast<std::size_t>(found - kRows.begin())] = true;
  }
}

void read_stiffness(const TomlValue& t, RecipeFields& fields, ScenarioValues& values,
                    Vector6<double>& stiffness) {
  const TomlValue* value = t.find("stiffness");
  if (value == nullptr) return;
  if (value->kind == TomlValue::Kind::number) {
    values.set(t, kOwner, "stiffness", "", Sign::not_negative, stiffness[0]);
    stiffness.setConstant(stiffness[0]);
    return;
  }
  if (value->kind != TomlValue::Kind::array || value->items.size() != 6) {
    fields.error(*value, "scenario-bad-value",
                 fmt::format("{}: stiffness is {}, expected a number or six: N/m along x, y, z, "
                             "N m/rad about them",
                             kOwner, value->kind_text()));
    return;
  }
  for (std::size_t i = 0; i < 6; ++i) {
    if (const auto x =
            values.value_of(value->items[i], kOwner, "stiffness", "", Sign::not_negative)) {
      stiffness[static_cast<Eigen::Index>(i)] = *x;
    }
  }
}

void read_frame(const TomlValue& t, RecipeFields& fields, ScenarioValues& values,
                ControllerSetup& c) {
  ControllerSetup::Frame& f = c.task;
  if (const auto frame = values.frame(t, kOwner)) f.frame = *frame;
  f.offset = values.vector(t, kOwner, "offset");
  const Vector3<double> rpy = values.vector(t, kOwner, "axes_rpy");
  f.R_WT = euler_to_matrix<double>(EulerSequence("xyz"), rpy);
  read_rows(t, fields, "rows", f.rows);
  read_stiffness(t, fields, values, f.stiffness);
  f.damping_ratio = c.kind == Kind::cartesian_impedance ? 0.7 : 1;
  values.set(t, kOwner, "damping_ratio", "", Sign::not_negative, f.damping_ratio);
  values.set(t, kOwner, "frequency", "Hz", Sign::positive, f.frequency);
  values.set(t, kOwner, "posture_frequency", "Hz", Sign::positive, f.posture_frequency);
  if (c.kind != Kind::hybrid_force) return;
  f.force.head<3>() = values.vector(t, kOwner, "force");
  f.force.tail<3>() = values.vector(t, kOwner, "moment");
  // Force-controlled directions: those listed, else those with a nonzero force.
  for (int i = 0; i < 6; ++i) f.force_rows[static_cast<std::size_t>(i)] = f.force[i] != 0;
  read_rows(t, fields, "force_rows", f.force_rows);
  values.set(t, kOwner, "force_kp", "", Sign::not_negative, f.force_kp);
  values.set(t, kOwner, "force_ki", "", Sign::not_negative, f.force_ki);
  values.set(t, kOwner, "force_kd", "", Sign::not_negative, f.force_kd);
  if (std::find(f.force_rows.begin(), f.force_rows.end(), true) == f.force_rows.end()) {
    fields.missing(t, kOwner, "force", "the force that hybrid-force exerts, [x, y, z] in N");
  }
}

}  // namespace

const Keys& controller_names() {
  static const Keys names = {"none",
                             "open-loop",
                             "pd",
                             "gravity",
                             "computed-torque",
                             "pid",
                             "joint-impedance",
                             "cartesian-impedance",
                             "operational-space",
                             "hybrid-force",
                             "lqr",
                             "balance",
                             "locomotion"};
  return names;
}

const Keys& controller_keys() {
  static const Keys keys = {
      "type",          "period",      "feedback",     "target",   "frequency",
      "damping_ratio", "kp",          "kd",           "ki",       "torque",
      "amplitude",     "move_time",   "anti_windup",  "frame",    "offset",
      "axes_rpy",      "rows",        "stiffness",    "force",    "moment",
      "force_rows",    "force_kp",    "force_ki",     "force_kd", "posture_frequency",
      "position_cost", "torque_cost", "velocity_cost"};
  return keys;
}

void set_controller_defaults(Scenario& s) {
  ControllerSetup& c = s.controller;
  const VectorX<double> ones = VectorX<double>::Ones(s.v.size());
  if (c.position_cost.size() == 0) c.position_cost = ones;
  if (c.velocity_cost.size() == 0) c.velocity_cost = ones;
  if (c.torque_cost.size() == 0) c.torque_cost = 0.01 * ones;
  if (c.ki.size() == 0) c.ki = 2 * c.kp;
}

void read_feedback(const TomlValue& t, RecipeFields& fields, ScenarioValues& values, Scenario& s) {
  ControllerSetup& c = s.controller;
  c.start = s.q;
  values.set(t, kOwner, "move_time", "s,ms", Sign::positive, c.move_time);
  if (controls_frame(c.kind)) read_frame(t, fields, values, c);
  set_controller_defaults(s);
  values.velocities(t, kOwner, "ki", "", Sign::not_negative, c.ki);
  values.velocities(t, kOwner, "position_cost", "", Sign::not_negative, c.position_cost);
  values.velocities(t, kOwner, "velocity_cost", "", Sign::not_negative, c.velocity_cost);
  values.velocities(t, kOwner, "torque_cost", "", Sign::positive, c.torque_cost);
  if (t.find("anti_windup") == nullptr) return;
  const std::string name =
      fields.choice(t, kOwner, "anti_windup", {"conditional", "back-calculation", "none"});
  c.anti_windup = name == "none"               ? JointPid::AntiWindup::none
                  : name == "back-calculation" ? JointPid::AntiWindup::back_calculation
                                               : JointPid::AntiWindup::conditional;
}

void read_wall(const TomlValue& t, RecipeFields& fields, ScenarioValues& values, Scenario& s) {
  const std::string owner = "[[wall]]";
  fields.expect_keys(t, owner, {"frame", "point", "normal", "stiffness", "damping", "friction"});
  WallLaw::Parameters p;
  const auto frame = values.frame(t, owner);
  p.point = values.vector(t, owner, "point");
  const Vector3<double> normal = values.vector(t, owner, "normal");
  values.set(t, owner, "stiffness", "", Sign::positive, p.stiffness);
  values.set(t, owner, "damping", "", Sign::not_negative, p.damping);
  values.set(t, owner, "friction", "", Sign::not_negative, p.friction);
  if (!(normal.norm() > 0)) {
    fields.missing(t, owner, "normal", "a direction out of the wall, [x, y, z]");
  }
  if (!frame || !(normal.norm() > 0)) return;
  p.frame = *frame;
  p.normal = normal.normalized();
  s.walls.push_back(p);
}

}  // namespace limb
