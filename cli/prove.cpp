#include "cli/prove.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>

#include "cli/interrupt.hpp"
#include "cli/json_document.hpp"
#include "cli/progress.hpp"
#include "cli/robot_options.hpp"
#include "cli/table.hpp"
#include "limb/dynamics/robot/proof.hpp"
#include "limb/symbolic/derive/closed_form.hpp"

namespace limb::cli {
namespace {

using Json = nlohmann::json;

class Prove final : public Verb {
 public:
  std::string_view name() const override { return "prove"; }
  std::string_view summary() const override {
    return "check that all formulations of the dynamics agree at random states";
  }
  std::string_view examples() const override {
    return "  limb prove arm.urdf                       20 random states\n"
           "  limb prove dog.urdf --base free -n 1000   more states, floating base\n";
  }
  void add_options(CLI::App& app) override {
    robot_.add(app);
    add_whole_number(app, "-n,--states", options_.states, "number of random states, default 20", 1);
    add_whole_number(app, "--seed", options_.seed, "seed of the random states, default 1", 0);
    app.add_flag("--json", json_, "the table as JSON");
  }

  Exit run(std::ostream& out) override {
    const RobotFindings findings = robot_.findings("limb prove", robot_.path());
    if (findings.errors > 0) {
      throw Error(fmt::format("limb prove: no robot like this exists, so nothing is proven: {}",
                              findings.first_error));
    }
    std::fputs(findings.text.c_str(), stderr);
    const Model<double> model = load_model(robot_.path(), robot_.base(), robot_.read_options());
    Progress progress(options_.states, "states");
    const Interrupt interrupt;
    options_.progress = [&](int done) {
      progress.show(done);
      Interrupt::check("limb prove", fmt::format("after {} of {} states", done, options_.states));
    };
    std::vector<ProofRow> rows = prove(model, options_);
    progress.clear();
    add_closed_form(rows);
    const bool all =
        std::all_of(rows.begin(), rows.end(), [](const ProofRow& r) { return r.holds(); });
    if (json_) {
      Json list = Json::array();
      for (const ProofRow& row : rows) {
        list.push_back({{"statement", row.statement},
                        {"worst", row.worst},
                        {"tolerance", row.tolerance},
                        {"holds", row.holds()}});
      }
      out << json_document(Json{{"robot", model.name()},
                                {"states", options_.states},
                                {"seed", options_.seed},
                                {"holds", all},
                                {"rows", list}});
    } else {
      Table table(fmt::format("{}: {} random states (seed {}), {} degrees of freedom", model.name(),
                              options_.states, options_.seed, model.nv()),
                  {"", "largest difference", "allowed", ""});
      for (const ProofRow& row : rows) {
        table.add({row.statement, std::isnan(row.worst) ? "-" : fmt::format("{:.1e}", row.worst),
                   fmt::format("{:.0e}", row.tolerance), row.holds() ? "holds" : "FAILS"});
      }
      out << table.text() << "\n"
          << (all ? "All agree." : "They do NOT agree.")
          << " Differences are relative to 1 + the norm of the compared quantity.\n";
    }
    return all ? Exit::ok : Exit::computation_failed;
  }

 private:
  /// Small robots have closed forms, whose equality is decided exactly.
  void add_closed_form(std::vector<ProofRow>& rows) const {
    symbolic::RobotOptions options;
    options.parameters = symbolic::Parameters::numbers;
    options.base = robot_.base();
    options.read = robot_.read_options();
    options.limits.products = 1'000'000;
    try {
      const symbolic::Robot robot = symbolic::load_robot(robot_.path(), options);
      const bool equal =
          symbolic::derive_lagrange(robot).tau == symbolic::derive_newton_euler(robot);
      rows.push_back(
          {"Newton-Euler = Lagrange as polynomials, for every state", equal ? 0.0 : 1.0, 0});
    } catch (const Error&) {
      // Free joints, closed loops or too many terms: only the numerical comparisons remain.
    }
  }

  RobotOptions robot_;
  ProofOptions options_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_prove() {
  return std::make_unique<Prove>();
}

}  // namespace limb::cli
