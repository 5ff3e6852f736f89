#include "limb/model/recipe/write_recipe.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "limb/base/check.hpp"

namespace limb {
namespace {

/// A TOML basic string.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04X}", int(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

class RecipeWriter {
 public:
  explicit RecipeWriter(const Description<double>& description) : in_(description) {}

  std::string run() {
    line("name = {}", quoted(in_.name.empty() ? "robot" : in_.name));
    line("gravity = {}", vector(in_.gravity));
    for (const auto& link : in_.links) write(link);
    for (const auto& joint : in_.joints) write(joint);
    for (const auto& frame : in_.frames) {
      head("frame", frame.name);
      line("link = {}", quoted(frame.link));
      for (const std::string& entry : placement(frame.X_LF)) line("{}", entry);
    }
    for (const auto& coupling : in_.couplings) write(coupling);
    for (const auto& loop : in_.loops) write(loop);
    for (const auto& actuator : in_.actuators) {
      line("\n[[actuator]]\njoint = {}\ngear = {}", quoted(actuator.joint), number(actuator.gear));
    }
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }
  void head(std::string_view kind, std::string_view name) {
    line("\n[[{}]]\nname = {}", kind, quoted(name));
  }

  /// The shortest decimal that reads back as the same number.
  static std::string number(double value) {
    check_finite("write_recipe", "description", value);
    return to_text(value == 0 ? 0.0 : value);
  }
  static std::string vector(const Vector3<double>& v) {
    return fmt::format("[{}, {}, {}]", number(v[0]), number(v[1]), number(v[2]));
  }

  /// Entries that differ from the identity; the matrix keeps every digit of the rotation.
  static std::vector<std::string> placement(const Pose<double>& X) {
    std::vector<std::string> entries;
    if (X.p != Vector3<double>::Zero()) entries.push_back("xyz = " + vector(X.p));
    if (X.R != Matrix3<double>::Identity()) {
      entries.push_back(fmt::format("matrix = [{}, {}, {}]", vector(X.R.row(0)), vector(X.R.row(1)),
                                    vector(X.R.row(2))));
    }
    return entries;
  }
  static std::string inline_placement(const Pose<double>& X) {
    return fmt::format("{{{}}}", fmt::join(placement(X), ", "));
  }

  void write(const LinkDescription<double>& link) {
    head("link", link.name);
    if (link.inertial) {
      const auto& inertial = *link.inertial;
      line("mass = {}", number(inertial.mass));
      if (inertial.X_LI.p != Vector3<double>::Zero()) line("com = {}", vector(inertial.X_LI.p));
      const Matrix3<double>& I = inertial.tensor;
      check_symmetric("write_recipe", "tensor of link '" + link.name + "'", I);
      const bool diagonal = I(0, 1) == 0 && I(0, 2) == 0 && I(1, 2) == 0;
      if (!diagonal) {
        line("inertia_entries = {{xx = {}, yy = {}, zz = {}, xy = {}, xz = {}, yz = {}}}",
             number(I(0, 0)), number(I(1, 1)), number(I(2, 2)), number(I(0, 1)), number(I(0, 2)),
             number(I(1, 2)));
      } else if (I != Matrix3<double>::Zero()) {
        line("inertia = {}", vector(I.diagonal()));
      }
      if (inertial.X_LI.R != Matrix3<double>::Identity()) {
        line("inertia_axes = {}", inline_placement({inertial.X_LI.R, Vector3<double>::Zero()}));
      }
    }
    if (link.geometry.empty()) return;
    line("geometry = [");
    for (const Geometry& g : link.geometry) line("  {},", geometry(g));
    line("]");
  }

  static std::string geometry(const Geometry& g) {
    constexpr const char* kShapes[] = {"box",       "cylinder", "sphere", "capsule",
                                       "ellipsoid", "plane",    "mesh"};
    std::vector<std::string> entries = {
        fmt::format("shape = \"{}\"", kShapes[static_cast<std::size_t>(g.shape)])};
    if (g.role == Geometry::Role::collision) entries.emplace_back("role = \"collision\"");
    if (g.shape == Geometry::Shape::mesh) {
      entries.push_back("uri = " + quoted(g.mesh_uri));
      if (g.mesh_scale != Vector3<double>::Ones()) {
        entries.push_back("scale = " + vector(g.mesh_scale));
      }
    } else {
      entries.push_back("size = " + vector(g.size));
    }
    for (std::string& entry : placement(g.X_LG)) entries.push_back(std::move(entry));
    return fmt::format("{{{}}}", fmt::join(entries, ", "));
  }

  void write(const JointDescription<double>& joint) {
    using enum JointType;
    const JointType t = joint.type;
    head("joint", joint.name);
    line("type = \"{}\"", to_text(t));
    line("parent = {}\nchild = {}", quoted(joint.parent), quoted(joint.child));
    for (const std::string& entry : placement(joint.X_PJ)) line("{}", entry);
    if (t != fixed && t != translation && t != spherical && t != free) {
      line("axis = {}", vector(joint.axis));
    }
    if (t == universal) line("axis2 = {}", vector(joint.axis2));
    if (t == helical) line("pitch = {}", number(joint.pitch));
    if (!placement(joint.X_JC).empty()) {
      line("child_placement = {}", inline_placement(joint.X_JC));
    }
    if (joint.limits.size() == 1) {
      line("limits = {}", limits(joint.limits[0]));
    } else if (!joint.limits.empty()) {
      std::vector<std::string> each;
      for (const auto& one : joint.limits) each.push_back(limits(one));
      line("limits = [{}]", fmt::join(each, ", "));
    }
    if (joint.damping != 0) line("damping = {}", number(joint.damping));
    if (joint.friction != 0) line("friction = {}", number(joint.friction));
    if (joint.armature != 0) line("armature = {}", number(joint.armature));
  }

  static std::string limits(const DofLimits<double>& limits) {
    std::vector<std::string> entries;
    if (limits.lower) entries.push_back("lower = " + number(*limits.lower));
    if (limits.upper) entries.push_back("upper = " + number(*limits.upper));
    if (limits.velocity) entries.push_back("velocity = " + number(*limits.velocity));
    if (limits.effort) entries.push_back("effort = " + number(*limits.effort));
    return fmt::format("{{{}}}", fmt::join(entries, ", "));
  }

  void write(const CouplingDescription<double>& coupling) {
    line("\n[[coupling]]\njoint = {}", quoted(coupling.joint));
    std::vector<std::string> terms;
    for (const auto& term : coupling.terms) {
      terms.push_back(
          fmt::format("{{joint = {}, ratio = {}}}", quoted(term.joint), number(term.ratio)));
    }
    line("terms = [{}]", fmt::join(terms, ", "));
    if (coupling.offset != 0) line("offset = {}", number(coupling.offset));
    std::vector<std::string> powers;
    for (const double c : coupling.powers) powers.push_back(number(c));
    if (!powers.empty()) line("powers = [{}]", fmt::join(powers, ", "));
  }

  void write(const LoopDescription<double>& loop) {
    head("loop", loop.name);
    const bool weld = loop.kind == LoopDescription<double>::Kind::weld;
    line("kind = \"{}\"", weld ? "weld" : "connect");
    line("link_a = {}\nlink_b = {}", quoted(loop.link_a), quoted(loop.link_b));
    line("in_a = {}\nin_b = {}", inline_placement(loop.X_AL), inline_placement(loop.X_BL));
  }

  const Description<double>& in_;
  std::string out_;
};

}  // namespace

std::string write_recipe(const Description<double>& description) {
  return RecipeWriter(description).run();
}

}  // namespace limb
