#include "limb/sim/scenario/scenario_variation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <unordered_set>

#include "limb/base/text_file.hpp"
#include "limb/base/without_call.hpp"
#include "limb/sim/scenario/scenario_controller.hpp"
#include "limb/sim/scenario/scenario_scene.hpp"

namespace limb {
namespace {

using Kind = TomlValue::Kind;
using Names = std::vector<std::string>;

[[noreturn]] void fail_row(const std::string& call, const ScenarioVariation& variation,
                           std::size_t row, const std::string& message) {
  const int line = variation.rows[row].line;
  const std::string place = variation.path.empty() ? fmt::format("run {}", row + 1)
                            : line > 0             ? fmt::format("{}:{}", variation.path, line)
                                                   : variation.path;
  throw Error(fmt::format("{}: {}: {}", call, place, message));
}

/// The parts of a key between dots, which quotes may contain: a."b.c".d
Names split_key(std::string_view key) {
  Names parts = {""};
  bool quoted = false;
  for (const char c : key) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == '.' && !quoted) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

TomlValue* find(TomlValue& table, const std::string& key) {
  return const_cast<TomlValue*>(std::as_const(table).find(key));
}

/// Sets the value at a path below `at`. @throws Error without a place.
void set_value(TomlValue& at, const Names& parts, std::size_t depth, const TomlValue& value) {
  if (parts.size() > kMaxTomlDepth) throw Error("the key has too many dots");
  if (depth == parts.size()) {
    at = value;
    return;
  }
  const std::string& part = parts[depth];
  if (at.kind == Kind::array) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
    if (error != std::errc() || end != part.data() + part.size() || index >= at.items.size()) {
      throw Error(fmt::format("'{}' is not an index of the array, 0 to {}", part,
                              static_cast<std::ptrdiff_t>(at.items.size()) - 1));
    }
    return set_value(at.items[index], parts, depth + 1, value);
  }
  if (at.kind != Kind::table) {
    throw Error(fmt::format("the value above '{}' is {} in the scenario, not a table", part,
                            at.kind_text()));
  }
  TomlValue* member = find(at, part);
  if (member == nullptr) {
    at.keys.push_back(part);
    at.items.emplace_back();
    member = &at.items.back();
    member->line = at.line;
  }
  set_value(*member, parts, depth + 1, value);
}

/// The value that a cell means: a number, a list, true, or a text without quotes.
TomlValue value_of_cell(const std::string& cell, int line) {
  TomlValue value;
  try {
    const TomlValue document = parse_toml("cell", "x = " + cell, "cell");
    if (const TomlValue* x = document.find("x"); x != nullptr && document.keys.size() == 1) {
      value = *x;
      value.line = line;
      return value;
    }
  } catch (const Error&) {  // no TOML: a text
  }
  value.kind = Kind::text;
  value.text = cell;
  value.line = line;
  return value;
}

/// Cells of a line, without surrounding spaces. Quotes and brackets may contain commas.
Names split_line(std::string_view line) {
  Names cells = {""};
  bool quoted = false;
  int depth = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[i++];
    } else if (c == '"' && depth == 0) {
      quoted = !quoted;
    } else if (c == ',' && !quoted && depth == 0) {
      cells.emplace_back();
    } else {
      if (!quoted) depth += c == '[' ? 1 : c == ']' ? -1 : 0;
      cells.back() += c;
    }
  }
  for (std::string& cell : cells) {
    const auto first = cell.find_first_not_of(" \t\r"), last = cell.find_last_not_of(" \t\r");
    cell = first == std::string::npos ? "" : cell.substr(first, last - first + 1);
  }
  return cells;
}

