#include "limb/sim/contact/shape.hpp"

#include <algorithm>

#include "limb/base/check.hpp"
#include "limb/math/check.hpp"

namespace limb {

void check_surface(const char* call, const ContactSurface& surface) {
  if (!(surface.friction >= 0 && std::isfinite(surface.friction))) {
    fail(call, "friction", to_text(surface.friction), "0 or more");
  }
  if (!(surface.restitution >= 0 && surface.restitution <= 1)) {
    fail(call, "restitution", to_text(surface.restitution), "0 to 1");
  }
  check_not_negative(call, "torsion", surface.torsion);
  check_not_negative(call, "rolling", surface.rolling);
}

ContactShape make_foot(const Model<double>& model, FrameId frame, double radius) {
  check_not_negative("make_foot", "radius", radius);
  if (frame.value() < 0 || frame.value() >= static_cast<int>(model.frames().size())) {
    fail("make_foot", "frame", std::to_string(frame.value()), "a frame of the model");
  }
  const Frame<double>& f = model.frame(frame);
  if (f.body.value() == 0) {
    fail("make_foot", "frame", "'" + f.name + "', fixed to the world", "a frame of a moving body");
  }
  ContactShape shape;
  shape.name = f.name;
  shape.body = f.body;
  shape.X_BS = f.X_BF;
  shape.size[0] = radius;
  return shape;
}

std::optional<ContactShape::Kind> contact_kind(Geometry::Shape shape) {
  switch (shape) {
    case Geometry::Shape::sphere:
      return ContactShape::Kind::sphere;
    case Geometry::Shape::capsule:
      return ContactShape::Kind::capsule;
    case Geometry::Shape::cylinder:
      return ContactShape::Kind::cylinder;
    case Geometry::Shape::box:
      return ContactShape::Kind::box;
    case Geometry::Shape::ellipsoid:
      return ContactShape::Kind::ellipsoid;
    case Geometry::Shape::mesh:
      return ContactShape::Kind::mesh;
    default:
      return std::nullopt;
  }
}

std::optional<ContactShape> contact_shape(const Geometry& geometry, const Pose<double>& X_BG,
                                          HullLibrary& hulls, std::string* why) {
  const auto kind = contact_kind(geometry.shape);
  if (!kind) {
    if (why != nullptr) *why = "a plane does not move";
    return std::nullopt;
  }
  ContactShape shape;
  shape.kind = *kind;
  shape.X_BS = X_BG;
  shape.size = geometry.size;
  if (*kind != ContactShape::Kind::mesh) return shape;
  shape.hull = hulls.find(geometry, why);
  if (shape.hull == nullptr) return std::nullopt;
  shape.X_BS.p = X_BG * shape.hull->centre;
  shape.size = shape.hull->size;
  return shape;
}

std::vector<ContactShape> shapes_of(const Description<double>& description,
                                    const Model<double>& model,
                                    std::vector<std::string>* left_out) {
  std::vector<ContactShape> shapes;
  HullLibrary hulls;
  for (const LinkDescription<double>& link : description.links) {
    if (link.name == kWorldLink) continue;
    const Frame<double>& frame = model.frame(model.find_frame(link.name));
    if (frame.body.value() == 0) continue;
    const auto collides = [](const Geometry& g) { return g.role == Geometry::Role::collision; };
    const bool collision = std::any_of(link.geometry.begin(), link.geometry.end(), collides);
    for (const Geometry& g : link.geometry) {
      if (collision && !collides(g)) continue;
      auto shape = contact_shape(g, frame.X_BF * g.X_LG, hulls);
      if (!shape) {
        if (left_out != nullptr) left_out->push_back(link.name);
        continue;
      }
      shape->name = link.name;
      shape->body = frame.body;
      shapes.push_back(std::move(*shape));
    }
  }
  return shapes;
}

}  // namespace limb
