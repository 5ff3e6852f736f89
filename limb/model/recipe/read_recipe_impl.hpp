#pragma once

#include "limb/model/recipe/recipe_joints_impl.hpp"

namespace limb {

/// Reads a recipe from its root table down; the base classes read numbers, links and joints.
template <typename T>
class RecipeReader : public RecipeJoints<T> {
 public:
  using Base = RecipeJoints<T>;
  using Base::Base;

  Description<T> read(const TomlValue& document, const RecipeParameter<T>& parameter) {
    Description<T> out;
    this->expect_keys(
        document, "recipe",
        {"name", "gravity", "units", "parameters", "base", "tool", "standard_dh", "modified_dh",
         "screw", "link", "joint", "frame", "coupling", "loop", "actuator"});
    out.name = this->required_text(document, "recipe", "name");
    this->read_header(document, parameter);
    if (const auto gravity = this->vector(document, "recipe", "gravity")) out.gravity = *gravity;
    read_body(document, out);
    for (const TomlValue* row : this->rows(document, "frame")) frame(*row, out);
    for (const TomlValue* row : this->rows(document, "coupling")) coupling(*row, out);
    for (const TomlValue* row : this->rows(document, "loop")) loop(*row, out);
    for (const TomlValue* row : this->rows(document, "actuator")) actuator(*row, out);
    return out;
  }

 private:
  using Unit = RecipeUnit;

  void read_body(const TomlValue& document, Description<T>& out) {
    static const RecipeFields::Keys kForms = {"standard_dh", "modified_dh", "screw", "joint"};
    RecipeFields::Keys found;
    for (const std::string& form : kForms) {
      if (document.find(form) != nullptr) found.push_back(form);
    }
    if (found.empty() && document.find("link") != nullptr) found.push_back("joint");
    if (found.size() != 1) {
      return this->error(document, "recipe-ways",
                         fmt::format("recipe: has {}, expected exactly one of [[standard_dh]], "
                                     "[[modified_dh]], [[screw]], [[joint]]",
                                     found.empty() ? "no joints" : found[0] + " and " + found[1]));
    }
    if (found[0] == "joint") {
      for (const char* key : {"base", "tool"}) {
        if (const TomlValue* value = document.find(key)) {
          this->error(*value, "recipe-bad-value",
                      fmt::format("recipe: '{}' belongs to DH and screw recipes; a [[joint]] or "
                                  "[[frame]] has its own placement",
                                  key));
        }
      }
      return this->read_explicit(document, out);
    }
    if (const TomlValue* links = document.find("link")) {
      this->error(*links, "recipe-bad-value",
                  fmt::format("recipe: [[link]] belongs to [[joint]] recipes; a row of [[{}]] "
                              "has the mass of its link",
                              found[0]));
    }
    const auto rows = this->rows(document, found[0]);
    const Pose<T> base = this->placement_at(document, "recipe", "base");
    if (found[0] == "screw") {
      this->read_screws(rows, base, out);
    } else {
      this->read_dh(rows, found[0] == "modified_dh", base, out);
    }
    if (const TomlValue* tool = document.find("tool"); tool != nullptr && !out.links.empty()) {
      out.frames.push_back({"tool", out.links.back().name,
                            this->placement_at(document, "recipe", "tool"), this->source(*tool)});
    }
  }

  void frame(const TomlValue& row, Description<T>& out) {
    const std::string name = this->required_text(row, "[[frame]]", "name");
    const std::string owner = fmt::format("frame '{}'", name.substr(0, 60));
    this->expect_keys(row, owner, join_keys({kPlacementKeys, {"name", "link"}}));
    out.frames.push_back({name, this->required_text(row, owner, "link"),
                          this->placement(row, owner), this->source(row)});
  }

  /// One of terms, mimic, belt, differential.
  void coupling(const TomlValue& row, Description<T>& out) {
    const std::string owner = "[[coupling]]";
    RecipeFields::Keys found;
    for (const char* form : {"terms", "mimic", "belt", "differential"}) {
      if (row.find(form) != nullptr) found.emplace_back(form);
    }
    if (found.size() != 1) {
      return this->error(
          row, "recipe-ways",
          fmt::format("{}: has {}, expected exactly one of terms, mimic, belt, "
                      "differential",
                      owner, found.empty() ? "none" : found[0] + " and " + found[1]));
    }
    if (found[0] == "differential") return differential(row, owner, out);
    CouplingDescription<T> result;
    result.source = this->source(row);
    result.joint = this->required_text(row, owner, "joint");
    const std::string named = fmt::format("coupling of '{}'", result.joint.substr(0, 60));
    // Offsets and ratios may mix angles and lengths, so they are always in rad and m.
    result.offset = this->number_or(row, named, "offset", Unit::none, T(0));
    if (found[0] == "terms") {
      this->expect_keys(row, named, {"joint", "terms", "offset", "powers"});
      terms(*row.find("terms"), named, result);
    } else if (found[0] == "mimic") {
      this->expect_keys(row, named, {"joint", "mimic", "ratio", "offset", "powers"});
      result.terms.push_back({this->required_text(row, named, "mimic"),
                              this->number_or(row, named, "ratio", Unit::none, T(1))});
    } else {
      this->expect_keys(row, named, {"joint", "belt", "over", "ratio", "offset"});
      result.terms.push_back({this->required_text(row, named, "belt"),
                              this->number_or(row, named, "ratio", Unit::none, T(1))});
      const auto over = this->texts(row, named, "over");
      if (over.empty()) this->missing(row, named, "over", "the joints that the belt runs over");
      for (const std::string& joint : over) result.terms.push_back({joint, T(-1)});
    }
    if (const TomlValue* powers = row.find("powers"); powers != nullptr) {
      if (powers->kind != TomlValue::Kind::array) {
        return this->wrong_type(*powers, named, "powers", "an array of numbers");
      }
      const auto numbers =
          this->numbers(*powers, named, "powers", powers->items.size(), Unit::none);
      result.powers = numbers.value_or(std::vector<T>());
    }
    out.couplings.push_back(std::move(result));
  }

