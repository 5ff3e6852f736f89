#include "limb/sim/scenario/initial_clearance.hpp"

#include <algorithm>
#include <cmath>

#include "limb/base/check.hpp"
#include "limb/dynamics/kinematics/forward_kinematics.hpp"
#include "limb/sim/contact/collide.hpp"

namespace limb {
namespace {

using Vector = Vector3<double>;

/// Sine of the angle between a surface and the vertical below which it counts as a wall.
constexpr double kWall = 0.1;

BodyId root_of(const Model<double>& model, BodyId body) {
  while (body.value() > 0 && model.body(body).parent.value() > 0) body = model.body(body).parent;
  return body;
}

/// Start of the position of a free base in q; -1 for another body.
int position_start(const Model<double>& model, const Body<double>& body) {
  if (body.joint.type() != JointType::free || body.parent.value() != 0) return -1;
  for (const auto& row : model.coupling().rows()) {
    if (row.v == body.v_start && row.nv == body.joint.nv()) return row.yq;
  }
  return -1;
}

/// How far the shapes of a tree have to move along `up`.
class Lift {
 public:
  Lift(const ContactSetup& setup, const Vector& up) : setup_(setup), up_(up) {}

  /// To be at least `clearance` from the half spaces: exact. -infinity without any.
  double above_planes(const std::vector<PlacedShape>& shapes, double clearance) {
    double most = -std::numeric_limits<double>::infinity();
    for (const auto& plane : setup_.ground.half_spaces()) {
      const double rate = plane.normal.dot(up_);
      if (rate < kWall) continue;
      for (const PlacedShape& shape : shapes) {
        points_.clear();
        collide(shape, plane, std::numeric_limits<double>::infinity(), points_);
        for (int i = 0; i < points_.size(); ++i) {
          most = std::max(most, (clearance - points_[i].gap) / rate);
        }
      }
    }
    return most;
  }

  /// A step towards that distance from all other solids; 0 if there already.
  double above_solids(const std::vector<PlacedShape>& shapes, double clearance) {
    double most = 0;
    const auto add = [&](const PlacedShape& shape, const auto& solid) {
      points_.clear();
      collide(shape, solid, clearance, points_);
      for (int i = 0; i < points_.size(); ++i) {
        const double rate = points_[i].n_W.dot(up_);
        if (rate < kWall || points_[i].gap >= clearance) continue;
        most = std::max(most, (clearance - points_[i].gap) / rate);
      }
    };
    for (const PlacedShape& shape : shapes) {
      for (const auto& solid : setup_.ground.boxes()) add(shape, solid);
      for (const auto& solid : setup_.ground.height_fields()) add(shape, solid);
    }
    return most;
  }

 private:
  const ContactSetup& setup_;
  Vector up_;
  CollisionPoints points_;
};

}  // namespace

bool has_free_base(const Model<double>& model) {
  return std::any_of(model.bodies().begin(), model.bodies().end(),
                     [&](const Body<double>& body) { return position_start(model, body) >= 0; });
}

void set_clearance(const std::string& call, double clearance, Scenario& s) {
  check_not_negative(call, "clearance", clearance);
  if (!s.contact) {
    throw Error(call + ": clearance needs a ground above which the robot starts");
  }
  if (!has_free_base(s.model)) {
    throw Error(call + ": clearance needs a free base, which can be raised");
  }
  const Vector g = s.model.gravity();
  const Vector up = g.norm() > 0 ? Vector(-g / g.norm()) : Vector::UnitZ();
  Kinematics<double> kinematics(s.model);
  Lift lift(*s.contact, up);
  for (const Body<double>& base : s.model.bodies()) {
    const int start = position_start(s.model, base);
    if (start < 0) continue;
    const auto root = BodyId(static_cast<int>(&base - s.model.bodies().data()));
    // The direction in the frame in which the joint measures its position.
    const Vector along = base.X_PJ.R.transpose() * up;
    std::vector<PlacedShape> shapes;
    const auto place = [&] {
      forward_kinematics(s.model, s.q, kinematics);
      shapes.clear();
      for (const ContactShape& shape : s.contact->shapes) {
        if (root_of(s.model, shape.body) != root) continue;
        const auto& X_WB = kinematics.X_WB[static_cast<std::size_t>(shape.body.value())];
        shapes.push_back({shape.kind, shape.size, X_WB * shape.X_BS, shape.hull.get()});
      }
    };
    const auto raise = [&](double by) { s.q.segment<3>(start) += by * along; };
    place();
    const double first = lift.above_planes(shapes, clearance);
    if (std::isfinite(first)) raise(first);
    // Each step leaves the overlaps that it saw; a higher part of a solid may follow.
    constexpr int kSteps = 100;
    for (int i = 0; i < kSteps; ++i) {
      place();
      const double by = lift.above_solids(shapes, clearance);
      if (!(by > 1e-9)) break;
      raise(by);
    }
  }
}

}  // namespace limb
