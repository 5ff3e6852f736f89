#include "limb/sim/legged_feet.hpp"

#include <algorithm>
#include <cmath>

#include "limb/base/check.hpp"
#include "limb/dynamics/frames.hpp"

namespace limb {
namespace {

/// What is that much higher than the lowest point does not stand.
constexpr double kSameHeight = 0.01;

/// Points of a solid that could be the lowest of the robot, in world axes.
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

/// One part of the robot: the lowest points of its solids.
struct Part {
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

/// Front left, front right, rear left, rear right, as seen from the robot's first body.
void sort_four(const Model<double>& model, const Kinematics<double>& kinematics,
               std::vector<Part>& parts) {
  const Pose<double>& X_WB = kinematics.X_WB[1];
  const auto seen = [&](const Part& part) {
    return Vector3<double>(X_WB.R.transpose() *
                           (frame_pose(model, kinematics, part.frame).p - X_WB.p));
  };
  std::stable_sort(parts.begin(), parts.end(),
                   [&](const Part& a, const Part& b) { return seen(a).x() > seen(b).x(); });
  for (const std::ptrdiff_t pair : {0, 2}) {
    std::stable_sort(parts.begin() + pair, parts.begin() + pair + 2,
                     [&](const Part& a, const Part& b) { return seen(a).y() > seen(b).y(); });
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

  std::vector<Part> parts;
  if (names.empty()) {
    for (const ContactShape& shape : shapes) {
      const auto found = std::find_if(parts.begin(), parts.end(),
                                      [&](const Part& part) { return part.name == shape.name; });
      const bool known = found != parts.end();
      if (!known) parts.push_back({shape.name, model.find_frame(shape.name), {}});
      add_points(shape, place(shape), (known ? *found : parts.back()).points);
    }
    std::erase_if(parts, [](const Part& part) { return part.points.empty(); });
    double lowest = 1e300;
    for (const Part& part : parts) lowest = std::min(lowest, part.lowest());
    std::erase_if(parts, [&](const Part& p) { return p.lowest() > lowest + kSameHeight; });
    if (parts.size() == 4) sort_four(model, kinematics, parts);
  }
  for (const std::string& name : names) {
    Part part{name, model.find_frame(name), {}};
    const BodyId body = model.frame(part.frame).body;
    const bool own = std::any_of(shapes.begin(), shapes.end(),
                                 [&](const ContactShape& shape) { return shape.name == name; });
    for (const ContactShape& shape : shapes) {
      if (own ? shape.name == name : shape.body == body)
        add_points(shape, place(shape), part.points);
    }
    if (part.points.empty()) {
      fail(call, "feet", "'" + name + "'", "frames with a ball, box or capsule that can touch");
    }
    parts.push_back(std::move(part));
  }
  if (parts.empty()) {
    fail(call, "feet", "empty", "at least one ball, box or capsule that can touch the ground");
  }

  std::vector<Foot> feet;
  for (Part& part : parts) {
    part.keep_lowest();
    Foot foot{part.frame, {}};
    const Pose<double> X_FW = frame_pose(model, kinematics, part.frame).inverse();
    for (const Vector3<double>& p : part.points) foot.points.push_back(X_FW * p);
    feet.push_back(std::move(foot));
  }
  return feet;
}

}  // namespace limb
