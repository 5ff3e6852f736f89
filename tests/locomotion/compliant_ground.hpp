#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "limb/control/whole_body/whole_body.hpp"
#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/sim/forces/force_law.hpp"

namespace limb::testing {

/// Compliant ground: at each point of each foot a spring and a damper along z, and regularised
/// Coulomb friction. Needs steps of about 0.1 ms.
class CompliantGround final : public ForceLaw {
 public:
  struct Parameters {
    double stiffness = 2e4, damping = 200;  ///< N/m, N s/m
    double friction = 0.8;
    double slip_speed = 0.02;  ///< m/s at which friction reaches its full value
    /// Height of the ground at (x, y), m; empty: 0.
    std::function<double(double x, double y)> height;
  };

  CompliantGround(const Model<double>& model, const std::vector<Foot>& feet,
                  const Parameters& parameters)
      : parameters_(parameters), model_(model) {
    for (std::size_t i = 0; i < feet.size(); ++i) {
      for (const Vector3<double>& p_FQ : feet[i].points)
        points_.push_back({i, feet[i].frame, p_FQ});
    }
    normal_.assign(feet.size(), 0);
  }

  void add(ForceInput& now, AppliedLoads& loads) override {
    std::fill(normal_.begin(), normal_.end(), 0);
    const Kinematics<double>& kinematics = now.kinematics();
    for (const Point& point : points_) {
      const Pose<double> X_WF = frame_pose(model_, kinematics, point.frame);
      const Vector3<double> p = X_WF * point.p_FQ;
      const double depth = (parameters_.height ? parameters_.height(p.x(), p.y()) : 0) - p.z();
      if (depth <= 0) continue;
      const Motion<double> V =
          frame_velocity(model_, kinematics, point.frame, FrameAxes::local_world_aligned);
      const Vector3<double> v = V.v + V.w.cross(Vector3<double>(X_WF.R * point.p_FQ));
      const double normal =
          std::max(0.0, parameters_.stiffness * depth - parameters_.damping * v.z());
      const double speed = std::max(v.head<2>().norm(), parameters_.slip_speed);
      Vector3<double> f(0, 0, normal);
      f.head<2>() = -parameters_.friction * normal / speed * v.head<2>();
      const Vector3<double> f_F = X_WF.R.transpose() * f;
      loads.wrenches.push_back({point.frame, Force<double>{f_F, point.p_FQ.cross(f_F)}});
      normal_[point.foot] += normal;
    }
  }
  int max_wrenches() const override { return static_cast<int>(points_.size()); }

  /// N, sum over the points of a foot, at the last evaluation.
  double normal_force(std::size_t foot) const { return normal_[foot]; }

 private:
  struct Point {
    std::size_t foot;
    FrameId frame;
    Vector3<double> p_FQ;
  };
  Parameters parameters_;
  const Model<double>& model_;
  std::vector<Point> points_;
  std::vector<double> normal_;
};

/// Heights of square blocks, uniform within +-height, reproducible by the seed; level around the
/// origin, where robots start.
inline std::function<double(double, double)> blocks(double size, double height, unsigned seed) {
  return [=](double x, double y) {
    if (std::hypot(x, y) < 0.5) return 0.0;
    const auto i = static_cast<unsigned>(static_cast<int>(std::floor(x / size)));
    const auto j = static_cast<unsigned>(static_cast<int>(std::floor(y / size)));
    unsigned hash = seed * 2654435761u + i * 2246822519u + j * 3266489917u;  // any hash works
    hash ^= hash >> 15;
    hash *= 2246822519u;
    hash ^= hash >> 13;
    return height * (2.0 * (hash % 1001) / 1000.0 - 1);
  };
}

}  // namespace limb::testing
