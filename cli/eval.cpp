#include "cli/eval.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>

#include "cli/choice.hpp"
#include "cli/json_document.hpp"
#include "cli/robot_options.hpp"
#include "cli/state_quantities.hpp"
#include "limb/base/nearest.hpp"
#include "limb/base/text_file.hpp"
#include "limb/base/without_call.hpp"
#include "limb/dynamics/constraints/jacobian_rows.hpp"
#include "limb/model/convert/convert_drake.hpp"
#include "limb/model/convert/convert_mujoco.hpp"
#include "limb/model/convert/convert_pinocchio.hpp"

namespace limb::cli {
namespace {

using Json = nlohmann::json;

/// Quantities that depend on how a library integrates its coordinates; the conversions of vectors
/// and matrices are not enough for them.
const std::set<std::string> kDependOnIntegration = {
    "C",      "q_integrate_v", "difference_neutral_q", "dtau_dq", "dtau_dv", "ddq_dq",
    "ddq_dv", "regressor"};

class Eval final : public Verb {
 public:
  std::string_view name() const override { return "eval"; }
  std::string_view summary() const override {
    return "dynamics quantities at given states, from and to JSON";
  }
  std::string_view examples() const override {
    return "  limb eval arm.urdf --input states.json                    all quantities, to stdout\n"
           "  limb eval arm.urdf --input states.json --only inverse_dynamics,mass_matrix\n"
           "  limb eval dog.urdf --base free --convention pinocchio \\\n"
           "                     --input states.json -o out.json        in the conventions of "
           "Pinocchio\n";
  }
  std::string_view notes() const override {
    return "IN.json: {\"states\": [{\"q\": [], \"v\": [], \"a\": [], \"tau\": [],\n"
           "           \"external\": {\"frame\": \"name\", \"f_local\": []}}], \"frames\": "
           "[\"name\"]}\n"
           "v, a, tau default to zero; f_local is force, then moment, on the frame in its axes.\n"
           "Units are SI and rad. The conventions pinocchio, mujoco and drake ignore couplings; "
           "the\n"
           "dynamics include what that library adds to the rigid bodies: pinocchio nothing, "
           "mujoco\n"
           "and drake armature and damping. limb includes armature, damping and friction.\n"
           "Keys of the output are the names of the functions in Python: inverse_dynamics,\n"
           "forward_dynamics, mass_matrix, mass_inverse, bias, gravity, coriolis_matrix, dtau_dq,\n"
           "da_dq, ...; of a frame frame_pose, and frame_jacobian, frame_velocity, ... by axes. "
           "The\n"
           "names of Pinocchio (tau_rnea, ddq_aba, M, Minv, nle, g, C, J_lwa, ...) are the keys\n"
           "with --convention pinocchio and where --only has them.\n"
           "--only operational_space gives Lambda, mu and rho of the frames in world axes:\n"
           "F = Lambda xdd + mu + rho over --rows.\n";
  }
  void add_options(CLI::App& app) override {
    robot_.add(app);
    app.add_option("--input", input_, "states to evaluate")->required()->type_name("FILE");
    app.add_option("-o,--output", output_, "output file, default stdout")->type_name("FILE");
    add_choice(app, "--convention", convention_,
               "of input and output: limb (default), pinocchio, mujoco or drake",
               {"limb", "pinocchio", "mujoco", "drake"})
        ->capture_default_str();
    add_names(app, "--only", only_, "write only these quantities");
    add_names(app, "--rows", rows_, "rows of operational_space: some of vx vy vz wx wy wz");
    app.add_flag("--json", json_, "accepted for consistency; the result is always JSON");
  }

