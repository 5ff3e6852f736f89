#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "limb/base/check.hpp"
#include "limb/base/text_file.hpp"
#include "limb/dynamics/constraints/actuation.hpp"
#include "limb/dynamics/robot/proof.hpp"
#include "limb/model/core/builtin.hpp"
#include "limb/model/core/load.hpp"
#include "limb/model/core/operations.hpp"
#include "limb/model/lint/check.hpp"
#include "limb/model/lint/check_structure.hpp"
#include "limb/model/lint/repair.hpp"
#include "limb/model/mjcf/read_mjcf.hpp"
#include "limb/model/recipe/read_recipe.hpp"
#include "limb/model/recipe/write_recipe.hpp"
#include "limb/model/urdf/read_urdf.hpp"
#include "limb/model/urdf/write_urdf.hpp"
#include "python/src/bind.hpp"
#include "python/src/eigen_conversion.hpp"
#include "python/src/geometry_state.hpp"

namespace limb::python {
namespace {

ReadOptions options_of(const std::vector<std::string>& roots, const std::string& missing_meshes,
                       const std::string& unsupported) {
  ReadOptions options;
  if (missing_meshes != "error" && missing_meshes != "ignore" && missing_meshes != "box") {
    fail("load", "missing_meshes", "'" + missing_meshes + "'", "'error', 'ignore' or 'box'");
  }
  if (missing_meshes == "ignore") options.missing_meshes = MissingMeshes::ignore;
  if (missing_meshes == "box") options.missing_meshes = MissingMeshes::box;
  if (unsupported != "error" && unsupported != "ignore") {
    fail("load", "unsupported", "'" + unsupported + "'", "'error' or 'ignore'");
  }
  if (unsupported == "ignore") options.unsupported = Unsupported::ignore;
  for (const std::string& root : roots) options.roots.emplace_back(root);
  return options;
}

/// Text of a recipe, which has the symbols of closed forms; otherwise empty.
std::string recipe_text(const std::string& path) {
  if (is_builtin(path) || !path.ends_with(".toml")) return {};
  return read_text_file("load", path);
}

void load(Robot* self, const std::string& path, const std::string& base,
          const std::vector<std::string>& roots, const std::string& missing_meshes,
          const std::string& unsupported, bool armature, bool damping, bool friction) {
  const nb::gil_scoped_release released;
  Description<double> description =
      load_description(path, options_of(roots, missing_meshes, unsupported));
  Origin origin{path, recipe_text(path), write_recipe(description), base};
  new (self)
      Robot(std::move(origin), std::move(description), JointEffects{armature, damping, friction});
}

/// The format of a text: "urdf", "mjcf", "recipe", or "" for the one that it looks like.
RobotFormat text_format(const std::string& format, const std::string& text) {
  if (format == "urdf") return RobotFormat::urdf;
  if (format == "mjcf") return RobotFormat::mjcf;
  if (format == "recipe") return RobotFormat::recipe;
  if (!format.empty()) {
    fail("loads", "format", "'" + format + "'", "'urdf', 'mjcf' or 'recipe'");
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first == text.npos) fail("loads", "text", "empty", "a robot");
  return robot_format(text[first] == '<' ? "text.xml" : "text.toml", text);
}

/// @param name  of the text in messages; its folder is searched for meshes.
RobotParts load_text(const std::string& text, const std::string& format, const std::string& name,
                     const std::string& base, const std::vector<std::string>& roots,
                     const std::string& missing_meshes, const std::string& unsupported,
                     bool armature, bool damping, bool friction) {
  const nb::gil_scoped_release released;
  const ReadOptions options = options_of(roots, missing_meshes, unsupported);
  const RobotFormat kind = text_format(format, text);
  Diagnostics diagnostics;
  Description<double> description =
      kind == RobotFormat::urdf   ? parse_urdf(text, name, options, diagnostics)
      : kind == RobotFormat::mjcf ? parse_mjcf(text, name, options, diagnostics)
                                  : parse_recipe<double>(text, name, options, diagnostics);
  throw_first_error("loads", diagnostics);
  std::string recipe = write_recipe(description);
  return {{name, kind == RobotFormat::recipe ? text : std::string(), std::move(recipe), base},
          std::move(description),
          {armature, damping, friction}};
}

using State = std::tuple<std::string, std::string, std::string, std::string, bool, bool, bool,
                         std::vector<GeometryState>>;

State get_state(const Robot& r) {
  const Origin& o = r.origin();
  const JointEffects& e = r.effects();
  return {o.path,     o.text,    o.recipe,   o.base,
          e.armature, e.damping, e.friction, geometry_states(r.description())};
}

Description<double> from_recipe(const std::string& recipe, const std::string& name) {
  Diagnostics diagnostics;
  Description<double> description = parse_recipe<double>(recipe, name, {}, diagnostics);
  throw_first_error("load", diagnostics);
  return description;
}

void set_state(Robot& self, const State& s) {
  const auto& [path, text, recipe, base, armature, damping, friction, geometry] = s;
  Description<double> description = from_recipe(recipe, path);
  set_geometry_states(geometry, description);
  new (&self) Robot({path, text, recipe, base}, std::move(description),
                    JointEffects{armature, damping, friction});
}

nb::object result(const char* name) {
  return nb::module_::import_("limb.results").attr(name);
}

nb::list joints(const Robot& r) {
  nb::list all;
  const nb::object type = result("Joint");
  const auto& rows = r.model().coupling().rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Body<double>& body = r.model().bodies()[i + 1];
    const auto& row = rows[i];
    const bool independent = row.yq >= 0;
    const std::string parent =
        body.parent.value() == 0 ? "world" : r.model().body(body.parent).name;
    all.append(type(body.name, std::string(to_text(body.joint.type())), parent, body.link,
                    independent ? body.joint.nq() : 0, independent ? body.joint.nv() : 0,
                    independent ? row.yq : -1,
                    independent && !row.terms.empty() ? row.terms[0].y : -1));
  }
  return all;
}

nb::object limits(const Robot& r) {
  const double inf = std::numeric_limits<double>::infinity();
  const int nq = r.nq(), n = r.nv();
  std::vector<double> lower(static_cast<std::size_t>(nq), -inf),
      upper(static_cast<std::size_t>(nq), inf), velocity(static_cast<std::size_t>(n), inf),
      effort(static_cast<std::size_t>(n), inf);
  const auto& rows = r.model().coupling().rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Body<double>& body = r.model().bodies()[i + 1];
    if (rows[i].yq < 0) continue;
    for (std::size_t k = 0; k < body.limits.size(); ++k) {
      const auto v = static_cast<std::size_t>(rows[i].terms[k].y);
      if (body.limits[k].velocity) velocity[v] = *body.limits[k].velocity;
      if (body.limits[k].effort) effort[v] = *body.limits[k].effort;
      if (body.joint.nq() != body.joint.nv()) continue;
      const auto q = static_cast<std::size_t>(rows[i].yq) + k;
      if (body.limits[k].lower) lower[q] = *body.limits[k].lower;
      if (body.limits[k].upper) upper[q] = *body.limits[k].upper;
    }
  }
  const nb::object asarray = nb::module_::import_("numpy").attr("array");
  return result("Limits")(asarray(lower), asarray(upper), asarray(velocity), asarray(effort));
}

