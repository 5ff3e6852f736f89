#include <nanobind/stl/list.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "python/src/matrix_caster.hpp"
#include "python/src/simulation.hpp"

/// Ground and contact shapes of limb.sim.
namespace limb::python {
namespace {

using M4 = Matrix4<double>;
using V3 = Vector3<double>;
using V2 = Vector2<double>;

constexpr const char* kKinds[] = {"sphere", "capsule", "cylinder", "box", "ellipsoid", "mesh"};

Pose<double> pose_of(const char* call, const char* name, nb::handle X) {
  if (X.is_none()) return {};
  const Dense matrix = matrix_of(call, name, X, 4, 4);
  return Pose<double>::from_matrix(M4(matrix));
}

/// Two numbers, or one for both.
V2 pair_of(const char* call, const char* name, nb::handle value) {
  return read_vector(call, name, value, 2);
}

void add_height_field(Ground& ground, nb::handle heights, nb::handle cell, nb::handle corner,
                      double friction, double restitution) {
  constexpr const char* kCall = "Ground.add_height_field";
  Dense h = matrix_of(kCall, "heights", heights, -1, -1);
  const V2 edges = pair_of(kCall, "cell", cell);
  const V2 extent(double(h.rows() - 1) * edges[0], double(h.cols() - 1) * edges[1]);
  const V2 origin = corner.is_none() ? V2(-extent / 2) : V2(vector_of(kCall, "corner", corner, 2));
  ground.add_height_field(origin, edges, std::move(h), {friction, restitution});
}

// Solids as tuples of numbers, for pickling.
nb::tuple state_of(const Ground& ground) {
  nb::list planes, boxes, fields;
  for (const auto& s : ground.half_spaces()) {
    planes.append(nb::make_tuple(s.normal, s.level, s.surface.friction, s.surface.restitution));
  }
  for (const auto& s : ground.boxes()) {
    boxes.append(nb::make_tuple(M4(s.X_WG.matrix()), V3(2 * s.half), s.surface.friction,
                                s.surface.restitution));
  }
  for (const auto& s : ground.height_fields()) {
    fields.append(nb::make_tuple(array_of(s.heights), s.cell, s.corner, s.surface.friction,
                                 s.surface.restitution));
  }
  return nb::make_tuple(planes, boxes, fields);
}

void set_state(Ground& ground, const nb::tuple& state) {
  new (&ground) Ground();
  for (nb::handle s : state[0]) {
    ground.add_half_space(nb::cast<V3>(s[0]), nb::cast<double>(s[1]),
                          {nb::cast<double>(s[2]), nb::cast<double>(s[3])});
  }
  for (nb::handle s : state[1]) {
    ground.add_box(Pose<double>::from_matrix(nb::cast<M4>(s[0])), nb::cast<V3>(s[1]),
                   {nb::cast<double>(s[2]), nb::cast<double>(s[3])});
  }
  for (nb::handle s : state[2]) {
    add_height_field(ground, s[0], s[1], s[2], nb::cast<double>(s[3]), nb::cast<double>(s[4]));
  }
}

std::string text_of(const Ground& ground) {
  return "Ground(" + std::to_string(ground.half_spaces().size()) + " half spaces, " +
         std::to_string(ground.boxes().size()) + " boxes, " +
         std::to_string(ground.height_fields().size()) + " height fields)";
}

void set_surface(const char* call, std::optional<double> friction,
                 std::optional<double> restitution, ContactShape& shape) {
  shape.own_surface = friction || restitution;
  if (friction) shape.surface.friction = *friction;
  if (restitution) shape.surface.restitution = *restitution;
  check_surface(call, shape.surface);
}

ContactShape make_shape(const Robot& robot, const std::string& frame, const std::string& kind,
                        nb::handle size, nb::handle pose, std::optional<double> friction,
                        std::optional<double> restitution) {
  constexpr const char* kCall = "ContactShape";
  ContactShape shape = make_foot(robot.model(), robot.frame(kCall, frame), 0);
  shape.kind = static_cast<ContactShape::Kind>(
      choice_of(kCall, "kind", kind, {kKinds[0], kKinds[1], kKinds[2], kKinds[3], kKinds[4]}));
  using Kind = ContactShape::Kind;
  const int numbers = shape.kind == Kind::sphere                                    ? 1
                      : shape.kind == Kind::capsule || shape.kind == Kind::cylinder ? 2
                                                                                    : 3;
  const Dense given = read_matrix(kCall, "size", size);
  if (given.cols() != 1 || given.rows() != numbers) {
    fail(kCall, "size", nb::cast<std::string>(nb::repr(size)),
         std::to_string(numbers) + " number" + (numbers > 1 ? "s" : "") + " for a " + kind);
  }
  shape.size.head(numbers) = given.col(0);
  for (int i = 0; i < numbers; ++i) check_not_negative(kCall, "size", shape.size[i]);
  shape.X_BS = shape.X_BS * pose_of(kCall, "pose", pose);
  set_surface(kCall, friction, restitution, shape);
  return shape;
}

std::vector<ContactShape> contact_shapes(const Robot& robot) {
  std::vector<std::string> left_out;
  auto shapes = shapes_of(robot.description(), robot.model(), &left_out);
  if (!left_out.empty()) {
    std::string all;
    for (const std::string& name : left_out) all += (all.empty() ? "'" : ", '") + name + "'";
    const std::string text =
        "contact_shapes: planes and meshes that cannot be read do not collide; left out: " + all;
    if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 2) != 0) throw nb::python_error();
  }
  return shapes;
}