void parse_csv(const std::string& call, std::string_view text, ScenarioVariation& variation) {
  Names keys;
  std::unordered_set<std::string> known;
  int line = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row_text = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line;
    const auto first = row_text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos || row_text[first] == '#') continue;
    const Names cells = split_line(row_text);
    const auto place = [&] { return fmt::format("{}: {}:{}", call, variation.path, line); };
    if (keys.empty()) {
      keys = cells;
      for (std::size_t i = 0; i < keys.size(); ++i) {
        if (keys[i].empty()) throw Error(fmt::format("{}: column {} has no key", place(), i + 1));
        if (!known.insert(keys[i]).second) {
          throw Error(fmt::format("{}: two columns have the key '{}'", place(), keys[i]));
        }
      }
      continue;
    }
    if (cells.size() != keys.size()) {
      throw Error(fmt::format("{}: {} cells, expected {}, one per key of the first line", place(),
                              cells.size(), keys.size()));
    }
    ScenarioVariation::Row row;
    row.line = line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (!cells[i].empty()) row.cells.push_back({keys[i], value_of_cell(cells[i], line)});
    }
    variation.rows.push_back(std::move(row));
  }
}

/// The values of nested tables, with their paths.
void flatten(const TomlValue& table, const std::string& above, ScenarioVariation::Row& row) {
  for (std::size_t i = 0; i < table.items.size(); ++i) {
    const bool quote = table.keys[i].find('.') != std::string::npos;
    const std::string key = above + (quote ? "\"" + table.keys[i] + "\"" : table.keys[i]);
    if (table.items[i].kind == Kind::table) {
      flatten(table.items[i], key + ".", row);
    } else {
      row.cells.push_back({key, table.items[i]});
    }
  }
}

void parse_runs(const std::string& call, const std::string& text, ScenarioVariation& variation) {
  const TomlValue document = parse_toml(call, text, variation.path);
  for (std::size_t i = 0; i < document.items.size(); ++i) {
    const TomlValue& runs = document.items[i];
    if (document.keys[i] != "run" || runs.kind != Kind::array) {
      throw Error(fmt::format("{}: {}:{}: '{}', expected only tables [[run]]", call, variation.path,
                              runs.line, document.keys[i]));
    }
    for (const TomlValue& run : runs.items) {
      if (run.kind != Kind::table) {
        throw Error(fmt::format("{}: {}:{}: a run is {}, expected a table [[run]]", call,
                                variation.path, run.line, run.kind_text()));
      }
      ScenarioVariation::Row row;
      row.line = run.line;
      flatten(run, "", row);
      variation.rows.push_back(std::move(row));
    }
  }
}

/// Whether one of the keys is the other or above it.
bool overlap(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  return b.starts_with(a) && (a.size() == b.size() || b[a.size()] == '.');
}

bool has_key(const ScenarioVariation::Row& row, std::string_view key) {
  return std::any_of(row.cells.begin(), row.cells.end(),
                     [&](const auto& cell) { return overlap(cell.key, key); });
}

/// The document of a scenario; that of a model alone has no values.
TomlValue document_of(const Scenario& scenario) {
  return scenario.document != nullptr ? *scenario.document : TomlValue();
}

/// The robot of a scenario before its document was read.
Scenario robot_of(const Scenario& scenario, const TomlValue& document,
                  const ScenarioVariation::Row& row) {
  Scenario s;
  s.model_path = scenario.model_path;
  s.base = scenario.base;
  if (const TomlValue* base = document.find("base"); base != nullptr && has_key(row, "base")) {
    const Names names = {"described", "fixed", "free"};  // in the order of Base
    const auto found = std::find(names.begin(), names.end(), base->text);
    if (base->kind != Kind::text || found == names.end()) {
      throw Error(
          fmt::format("base is '{}', expected one of {}", base->text, fmt::join(names, ", ")));
    }
    s.base = static_cast<Base>(found - names.begin());
  }
  if (const TomlValue* model = document.find("model"); model != nullptr && has_key(row, "model")) {
    if (model->kind != Kind::text) {
      throw Error(fmt::format("model is {}, expected a text", model->kind_text()));
    }
    const bool builtin = model->text.starts_with("builtin:");
    const auto folder = std::filesystem::path(scenario.path).parent_path();
    return scenario_of(builtin ? model->text : (folder / model->text).string(), s.base,
                       scenario.read_options);
  }
  s.description = scenario.description;
  s.model = s.base == scenario.base ? scenario.model : build_model(s.description, s.base);
  apply_scene(s);
  return s;
}