std::vector<std::string> frames(const Robot& r) {
  std::vector<std::string> names;
  for (const auto& frame : r.model().frames()) names.push_back(frame.name);
  return names;
}

nb::list findings(const Diagnostics& diagnostics) {
  nb::list all;
  const nb::object type = result("Finding");
  for (const Diagnostic& d : diagnostics) {
    all.append(type(to_text(d.severity), d.rule, d.source.file, d.source.line, d.message, d.reason,
                    d.fix));
  }
  return all;
}

nb::list check_file(const std::string& path, const std::vector<std::string>& roots,
                    const std::string& missing_meshes, const std::string& unsupported) {
  Diagnostics diagnostics;
  {
    const nb::gil_scoped_release released;
    const Description<double> description =
        parse_robot(path, options_of(roots, missing_meshes, unsupported), diagnostics);
    const Diagnostics rules = check_robot(description, read_mesh_boxes(description));
    diagnostics.insert(diagnostics.end(), rules.begin(), rules.end());
  }
  return findings(diagnostics);
}

nb::object prove_robot(const Robot& r, int states, std::uint64_t seed) {
  std::vector<ProofRow> rows;
  {
    const nb::gil_scoped_release released;
    rows = prove(r.model(), {.states = states, .seed = seed, .progress = {}});
  }
  nb::list all;
  const nb::object type = result("ProofRow");
  for (const ProofRow& row : rows) {
    all.append(type(row.statement, row.worst, row.tolerance, row.holds()));
  }
  return result("Proof")(all);
}

