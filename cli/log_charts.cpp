#include "cli/log_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "limb/math/quaternion.hpp"
#include "limb/sim/world/coordinate_units.hpp"
#include "limb/sim/world/sensors.hpp"

namespace limb::cli {
namespace {

constexpr double kDegree = std::numbers::pi / 180;

std::string full_name(const LogSeries& series, std::size_t field) {
  return series.topic + "." + series.fields[field];
}

bool is_zero(const std::vector<double>& x) {
  return std::all_of(x.begin(), x.end(), [](double y) { return !(std::abs(y) > 0); });
}

/// "fx.actual" -> {"fx", "actual"}; without a dot {"", name}.
std::pair<std::string, std::string> split_first(const std::string& name) {
  const std::size_t dot = name.find('.');
  if (dot == name.npos) return {"", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}
std::pair<std::string, std::string> split_last(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos) return {"", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

/// Number of fields NAME.0, NAME.1, ... from the index `first` on.
std::size_t components(const LogSeries& series, std::size_t first, const std::string& name) {
  std::size_t n = 0;
  while (first + n < series.fields.size() &&
         series.fields[first + n] == name + "." + std::to_string(n)) {
    ++n;
  }
  return n;
}

/// Angles without jumps by full turns, degrees.
struct Angles {
  std::vector<double> roll, pitch, yaw;
  void add(const Vector4<double>& xyzw) {
    const double x = xyzw[0], y = xyzw[1], z = xyzw[2], w = xyzw[3];
    const double n = xyzw.squaredNorm();
    push(roll, std::atan2(2 * (w * x + y * z), n - 2 * (x * x + y * y)));
    push(pitch, std::asin(std::clamp(2 * (w * y - z * x) / n, -1.0, 1.0)));
    push(yaw, std::atan2(2 * (w * z + x * y), n - 2 * (y * y + z * z)));
  }

 private:
  static void push(std::vector<double>& list, double angle) {
    double degrees = angle / kDegree;
    if (!list.empty() && std::isfinite(list.back())) {
      degrees += 360 * std::round((list.back() - degrees) / 360);
    }
    list.push_back(degrees);
  }
};

/// Titles and units of the topics that limb simulate writes, by topic and group; a CSV log has no
/// units.
struct Known {
  const char *title, *unit;
};
const std::map<std::string, Known>& known_groups() {
  static const std::map<std::string, Known> kGroups = {
      {"energy", {"Energy", "J"}},
      {"energy.work", {"Work since the start", "J"}},
      {"momentum.linear", {"Linear momentum", "N s"}},
      {"momentum.angular", {"Angular momentum about the mass centre", "N m s"}},
      {"laws.touching", {"Contact points", "1"}},
      {"laws.penetration", {"Penetration", "m"}},
      {"laws.residual", {"Residual of the contact solver", "m/s"}},
      {"laws.dissipated", {"Energy dissipated by contacts", "J"}},
      {"program.count.iterations", {"Iterations of the quadratic program", "1"}},
      {"program.count.unsolved", {"Unsolved quadratic programs, fallbacks", "1"}},
      {"program.count.fall_backs", {"Unsolved quadratic programs, fallbacks", "1"}},
      {"program.residual", {"Residuals of the program, relative to the weight", "1"}},
      {"program.violation.cone", {"Force outside friction cones", "N"}},
      {"program.violation.limit", {"Torque over motor limits", "N m"}},
      {"mass_center.x", {"Mass centre, x", "m"}},
      {"mass_center.y", {"Mass centre, y", "m"}},
      {"mass_center.z", {"Mass centre, z", "m"}},
      {"task.x", {"Controlled frame, x", "m"}},
      {"task.y", {"Controlled frame, y", "m"}},
      {"task.z", {"Controlled frame, z", "m"}},
      {"task.rotation_error", {"Rotation error of the controlled frame", "rad"}},
      {"task.fx", {"Controlled force, x", "N"}},
      {"task.fy", {"Controlled force, y", "N"}},
      {"task.fz", {"Controlled force, z", "N"}},
      {"task.nx", {"Controlled moment about x", "N m"}},
      {"task.ny", {"Controlled moment about y", "N m"}},
      {"task.nz", {"Controlled moment about z", "N m"}},
      {"effort", {"Motor torque / limit", "1"}},
  };
  return kGroups;
}

/// The longest known group that a field belongs to, or null.
const Known* find_known(const std::string& name) {
  for (std::string prefix = name; !prefix.empty(); prefix = split_last(prefix).first) {
    const auto found = known_groups().find(prefix);
    if (found != known_groups().end()) return &found->second;
  }
  return nullptr;
}

}  // namespace

bool is_below(const std::string& name, const std::string& prefix) {
  return name.starts_with(prefix) && (name.size() == prefix.size() || name[prefix.size()] == '.');
}

LogCharts::LogCharts(const LogData& log, const Model<double>* model) : log_(log), model_(model) {
  // What is controlled comes first.
  for (const LogSeries& series : log.series) {
    if (series.topic == "task" || series.topic == "mass_center") add_others(series);
  }
  for (const LogSeries& series : log.series) {
    if (series.topic == "task" || series.topic == "mass_center") continue;
    const bool coordinates =
        std::any_of(series.fields.begin(), series.fields.end(),
                    [](const std::string& field) { return field.starts_with("q."); });
    if (series.topic == "target" || series.topic == "desired_force") continue;  // references, below
    if (series.topic == "torque") {
      add_torques(series);
    } else if (series.topic == "budget") {
      add_budget(series);
    } else if (coordinates) {
      add_coordinates(series, series.topic == "state" ? "" : series.topic + ": ");
    } else if (series.topic == "contact" || series.topic == "support") {
      add_contact(series);
    } else {
      add_others(series);
    }
  }
  if (const LogSeries* target = log.find("target")) {
    for (std::size_t i = 0; i < target->fields.size(); ++i) {
      add("Joint positions", *target, i, "reference", true, "state." + target->fields[i]);
    }
  }
  if (const LogSeries* forces = log.find("desired_force")) {
    for (std::size_t i = 0; i < forces->fields.size(); ++i) {
      const auto [foot, part] = split_last(forces->fields[i]);
      if (part == "normal") {
        add("Normal contact forces", *forces, i, "target of the controller", true,
            "contact." + forces->fields[i]);
      } else {
        add(fmt::format("Target forces, {}", part), *forces, i, foot, false);
      }
    }
  }
}

LogCharts::Panel& LogCharts::panel(const std::string& title, const std::string& unit) {
  for (Panel& one : panels_) {
    if (one.title == title && one.unit == unit) return one;
  }
  panels_.push_back({title, unit, {}});
  return panels_.back();
}

void LogCharts::add(const std::string& title, const LogSeries& series, std::size_t field,
                    const std::string& name, bool shown, const std::string& reference) {
  panel(title, unit_of(series, field))
      .lines.push_back(
          {name, {full_name(series, field)}, &series.t, &series.values[field], shown, reference});
}

std::string field_unit(const LogSeries& series, std::size_t field, const Model<double>* model) {
  if (field < series.units.size() && !series.units[field].empty()) return series.units[field];
  const std::string name = full_name(series, field);
  if (const Known* known = find_known(name)) return known->unit;
  if (is_below(name, "contact") || is_below(name, "desired_force")) return "N";
  if (is_below(name, "support")) return "m";
  const auto [group, rest] = split_first(series.fields[field]);
  if (model != nullptr && (group == "q" || group == "v" || group == "a" ||
                           is_below(name, "torque") || is_below(name, "budget"))) {
    const auto names = group == "q" ? position_names(*model) : velocity_names(*model);
    const auto found = std::find(names.begin(), names.end(), rest);
    if (found != names.end()) {
      const auto units = group == "q"   ? position_units(*model)
                         : group == "v" ? velocity_units(*model)
                         : group == "a" ? velocity_units(*model, "/s^2")
                                        : force_units(*model);
      return units[static_cast<std::size_t>(found - names.begin())];
    }
  }
  // Channels of accelerometers, gyroscopes and force sensors of limb.
  const std::vector<std::string>& all = series.fields;
  const std::vector<std::string> force = {"fx", "fy", "fz", "nx", "ny", "nz"};
  if (all == force) return field < 3 ? "N" : "N m";
  if (all == std::vector<std::string>{"fx", "fy", "fz"}) return "m/s^2";
  if (all == std::vector<std::string>{"wx", "wy", "wz"}) return "rad/s";
  if (all == std::vector<std::string>{"touches"}) return "1";
  return "";
}

void LogCharts::add_pose(const LogSeries& series, const std::string& prefix,
                         const std::string& joint, std::size_t first, bool moves) {
  const std::string name = prefix + joint;
  if (moves) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::string title = k < 2 ? " position" : " height";
      panel(name + title, "m")
          .lines.push_back({std::string(1, "xyz"[k]),
                            {full_name(series, first + k)},
                            &series.t,
                            &series.values[first + k]});
    }
    first += 3;
  }
  Angles angles;
  std::vector<std::string> fields;
  for (std::size_t k = 0; k < 4; ++k) fields.push_back(full_name(series, first + k));
  for (std::size_t row = 0; row < series.t.size(); ++row) {
    Vector4<double> q;
    for (std::size_t k = 0; k < 4; ++k) {
      q[static_cast<Eigen::Index>(k)] = series.values[first + k][row];
    }
    angles.add(q);
  }
  for (auto& [axis, values] :
       {std::pair{"roll", &angles.roll}, {"pitch", &angles.pitch}, {"yaw", &angles.yaw}}) {
    own_.push_back(std::move(*values));
    panel(name + " orientation", "deg").lines.push_back({axis, fields, &series.t, &own_.back()});
  }
}

void LogCharts::add_coordinates(const LogSeries& series, const std::string& prefix) {
  const std::map<std::string, const char*> titles = {
      {"q", "Joint positions"}, {"v", "Joint velocities"}, {"a", "Joint accelerations"}};
  std::map<std::string, bool> poses;  // joints with a quaternion; whether they move
  for (std::size_t i = 0; i < series.fields.size();) {
    const auto [group, name] = split_first(series.fields[i]);
    const auto title = titles.find(group);
    if (title == titles.end()) {
      add(prefix + group, series, i, name);
      ++i;
      continue;
    }
    const std::string joint = split_last(name).first;
    const std::size_t n = joint.empty() ? 0 : components(series, i, group + "." + joint);
    if (group == "q" && (n == 7 || n == 4)) {
      // 7 coordinates with 6 velocities, or 4 with 3.
      const std::string velocity = fmt::format("v.{}.{}", joint, n - 1);
      if (std::find(series.fields.begin(), series.fields.end(), velocity) == series.fields.end()) {
        add_pose(series, prefix, joint, i, n == 7);
        poses[joint] = n == 7;
        i += n;
        continue;
      }
    }
    if (const auto pose = poses.find(joint); group != "q" && pose != poses.end()) {
      const char* what = group == "v" ? "velocity" : "acceleration";
      for (std::size_t k = 0; k < n; ++k) {
        const bool linear = pose->second && k < 3;
        add(fmt::format("{}{} {}{}, body axes", prefix, joint, linear ? "" : "angular ", what),
            series, i + k, std::string(1, "xyz"[k % 3]));
      }
      i += n;
      continue;
    }
    add(prefix + title->second, series, i, name);
    ++i;
  }
}

void LogCharts::add_torques(const LogSeries& series) {
  std::map<std::string, std::size_t> motors;
  for (std::size_t i = 0; i < series.fields.size(); ++i) {
    const auto [group, name] = split_first(series.fields[i]);
    if (group == "motor") motors[name] = i;
  }
  bool equal = true;
  std::map<std::string, bool> moved;  // per unit
  for (std::size_t i = 0; i < series.fields.size(); ++i) {
    const auto [group, name] = split_first(series.fields[i]);
    if (group != "command" || !motors.contains(name)) continue;
    const auto &motor = series.values[motors[name]], &command = series.values[i];
    for (std::size_t k = 0; k < command.size(); ++k) {
      equal = equal && std::abs(motor[k] - command[k]) <= 1e-9 * (1 + std::abs(command[k]));
    }
    moved[unit_of(series, i)] |= !is_zero(motor) || !is_zero(command);
  }
  const auto title = [&](std::size_t i) {
    return fmt::format("Motor {}{}", unit_of(series, i) == "N" ? "forces" : "torques",
                       equal ? ", equal to their commands" : "");
  };
  for (std::size_t i = 0; i < series.fields.size(); ++i) {
    const auto [group, name] = split_first(series.fields[i]);
    const bool idle = is_zero(series.values[i]);
    // Joints without motor, such as a floating base, have components and no torque.
    const std::string joint = split_last(name).first;
    const bool base = idle && !joint.empty();
    if (group == "motor") add(title(i), series, i, name, moved[unit_of(series, i)] && !base);
  }
  for (std::size_t i = 0; i < series.fields.size(); ++i) {
    const auto [group, name] = split_first(series.fields[i]);
    if (group == "motor") continue;
    if (group == "command") {
      add(title(i), series, i, "command", moved[unit_of(series, i)] && !equal,
          "torque.motor." + name);
    } else {
      add("torque " + group, series, i, name);
    }
  }
}

/// A chart per velocity: the terms, and their sum, the torque of the motor.
void LogCharts::add_budget(const LogSeries& series) {
  const LogSeries* torque = log_.find("torque");
  const auto largest = [](const std::vector<double>& values) {
    double most = 0;
    for (const double x : values) {
      if (std::isfinite(x)) most = std::max(most, std::abs(x));
    }
    return most;
  };
  double size = 0;
  for (const std::vector<double>& values : series.values) size = std::max(size, largest(values));
  for (std::size_t i = 0; i < series.fields.size(); ++i) {
    const auto [term, name] = split_first(series.fields[i]);
    const std::string title = "Torque budget of " + name;
    if (term == "inertial" && torque != nullptr) {
      const auto motor = std::find(torque->fields.begin(), torque->fields.end(), "motor." + name);
      if (motor != torque->fields.end()) {
        const auto at = static_cast<std::size_t>(motor - torque->fields.begin());
        panel(title, unit_of(series, i))
            .lines.push_back({"motor", {full_name(series, i)}, &torque->t, &torque->values[at]});
      }
    }
    // A term that consists of rounding errors is left out.
    add(title, series, i, term, largest(series.values[i]) > 1e-9 * size);
  }
}

void LogCharts::add_contact(const LogSeries& series) {
  for (std::size_t i = 0; i < series.fields.size(); ++i) {
    const auto [foot, part] = split_last(series.fields[i]);
    const bool touches = !is_zero(series.values[i]);
    if (series.topic == "support") {
      const bool all = foot == "pressure";
      add(all ? "Centre of pressure" : fmt::format("Centre of pressure of {}", foot), series, i,
          part, all && part != "z");
    } else if (part == "normal") {
      add("Normal contact forces", series, i, foot, touches);
    } else if (part == "tangential") {
      add("Friction forces", series, i, foot, touches);
    } else if (part == "bound") {
      add("Friction forces", series, i, "friction bound", touches,
          fmt::format("contact.{}.tangential", foot));
    } else {
      add(fmt::format("Contact forces, {} in world axes", part.substr(1)), series, i, foot, false);
    }
  }
}

void LogCharts::add_others(const LogSeries& series) {
  for (std::size_t i = 0; i < series.fields.size(); ++i) {
    const std::string name = full_name(series, i);
    const auto [group, rest] = split_first(series.fields[i]);
    const Known* known = find_known(name);
    const std::string title =
        known != nullptr ? known->title : series.topic + (group.empty() ? "" : " " + group);
    if (rest == "desired" && known != nullptr) {
      add(title, series, i, "desired", true, fmt::format("{}.{}.actual", series.topic, group));
      continue;
    }
    const bool work = is_below(name, "energy.work");
    const bool idle = name == "energy.stored" && is_zero(series.values[i]);
    add(title, series, i, rest, !work && !idle);
  }
}

void LogCharts::add_to(Figure& figure, const std::vector<std::string>& only) const {
  for (const Panel& one : panels_) {
    Chart chart;
    chart.title = one.title;
    chart.unit = one.unit;
    const auto requested = [&](const Line& line) {
      if (only.empty()) return line.shown;
      return std::any_of(only.begin(), only.end(), [&](const std::string& name) {
        // What is not shown by default needs more than the name of its topic.
        if (!line.shown && name.find('.') == name.npos) return false;
        return std::any_of(line.fields.begin(), line.fields.end(),
                           [&](const std::string& field) { return is_below(field, name); });
      });
    };
    std::map<std::string, int> places;
    for (const Line& line : one.lines) {
      if (!line.reference.empty() || !requested(line)) continue;
      for (const std::string& field : line.fields) {
        places[field] = static_cast<int>(chart.lines.size());
      }
      chart.lines.push_back({line.name, line.t, line.values});
    }
    for (const Line& line : one.lines) {
      if (line.reference.empty()) continue;
      const auto follower = places.find(line.reference);
      if (follower != places.end() && line.shown) {
        chart.lines.push_back({line.name, line.t, line.values, true, follower->second});
      } else if (!only.empty() && requested(line)) {
        chart.lines.push_back(
            {split_last(line.reference).second + ", " + line.name, line.t, line.values});
      }
    }
    if (!chart.lines.empty()) figure.add(std::move(chart));
  }
}

}  // namespace limb::cli
