#include "cli/info.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/json_document.hpp"
#include "cli/robot_options.hpp"
#include "cli/table.hpp"
#include "limb/base/check.hpp"
#include "limb/dynamics/constraints/actuation.hpp"

namespace limb::cli {
namespace {

using Json = nlohmann::json;

std::string range(int start, int size) {
  if (size == 0) return "-";
  return size == 1 ? fmt::format("{}", start) : fmt::format("{}..{}", start, start + size - 1);
}

/// "z", "-x", or the components.
std::string axis_text(const Joint<double>& joint) {
  const auto text = [](const Vector3<double>& a) {
    for (int k = 0; k < 3; ++k) {
      if (a == Vector3<double>::Unit(k)) return std::string(1, "xyz"[k]);
      if (a == -Vector3<double>::Unit(k)) return std::string("-") + "xyz"[k];
    }
    return fmt::format("{:.4g} {:.4g} {:.4g}", a[0], a[1], a[2]);
  };
  switch (joint.type()) {
    case JointType::universal:
      return text(joint.axis()) + " then " + text(joint.axis2());
    case JointType::fixed:
    case JointType::translation:
    case JointType::spherical:
    case JointType::free:
      return "-";
    default:
      return text(joint.axis());
  }
}

std::string limit_text(const Body<double>& body) {
  std::string text;
  for (const DofLimits<double>& x : body.limits) {
    if (!text.empty()) text += "; ";
    if (!x.lower && !x.upper) {
      text += "-";
      continue;
    }
    const auto bound = [](const std::optional<double>& b, const char* none) {
      return b ? fmt::format("{:.4g}", *b) : std::string(none);
    };
    text += bound(x.lower, "-inf") + " .. " + bound(x.upper, "inf");
  }
  // Without any limit a single "-" is enough.
  return text.find_first_not_of("-; ") == text.npos ? "-" : text;
}

const char* base_name(Base base) {
  return base == Base::fixed ? "fixed" : base == Base::free ? "free" : "described";
}

/// Coordinates of a joint in q and v, as in limb.results.Joint of Python.
struct JointPlace {
  int nq = 0, nv = 0, q_index = -1, v_index = -1;  ///< as here if it is coupled to other joints
};

JointPlace place_of(const Model<double>& model, std::size_t body) {
  const auto& row = model.coupling().rows()[body - 1];
  if (row.yq < 0) return {};
  const Joint<double>& joint = model.bodies()[body].joint;
  return {joint.nq(), joint.nv(), row.yq, row.terms.empty() ? -1 : row.terms[0].y};
}

/// Numbers of actuated, passive and independent degrees of freedom.
struct DofCounts {
  int actuated = 0, passive = 0, independent = 0;
};

DofCounts count_dofs(const Model<double>& model) {
  DofCounts f;
  for (const bool driven : model.actuated()) ++(driven ? f.actuated : f.passive);
  f.independent = model.coupling().ny_v();
  return f;
}

std::string underactuation(const Model<double>& model, const DofCounts& f) {
  if (f.passive == 0) return "fully actuated";
  const bool free = model.body_count() > 1 && model.bodies()[1].joint.type() == JointType::free;
  return fmt::format("underactuated: {} of {} degrees of freedom have no motor{}", f.passive,
                     model.uncoupled_nv(), free && f.passive == 6 ? " (the free base)" : "");
}

/// Prints the bodies as a tree, children below their parents.
void draw_tree(const Model<double>& model, std::ostream& out) {
  std::vector<std::vector<int>> children(static_cast<std::size_t>(model.body_count()));
  for (int b = 1; b < model.body_count(); ++b) {
    const int parent = model.bodies()[static_cast<std::size_t>(b)].parent.value();
    children[static_cast<std::size_t>(parent)].push_back(b);
  }
  out << "Tree (joint -> link)\n  world\n";
  struct Pending {
    int body;
    std::string indent;
    bool last;
  };
  std::vector<Pending> pending;
  const auto push = [&](int body, const std::string& indent) {
    const auto& list = children[static_cast<std::size_t>(body)];
    for (std::size_t k = list.size(); k-- > 0;)
      pending.push_back({list[k], indent, k + 1 == list.size()});
  };
  push(0, "  ");
  // The indentation of long chains is limited.
  constexpr std::size_t kWidest = 80;
  while (!pending.empty()) {
    const Pending next = pending.back();
    pending.pop_back();
    const Body<double>& body = model.bodies()[static_cast<std::size_t>(next.body)];
    out << next.indent << (next.last ? "`- " : "|- ") << body.name << " -> " << body.link << "\n";
    push(next.body,
         next.indent.size() < kWidest ? next.indent + (next.last ? "   " : "|  ") : next.indent);
  }
}

class Info : public Verb {
 public:
  std::string_view name() const override { return "info"; }
  std::string_view summary() const override {
    return "joints, frames, masses and degrees of freedom of a robot";
  }
  std::string_view examples() const override {
    return "  limb info builtin:quadruped            a built-in robot\n"
           "  limb info panda.urdf --base fixed      an arm on a table\n"
           "  limb info go2.urdf --base free --json  machine-readable output\n";
  }
  void add_options(CLI::App& app) override {
    robot_.add(app);
    list_frames_ = add_names(app, "--frames", frames_,
                             "frames to list with their position on their body, default all")
                       ->expected(0, 1);
    app.add_flag("--json", json_, "machine-readable output");
  }
  Exit run(std::ostream& out) override {
    robot_.report("limb info");
    std::erase(frames_, "");  // --frames without names
    const Description<double> robot = load_description(robot_.path(), robot_.read_options());
    for (const StateDescription& key : robot.scene.keyframes) keyframes_.push_back(key.name);
    const Model<double> model = build_model(robot, robot_.base());
    if (json_) {
      out << json_document(to_json(model));
    } else {
      print(model, out);
    }
    return Exit::ok;
  }

