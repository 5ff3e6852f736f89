#include "cli/sweep_picture.hpp"

#include <fmt/format.h>

#include <deque>
#include <map>

#include "cli/chart.hpp"
#include "limb/base/error.hpp"
#include "limb/sim/world/coordinate_units.hpp"
#include "limb/sim/world/sensors.hpp"

namespace limb::cli {
namespace {

using Json = nlohmann::json;

/// Collects lines; lines of different units are in different charts.
class Charts {
 public:
  Charts(const Sweep& sweep, const Json& states) : sweep_(sweep), states_(states) {}

  /// `path` leads to the number in each state.
  void add(const std::string& title, const std::string& unit, const std::string& name,
           const Json::json_pointer& path) {
    std::vector<double> values;
    bool zero = true;
    for (const Json& state : states_) {
      values.push_back(state.at(path).get<double>());
      zero = zero && values.back() == 0;
    }
    any = true;
    if (zero) return;
    own_.push_back(std::move(values));
    for (Chart& chart : charts_) {
      if (chart.title != title || chart.unit != unit) continue;
      chart.lines.push_back({name, &sweep_.values, &own_.back()});
      return;
    }
    Chart chart{title, unit, {{name, &sweep_.values, &own_.back()}}};
    chart.x_label = fmt::format("{}, {}", sweep_.name, sweep_.unit);
    charts_.push_back(std::move(chart));
  }
  std::string svg(const std::string& title) const {
    Figure figure;
    for (const Chart& chart : charts_) figure.add(chart);
    return figure.svg(title, fmt::format("Charts over {}", sweep_.name));
  }

  bool any = false;  ///< whether there was a quantity to draw, zero or not
  bool empty() const { return charts_.empty(); }

 private:
  const Sweep& sweep_;
  const Json& states_;
  std::deque<std::vector<double>> own_;
  std::vector<Chart> charts_;
};

Json::json_pointer pointer(const std::string& text) {
  return Json::json_pointer(text);
}

}  // namespace

std::string sweep_picture(const std::string& call, const Model<double>& model, const Sweep& sweep,
                          const Json& states) {
  static const std::vector<std::pair<std::string, std::string>> kForces = {
      {"V", "Velocity-dependent forces V"},
      {"g", "Gravity forces"},
      {"nle", "Velocity-dependent and gravity forces"},
      {"tau_rnea", "Forces of inverse dynamics"}};
  const Json& first = states.at(0);
  const auto names = velocity_names(model), units = velocity_units(model, ""),
             forces = force_units(model);
  const std::size_t n = names.size();
  Charts charts(sweep, states);
  for (std::size_t i = 0; i < n && first.contains("M"); ++i) {
    for (std::size_t j = i; j < n; ++j) {
      const int lengths = (units[i] == "m" ? 1 : 0) + (units[j] == "m" ? 1 : 0);
      const char* const unit = lengths == 0 ? "kg m^2" : lengths == 1 ? "kg m" : "kg";
      charts.add("Mass matrix M", unit, fmt::format("M{}{}{}", i + 1, n > 9 ? "," : "", j + 1),
                 pointer(fmt::format("/M/{}/{}", i, j)));
    }
  }
  for (const auto& [field, title] : kForces) {
    for (std::size_t i = 0; i < n && first.contains(field); ++i) {
      charts.add(title, forces[i], names[i], pointer(fmt::format("/{}/{}", field, i)));
    }
  }
  for (std::size_t i = 0; i < n && first.contains("torque_budget"); ++i) {
    for (const char* term : {"tau", "inertial", "centrifugal", "coriolis", "gravity", "damping",
                             "friction", "armature", "external"}) {
      charts.add("Torque budget of " + names[i], forces[i], term,
                 pointer(fmt::format("/torque_budget/{}/{}", term, i)));
    }
  }
  for (const char* energy : {"kinetic", "potential"}) {
    const std::string field = std::string(energy) + "_energy";
    if (first.contains(field)) charts.add("Energy", "J", energy, pointer("/" + field));
  }
  if (!charts.any) {
    throw Error(
        fmt::format("{}: --picture draws M, V, g, nle, tau_rnea, torque_budget, "
                    "kinetic_energy and potential_energy, expected some of them in --only",
                    call));
  }
  if (charts.empty()) {
    fail_computation(call, "nothing to draw: all requested quantities are zero everywhere");
  }
  return charts.svg(fmt::format("{} over {}", model.name(), sweep.name));
}

}  // namespace limb::cli
