#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cli/log_file.hpp"
#include "limb/sim/scenario/scenario_scene.hpp"
#include "limb/sim/scenario/scenario_variation.hpp"
#include "python/src/simulation.hpp"

namespace limb::python {
namespace {

using Vector = VectorX<double>;

/// With compiled dynamics, as `limb simulate` runs it.
Scenario compiled(Scenario s) {
  s.world.dynamics = WorldOptions::Dynamics::compiled;
  return s;
}

nb::object failure_of(const RunSummary& r) {
  return r.failure.empty() ? nb::none() : nb::object(nb::str(r.failure.c_str()));
}

nb::object summary_of(const RunSummary& r) {
  return result_of("RunSummary", r.t, failure_of(r), r.steps, array_of(r.q), array_of(r.v),
                   array_of(r.peak_torque), r.energy_start, r.energy_end, r.largest_energy_change,
                   r.target_error, r.dissipated, r.control_periods, r.saturated_periods,
                   balance_of(r.balance));
}

/// limb.results.EnergyBalance of a batch: arrays.
template <typename Column>
nb::object balances_of(const Column& column) {
  nb::list values;
  values.append(column([](const RunSummary& r) { return r.balance.change(); }));
  for (std::size_t i = 0; i < kEnergyEntries; ++i) {
    values.append(column([i](const RunSummary& r) { return r.balance.entries[i]; }));
  }
  values.append(column([](const RunSummary& r) { return r.balance.closure; }));
  values.append(column([](const RunSummary& r) { return r.balance.exchanged; }));
  return nb::module_::import_("limb.results").attr("EnergyBalance")(*values);
}

/// Summary of a batch: arrays with one row per run.
nb::object batch_of(const std::vector<RunSummary>& runs) {
  const auto column = [&](const auto& number) {
    std::vector<double> all;
    for (const RunSummary& r : runs) all.push_back(static_cast<double>(number(r)));
    return array_of(all, 0);
  };
  const auto rows = [&](Vector RunSummary::*member) {
    std::vector<double> all;
    for (const RunSummary& r : runs) all.insert(all.end(), (r.*member).begin(), (r.*member).end());
    return array_of(all, (runs[0].*member).size());
  };
  nb::list failures;
  for (const RunSummary& r : runs) failures.append(failure_of(r));
  return result_of("RunSummary", column([](const RunSummary& r) { return r.t; }), failures,
                   column([](const RunSummary& r) { return r.steps; }), rows(&RunSummary::q),
                   rows(&RunSummary::v), rows(&RunSummary::peak_torque),
                   column([](const RunSummary& r) { return r.energy_start; }),
                   column([](const RunSummary& r) { return r.energy_end; }),
                   column([](const RunSummary& r) { return r.largest_energy_change; }),
                   column([](const RunSummary& r) { return r.target_error; }),
                   column([](const RunSummary& r) { return r.dissipated; }),
                   column([](const RunSummary& r) { return r.control_periods; }),
                   column([](const RunSummary& r) { return r.saturated_periods; }),
                   balances_of(column));
}

nb::object run(const Scenario& s, const std::optional<std::string>& log_path) {
  RunSummary summary;
  {
    const nb::gil_scoped_release released;
    std::unique_ptr<LogWriter> log;
    if (log_path)
      log = open_log("Scenario.run", *log_path, log_topics(s), log_metadata(s), log_attachments(s));
    Interrupts interrupts;
    summary = run_scenario(s, log.get(), [&](double) { interrupts.check(); });
  }
  return summary_of(summary);
}

/// Not a limb::Error, which would count as the failure of a run.
struct Interrupted {};

/// A value of a scenario: a number, a text, true or false, or a list of them.
TomlValue scenario_value(const std::string& key, nb::handle value) {
  using Kind = TomlValue::Kind;
  TomlValue result;
  if (nb::isinstance<nb::bool_>(value)) {
    result.kind = Kind::boolean;
    result.boolean = nb::cast<bool>(value);
  } else if (nb::isinstance<nb::str>(value)) {
    result.kind = Kind::text;
    result.text = nb::cast<std::string>(value);
  } else if (nb::isinstance<nb::dict>(value)) {
    for (const auto& [name, item] : nb::cast<nb::dict>(value)) {
      result.keys.push_back(nb::cast<std::string>(nb::str(name)));
      result.items.push_back(scenario_value(key, item));
    }
  } else if (nb::hasattr(value, "__index__")) {  // a seed must stay a whole number
    result.kind = Kind::number;
    result.text = nb::cast<std::string>(nb::str(value));
  } else if (double number = 0; nb::try_cast(value, number)) {
    result.kind = Kind::number;
    // Digits that read back as the same number.
    result.text = nb::cast<std::string>(nb::repr(nb::float_(number)));
  } else if (nb::hasattr(value, "__iter__")) {
    result.kind = Kind::array;
    for (const nb::handle item : value) result.items.push_back(scenario_value(key, item));
  } else {
    fail("Scenario.run_batch", "'" + key + "' of vary", nb::cast<std::string>(nb::repr(value)),
         "a number, a text or a list");
  }
  return result;
}

ScenarioVariation variation_of(nb::handle vary) {
  constexpr const char* kCall = "Scenario.run_batch";
  if (nb::isinstance<nb::str>(vary)) return read_variation(kCall, nb::cast<std::string>(vary));
  ScenarioVariation variation;
  for (const nb::handle row : vary) {
    if (!nb::isinstance<nb::dict>(row)) {
      fail(kCall, "vary", "an entry of another type", "dicts of scenario keys and values");
    }
    ScenarioVariation::Row cells;
    for (const auto& [key, value] : nb::cast<nb::dict>(row)) {
      const std::string name = nb::cast<std::string>(nb::str(key));
      cells.cells.push_back({name, scenario_value(name, value)});
    }
    variation.rows.push_back(std::move(cells));
  }
  if (variation.rows.empty()) fail(kCall, "vary", "empty", "one dict per run");
  return variation;
}

nb::object run_many(const Scenario& s, std::optional<int> runs, int threads, nb::handle vary,
                    const std::optional<std::vector<std::string>>& logs) {
  constexpr const char* kCall = "Scenario.run_batch";
  ScenarioVariation variation;
  ScenarioBatchOptions options;
  options.call = kCall;
  options.threads = threads;
  if (!vary.is_none()) {
    variation = variation_of(vary);
    options.variation = &variation;
    if (runs && *runs != static_cast<int>(variation.rows.size())) {
      fail(kCall, "runs", std::to_string(*runs),
           std::to_string(variation.rows.size()) + ", one per row of vary");
    }
    runs = static_cast<int>(variation.rows.size());
  }
  if (!runs) fail(kCall, "runs", "missing", "a number, or vary");
  options.runs = *runs;
  if (logs) {
    if (static_cast<int>(logs->size()) != *runs) {
      fail(kCall, "logs", std::to_string(logs->size()) + " paths", std::to_string(*runs));
    }
    options.log_path = [&](int i) { return (*logs)[static_cast<std::size_t>(i)]; };
  }
  std::vector<RunSummary> all;
  {
    const nb::gil_scoped_release released;
    std::atomic<bool> stop = false;
    options.progress = [&](int) {
      if (stop) throw Interrupted();
    };
    all = Interrupts::run_interruptible([&] { return run_batch(s, options); }, stop);
  }
  return batch_of(all);
}

nb::object read_log(const std::string& path) {
  cli::LogData log;
  {
    const nb::gil_scoped_release released;
    log = cli::read_log("read_log", path);
  }
  nb::dict topics, metadata;
  for (const cli::LogSeries& series : log.series) {
    nb::dict fields;
    fields["t"] = array_of(series.t, 0);
    for (std::size_t i = 0; i < series.fields.size(); ++i) {
      fields[series.fields[i].c_str()] = array_of(series.values[i], 0);
    }
    topics[series.topic.c_str()] = fields;
  }
  for (const auto& [key, value] : log.metadata) metadata[key.c_str()] = nb::str(value.c_str());
  return result_of("Log", topics, metadata);
}

}  // namespace

void bind_scenario(nb::module_& m) {
  nb::class_<Scenario>(m, "Scenario",
                       "A simulation run described by a file, see docs/simulation.md.")
      .def(
          "__init__",
          [](Scenario* self, const std::string& path) {
            new (self) Scenario(compiled(read_scenario("Scenario", path)));
          },
          "path"_a, Doc("From a scenario file.\n\nArgs:\n    path: The `.toml` file."))
      .def_static(
          "parse",
          [](const std::string& text, const std::string& path) {
            return compiled(parse_scenario("Scenario.parse", text, path));
          },
          "text"_a, "path"_a = "scenario.toml",
          Doc("From text; the path is used in messages, and paths of models are relative to it."
              "\n\nArgs:\n    text: The text of a scenario file.\n    path: Its name in messages."))
      .def_static(
          "of_model",
          [](const std::string& path, const std::string& base,
             const std::optional<std::string>& keyframe) {
            Scenario scenario = scenario_of(path, base_named(base));
            if (keyframe) set_keyframe("Scenario.of_model", *keyframe, scenario);
            return compiled(std::move(scenario));
          },
          "path"_a, "base"_a = "described", "keyframe"_a = nb::none(),
          nb::sig("def of_model(path: str, base: Base = 'described', keyframe: str | None = None) "
                  "-> Scenario"),
          Doc("A robot without controller: from an MJCF file in its scene (ground, servos, "
              "springs; "
              "keyframe: initial state and controls), otherwise at rest in the neutral "
              "configuration."
              "\n\nArgs:\n    path: A robot file.\n    base: \"described\", \"fixed\" or "
              "\"free\".\n    keyframe: Name of a keyframe of an MJCF file; None: its initial "
              "state."))
      .def_ro("model_path", &Scenario::model_path, Doc("Path of the robot's file."))
      .def_rw("duration", &Scenario::duration, Doc("s"))
      .def_rw("log_period", &Scenario::log_period, Doc("s"))
      .def_rw("seed", &Scenario::seed, Doc("Seed of the random numbers."))
      .def_prop_rw(
          "step", [](const Scenario& s) { return s.simulation.step; },
          [](Scenario& s, double step) {
            check_positive("Scenario", "step", step);
            s.simulation.step = step;
          },
          Doc("s"))
      .def_prop_rw(
          "integrator", [](const Scenario& s) { return std::string(to_text(s.simulation.method)); },
          [](Scenario& s, const std::string& name) {
            s.simulation.method = method_from_text("Scenario", name);
          },
          Doc("Integration method."))
      .def_prop_rw(
          "q", [](const Scenario& s) { return array_of(s.q); },
          [](Scenario& s, nb::handle q) { s.q = vector_of("Scenario", "q", q, s.q.size()); },
          nb::for_getter(nb::sig("def q(self) -> Array")),
          nb::for_setter(nb::sig("def q(self, value: ArrayLike, /) -> None")),
          Doc("Initial value."))
      .def_prop_rw(
          "v", [](const Scenario& s) { return array_of(s.v); },
          [](Scenario& s, nb::handle v) { s.v = vector_of("Scenario", "v", v, s.v.size()); },
          nb::for_getter(nb::sig("def v(self) -> Array")),
          nb::for_setter(nb::sig("def v(self, value: ArrayLike, /) -> None")),
          Doc("Initial value."))
      .def(
          "set_controller",
          [](Scenario& s, const std::string& kind) {
            set_controller_kind("Scenario.set_controller", kind, s);
          },
          "kind"_a,
          Doc("none, pd, gravity or computed-torque, with default gains, to hold q."
              "\n\nArgs:\n    kind: \"none\", \"pd\", \"gravity\" or \"computed-torque\"."))
      .def("run", &run, "log"_a = nb::none(),
           nb::sig("def run(self, log: str | None = None) -> RunSummary"),
           Doc("Runs to the end, or until a failure. log: a .csv or .mcap file."
               "\n\nArgs:\n    log: File of the log, `.csv` or `.mcap`; None: no log."))
      .def_prop_ro(
          "remarks", [](const Scenario& s) { return s.remarks; },
          Doc("What the model file asks for and limb does not simulate, and what was corrected."))
      .def(
          "run_batch", &run_many, "runs"_a = nb::none(), "threads"_a = 0, nb::kw_only(),
          "vary"_a = nb::none(), "logs"_a = nb::none(),
          nb::sig("def run_batch(self, runs: int | None = None, threads: int = 0, *, vary: str | "
                  "Sequence[Mapping[str, Any]] | None = None, logs: Sequence[str] | None = None) "
                  "-> BatchSummary"),
          Doc("Runs on all cores: each with its own seed and parameters within the spread. vary: "
              "one "
              "run per dict, whose keys are those of a scenario file with dots ('initial.q.elbow', "
              "'push.0.begin'), or a .csv or .toml file of runs (docs/simulation.md). logs: a .csv "
              "or "
              ".mcap file per run. Every number is an array with one row per run; failure is a "
              "list."
              "\n\nArgs:\n    runs: Number of runs; None: as many as `vary` has.\n    threads: 0: "
              "all cores.\n    vary: Values of each run.\n    logs: File of the log of each run."));
  m.def("read_log", &read_log, "path"_a, nb::sig("def read_log(path: str) -> Log"),
        Doc("A .csv or .mcap log as arrays; a truncated log is read up to its end."
            "\n\nArgs:\n    path: The file, `.csv` or `.mcap`."));
}

}  // namespace limb::python