using ShapeState = std::tuple<std::string, int, int, M4, V3, double, double, bool, std::vector<V3>>;
ShapeState state_of(const ContactShape& s) {
  std::vector<V3> vertices;
  if (s.hull != nullptr) {
    for (const auto& vertex : s.hull->vertices.colwise()) vertices.emplace_back(vertex);
  }
  return {s.name,
          s.body.value(),
          static_cast<int>(s.kind),
          s.X_BS.matrix(),
          s.size,
          s.surface.friction,
          s.surface.restitution,
          s.own_surface,
          std::move(vertices)};
}

std::optional<double> if_own_surface(const ContactShape& s, double value) {
  return s.own_surface ? std::optional(value) : std::nullopt;
}

void bind_shape(nb::module_& m) {
  nb::class_<ContactShape>(m, "ContactShape", "A solid of the robot that can make contact.")
      .def(
          "__init__",
          [](ContactShape* self, const Robot& robot, const std::string& frame,
             const std::string& kind, nb::handle size, nb::handle pose,
             std::optional<double> friction, std::optional<double> restitution) {
            new (self)
                ContactShape(make_shape(robot, frame, kind, size, pose, friction, restitution));
          },
          "robot"_a, "frame"_a, "kind"_a = "sphere", "size"_a = 0.0, nb::kw_only(),
          "pose"_a = nb::none(), "friction"_a = nb::none(), "restitution"_a = nb::none(),
          nb::sig("def __init__(self, robot: Robot, frame: str, kind: ShapeKind = 'sphere', size: "
                  "ArrayLike = 0.0, *, pose: ArrayLike | None = None, friction: float | None = "
                  "None, restitution: float | None = None) -> None"),
          Doc("Fixed to a frame; pose (4, 4) in that frame. size, m: sphere: radius (0: a point); "
              "capsule, cylinder: radius, length along z; box: edges; ellipsoid: semi-axes. "
              "friction, "
              "restitution: replace those of the ground."
              "\n\nArgs:\n    kind: \"sphere\", \"capsule\", \"cylinder\", \"box\" or "
              "\"ellipsoid\".\n    size: m, as many numbers as the kind has.\n    pose: Pose in "
              "the frame, `(4, 4)`; None: the identity.\n    friction: Coulomb coefficient; None: "
              "that of the ground.\n    restitution: None: that of the ground."))
      .def_ro("name", &ContactShape::name, Doc("Name of the frame or link that it belongs to."))
      .def_prop_ro(
          "kind", [](const ContactShape& s) { return kKinds[static_cast<int>(s.kind)]; },
          nb::sig("def kind(self) -> ShapeKind"), Doc("Kind of shape."))
      .def_ro("size", &ContactShape::size, Doc("Its size, m."))
      .def_prop_ro(
          "friction", [](const ContactShape& s) { return if_own_surface(s, s.surface.friction); },
          Doc("Coulomb coefficient; None: that of the ground."))
      .def_prop_ro(
          "restitution",
          [](const ContactShape& s) { return if_own_surface(s, s.surface.restitution); },
          Doc("None: that of the ground."))
      .def("__repr__",
           [](const ContactShape& s) {
             return std::string("ContactShape('") + s.name + "', " +
                    kKinds[static_cast<int>(s.kind)] + ")";
           })
      .def("__getstate__", [](const ContactShape& s) { return state_of(s); })
      .def("__setstate__", [](ContactShape& s, const ShapeState& state) {
        const auto& [name, body, kind, X, size, friction, restitution, own_surface, vertices] =
            state;
        std::shared_ptr<const MeshHull> hull;
        if (!vertices.empty()) hull = std::make_shared<MeshHull>(make_hull(vertices));
        new (&s) ContactShape{name,
                              BodyId(body),
                              static_cast<ContactShape::Kind>(kind),
                              Pose<double>::from_matrix(X),
                              size,
                              {friction, restitution},
                              own_surface,
                              std::move(hull)};
      });
  m.def("contact_shapes", &contact_shapes, "robot"_a,
        Doc("The solids of a robot: collision shapes, or visual shapes for links without any."));
}