  void terms(const TomlValue& array, const std::string& owner, CouplingDescription<T>& result) {
    if (array.kind != TomlValue::Kind::array || array.items.empty()) {
      return this->wrong_type(array, owner, "terms", "an array of tables {joint, ratio}");
    }
    for (std::size_t i = 0; i < array.items.size(); ++i) {
      const TomlValue& item = array.items[i];
      const std::string inner = fmt::format("{}: terms[{}]", owner, i);
      if (!this->expect_table(item, owner, fmt::format("terms[{}]", i))) continue;
      this->expect_keys(item, inner, {"joint", "ratio"});
      result.terms.push_back({this->required_text(item, inner, "joint"),
                              this->number_or(item, inner, "ratio", Unit::none, T(1))});
    }
  }

  /// Half the sum and half the difference of two motors.
  void differential(const TomlValue& row, const std::string& owner, Description<T>& out) {
    this->expect_keys(row, owner, {"differential", "motors"});
    const auto joints = this->texts(row, owner, "differential");
    const auto motors = this->texts(row, owner, "motors");
    if (joints.size() != 2 || motors.size() != 2) {
      return this->error(row, "recipe-wrong-size",
                         fmt::format("{}: differential has {} joints and {} motors, expected 2 "
                                     "and 2",
                                     owner, joints.size(), motors.size()));
    }
    const T half = ConstantsOf<T>::ratio(1, 2);
    for (int i = 0; i < 2; ++i) {
      CouplingDescription<T> result;
      result.source = this->source(row);
      result.joint = joints[static_cast<std::size_t>(i)];
      result.terms = {{motors[0], half}, {motors[1], i == 0 ? half : T(-half)}};
      out.couplings.push_back(std::move(result));
    }
  }

  void loop(const TomlValue& row, Description<T>& out) {
    LoopDescription<T> result;
    result.source = this->source(row);
    result.name = this->required_text(row, "[[loop]]", "name");
    const std::string owner = fmt::format("loop '{}'", result.name.substr(0, 60));
    this->expect_keys(row, owner, {"name", "kind", "link_a", "link_b", "in_a", "in_b"});
    const bool weld = this->choice(row, owner, "kind", {"connect", "weld"}) == "weld";
    if (weld) result.kind = LoopDescription<T>::Kind::weld;
    result.link_a = this->required_text(row, owner, "link_a");
    result.link_b = this->required_text(row, owner, "link_b");
    result.X_AL = this->placement_at(row, owner, "in_a");
    result.X_BL = this->placement_at(row, owner, "in_b");
    out.loops.push_back(std::move(result));
  }

  void actuator(const TomlValue& row, Description<T>& out) {
    ActuationDescription result;
    result.source = this->source(row);
    result.joint = this->required_text(row, "[[actuator]]", "joint");
    const std::string owner = fmt::format("actuator of '{}'", result.joint.substr(0, 60));
    this->expect_keys(row, owner, {"joint", "gear"});
    if (const TomlValue* gear = row.find("gear")) {
      const auto parsed = this->expression(*gear, owner, "gear");
      if (parsed && !parsed->symbols().empty()) {
        this->error(*gear, "recipe-bad-value",
                    fmt::format("{}: gear = '{}' has symbols, expected numbers only", owner,
                                gear->text.substr(0, 60)));
      } else if (parsed && std::isfinite(evaluate_number(*parsed))) {
        result.gear = evaluate_number(*parsed);
      } else if (parsed) {
        this->error(*gear, "recipe-not-finite",
                    fmt::format("{}: gear is {}, expected a finite number", owner,
                                evaluate_number(*parsed)));
      }
    }
    out.actuators.push_back(std::move(result));
  }
};

template <typename T>
Description<T> parse_recipe(std::string text, const std::string& file, const ReadOptions& options,
                            Diagnostics& diagnostics, const RecipeParameter<T>& parameter,
                            const RecipeAngle<T>& angle) {
  const TomlValue document = parse_toml("parse_recipe", text, file);
  RecipeReader<T> reader(file, options, diagnostics);
  reader.set_angle(angle);
  Description<T> result = reader.read(document, parameter);
  result.file = file;
  return result;
}

}  // namespace limb
