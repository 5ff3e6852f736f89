#include <fmt/format.h>

#include "limb/math/euler.hpp"
#include "limb/math/quaternion.hpp"
#include "limb/model/urdf/read_urdf_elements.hpp"

namespace limb::urdf {
namespace {

using Severity = Diagnostic::Severity;

Vector3<double> as_vector(const std::vector<double>& x) {
  return {x[0], x[1], x[2]};
}

InertialDescription<double> read_inertial(ReadContext& context, const Element& element,
                                          const std::string& link) {
  context.xml.expect_attributes(element, {});
  context.xml.expect_children(element, {"origin", "mass", "inertia"});
  InertialDescription<double> inertial;
  inertial.source = context.file.source(element);
  inertial.X_LI = context.origin(element);
  if (const Element* mass = context.required_child(element, "mass", link)) {
    context.xml.expect_attributes(*mass, {"value"});
    inertial.mass = context.required_number(*mass, "value");
  }
  if (const Element* tensor = context.required_child(element, "inertia", link)) {
    context.xml.expect_attributes(*tensor, {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"});
    const auto entry = [&](const char* name) { return context.required_number(*tensor, name); };
    inertial.tensor = tensor_from_entries(entry("ixx"), entry("iyy"), entry("izz"), entry("ixy"),
                                          entry("ixz"), entry("iyz"));
  }
  return inertial;
}

void read_mesh(ReadContext& context, const Element& element, Geometry& geometry) {
  context.xml.expect_attributes(element, {"filename", "scale"});
  geometry.mesh_uri = context.xml.required(element, "filename");
  if (const auto scale = context.xml.numbers(element, "scale", 3)) {
    geometry.mesh_scale = as_vector(*scale);
  }
  if (geometry.mesh_uri.empty()) return;
  const bool reported = context.meshes.knows(geometry.mesh_uri);
  const MeshPath& mesh = context.meshes.find(geometry.mesh_uri);
  geometry.mesh_path = mesh.path;
  if (reported) return;
  if (const auto diagnostic = mesh_diagnostic(mesh, geometry.mesh_uri, {})) {
    context.xml.add(diagnostic->severity, element, diagnostic->rule, diagnostic->message,
                    diagnostic->reason, diagnostic->fix);
  }
}

/// The shape below <geometry>; false and an error if it is unknown.
bool read_shape(ReadContext& context, const Element& element, const std::string& link,
                Geometry& geometry) {
  using Shape = Geometry::Shape;
  XmlReader& xml = context.xml;
  const Element* shape = element.FirstChildElement();
  if (shape == nullptr) {
    xml.add(Severity::error, element, "element-missing",
            fmt::format("{}: <geometry> has no shape", link),
            "a shape without its kind has no size",
            "write one of box, cylinder, sphere, capsule, mesh");
    return false;
  }
  const std::string_view kind = shape->Name();
  if (kind == "box") {
    xml.expect_attributes(*shape, {"size"});
    geometry.shape = Shape::box;
    if (!xml.required(*shape, "size").empty()) {
      if (const auto size = xml.numbers(*shape, "size", 3)) geometry.size = as_vector(*size);
    }
  } else if (kind == "sphere") {
    xml.expect_attributes(*shape, {"radius"});
    geometry.shape = Shape::sphere;
    geometry.size[0] = context.required_number(*shape, "radius");
  } else if (kind == "cylinder" || kind == "capsule") {
    xml.expect_attributes(*shape, {"radius", "length"});
    geometry.shape = kind == "capsule" ? Shape::capsule : Shape::cylinder;
    geometry.size[0] = context.required_number(*shape, "radius");
    geometry.size[1] = context.required_number(*shape, "length");
  } else if (kind == "mesh") {
    geometry.shape = Shape::mesh;
    read_mesh(context, *shape, geometry);
  } else {
    xml.add(Severity::warning, *shape, "geometry-unknown",
            fmt::format("{}: unknown shape '{}', expected box, cylinder, sphere, capsule or mesh",
                        link, shorten(kind)),
            "the shape is left out: nothing touches it");
    return false;
  }
  return true;
}

void read_geometry(ReadContext& context, const Element& element, LinkDescription<double>& link) {
  context.xml.expect_attributes(element, {"name", "group", "concave"});
  context.xml.expect_children(element, {"origin", "geometry", "material"});
  const std::string title = fmt::format("link '{}'", shorten(link.name));
  const Element* shape = context.required_child(element, "geometry", title);
  Geometry geometry;
  geometry.role = std::string_view(element.Name()) == "visual" ? Geometry::Role::visual
                                                               : Geometry::Role::collision;
  geometry.source = context.file.source(element);
  geometry.X_LG = context.origin(element);
  if (shape != nullptr && read_shape(context, *shape, title, geometry)) {
    link.geometry.push_back(std::move(geometry));
  }
}

}  // namespace

const Element* ReadContext::only_child(const Element& element, const char* name) {
  const Element* first = element.FirstChildElement(name);
  if (first == nullptr) return nullptr;
  if (const Element* second = first->NextSiblingElement(name)) {
    xml.add(Severity::warning, *second, "element-repeated",
            fmt::format("{} has more than one <{}>", XmlReader::title(element), name),
            "only the first counts", "remove the others");
  }
  return first;
}

const Element* ReadContext::required_child(const Element& element, const char* name,
                                           const std::string& owner) {
  const Element* child = only_child(element, name);
  if (child == nullptr) {
    xml.add(Severity::error, element, "element-missing",
            fmt::format("{}: <{}> has no <{}>", owner, element.Name(), name), "URDF requires it");
  }
  return child;
}

double ReadContext::required_number(const Element& element, const char* attribute) {
  if (xml.required(element, attribute).empty()) return 0;
  return xml.number(element, attribute).value_or(0);
}

Pose<double> ReadContext::origin(const Element& element, std::optional<Vector3<double>>* rpy) {
  Pose<double> X;
  const Element* origin = only_child(element, "origin");
  if (origin == nullptr) return X;
  xml.expect_attributes(*origin, {"xyz", "rpy", "quat_xyzw"});
  if (const auto xyz = xml.numbers(*origin, "xyz", 3)) X.p = as_vector(*xyz);
  if (const auto angles = xml.numbers(*origin, "rpy", 3)) {
    X.R = rpy_to_matrix((*angles)[0], (*angles)[1], (*angles)[2]);
    if (rpy != nullptr) *rpy = as_vector(*angles);
  }
  if (const auto q = xml.numbers(*origin, "quat_xyzw", 4)) {
    const Eigen::Vector4d x((*q)[0], (*q)[1], (*q)[2], (*q)[3]);
    const double largest = x.cwiseAbs().maxCoeff();
    if (origin->Attribute("rpy") != nullptr) {
      xml.add(Severity::error, *origin, "origin-ambiguous", "<origin> has both rpy and quat_xyzw",
              "only one orientation can be valid", "keep one of them");
    } else if (largest == 0) {
      xml.add(Severity::error, *origin, "attribute-not-a-number",
              "<origin>: attribute 'quat_xyzw' is 0 0 0 0, expected a unit quaternion",
              "it is not an orientation", "quat_xyzw=\"0 0 0 1\"");
    } else {
      const Eigen::Vector4d u = (x / largest).normalized();  // avoids overflow
      X.R = to_matrix(quat_xyzw(u[0], u[1], u[2], u[3]));
    }
  }
  return X;
}

LinkDescription<double> read_link(ReadContext& context, const Element& element) {
  context.xml.expect_attributes(element, {"name", "type"});
  context.xml.expect_children(
      element, {"inertial", "visual", "collision", "contact", "sensor", "gazebo", "material"});
  LinkDescription<double> link;
  link.name = context.xml.required(element, "name");
  link.source = context.file.source(element);
  if (const Element* inertial = context.only_child(element, "inertial")) {
    link.inertial = read_inertial(context, *inertial, XmlReader::title(element));
  }
  for (const Element* e = element.FirstChildElement(); e != nullptr; e = e->NextSiblingElement()) {
    const std::string_view tag = e->Name();
    if (tag == "visual" || tag == "collision") read_geometry(context, *e, link);
  }
  return link;
}

}  // namespace limb::urdf
