#include "limb/sim/world/legged_feet.hpp"

#include <algorithm>
#include <cmath>

#include "limb/base/check.hpp"
#include "limb/dynamics/kinematics/frames.hpp"

namespace limb {
namespace {

/// m; points higher than this above the lowest one are not in contact.
constexpr double kSameHeight = 0.01;

/// Points of a shape that may be the lowest of the robot, in world axes.
void add_points(const ContactShape& shape, const Pose<double>& X_WS,
                std::vector<Vector3<double>>& points) {
  using Kind = ContactShape::Kind;
  const Vector3<double> down(0, 0, -1);
  if (shape.kind == Kind::box) {
    for (const double x : {0.5, -0.5}) {
      for (const double y : {0.5, -0.5}) {
        for (const double z : {0.5, -0.5}) {
          points.push_back(X_WS *
                           Vector3<double>(shape.size.cwiseProduct(Vector3<double>(x, y, z))));
        }
      }
    }
  } else if (shape.kind == Kind::capsule) {
    for (const double z : {0.5, -0.5}) {
      points.push_back(X_WS * Vector3<double>(0, 0, z * shape.size[1]) + shape.size[0] * down);
    }
  } else if (shape.kind == Kind::sphere) {
    points.push_back(X_WS.p + shape.size[0] * down);
  }
}

/// A candidate foot: points of its shapes.
struct FootCandidate {
  std::string name;
  FrameId frame;
  std::vector<Vector3<double>> points;

  double lowest() const {
    double z = 1e300;
    for (const Vector3<double>& p : points) z = std::min(z, p.z());
    return z;
  }
  void keep_lowest() {
    const double most = lowest() + kSameHeight;
    std::erase_if(points, [&](const Vector3<double>& p) { return p.z() > most; });
  }
};

/// Sorts into front left, front right, rear left, rear right, in the axes of the first body.
void sort_four(const Model<double>& model, const Kinematics<double>& kinematics,
               std::vector<FootCandidate>& candidates) {
  const Pose<double>& X_WB = kinematics.X_WB[1];
  const auto position_B = [&](const FootCandidate& foot) {
    return Vector3<double>(X_WB.R.transpose() *
                           (frame_pose(model, kinematics, foot.frame).p - X_WB.p));
  };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const FootCandidate& a, const FootCandidate& b) {
                     return position_B(a).x() > position_B(b).x();
                   });
  for (const std::ptrdiff_t pair : {0, 2}) {
    std::stable_sort(candidates.begin() + pair, candidates.begin() + pair + 2,
                     [&](const FootCandidate& a, const FootCandidate& b) {
                       return position_B(a).y() > position_B(b).y();
                     });
  }
}

}  // namespace

std::vector<Foot> find_feet(const char* call, const Model<double>& model, VectorIn<double>& q,
                            const std::vector<ContactShape>& shapes,
                            const std::vector<std::string>& names) {
  Kinematics<double> kinematics(model);
  forward_kinematics(model, q, kinematics);
  const auto place = [&](const ContactShape& shape) {
    return kinematics.X_WB[static_cast<std::size_t>(shape.body.value())] * shape.X_BS;
  };

  std::vector<FootCandidate> candidates;
  if (names.empty()) {
    for (const ContactShape& shape : shapes) {
      const auto found =
          std::find_if(candidates.begin(), candidates.end(),
                       [&](const FootCandidate& foot) { return foot.name == shape.name; });
      const bool known = found != candidates.end();
      if (!known) candidates.push_back({shape.name, model.find_frame(shape.name), {}});
      add_points(shape, place(shape), (known ? *found : candidates.back()).points);
    }
    std::erase_if(candidates, [](const FootCandidate& foot) { return foot.points.empty(); });
    double lowest = 1e300;
    for (const FootCandidate& foot : candidates) lowest = std::min(lowest, foot.lowest());
    std::erase_if(candidates,
                  [&](const FootCandidate& p) { return p.lowest() > lowest + kSameHeight; });
    if (candidates.size() == 4) sort_four(model, kinematics, candidates);
  }
  for (const std::string& name : names) {
    FootCandidate foot{name, model.find_frame(name), {}};
    const BodyId body = model.frame(foot.frame).body;
    const bool own = std::any_of(shapes.begin(), shapes.end(),
                                 [&](const ContactShape& shape) { return shape.name == name; });
    for (const ContactShape& shape : shapes) {
      if (own ? shape.name == name : shape.body == body)
        add_points(shape, place(shape), foot.points);
    }
    if (foot.points.empty()) {
      fail(call, "feet", "'" + name + "'", "frames with a sphere, box or capsule for contact");
    }
    candidates.push_back(std::move(foot));
  }
  if (candidates.empty()) {
    fail(call, "feet", "empty", "at least one sphere, box or capsule for contact");
  }

  std::vector<Foot> feet;
  for (FootCandidate& foot : candidates) {
    foot.keep_lowest();
    Foot result{foot.frame, {}};
    const Pose<double> X_FW = frame_pose(model, kinematics, foot.frame).inverse();
    for (const Vector3<double>& p : foot.points) result.points.push_back(X_FW * p);
    feet.push_back(std::move(result));
  }
  return feet;
}

}  // namespace limb
