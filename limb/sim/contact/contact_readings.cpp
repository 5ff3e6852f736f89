// What contacts of the last step tell of feet and links.
#include <algorithm>

#include "limb/dynamics/frames.hpp"
#include "limb/sim/contact/contacts.hpp"

namespace limb {
namespace {

using Vector = Vector3<double>;

}  // namespace

bool Contacts::counts(const Model<double>& model, FrameId frame, int shape) const {
  const Frame<double>& f = model.frame(frame);
  const auto named = [&](const ContactShape& s) { return s.name == f.name; };
  const ContactShape& s = setup_.shapes[static_cast<std::size_t>(shape)];
  return s.body == f.body &&
         (named(s) || std::none_of(setup_.shapes.begin(), setup_.shapes.end(), named));
}

bool Contacts::touches(const Model<double>& model, FrameId frame) const {
  return std::any_of(points_.begin(), points_.end(), [&](const ContactPoint& c) {
    return c.n_W.dot(c.force_W) > 0 &&
           (counts(model, frame, c.shape) || (c.other < 0 && counts(model, frame, -1 - c.other)));
  });
}

Force<double> Contacts::force_on(const Model<double>& model, const Kinematics<double>& kinematics,
                                 FrameId frame) const {
  const Vector origin = frame_pose(model, kinematics, frame).p;
  Force<double> sum{Vector::Zero(), Vector::Zero()};
  for (const ContactPoint& point : points_) {
    double sign = counts(model, frame, point.shape) ? 1 : 0;
    if (point.other < 0 && counts(model, frame, -1 - point.other)) sign -= 1;
    sum.f += sign * point.force_W;
    sum.n += sign * (point.p_W - origin).cross(point.force_W);
  }
  return sum;
}

Vector Contacts::center_of_pressure() const {
  Vector sum = Vector::Zero();
  double total = 0;
  for (const ContactPoint& point : points_) {
    if (point.other < 0) continue;
    const double normal = point.n_W.dot(point.force_W);
    sum += normal * point.p_W;
    total += normal;
  }
  return total > 0 ? Vector(sum / total)
                   : Vector(Vector::Constant(std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace limb
