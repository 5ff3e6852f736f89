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

constexpr double kPanelWidth = 298, kPanelHeight = 190;
constexpr int kColumns = 2;
constexpr double kSpan = 4.2;  // heights of the robot, width of a panel
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
  const double h = run.robot().height(), span = kSpan * h, scale = kPanelWidth / span;
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
    svg.text({corner.x() + kPanelWidth - 8, corner.y() + 18}, "pushed",
             "font-size=\"14\" text-anchor=\"end\" fill=\"#b00020\" font-weight=\"bold\"");
  }
  svg.text({corner.x() + 8, corner.y() + 18}, fmt::format("{:.2f} s", step.t), chart_text());
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
  const double rows = std::ceil(static_cast<double>(times.size()) / kColumns);
  const std::vector<LegendKey> legend = {{"true motion", LegendKey::Kind::area, 0},
                                         {"estimated trunk", LegendKey::Kind::line, 1, "5 3"},
                                         {"contact force", LegendKey::Kind::arrow, 2}};
  Figure all;
  all.add(rows * kPanelHeight + legend_height(legend) + 68, [&](Svg& svg, const Point& corner) {
    svg.text(corner + Point(4, 18), "Side view, from the right: x to the right, z up",
             chart_title());
    draw_legend(svg, corner + Point(0, 26), legend);
    const double top = corner.y() + 26 + legend_height(legend);
    for (std::size_t i = 0; i < times.size(); ++i) {
      const Point place(2 + kPanelWidth * static_cast<double>(i % kColumns),
                        top + kPanelHeight * static_cast<double>(i / kColumns));
      svg.begin_clip(place, kPanelWidth, kPanelHeight);
      draw_snapshot(svg, place, run, figure, step_at(run, times[i]));
      svg.end_clip();
    }
    // Scales of lengths and of forces.
    const double y = top + rows * kPanelHeight + 26;
    const double h = run.robot().height(), scale = kPanelWidth / (kSpan * h);
    const double length = round_length(100 / scale);
    svg.line({10, y}, {10 + scale * length, y}, "stroke=\"#222\" stroke-width=\"2\"");
    for (const double x : {10.0, 10 + scale * length}) {
      svg.line({x, y - 5}, {x, y + 5}, "stroke=\"#222\" stroke-width=\"2\"");
    }
    svg.text({18 + scale * length, y + 5}, fmt::format("{:g} m", length), chart_text());
    const double force = round_length(70 / scale / force_scale(run));
    const Point tail(230, y), tip = tail + Point(scale * force_scale(run) * force, 0);
    svg.arrow(tail, tip, 2, kForce);
    svg.text(tip + Point(8, 5), fmt::format("{:g} N", force), chart_text());
  });
  return all.svg("Snapshots of a legged robot",
                 "Side views: trunk, legs, ground, contact forces and the estimated trunk");
}

}  // namespace limb::cli
