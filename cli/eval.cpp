#include "cli/eval.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numbers>
#include <optional>
#include <ostream>

#include "cli/choice.hpp"
#include "cli/json_document.hpp"
#include "cli/png.hpp"
#include "cli/robot_options.hpp"
#include "cli/state_quantities.hpp"
#include "cli/sweep_picture.hpp"
#include "limb/base/nearest.hpp"
#include "limb/base/number.hpp"
#include "limb/base/text_file.hpp"
#include "limb/base/without_call.hpp"
#include "limb/dynamics/constraints/jacobian_rows.hpp"
#include "limb/dynamics/kinematics/check_state.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/model/convert/convert_drake.hpp"
#include "limb/model/convert/convert_mujoco.hpp"
#include "limb/model/convert/convert_pinocchio.hpp"
#include "limb/sim/world/coordinate_units.hpp"
#include "limb/sim/world/sensors.hpp"

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
           "  limb eval builtin:2r --q 0.3,0.7 --v 1,0 --only M,V       one state\n"
           "  limb eval builtin:rr --over joint2=-3:3 --v 1,1 --only M,V --picture rr.svg\n"
           "                                                            M and V over a coordinate\n"
           "  limb eval arm.urdf --input states.json --only tau_rnea,M  two quantities\n"
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
           "Keys of the output are those of recorded files: tau_rnea, ddq_aba, M, Minv, nle, g, C, "
           "J_lwa,\n"
           "...; what --only names as in Python has that name: inverse_dynamics, "
           "forward_dynamics,\n"
           "mass_matrix, mass_inverse, bias, gravity, coriolis_matrix, dtau_dq, da_dq, ..., of a "
           "frame\n"
           "frame_pose, and frame_jacobian, frame_velocity, ... by axes.\n"
           "--only operational_space gives Lambda, mu and rho of the frames in world axes:\n"
           "F = Lambda xdd + mu + rho over --rows; acceleration_split their acceleration as "
           "tangential,\n"
           "centripetal and Coriolis terms, V the Coriolis and centrifugal forces, torque_budget "
           "the\n"
           "terms of inverse dynamics.\n"
           "--picture draws M, V, g, nle, tau_rnea, torque_budget and the energies over the "
           "coordinate\n"
           "of --over.\n";
  }
  void add_options(CLI::App& app) override {
    robot_.add(app);
    auto* input = app.add_option("--input", input_, "states to evaluate")->type_name("FILE");
    const auto numbers = [&](const char* option, std::vector<double>& values, const char* what) {
      return app.add_option(option, values, what)->delimiter(',')->type_name("LIST");
    };
    numbers("--q", q_, "one state: configuration, instead of --input")->excludes(input);
    numbers("--v", v_, "its velocity, default zero")->excludes(input);
    numbers("--a", a_, "its acceleration, default zero")->excludes(input);
    app.add_option("--over", over_,
                   "one state per value of a joint: JOINT=FROM:TO, or JOINT for a whole turn")
        ->type_name("JOINT=RANGE")
        ->excludes(input);
    add_whole_number(app, "--points", points_, "number of values of --over, default 101", 2,
                     1'000'000);
    add_names(app, "--frames", frames_, "frames to evaluate, besides those of --input");
    app.add_option("--picture", picture_, "charts over the coordinate of --over, .svg or .png")
        ->type_name("FILE");
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
    if (!picture_.empty() && over_.empty()) throw Error("limb eval: --picture needs --over");
    std::optional<Model<double>> model;
    std::optional<Sweep> sweep;
    if (input_.empty()) {
      model = load_model(robot_.path(), robot_.base(), robot_.read_options());
      if (!over_.empty()) sweep = read_sweep(*model);
    }
    StateFile file = model ? given_states(*model, sweep) : read_states(input_);
    file.frames.insert(file.frames.end(), frames_.begin(), frames_.end());
    StateQuantities quantities = make_quantities(std::move(requested));
    Json states = Json::array();
    for (std::size_t i = 0; i < file.states.size(); ++i) {
      try {
        states.push_back(quantities.evaluate(file.states[i], file.frames));
      } catch (const Error& error) {
        std::string text = error.what();
        const std::string prefix = "limb eval: ";
        if (text.compare(0, prefix.size(), prefix) == 0) text = text.substr(prefix.size());
        const std::string place = input_.empty() ? "" : fmt::format("{}: states[{}]: ", input_, i);
        throw Error(fmt::format("limb eval: {}{}", place, without_call(text)), error.kind());
      }
    }
    if (!picture_.empty()) write_picture(*model, *sweep, states);
    for (Json& state : states) state = quantities.with_names(state);
    Json result = {{"robot", robot_.path()},
                   {"convention", convention_},
                   {"nq", quantities.nq()},
                   {"nv", quantities.nv()},
                   {"states", std::move(states)}};
    if (sweep) result["over"] = {{"joint", sweep->name}, {"values", sweep->values}};
    if (output_.empty()) {
      out << json_document(result);
    } else {
      write_text_file("limb eval", output_, json_document(result));
    }
    return Exit::ok;
  }

 private:
  /// JOINT=FROM:TO
  Sweep read_sweep(const Model<double>& model) const {
    constexpr const char* kExpected = "JOINT=FROM:TO";
    const std::size_t equals = over_.find('=');
    Sweep sweep;
    sweep.name = over_.substr(0, equals);
    const auto names = position_names(model);
    const auto found = std::find(names.begin(), names.end(), sweep.name);
    if (found == names.end()) {
      const std::string close = nearest(sweep.name, names);
      throw Error(
          fmt::format("limb eval: --over: no coordinate is named '{}', expected one of: "
                      "{}{}",
                      sweep.name, fmt::join(names, " "),
                      close.empty() ? "" : fmt::format(" (closest: '{}')", close)));
    }
    sweep.q = static_cast<int>(found - names.begin());
    sweep.unit = position_units(model)[static_cast<std::size_t>(sweep.q)];
    if (sweep.unit == "1") {
      throw Error(
          fmt::format("limb eval: --over: '{}' is a component of a quaternion, expected "
                      "an angle or a length",
                      sweep.name));
    }
    double from = -std::numbers::pi, to = std::numbers::pi;  // a whole turn
    if (equals != over_.npos || sweep.unit != "rad") {
      const std::string text = equals == over_.npos ? "" : over_.substr(equals + 1);
      const std::size_t colon = text.find(':');
      const auto low = parse_number(text.substr(0, colon));
      const auto high = colon == text.npos ? std::nullopt : parse_number(text.substr(colon + 1));
      if (!low || !high) fail("limb eval", "--over", "'" + over_ + "'", kExpected);
      from = *low;
      to = *high;
    }
    if (!(from < to)) {
      fail("limb eval", "--over", "'" + over_ + "'", fmt::format("{}, FROM < TO", kExpected));
    }
    for (std::size_t i = 0; i < points_; ++i) {
      const double t = static_cast<double>(i) / static_cast<double>(points_ - 1);
      sweep.values.push_back(from + t * (to - from));
    }
    return sweep;
  }

  /// The states of --q, --v, --a and --over.
  StateFile given_states(const Model<double>& model, const std::optional<Sweep>& sweep) const {
    if (q_.empty() && !sweep) {
      throw Error("limb eval: no state, expected --input, --q or --over");
    }
    if (convention_ != "limb") {
      throw Error("limb eval: --q and --over need the convention limb; others read --input");
    }
    const auto vector = [](const std::vector<double>& x) {
      return Eigen::Map<const VectorX<double>>(x.data(), static_cast<Eigen::Index>(x.size()));
    };
    StateInput state;
    state.q.resize(model.nq());
    neutral(model, state.q);
    if (!q_.empty()) state.q = vector(q_);
    if (!v_.empty()) state.v = vector(v_);
    if (!a_.empty()) state.a = vector(a_);
    check_size("limb eval", "--q", state.q.size(), model.nq());
    StateFile file;
    if (!sweep) file.states.push_back(state);
    for (std::size_t i = 0; sweep && i < sweep->values.size(); ++i) {
      state.q[sweep->q] = sweep->values[i];
      file.states.push_back(state);
    }
    return file;
  }

  void write_picture(const Model<double>& model, const Sweep& sweep, const Json& states) const {
    const bool png = picture_.ends_with(".png");
    if (!png && !picture_.ends_with(".svg")) {
      fail("limb eval", "--picture", "'" + picture_ + "'", "a name that ends in .svg or .png");
    }
    const std::string svg = sweep_picture("limb eval", model, sweep, states);
    write_text_file("limb eval", picture_, png ? png_of_svg("limb eval", svg, 2) : svg);
  }

  /// The fields of --only; fills short_names_.
  std::set<std::string> read_only() {
    std::vector<std::string> known = state_fields();
    known.insert(known.end(), frame_fields().begin(), frame_fields().end());
    if (only_.empty()) short_names_ = {known.begin(), known.end()};
    known.insert(known.end(), named_fields().begin(), named_fields().end());
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
    for (const std::string& field : named_fields()) {
      if (requested.count(field) == 0 || convention_ == "limb") continue;
      throw Error(fmt::format("limb eval: {} exists only in the convention limb", field));
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
  std::string input_, output_, convention_ = "limb", over_, picture_;
  std::vector<std::string> only_, rows_, frames_;
  std::vector<double> q_, v_, a_;
  std::size_t points_ = 101;
  std::set<std::string> short_names_;  ///< fields with the keys of recorded files
  bool json_ = true;
};

}  // namespace

std::unique_ptr<Verb> make_eval() {
  return std::make_unique<Eval>();
}

}  // namespace limb::cli