 private:
  void print(const Model<double>& model, std::ostream& out) const {
    const DofCounts f = count_dofs(model);
    out << fmt::format("{}  ({})\n", model.name().empty() ? "robot" : model.name(), robot_.path());
    out << fmt::format("  mass      {:.6g} kg in {} moving bodies\n", model.total_mass(),
                       model.body_count() - 1);
    out << fmt::format("  dof       nq = {}, nv = {}; {}\n", model.nq(), model.nv(),
                       underactuation(model, f));
    if (!model.coupling().is_identity()) {
      out << fmt::format("  uncoupled nq = {}, nv = {} before couplings\n", model.uncoupled_nq(),
                         model.uncoupled_nv());
    }
    if (!model.loops().empty()) {
      const auto polynomials =
          std::count_if(model.loops().begin(), model.loops().end(),
                        [](const Loop<double>& loop) { return loop.kind == LoopKind::polynomial; });
      out << fmt::format("  loops     {}", model.loops().size());
      if (polynomials > 0) {
        out << fmt::format(", {} of them polynomial coupling{}", polynomials,
                           polynomials == 1 ? "" : "s");
      }
      out << "\n";
    }
    const Vector3<double> g = model.gravity();
    out << fmt::format("  gravity   ({:.6g}, {:.6g}, {:.6g}) m/s^2\n", g[0], g[1], g[2]);
    if (!keyframes_.empty()) {
      out << fmt::format("  keyframes {}\n", fmt::join(keyframes_, ", "));
    }
    out << "  units     SI, rad; twists and wrenches linear before angular; quaternions x y z "
           "w\n\n";
    draw_tree(model, out);
    out << "\n";
    Table joints("Joints (axis in the joint frame; limits in rad or m)",
                 {"", "type", "axis", "q", "v", "limits", "velocity", "effort", "mass (kg)"});
    for (std::size_t i = 1; i < model.bodies().size(); ++i) {
      const Body<double>& b = model.bodies()[i];
      const JointPlace place = place_of(model, i);
      const auto first = [&](std::optional<double> DofLimits<double>::*field) {
        const auto& value = b.limits.empty() ? std::optional<double>() : b.limits[0].*field;
        return value ? fmt::format("{:.4g}", *value) : std::string("-");
      };
      joints.add({b.name, std::string(to_text(b.joint.type())), axis_text(b.joint),
                  range(place.q_index, place.nq), range(place.v_index, place.nv), limit_text(b),
                  first(&DofLimits<double>::velocity), first(&DofLimits<double>::effort),
                  fmt::format("{:.6g}", b.inertia.mass())});
    }
    out << joints.text();
    out << fmt::format("\n{} frames{}\n", model.frames().size(),
                       list_frames_->count() > 0 ? ":" : "; --frames lists them");
    if (list_frames_->count() == 0) return;
    Table frames("Frames, position (m) on their body", {"", "body", "x", "y", "z"});
    for (const Frame<double>& frame : listed_frames(model)) {
      std::vector<std::string> row = {frame.name, model.body(frame.body).name};
      for (const std::string& cell : to_cells({frame.X_BF.p.data(), 3})) row.push_back(cell);
      frames.add(row);
    }
    out << frames.text();
  }

