#include "cli/legged_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/chart.hpp"
#include "limb/dynamics/kinematics/forward_kinematics.hpp"

namespace limb::cli {
namespace {

using Point = Svg::Point;
using Vec = Vector3<double>;

constexpr double kPanelWidth = 286, kPanelHeight = 190;
constexpr const char* kEstimate = "#d55e00";
constexpr const char* kForce = "#009e73";

/// m/N: a force equal to the weight is drawn as long as the robot is high.
double force_scale(const LeggedRun& run) {
  const LeggedRobot& robot = run.robot();
  return robot.height() / (robot.model.total_mass() * robot.model.gravity().norm());
}

/// One snapshot, centred on the base.
void draw_snapshot(Svg& svg, const Point& corner, const LeggedRun& run, LeggedFigure& figure,
                   const LeggedStep& step) {
  const double h = run.robot().height(), span = 4.2 * h, scale = kPanelWidth / span;
  const double x0 = step.q[0] - span / 2;
  const auto at = [&](const Vec& p) {
    return Point(corner.x() + scale * (p.x() - x0),
                 corner.y() + kPanelHeight - 26 - scale * (p.z() + 0.1 * h));
  };
  // Ground, sampled finely enough to show steps.
  std::vector<Point> ground;
  for (double x = x0; x <= x0 + span; x += span / 280) {
    ground.push_back(at({x, 0, ground_height(run.options().ground, x, step.q[1])}));
  }
  svg.polyline(ground, "stroke=\"#8a6d3b\" stroke-width=\"2\"");
  const LeggedFigure::Pose pose = figure.at(step.q);
  // Legs of the far side (hip to the left of the trunk) first, and lighter.
  for (const bool near : {false, true}) {
    for (const auto& leg : pose.legs) {
      const bool left = (pose.trunk.R.transpose() * (leg[0] - pose.trunk.p)).y() > 0;
      if (left == near) continue;
      std::vector<Point> points;
      for (const Vec& p : leg) points.push_back(at(p));
      svg.polyline(points,
                   fmt::format("stroke=\"{}\" stroke-width=\"3.5\" stroke-linecap=\"round\" "
                               "stroke-linejoin=\"round\"",
                               near ? "#0b3d61" : "#8fb3cc"));
    }
    if (near) continue;
    const auto outline = [&](const limb::Pose<double>& trunk, const std::string& style) {
      std::vector<Point> points;
      const Vec half = figure.half();
      for (const auto& [x, z] : {std::pair{-1, -1}, {1, -1}, {1, 1}, {-1, 1}, {-1, -1}}) {
        points.push_back(at(trunk * Vec(x * half.x(), 0, z * half.z())));
      }
      svg.polyline(points, style);
    };
    outline(pose.trunk, "style=\"fill:#dbe7f0\" stroke=\"#0b3d61\" stroke-width=\"2\"");
    if (step.estimated) {
      outline(step.X_WB, fmt::format("stroke=\"{}\" stroke-width=\"1.5\" stroke-dasharray=\"5 3\"",
                                     kEstimate));
    }
  }
  for (std::size_t i = 0; i < step.foot_force.size(); ++i) {
    const Vec tip = step.foot_position[i] + force_scale(run) * step.foot_force[i];
    svg.arrow(at(step.foot_position[i]), at(tip), 2, kForce);
  }
  for (const LeggedPush& push : run.options().pushes) {
    if (step.t < push.begin || step.t > push.begin + push.duration + 0.15) continue;
    svg.text({corner.x() + kPanelWidth - 8, corner.y() + 16}, "pushed",
             "font-size=\"12\" text-anchor=\"end\" fill=\"#c00\" font-weight=\"bold\"");
  }
  svg.text({corner.x() + 8, corner.y() + 16}, fmt::format("{:.2f} s", step.t), "font-size=\"12\"");
  svg.rectangle(corner, kPanelWidth, kPanelHeight, "fill=\"none\" stroke=\"#ccc\"");
}

const LeggedStep& step_at(const LeggedRun& run, double t) {
  const auto& steps = run.steps();
  const auto found = std::lower_bound(steps.begin(), steps.end(), t,
                                      [](const LeggedStep& s, double x) { return s.t < x; });
  return found == steps.end() ? steps.back() : *found;
}

}  // namespace

LeggedFigure::LeggedFigure(const LeggedRobot& robot)
    : model_(robot.model), kinematics_(robot.model), half_(Vec::Zero()) {
  for (const Foot& foot : robot.points()) {
    Leg leg;
    leg.foot = foot.frame;
    for (BodyId b = model_.frame(foot.frame).body; b.value() > 1; b = model_.body(b).parent) {
      leg.bodies.insert(leg.bodies.begin(), static_cast<std::size_t>(b.value()));
    }
    half_ = half_.cwiseMax(model_.bodies()[leg.bodies.front()].X_PJ.p.cwiseAbs());
    legs_.push_back(std::move(leg));
  }
  // The hips give the length and the width of the trunk; its height is a guess.
  half_.y() = std::max(half_.y(), half_.x() / 3);
  half_.z() = 0.16 * robot.height();
}

LeggedFigure::Pose LeggedFigure::at(const VectorX<double>& q) {
  forward_kinematics(model_, q, kinematics_);
  Pose pose{kinematics_.X_WB[1], {}};
  for (const Leg& leg : legs_) {
    auto& points = pose.legs.emplace_back();
    for (const std::size_t body : leg.bodies) points.push_back(kinematics_.X_WB[body].p);
    points.push_back(frame_pose(model_, kinematics_, leg.foot).p);
  }
  return pose;
}

std::string legged_strip(const LeggedRun& run) {
  LeggedFigure figure(run.robot());
  const double end = run.steps().back().t;
  std::vector<double> times = {std::min(1.2, end / 2)};
  const auto& plan = run.options().plan;
  const double start = plan.empty() ? times[0] : plan.front().begin;
  const double last = plan.size() > 1 ? std::min(end, plan.back().begin) : end;
  for (int i = 1; i <= 3; ++i) times.push_back(start + (last - start) * (0.29 * i - 0.05));
  for (const LeggedPush& push : run.options().pushes) times.push_back(push.begin + push.duration);
  times.push_back(end);
  std::sort(times.begin(), times.end());
  const double rows = std::ceil(static_cast<double>(times.size()) / 3);
  Svg svg(3 * kPanelWidth + 4, rows * kPanelHeight + 30, "Snapshots of a legged robot",
          "Side views: trunk, legs, ground, contact forces and the estimated trunk");
  svg.rectangle({0, 0}, 3 * kPanelWidth + 4, rows * kPanelHeight + 30, "fill=\"#fff\"");
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Point corner(2 + kPanelWidth * static_cast<double>(i % 3),
                       2 + kPanelHeight * static_cast<double>(i / 3));
    draw_snapshot(svg, corner, run, figure, step_at(run, times[i]));
  }
  const double y = rows * kPanelHeight + 20;
  svg.text({8, y}, "Right side; truth in blue.", "font-size=\"11\"");
  svg.text({186, y}, "Dashed: estimated trunk.",
           fmt::format("font-size=\"11\" fill=\"{}\"", kEstimate));
  svg.text({470, y}, "Contact forces; the weight would be as long as the robot is high.",
           fmt::format("font-size=\"11\" fill=\"{}\"", kForce));
  return svg.finish();
}

}  // namespace limb::cli
