#include "limb/legged/body_end.hpp"

#include <algorithm>
#include <cmath>

namespace limb {
namespace {

using Shape = Geometry::Shape;

const char* name_of(Shape shape) {
  switch (shape) {
    case Shape::box:
      return "box";
    case Shape::cylinder:
      return "cylinder";
    case Shape::sphere:
      return "sphere";
    case Shape::capsule:
      return "capsule";
    case Shape::ellipsoid:
      return "ellipsoid";
    case Shape::plane:
      return "plane";
    case Shape::mesh:
      return "mesh";
  }
  return "shape";
}

/// Distances from the axis of a body's joint, or from its origin if the joint has no single axis.
class JointAxis {
 public:
  explicit JointAxis(const Body<double>& body) {
    const JointType type = body.joint.type();
    if (type == JointType::revolute || type == JointType::continuous) axis_ = body.joint.axis();
  }
  double distance(const Vector3<double>& p_B) const {
    return (p_B - p_B.dot(axis_) * axis_).norm();
  }
  bool is_parallel(const Vector3<double>& d_B) const { return std::abs(d_B.dot(axis_)) > 0.7; }

 private:
  Vector3<double> axis_ = Vector3<double>::Zero();
};

/// Keeps the candidate whose surface is farthest away.
struct Farthest {
  JointAxis axis;
  double reach = 0;
  Vector3<double> p = Vector3<double>::Zero();
  std::string source = {}, frame = {};

  void add(const Vector3<double>& p_B, double radius, std::string from, std::string at = {}) {
    const double r = axis.distance(p_B) + radius;
    if (!(r > reach)) return;
    reach = r;
    p = p_B;
    source = std::move(from);
    frame = std::move(at);
  }

  void add(const Geometry& g, const Pose<double>& X_BL) {
    const Pose<double> X_BG = X_BL * g.X_LG;
    const std::string from =
        std::string(g.role == Geometry::Role::collision ? "collision " : "visual ") +
        name_of(g.shape);
    const auto along = [&](int i, double length) {
      for (const double side : {-1.0, 1.0}) add(X_BG.p + side * length * X_BG.R.col(i), 0, from);
    };
    switch (g.shape) {
      case Shape::sphere:
        add(X_BG.p, g.size[0], from);
        break;
      case Shape::capsule:
        for (const double side : {-0.5, 0.5})
          add(X_BG.p + side * g.size[1] * X_BG.R.col(2), g.size[0], from);
        break;
      case Shape::cylinder:
        if (axis.is_parallel(X_BG.R.col(2))) {
          add(X_BG.p, g.size[0], from);
        } else {
          along(2, g.size[1] / 2);
        }
        break;
      case Shape::box:
        for (int i = 0; i < 3; ++i) along(i, g.size[i] / 2);
        break;
      case Shape::ellipsoid:
        for (int i = 0; i < 3; ++i) along(i, g.size[i]);
        break;
      case Shape::mesh:
      case Shape::plane:
        break;
    }
  }
};

}  // namespace

std::optional<BodyEnd> body_end(const Description<double>& robot, const Model<double>& model,
                                BodyId body) {
  const JointAxis axis(model.body(body));
  Farthest collision{axis}, visual{axis}, mesh{axis}, mesh_link{axis}, fixed{axis};
  for (const Frame<double>& frame : model.frames()) {
    if (frame.body != body) continue;
    fixed.add(frame.X_BF.p, 0, "last fixed frame", frame.name);
    if (frame.kind != Frame<double>::Kind::link) continue;
    const auto link = std::find_if(robot.links.begin(), robot.links.end(),
                                   [&](const auto& l) { return l.name == frame.name; });
    if (link == robot.links.end()) continue;
    for (const Geometry& g : link->geometry) {
      if (g.shape == Shape::mesh) {
        mesh.add((frame.X_BF * g.X_LG).p, 0, "frame of mesh");
        mesh_link.add(frame.X_BF.p, 0, "fixed frame with mesh", frame.name);
      } else {
        (g.role == Geometry::Role::collision ? collision : visual).add(g, frame.X_BF);
      }
    }
  }
  // Shapes of the shank alone, with a foot that is a mesh on a link of its own.
  constexpr double kClearly = 1.15;
  const Farthest* best = collision.reach > 0 ? &collision : &visual;
  if (mesh_link.reach > kClearly * best->reach) best = &mesh_link;
  for (const Farthest* other : {&fixed, &mesh}) {
    if (!(best->reach > 0)) best = other;
  }
  if (!(best->reach > 1e-3)) return std::nullopt;
  return BodyEnd{best->p, best->source, best->frame, best->reach};
}

}  // namespace limb