/// The scenario with the first cells of a row.
Scenario with_cells(const std::string& call, const Scenario& scenario,
                    const ScenarioVariation::Row& row, std::size_t cells) {
  TomlValue document = document_of(scenario);
  ScenarioVariation::Row used;
  for (std::size_t i = 0; i < cells; ++i) {
    set_value(document, split_key(row.cells[i].key), 0, row.cells[i].value);
    used.cells.push_back(row.cells[i]);
  }
  Scenario s = robot_of(scenario, document, used);
  // A model alone has no key `model`, which scenarios need.
  read_document(call, document, scenario.path, s);
  const auto kept = [&](std::string_view key) { return !has_key(used, key); };
  s.world.dynamics = scenario.world.dynamics;
  if (kept("duration")) s.duration = scenario.duration;
  if (kept("log_period")) s.log_period = scenario.log_period;
  if (kept("log_budget")) s.log_budget = scenario.log_budget;
  if (kept("seed")) s.seed = scenario.seed;
  if (kept("step")) s.simulation.step = scenario.simulation.step;
  if (kept("integrator")) s.simulation.method = scenario.simulation.method;
  if (kept("initial") && kept("keyframe") && s.q.size() == scenario.q.size()) {
    s.q = scenario.q;
    s.v = scenario.v;
  }
  if (kept("controller") && s.controller.kind != scenario.controller.kind) {
    set_controller_kind(call,
                        controller_names()[static_cast<std::size_t>(scenario.controller.kind)], s);
  }
  if (kept("ground") && kept("contact") && !scenario.contact) s.contact.reset();
  check_times(call, s);
  return s;
}

}  // namespace

bool ScenarioVariation::has(std::string_view key) const {
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return has_key(row, key); });
}

ScenarioVariation parse_variation(const std::string& call, const std::string& text,
                                  const std::string& path) {
  ScenarioVariation variation;
  variation.path = path;
  if (path.ends_with(".toml")) {
    parse_runs(call, text, variation);
  } else if (path.ends_with(".csv")) {
    parse_csv(call, text, variation);
  } else {
    fail(call, "file of runs", "'" + path + "'", "a name that ends in .csv or .toml");
  }
  if (variation.rows.empty()) throw Error(fmt::format("{}: {}: no runs", call, path));
  return variation;
}

ScenarioVariation read_variation(const std::string& call, const std::string& path) {
  if (!path.ends_with(".toml") && !path.ends_with(".csv")) return parse_variation(call, "", path);
  return parse_variation(call, read_text_file(call, path), path);
}

Scenario varied_scenario(const std::string& call, const Scenario& scenario,
                         const ScenarioVariation& variation, std::size_t row) {
  const ScenarioVariation::Row& now = variation.rows[row];
  try {
    return with_cells(call, scenario, now, now.cells.size());
  } catch (const Error& error) {
    // The first cell with which reading fails is the one to blame.
    for (std::size_t i = 1; i <= now.cells.size(); ++i) {
      try {
        with_cells(call, scenario, now, i);
      } catch (const Error& first) {
        // "call: scenario.toml:3: message": neither is that of the cell.
        std::string text = first.what();
        text = text.starts_with(call + ": ") ? text.substr(call.size() + 2) : without_call(text);
        if (text.starts_with(scenario.path + ":")) text.erase(0, text.find(": ") + 2);
        fail_row(call, variation, row, fmt::format("'{}': {}", now.cells[i - 1].key, text));
      }
    }
    throw;
  }
}

}  // namespace limb
