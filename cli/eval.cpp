#include "cli/eval.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>

#include "cli/robot_options.hpp"
#include "cli/state_quantities.hpp"
#include "limb/base/nearest.hpp"
#include "limb/base/text_file.hpp"
#include "limb/model/convert_drake.hpp"
#include "limb/model/convert_mujoco.hpp"
#include "limb/model/convert_pinocchio.hpp"

namespace limb::cli {
namespace {

using Json = nlohmann::json;

/// Quantities that depend on how a library moves its coordinates, which the conversions of vectors
/// and matrices do not tell.
const std::set<std::string> kOwnMotion = {"C",       "q_integrate_v", "difference_neutral_q",
                                          "dtau_dq", "dtau_dv",       "ddq_dq",
                                          "ddq_dv",  "regressor"};

class Eval final : public Verb {
 public:
  std::string_view name() const override { return "eval"; }
  std::string_view summary() const override {
    return "quantities of the dynamics at given states, from and to JSON";
  }
  std::string_view examples() const override {
    return "  limb eval arm.urdf --input states.json                    everything, to stdout\n"
           "  limb eval arm.urdf --input states.json --only tau_rnea,M  two quantities\n"
           "  limb eval dog.urdf --base free --convention pinocchio \\\n"
           "                     --input golden.json --output out.json  in another library's "
           "customs\n";
  }
  std::string_view notes() const override {
    return "IN.json: {\"states\": [{\"q\": [], \"v\": [], \"a\": [], \"tau\": [],\n"
           "           \"fext\": {\"frame\": \"name\", \"f_local\": []}}], \"frames\": "
           "[\"name\"]}\n"
           "v, a, tau default to zero; f_local is force, then moment, on the frame in its axes.\n"
           "Units are SI and rad. Conventions other than limb's let every joint move on its own "
           "and\n"
           "take what that library adds to the rigid bodies: pinocchio nothing, mujoco and drake\n"
           "rotors and damping; limb takes rotors, damping and friction of the file.\n";
  }
  void add_options(CLI::App& app) override {
    robot_.add(app);
    app.add_option("--input", input_, "states to evaluate")->required()->type_name("IN.json");
    app.add_option("--output", output_, "where to write; default: stdout")->type_name("OUT.json");
    app.add_option("--convention", convention_, "limb, pinocchio, mujoco or drake")
        ->type_name("NAME");
    app.add_option("--only", only_, "write these quantities alone, separated by commas")
        ->type_name("A,B,...");
    app.add_flag("--json", json_, "accepted like everywhere; the result is always JSON");
  }

  Exit run(std::ostream& out) override {
    std::set<std::string> wanted = read_only();
    const StateFile file = read_states(input_);
    StateQuantities quantities = make_quantities(std::move(wanted));
    Json states = Json::array();
    for (std::size_t i = 0; i < file.states.size(); ++i) {
      try {
        states.push_back(quantities.evaluate(file.states[i], file.frames));
      } catch (const Error& error) {
        std::string text = error.what();
        const std::string own = "limb eval: ";
        if (text.compare(0, own.size(), own) == 0) text = text.substr(own.size());
        throw Error(fmt::format("limb eval: {}: states[{}]: {}", input_, i, text), error.kind());
      }
    }
    const Json result = {{"robot", robot_.path()},
                         {"convention", convention_},
                         {"nq", quantities.nq()},
                         {"nv", quantities.nv()},
                         {"states", std::move(states)}};
    if (output_.empty()) {
      out << result.dump() << "\n";
    } else {
      write_text_file("limb eval", output_, result.dump() + "\n");
    }
    return Exit::ok;
  }

 private:
  std::set<std::string> read_only() const {
    std::vector<std::string> known = state_fields();
    known.insert(known.end(), frame_fields().begin(), frame_fields().end());
    std::set<std::string> wanted;
    std::string rest = only_;
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const std::string field = rest.substr(0, comma);
      rest.erase(0, comma + 1);
      if (std::find(known.begin(), known.end(), field) == known.end()) {
        const std::string close = nearest(field, known);
        throw Error(fmt::format("limb eval: --only names '{}', which is none of: {}{}", field,
                                fmt::join(known, " "),
                                close.empty() ? "" : fmt::format(" (closest: '{}')", close)));
      }
      wanted.insert(field);
    }
    return wanted;
  }

  StateQuantities make_quantities(std::set<std::string> wanted) const {
    const Description<double> description = load_description(robot_.path(), robot_.read_options());
    const Model<double> model = build_model(description, robot_.base());
    if (convention_ == "limb") return {model, nullptr, JointEffects(), std::move(wanted)};

    Model<double> alone = model.without_couplings();
    JointEffects effects{.armature = true, .damping = true, .friction = false};
    std::unique_ptr<Convention> convention;
    if (convention_ == "pinocchio") {
      convention = std::make_unique<PinocchioConvention>(alone, description);
      effects = JointEffects::none();
    } else if (convention_ == "mujoco") {
      convention = std::make_unique<MujocoConvention>(alone, description);
    } else if (convention_ == "drake") {
      convention = std::make_unique<DrakeConvention>(alone, description);
    } else {
      throw Error(
          fmt::format("limb eval: --convention is '{}', expected limb, pinocchio, mujoco or drake",
                      convention_));
    }
    if (convention_ != "pinocchio") {
      for (const std::string& field : kOwnMotion) {
        if (wanted.count(field) != 0) {
          throw Error(fmt::format("limb eval: {} is not available in the convention of {}", field,
                                  convention_));
        }
      }
      if (wanted.empty()) {
        for (const std::string& field : state_fields()) {
          if (kOwnMotion.count(field) == 0) wanted.insert(field);
        }
      }
    }
    return {std::move(alone), std::move(convention), effects, std::move(wanted)};
  }

  RobotOptions robot_;
  std::string input_, output_, convention_ = "limb", only_;
  bool json_ = true;
};

}  // namespace

std::unique_ptr<Verb> make_eval() {
  return std::make_unique<Eval>();
}

}  // namespace limb::cli