// Parts of signatures.
#define LIMB_SURFACE "friction: float = 0.8, restitution: float = 0.0"

}  // namespace

void bind_ground(nb::module_& m) {
  nb::class_<Ground>(m, "Ground", "Fixed solids: half spaces, boxes, height fields.")
      .def(nb::init<>(), Doc("Empty."))
      .def_static(
          "plane",
          [](double height, double friction, double restitution) {
            return Ground::plane({friction, restitution}, height);
          },
          nb::kw_only(), "height"_a = 0.0, "friction"_a = 0.8, "restitution"_a = 0.0,
          Doc("Half space below a height, m."
              "\n\nArgs:\n    height: m.\n    friction: Coulomb coefficient.\n    restitution: "
              "Ratio of the normal speeds after and before an impact, 0 to 1."))
      .def_static(
          "slope",
          [](double angle, nb::handle direction, double friction, double restitution) {
            return Ground::slope(angle, {friction, restitution},
                                 V2(vector_of("Ground.slope", "direction", direction, 2)));
          },
          "angle"_a, nb::kw_only(), "direction"_a = nb::make_tuple(1, 0), "friction"_a = 0.8,
          "restitution"_a = 0.0,
          nb::sig("def slope(angle: float, *, direction: ArrayLike = (1, 0), " LIMB_SURFACE
                  ") -> Ground"),
          Doc("A plane through the origin that descends by an angle (rad) along a direction (x, "
              "y)."
              "\n\nArgs:\n    angle: rad.\n    direction: Horizontal direction of descent, "
              "`(2,)`.\n    friction: Coulomb coefficient.\n    restitution: Ratio of the normal "
              "speeds after and before an impact, 0 to 1."))
      .def_static(
          "stairs",
          [](int count, double rise, double run, double width, double begin, double friction,
             double restitution) {
            return Ground::stairs({count, rise, run, width, begin}, {friction, restitution});
          },
          nb::kw_only(), "count"_a = 5, "rise"_a = 0.15, "run"_a = 0.3, "width"_a = 2.0,
          "begin"_a = 0.5, "friction"_a = 0.8, "restitution"_a = 0.0,
          Doc("Stairs upwards along x on a plane, m; begin: x of the first riser."
              "\n\nArgs:\n    count: Number of steps.\n    rise: Height of a step, m.\n    run: "
              "Depth of a step, m.\n    width: Width along y, m.\n    begin: x of the first riser, "
              "m.\n    friction: Coulomb coefficient.\n    restitution: Ratio of the normal speeds "
              "after and before an impact, 0 to 1."))
      .def(
          "add_half_space",
          [](Ground& g, nb::handle normal, double level, double friction, double restitution) {
            g.add_half_space(V3(vector_of("Ground.add_half_space", "normal", normal, 3)), level,
                             {friction, restitution});
          },
          "normal"_a, "level"_a = 0.0, nb::kw_only(), "friction"_a = 0.8, "restitution"_a = 0.0,
          nb::sig("def add_half_space(self, normal: ArrayLike, level: float = 0.0, *, " LIMB_SURFACE
                  ") -> None"),
          Doc("Solid where normal . p <= level; the normal is normalised."
              "\n\nArgs:\n    normal: Outward normal, `(3,)`.\n    level: m.\n    friction: "
              "Coulomb coefficient.\n    restitution: Ratio of the normal speeds after and before "
              "an impact, 0 to 1."))
      .def(
          "add_box",
          [](Ground& g, nb::handle size, nb::handle position, nb::handle pose, double friction,
             double restitution) {
            constexpr const char* kCall = "Ground.add_box";
            if (!position.is_none() && !pose.is_none()) {
              fail(kCall, "position", "given with pose", "only one of them");
            }
            Pose<double> X = pose_of(kCall, "pose", pose);
            if (!position.is_none()) X.p = vector_of(kCall, "position", position, 3);
            g.add_box(X, V3(vector_of(kCall, "size", size, 3)), {friction, restitution});
          },
          "size"_a, "position"_a = nb::none(), nb::kw_only(), "pose"_a = nb::none(),
          "friction"_a = 0.8, "restitution"_a = 0.0,
          nb::sig("def add_box(self, size: ArrayLike, position: ArrayLike | None = None, *, pose: "
                  "ArrayLike | None = None, " LIMB_SURFACE ") -> None"),
          Doc("Edge lengths, m, and the centre: a position, or a pose (4, 4)."
              "\n\nArgs:\n    size: Edges, `(3,)`, m.\n    position: Centre, `(3,)`, m.\n    pose: "
              "Pose of the centre, `(4, 4)`, instead of a position.\n    friction: Coulomb "
              "coefficient.\n    restitution: Ratio of the normal speeds after and before an "
              "impact, 0 to 1."))
      .def("add_height_field", &add_height_field, "heights"_a, nb::kw_only(), "cell"_a = 0.1,
           "corner"_a = nb::none(), "friction"_a = 0.8, "restitution"_a = 0.0,
           nb::sig("def add_height_field(self, heights: ArrayLike, *, cell: ArrayLike = 0.1, "
                   "corner: ArrayLike | None = None, " LIMB_SURFACE ") -> None"),
           Doc("heights[i, j], m, at corner + (i cell_x, j cell_y), two triangles per cell; solid "
               "below. corner: x, y of heights[0, 0]; None: centred at the origin."
               "\n\nArgs:\n    heights: `(n, m)`, m.\n    cell: Size of a cell, a number or "
               "`(2,)`, m.\n    corner: x, y of heights[0, 0], `(2,)`, m; None: centred at the "
               "origin.\n    friction: Coulomb coefficient.\n    restitution: Ratio of the normal "
               "speeds after and before an impact, 0 to 1."))
      .def("__len__", &Ground::size)
      .def("__repr__", &text_of)
      .def(
          "__getstate__", [](const Ground& g) { return state_of(g); },
          nb::sig("def __getstate__(self) -> tuple"))
      .def("__setstate__", &set_state, nb::sig("def __setstate__(self, state: tuple, /) -> None"));
  bind_shape(m);
}