/// The robot with a changed description. It is no longer the one of its file.
RobotParts changed(const Robot& r, Description<double> description) {
  std::string recipe = write_recipe(description);
  return {{description.name, {}, std::move(recipe), r.origin().base},
          std::move(description),
          r.effects()};
}

Inertia<double> inertia_of(const char* call, double mass, nb::handle com, nb::handle tensor) {
  const auto read = [&](nb::handle x, const char* name, int size) {
    std::vector<double> numbers;
    const nb::object flat = nb::module_::import_("numpy")
                                .attr("asarray")(x, "float64")
                                .attr("ravel")()
                                .attr("tolist")();
    if (!nb::try_cast(flat, numbers) || static_cast<int>(numbers.size()) != size) {
      fail(call, name, std::to_string(numbers.size()) + " numbers", std::to_string(size));
    }
    return numbers;
  };
  const auto c = read(com, "com", 3), t = read(tensor, "tensor", 9);
  Matrix3<double> I;
  for (int i = 0; i < 9; ++i) I(i / 3, i % 3) = t[static_cast<std::size_t>(i)];
  return Inertia<double>::from_com(mass, {c[0], c[1], c[2]}, I);
}

}  // namespace

void bind_robot(nb::module_& m, RobotClass& c) {
  m.def("builtin_names", &builtin_names, Doc("Names of the built-in robots."));
  m.def("check_file", check_file, "path"_a, "roots"_a = std::vector<std::string>(),
        "missing_meshes"_a = "error", "unsupported"_a = "error");
  m.def("set_threads", &set_thread_count, "threads"_a,
        Doc("Sets the number of threads for batches; 0: all cores."
            "\n\nArgs:\n    threads: Number of threads; 0: all cores."));
  m.def("threads", &thread_count, Doc("Number of threads for batches; 0: all cores."));

  c.def("__init__", load, "path"_a, "base"_a = "described", nb::kw_only(),
        "roots"_a = std::vector<std::string>(), "missing_meshes"_a = "error",
        "unsupported"_a = "error", "armature"_a = true, "damping"_a = true, "friction"_a = true,
        nb::sig("def __init__(self, path: str, base: Base = 'described', *, roots: Sequence[str] = "
                "[], missing_meshes: MissingMeshes = 'error', unsupported: Unsupported = 'error', "
                "armature: bool = True, damping: bool = True, friction: bool = True) -> None"),
        Doc("The same as `limb.load`, which also takes `pathlib` paths.\n\n"
            "Args:\n"
            "    path: The file, or `builtin:NAME`.\n"
            "    base: \"fixed\" to the world, \"free\", or as \"described\" in the file.\n"
            "    roots: Folders in which package:// and relative paths are searched.\n"
            "    missing_meshes: What to do about a mesh that a mass needs and that is missing.\n"
            "    unsupported: What to do about elements of MJCF that limb does not model.\n"
            "    armature: Whether to include the inertia of rotors.\n"
            "    damping: Whether to include viscous friction of the joints.\n"
            "    friction: Whether to include Coulomb friction."));
  c.def("__getstate__", get_state, nb::sig("def __getstate__(self) -> tuple"));
  c.def("__setstate__", set_state, nb::sig("def __setstate__(self, state: tuple) -> None"));
  nb::class_<RobotParts>(m, "RobotParts", "What a robot is made of; see Robot.__setstate__.");
  c.def(
      "__setstate__",
      [](Robot& self, const RobotParts& parts) {
        new (&self) Robot(parts.origin, parts.description, parts.effects);
      },
      nb::sig("def __setstate__(self, state: RobotParts) -> None"));
  m.def("load_text", load_text, "text"_a, "format"_a, "name"_a, "base"_a, "roots"_a,
        "missing_meshes"_a, "unsupported"_a, "armature"_a, "damping"_a, "friction"_a);
  c.def_prop_ro(
      "name", [](const Robot& r) { return r.model().name(); }, Doc("Name of the robot."));
  c.def_prop_ro(
      "path", [](const Robot& r) { return r.origin().path; }, Doc("Path it was loaded from."));
  c.def_prop_ro(
      "base", [](const Robot& r) { return r.origin().base; },
      Doc("\"described\", \"fixed\" or \"free\", as given to `load`."));
  c.def_prop_ro("nq", &Robot::nq, Doc("Size of a configuration q."));
  c.def_prop_ro("nv", &Robot::nv, Doc("Size of velocities, accelerations and torques."));
  c.def_prop_ro(
      "mass", [](const Robot& r) { return r.model().total_mass(); },
      Doc("kg; without links welded to the world."));
  c.def_prop_ro(
      "_gravity_vector",
      [](const Robot& r) {
        const auto& g = r.model().gravity();
        return std::make_tuple(g[0], g[1], g[2]);
      },
      Doc("m/s^2, in world axes."));
  c.def_prop_ro("joints", joints, nb::sig("def joints(self) -> list[Joint]"),
                Doc("The joints, parents first."));
  c.def_prop_ro("frames", frames, Doc("Names of links and sites."));
  c.def_prop_ro("limits", limits, nb::sig("def limits(self) -> Limits"),
                Doc("Limits of positions, velocities and torques; infinite if there is no limit."));
  c.def_prop_ro(
      "motors", [](const Robot& r) { return motor_count(r.model()); },
      Doc("Number of actuated velocities."));
  c.def_prop_ro(
      "loops", [](const Robot& r) { return static_cast<int>(r.model().loops().size()); },
      Doc("Number of closed loops of the model, polynomial couplings included."));
  c.def_prop_ro(
      "effects",
      [](const Robot& r) {
        const JointEffects& e = r.effects();
        return std::map<std::string, bool>{
            {"armature", e.armature}, {"damping", e.damping}, {"friction", e.friction}};
      },
      Doc("Which effects of the drives are included."));
  c.def("prove", prove_robot, nb::kw_only(), "states"_a = 20, "seed"_a = 1,
        nb::sig("def prove(self, *, states: int = 20, seed: int = 1) -> Proof"),
        Doc("Runs every formulation of the dynamics on this robot and compares them."
            "\n\nArgs:\n    states: Number of random states."));
  c.def(
      "to_recipe", [](const Robot& r) { return r.origin().recipe; },
      Doc("The robot as a TOML recipe with exact numbers."));
  c.def(
      "to_urdf",
      [](const Robot& r) {
        Diagnostics lost;
        return write_urdf(r.description(), lost);
      },
      Doc("The robot as URDF text."));
  c.def("_recipe_source", [](const Robot& r) { return r.origin().text; });
  c.def(
      "_lock_joints",
      [](const Robot& r, const std::map<std::string, std::vector<double>>& held) {
        return changed(r, lock_joints(r.description(), held));
      },
      "held"_a);
  c.def(
      "_attach_payload",
      [](const Robot& r, const std::string& link, double mass, nb::handle com, nb::handle tensor) {
        return changed(r, attach_payload(r.description(), link,
                                         inertia_of("attach_payload", mass, com, tensor)));
      },
      "link"_a, "mass"_a, "com"_a, "tensor"_a);
  c.def(
      "_add_frame",
      [](const Robot& r, const std::string& name, const std::string& parent, nb::handle pose) {
        const Dense X = matrix_of("add_frame", "pose", pose, 4, 4);
        if (X.row(3) != Eigen::RowVector4d(0, 0, 0, 1)) {
          fail("add_frame", "last row of the pose",
               to_text(std::vector<double>{X(3, 0), X(3, 1), X(3, 2), X(3, 3)}), "[0, 0, 0, 1]");
        }
        return changed(r, add_frame(r.description(), name, parent,
                                    {X.topLeftCorner<3, 3>(), X.topRightCorner<3, 1>()}));
      },
      "name"_a, "parent"_a, "pose"_a);
  c.def(
      "_with_gravity",
      [](const Robot& r, nb::handle gravity) {
        return changed(
            r, with_gravity(r.description(), vector_of("with_gravity", "gravity", gravity, 3)));
      },
      "gravity"_a);
}

}  // namespace limb::python