  Exit run(std::ostream& out) override {
    std::set<std::string> requested = read_only();
    const StateFile file = read_states(input_);
    StateQuantities quantities = make_quantities(std::move(requested));
    Json states = Json::array();
    for (std::size_t i = 0; i < file.states.size(); ++i) {
      try {
        states.push_back(quantities.evaluate(file.states[i], file.frames));
      } catch (const Error& error) {
        std::string text = error.what();
        const std::string prefix = "limb eval: ";
        if (text.compare(0, prefix.size(), prefix) == 0) text = text.substr(prefix.size());
        throw Error(fmt::format("limb eval: {}: states[{}]: {}", input_, i, without_call(text)),
                    error.kind());
      }
    }
    const Json result = {{"robot", robot_.path()},
                         {"convention", convention_},
                         {"nq", quantities.nq()},
                         {"nv", quantities.nv()},
                         {"states", std::move(states)}};
    if (output_.empty()) {
      out << json_document(result);
    } else {
      write_text_file("limb eval", output_, json_document(result));
    }
    return Exit::ok;
  }

 private:
  /// The fields of --only; fills short_names_.
  std::set<std::string> read_only() {
    std::vector<std::string> known = state_fields();
    known.insert(known.end(), frame_fields().begin(), frame_fields().end());
    if (only_.empty() && convention_ == "pinocchio") short_names_ = {known.begin(), known.end()};
    std::set<std::string> requested;
    for (const std::string& field : only_) {
      const auto& names = quantity_names();
      const auto name = std::find_if(names.begin(), names.end(),
                                     [&](const QuantityName& n) { return n.name == field; });
      if (name != names.end()) {
        requested.insert(name->fields.begin(), name->fields.end());
        continue;
      }
      if (std::find(known.begin(), known.end(), field) == known.end()) {
        for (const QuantityName& one : names) known.push_back(one.name);
        const std::string close = nearest(field, known);
        throw Error(fmt::format("limb eval: --only: unknown quantity '{}', expected some of: {}{}",
                                field, fmt::join(known, " "),
                                close.empty() ? "" : fmt::format(" (closest: '{}')", close)));
      }
      requested.insert(field);
      short_names_.insert(field);
      if (field == "frames") short_names_.insert(frame_fields().begin(), frame_fields().end());
    }
    return requested;
  }

  StateQuantities make_quantities(std::set<std::string> requested) const {
    robot_.report("limb eval");
    const bool task = requested.count("operational_space") > 0;
    if (!rows_.empty() && !task) {
      throw Error("limb eval: --rows needs --only operational_space");
    }
    if (task && convention_ != "limb") {
      throw Error("limb eval: operational_space exists only in the convention limb");
    }
    const std::vector<int> rows = jacobian_rows("limb eval: --rows", rows_);
    const Description<double> description = load_description(robot_.path(), robot_.read_options());
    const Model<double> model = build_model(description, robot_.base());
    if (convention_ == "limb")
      return {model, nullptr, JointEffects(), std::move(requested), short_names_, rows};

    Model<double> uncoupled = model.without_couplings();
    JointEffects effects{.armature = true, .damping = true, .friction = false};
    std::unique_ptr<Convention> convention;
    if (convention_ == "pinocchio") {
      convention = std::make_unique<PinocchioConvention>(uncoupled, description);
      effects = JointEffects::none();
    } else if (convention_ == "mujoco") {
      convention = std::make_unique<MujocoConvention>(uncoupled, description);
    } else {
      convention = std::make_unique<DrakeConvention>(uncoupled, description);
    }
    if (convention_ != "pinocchio") {
      for (const std::string& field : kDependOnIntegration) {
        if (requested.count(field) != 0) {
          throw Error(fmt::format("limb eval: {} is not available in the convention of {}", field,
                                  convention_));
        }
      }
      if (requested.empty()) {
        for (const std::string& field : state_fields()) {
          if (kDependOnIntegration.count(field) == 0) requested.insert(field);
        }
      }
    }
    return {std::move(uncoupled), std::move(convention), effects,
            std::move(requested), short_names_,          rows};
  }

  RobotOptions robot_;
  std::string input_, output_, convention_ = "limb";
  std::vector<std::string> only_, rows_;
  std::set<std::string> short_names_;  ///< fields with the names of Pinocchio in the output
  bool json_ = true;
};

}  // namespace

std::unique_ptr<Verb> make_eval() {
  return std::make_unique<Eval>();
}

}  // namespace limb::cli