void WorldCore::set_contact(const Ground& ground, std::optional<std::vector<ContactShape>> shapes,
                            nb::handle feet, double radius, const ContactParameters& parameters) {
  constexpr const char* kCall = "World.set_contact";
  const BusyGuard busy_now(kCall, busy);
  if (simulations > 0) {
    throw Error(std::string(kCall) +
                ": a simulation of this world exists already; set the ground before");
  }
  check_parameters(kCall, parameters);
  ContactSetup setup{ground, {}, parameters};
  if (shapes) setup.shapes = std::move(*shapes);
  if (nb::isinstance<nb::str>(feet)) fail(kCall, "feet", "a string", "a sequence of names");
  const bool radii = nb::isinstance<nb::dict>(feet);
  if (!feet.is_none()) {
    for (nb::handle name : feet) {
      const double foot_radius = radii ? nb::cast<double>(feet[name]) : radius;
      check_not_negative(kCall, "radius", foot_radius);
      setup.shapes.push_back(
          make_foot(model(), robot_.frame(kCall, nb::cast<std::string>(name)), foot_radius));
    }
  }
  if (!shapes && feet.is_none()) setup.shapes = contact_shapes(robot_);
  if (setup.shapes.empty()) {
    throw Error(std::string(kCall) +
                ": the robot has no solids that can make contact; name its feet (feet=[...])");
  }
  if (ground.size() == 0 && !parameters.self_contact) {
    fail(kCall, "ground", "empty", "solids, or self_contact");
  }
  world.set_contact(std::move(setup));
}

}  // namespace limb::python