  /// Those of --frames, in this order; without names all.
  std::vector<Frame<double>> listed_frames(const Model<double>& model) const {
    if (frames_.empty()) return model.frames();
    std::vector<Frame<double>> frames;
    for (const std::string& name : frames_) frames.push_back(model.frame(model.find_frame(name)));
    return frames;
  }

  Json to_json(const Model<double>& model) const {
    const DofCounts f = count_dofs(model);
    Json result = {{"name", model.name()},
                   {"path", robot_.path()},
                   {"base", base_name(robot_.base())},
                   {"nq", model.nq()},
                   {"nv", model.nv()},
                   {"uncoupled_nq", model.uncoupled_nq()},
                   {"uncoupled_nv", model.uncoupled_nv()},
                   {"mass", model.total_mass()},
                   {"gravity_vector", cli::to_json(model.gravity())},
                   {"motors", motor_count(model)},
                   {"actuated_dofs", f.actuated},
                   {"passive_dofs", f.passive},
                   {"independent_dofs", f.independent},
                   {"loops", model.loops().size()},
                   {"keyframes", keyframes_},
                   {"joints", Json::array()},
                   {"frames", Json::array()}};
    for (std::size_t i = 1; i < model.bodies().size(); ++i) {
      const Body<double>& b = model.bodies()[i];
      Json limits = Json::array();
      for (const DofLimits<double>& x : b.limits) {
        limits.push_back({{"lower", cli::to_json(x.lower)},
                          {"upper", cli::to_json(x.upper)},
                          {"velocity", cli::to_json(x.velocity)},
                          {"effort", cli::to_json(x.effort)}});
      }
      const bool massive = b.inertia.mass() > 0;
      const JointPlace place = place_of(model, i);
      result["joints"].push_back(
          {{"name", b.name},
           {"link", b.link},
           {"type", to_text(b.joint.type())},
           {"axis", cli::to_json(b.joint.axis())},
           {"parent", b.parent.value() == 0 ? "world" : model.body(b.parent).name},
           {"nq", place.nq},
           {"nv", place.nv},
           {"q_index", place.q_index},
           {"v_index", place.v_index},
           {"uncoupled_nq", b.joint.nq()},
           {"uncoupled_nv", b.joint.nv()},
           {"uncoupled_q_index", b.q_start},
           {"uncoupled_v_index", b.v_start},
           {"placement_R", cli::to_json(b.X_PJ.R)},
           {"placement_p", cli::to_json(b.X_PJ.p)},
           {"mass", b.inertia.mass()},
           {"com", massive ? cli::to_json(b.inertia.com()) : Json(nullptr)},
           {"inertia_com", massive ? cli::to_json(b.inertia.tensor_about_com()) : Json(nullptr)},
           {"damping", b.damping},
           {"friction", b.friction},
           {"armature", b.armature},
           {"limits", limits},
           {"source", cli::to_json(b.source)}});
    }
    for (const Frame<double>& frame : model.frames()) {
      result["frames"].push_back(
          {{"name", frame.name},
           {"parent_joint", frame.body.value() == 0 ? "world" : model.body(frame.body).name},
           {"placement_R", cli::to_json(frame.X_BF.R)},
           {"placement_p", cli::to_json(frame.X_BF.p)}});
    }
    return result;
  }

  RobotOptions robot_;
  std::vector<std::string> frames_;
  CLI::Option* list_frames_ = nullptr;
  bool json_ = false;
  std::vector<std::string> keyframes_;
};

}  // namespace

std::unique_ptr<Verb> make_info() {
  return std::make_unique<Info>();
}

}  // namespace limb::cli
