#include "limb/sim/scenario/scenario_legged.hpp"

#include <fmt/format.h>

#include "limb/dynamics/constraints/actuated.hpp"
#include "limb/sim/world/legged_feet.hpp"

namespace limb {
namespace {

using Keys = RecipeFields::Keys;
using Kind = ControllerSetup::Kind;
using Sign = ScenarioValues::Sign;

const std::string kOwner = "controller";
const Keys kGaits = {"trot", "walk", "stand"};

/// Gait of a command; period and duty have the defaults of the gait.
Gait read_gait(const TomlValue& t, const std::string& owner, const Gait& before, int feet,
               RecipeFields& fields, ScenarioValues& values) {
  Gait gait = before;
  if (t.find("gait") != nullptr) {
    const std::string name = fields.choice(t, owner, "gait", kGaits);
    gait = name == "walk" ? Gait::walk() : name == "stand" ? Gait::stand(feet) : Gait::trot();
    if (name != "stand" && feet != 4) {
      fields.error(*t.find("gait"), "scenario-bad-value",
                   fmt::format("{}: gait is '{}', expected stand: the robot has {} feet, not four",
                               owner, name, feet));
    }
  }
  values.set(t, owner, "gait_period", "s,ms", Sign::positive, gait.period);
  values.set(t, owner, "duty", "", Sign::positive, gait.duty);
  if (gait.duty > 1) {
    fields.error(
        *t.find("duty"), "scenario-bad-value",
        fmt::format("{}: duty is {}, expected a share up to 1", owner, to_text(gait.duty)));
    gait.duty = 1;
  }
  return gait;
}

void read_commands(const TomlValue& t, RecipeFields& fields, ScenarioValues& values, Scenario& s) {
  LeggedSetup& setup = s.controller.legged;
  setup.commands.clear();
  const int feet = static_cast<int>(setup.feet.size());
  Gait gait = feet == 4 ? Gait::trot() : Gait::stand(feet);
  gait = read_gait(t, kOwner, gait, feet, fields, values);
  values.set(t, kOwner, "clearance", "m,mm,cm", Sign::not_negative, setup.clearance);
  const std::string owner = "[[controller.command]]";
  for (const TomlValue* row : fields.rows(t, "command")) {
    fields.expect_keys(
        *row, owner,
        {"begin", "ramp", "forward", "left", "yaw_rate", "gait", "gait_period", "duty"});
    LeggedSetup::Command command;
    values.set(*row, owner, "begin", "s,ms", Sign::not_negative, command.begin);
    values.set(*row, owner, "ramp", "s,ms", Sign::not_negative, command.ramp);
    values.set(*row, owner, "forward", "m/s", Sign::any, command.velocity.forward);
    values.set(*row, owner, "left", "m/s", Sign::any, command.velocity.left);
    values.set(*row, owner, "yaw_rate", "rad/s,deg/s", Sign::any, command.velocity.yaw_rate);
    command.gait = gait = read_gait(*row, owner, gait, feet, fields, values);
    if (!setup.commands.empty() && command.begin < setup.commands.back().begin) {
      fields.error(
          *row, "scenario-bad-value",
          fmt::format("{}: begin is {}, expected {} or later: commands must be in order "
                      "of time",
                      owner, to_text(command.begin), to_text(setup.commands.back().begin)));
    }
    setup.commands.push_back(command);
  }
  if (setup.commands.empty()) {
    fields.missing(t, kOwner, "command", "at least one [[controller.command]] with begin, forward");
  }
}

void read_moves(const TomlValue& t, RecipeFields& fields, ScenarioValues& values, Scenario& s) {
  LeggedSetup& setup = s.controller.legged;
  setup.moves.clear();
  const std::string owner = "[[controller.move]]";
  for (const TomlValue* row : fields.rows(t, "move")) {
    fields.expect_keys(*row, owner, {"begin", "end", "shift"});
    LeggedSetup::Move move;
    values.set(*row, owner, "begin", "s,ms", Sign::not_negative, move.begin);
    move.end = move.begin + 1;
    values.set(*row, owner, "end", "s,ms", Sign::positive, move.end);
    move.shift = values.vector(*row, owner, "shift");
    if (!(move.end > move.begin)) {
      fields.error(*row, "scenario-bad-value",
                   fmt::format("{}: end is {}, expected > {}, its 'begin'", owner,
                               to_text(move.end), to_text(move.begin)));
      continue;
    }
    setup.moves.push_back(move);
  }
}

}  // namespace

const Keys& legged_keys(Kind kind) {
  static const Keys common = {"type", "period", "feedback", "target", "feet", "friction"};
  static const Keys balance = join_keys({common, {"move"}});
  static const Keys locomotion =
      join_keys({common, {"command", "gait", "gait_period", "duty", "clearance"}});
  return kind == Kind::balance ? balance : locomotion;
}

void read_legged(const TomlValue& t, RecipeFields& fields, ScenarioValues& values, Scenario& s) {
  LeggedSetup& setup = s.controller.legged;
  values.set(t, kOwner, "friction", "", Sign::positive, setup.friction);
  if (!s.contact) {
    fields.error(*t.find("type"), "scenario-bad-value",
                 fmt::format("controller: {} needs a [ground] to stand on", t.find("type")->text));
    return;
  }
  if (s.model.body_count() < 2 || s.model.bodies()[1].joint.type() != JointType::free) {
    fields.error(*t.find("type"), "scenario-bad-value",
                 fmt::format("controller: {} needs a robot on a free base", t.find("type")->text),
                 {}, "base = \"free\"");
    return;
  }
  const std::vector<std::string> names = fields.texts(t, kOwner, "feet");
  for (const std::string& name : names) {
    Keys known;
    for (const Frame<double>& frame : s.model.frames()) known.push_back(frame.name);
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    fields.error(*t.find("feet"), "scenario-unknown-frame",
                 fmt::format("{}: no link or frame is named '{}'{}", kOwner, name,
                             fields.closest(name, known)));
    return;
  }
  try {
    setup.feet = find_feet("controller", s.model, s.controller.target, s.contact->shapes, names);
  } catch (const Error& error) {
    fields.error(t, "scenario-bad-value", error.what());
    return;
  }
  if (s.controller.kind == Kind::balance) {
    read_moves(t, fields, values, s);
  } else {
    read_commands(t, fields, values, s);
  }
}

void set_legged_defaults(const std::string& call, Scenario& s) {
  LeggedSetup& setup = s.controller.legged;
  if (!s.contact) {
    throw Error(
        fmt::format("{}: this controller needs a [ground] to stand on: write a scenario", call));
  }
  if (setup.feet.empty()) {
    setup.feet = find_feet(call.c_str(), s.model, s.controller.target, s.contact->shapes);
  }
}

QpLog::QpLog(const Scenario& s) {
  for (const Foot& foot : s.controller.legged.feet) {
    feet_.push_back(s.model.frame(foot.frame).name);
  }
  const auto names = velocity_names(s.model);
  for (int i = 0; i < s.model.nv(); ++i) {
    if (!is_actuated(s.model, i)) continue;
    velocities_.push_back(i);
    motors_.push_back(names[static_cast<std::size_t>(i)]);
  }
  program_.setZero(7);
  center_.setZero(6);
  desired_force_.setZero(3 * static_cast<Eigen::Index>(feet_.size()));
  effort_.setZero(static_cast<Eigen::Index>(motors_.size()));
}

std::vector<LogTopic> QpLog::topics() const {
  std::vector<LogTopic> topics = {
      {"program",
       {"count.iterations", "count.unsolved", "count.fall_backs", "residual.stationarity",
        "residual.constraints", "violation.cone", "violation.limit"}},
      {"mass_center", {"x.desired", "x.actual", "y.desired", "y.actual", "z.desired", "z.actual"}},
      {"desired_force", {}},
      {"effort", motors_}};
  for (const std::string& name : feet_) {
    for (const char* part : {"normal", "tangential", "bound"}) {
      topics[2].fields.push_back(name + "." + part);
    }
  }
  topics[0].units = {"1", "1", "1", "1", "1", "N", "N m"};
  topics[1].units.assign(topics[1].fields.size(), "m");
  topics[2].units.assign(topics[2].fields.size(), "N");
  topics[3].units.assign(topics[3].fields.size(), "1");
  return topics;
}

void QpLog::write(const QpStatistics& statistics, double t, std::size_t first, LogWriter& log) {
  const WholeBodyReport& r = statistics.last;
  program_ << r.iterations,
      static_cast<double>(statistics.unsolved + statistics.predictions_unsolved),
      static_cast<double>(statistics.fall_backs), r.residuals.stationarity, r.residuals.primal,
      r.outside_cone, r.over_limit;
  for (int i = 0; i < 3; ++i)
    center_.segment<2>(2 * i) << statistics.desired_mass_center[i], statistics.mass_center[i];
  for (std::size_t i = 0; i < velocities_.size(); ++i) {
    effort_[static_cast<Eigen::Index>(i)] = statistics.share[velocities_[i]];
  }
  desired_force_ = statistics.feet.reshaped();
  log.write(first, t, program_);
  log.write(first + 1, t, center_);
  log.write(first + 2, t, desired_force_);
  log.write(first + 3, t, effort_);
}

}  // namespace limb
