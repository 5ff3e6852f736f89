#include "cli/legged_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "cli/chart.hpp"
#include "cli/contact_charts.hpp"
#include "limb/math/quaternion.hpp"
#include "limb/math/so3.hpp"

namespace limb::cli {
namespace {

using Point = Svg::Point;
using Vec = Vector3<double>;
using Values = std::vector<double>;

constexpr double kDegree = std::numbers::pi / 180;

Matrix3<double> rotation(const LeggedStep& s) {
  return to_matrix(Quaternion<double>::from_xyzw(s.q.segment<4>(3)));
}
double forward(const Matrix3<double>& R, const Vec& v_W) {
  const Vec x(R(0, 0), R(1, 0), 0);
  return v_W.dot(x) / x.norm();
}
Values times(const LeggedRun& run) {
  Values t;
  for (const LeggedStep& s : run.steps()) t.push_back(s.t);
  return t;
}
double quantile(Values sorted, double share) {
  if (sorted.empty()) return 0;
  const auto n = static_cast<double>(sorted.size());
  return sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(share * n))];
}

}  // namespace

std::string legged_motion_chart(const LeggedRun& run) {
  const Values t = times(run);
  Values command, truth, estimate, height, estimated_height;
  for (const LeggedStep& s : run.steps()) {
    const Matrix3<double> R = rotation(s);
    command.push_back(s.command.forward);
    truth.push_back(forward(R, R * s.v.head<3>()));
    estimate.push_back(s.estimated ? forward(s.X_WB.R, s.v_WB) : std::nan(""));
    height.push_back(s.q[2]);
    estimated_height.push_back(s.estimated ? s.X_WB.p.z() : std::nan(""));
  }
  Figure figure;
  figure.add(
      {"Forward velocity of the base",
       "m/s",
       {{"truth", &t, &truth}, {"estimate", &t, &estimate}, {"command", &t, &command, true, 0}}});
  figure.add(
      {"Height of the base", "m", {{"truth", &t, &height}, {"estimate", &t, &estimated_height}}});
  return figure.svg("Motion of the base", "Forward velocity and height: truth and estimate");
}

std::string legged_error_charts(const LeggedRun& run) {
  Values t;
  std::vector<Values> error(9), upper(9), lower(9);
  for (const LeggedStep& s : run.steps()) {
    if (!s.estimated) continue;
    t.push_back(s.t);
    const Matrix3<double> R = rotation(s);
    Eigen::Matrix<double, 9, 1> e;
    e << s.X_WB.p - s.q.head<3>(), so3::log<double>(R.transpose() * s.X_WB.R),
        s.v_WB - R * s.v.head<3>();
    for (std::size_t i = 0; i < 9; ++i) {
      const double unit = i < 3 ? 1e3 : i < 6 ? 1 / kDegree : 1;
      const auto k = static_cast<Eigen::Index>(i);
      error[i].push_back(unit * e[k]);
      upper[i].push_back(3 * unit * s.deviation[k]);
      lower[i].push_back(-3 * unit * s.deviation[k]);
    }
  }
  if (t.empty()) return {};
  Figure figure;
  const char* names[] = {"x", "y", "z", "roll", "pitch", "yaw"};
  for (std::size_t i = 0; i < 6; ++i) {
    Chart chart{
        fmt::format("Error of {}", names[i]), i < 3 ? "mm" : "deg", {{"error", &t, &error[i]}}};
    chart.bands = {{"3 sigma", &t, &lower[i], &upper[i]}};
    chart.height = 110;
    figure.add(std::move(chart));
  }
  return figure.svg("Errors of the estimate",
                    "Estimate minus truth of position and rotation, with 3-sigma bands");
}

std::string legged_contact_chart(const LeggedRun& run) {
  LogData log;
  LogSeries contact{"contact", {}, {}, {}}, support{"support", {}, {}, {}};
  const auto& feet = run.robot().feet;
  const auto add = [](LogSeries& series, const std::string& field, Values values) {
    series.fields.push_back(field);
    series.values.push_back(std::move(values));
  };
  contact.t = support.t = times(run);
  std::vector<Values> normal(feet.size());
  Values px, py;
  for (const LeggedStep& s : run.steps()) {
    Vec sum = Vec::Zero();
    double total = 0;
    for (std::size_t i = 0; i < feet.size(); ++i) {
      sum += s.foot_cone[i][0] * s.foot_position[i];
      total += s.foot_cone[i][0];
    }
    px.push_back(total > 0 ? sum.x() / total : std::nan(""));
    py.push_back(total > 0 ? sum.y() / total : std::nan(""));
  }
  for (std::size_t i = 0; i < feet.size(); ++i) {
    Values tangential, bound, x, y;
    for (const LeggedStep& s : run.steps()) {
      normal[i].push_back(s.foot_cone[i][0]);
      tangential.push_back(s.foot_cone[i][1]);
      bound.push_back(s.foot_cone[i][2]);
      x.push_back(s.foot_position[i].x());
      y.push_back(s.foot_position[i].y());
    }
    add(contact, feet[i] + ".normal", normal[i]);
    add(contact, feet[i] + ".tangential", std::move(tangential));
    add(contact, feet[i] + ".bound", std::move(bound));
    add(support, feet[i] + ".x", std::move(x));
    add(support, feet[i] + ".y", std::move(y));
  }
  add(support, "pressure.x", std::move(px));
  add(support, "pressure.y", std::move(py));
  log.series = {std::move(contact), std::move(support)};
  Figure figure;
  add_contact_charts(figure, log, nullptr);
  // Two seconds around the first push or from the middle of the run, so that steps are visible.
  const auto& pushes = run.options().pushes;
  const double end = run.steps().back().t;
  const double begin =
      std::clamp(pushes.empty() ? end / 2 : pushes[0].begin - 0.75, 0.0, std::max(0.0, end - 2));
  Values t;
  std::vector<Values> shown(feet.size());
  for (const LeggedStep& s : run.steps()) {
    if (s.t < begin || s.t > begin + 2) continue;
    t.push_back(s.t);
    for (std::size_t i = 0; i < feet.size(); ++i) shown[i].push_back(s.foot_cone[i][0]);
  }
  Chart chart{"Normal forces for two seconds", "N", {}};
  for (std::size_t i = 0; i < feet.size(); ++i) chart.lines.push_back({feet[i], &t, &shown[i]});
  figure.add(std::move(chart));
  return figure.svg("Forces of the feet", "Friction cones, centre of pressure, normal forces");
}

std::vector<TorqueShare> torque_shares(const LeggedRun& run) {
  std::vector<TorqueShare> shares;
  for (const Body<double>& body : run.robot().model.bodies()) {
    if (body.joint.nv() != 1 || body.limits.empty() || !body.limits[0].effort) continue;
    TorqueShare share;
    share.joint = body.name;
    share.limit = *body.limits[0].effort;
    Values all;
    for (const LeggedStep& s : run.steps()) {
      all.push_back(std::abs(s.tau[body.v_start]) / share.limit);
      share.rms += all.back() * all.back();
    }
    share.rms = std::sqrt(share.rms / static_cast<double>(std::max<std::size_t>(1, all.size())));
    std::sort(all.begin(), all.end());
    share.high = quantile(all, 0.99);
    share.max = all.empty() ? 0 : all.back();
    shares.push_back(share);
  }
  return shares;
}

std::string legged_torque_chart(const LeggedRun& run) {
  const std::vector<TorqueShare> shares = torque_shares(run);
  if (shares.empty()) return {};
  const std::vector<LegendKey> legend = {{"root mean square", LegendKey::Kind::area, 0},
                                         {"99th percentile", LegendKey::Kind::area, 5},
                                         {"maximum", LegendKey::Kind::area, 3}};
  const double row = 22, head = 26 + legend_height(legend);
  const double body = row * static_cast<double>(shares.size());
  Figure figure;
  figure.add(head + body + 54, [&](Svg& svg, const Point& corner) {
    svg.text(corner + Point(4, 18), "Torque / limit of the motor", chart_title());
    draw_legend(svg, corner + Point(0, 26), legend);
    const double left = 150, right = kChartWidth - 90, top = corner.y() + head, bottom = top + body;
    double most = 1;
    for (const TorqueShare& s : shares) most = std::max(most, s.max);
    const auto at = [&](double share) { return left + share / (1.04 * most) * (right - left); };
    svg.rectangle({left, top}, right - left, body, "fill=\"#fff\" stroke=\"#888\"");
    for (int k = 0; 0.2 * k <= 1.04 * most; ++k) {
      const double x = at(0.2 * k);
      svg.line({x, top}, {x, bottom}, k == 5 ? "stroke=\"#b00020\"" : "stroke=\"#e6e6e6\"");
      svg.text({x, bottom + 18}, fmt::format("{}", 20 * k), chart_text("middle"));
    }
    svg.text({(left + right) / 2, bottom + 38}, "torque / limit, %", chart_text("middle"));
    svg.text({right + 8, bottom + 18}, "limit", chart_text());
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const TorqueShare& s = shares[i];
      const double y = top + row * static_cast<double>(i);
      svg.text({left - 8, y + 16}, s.joint, chart_text("end"));
      const double values[] = {s.rms, s.high, s.max};
      for (const std::size_t k : {2u, 1u, 0u}) {
        // The widest bar is the thinnest: all three are visible.
        const double thick = row - 4 - 4 * static_cast<double>(k);
        svg.rectangle({left, y + (row - thick) / 2}, at(values[k]) - left, thick,
                      fmt::format("fill=\"{}\"", line_color(legend[k].color)));
      }
      svg.text({right + 8, y + 16}, fmt::format("{:g} N m", s.limit), chart_text());
    }
  });
  return figure.svg("Torque budget", "Torque of each joint relative to its limit");
}

std::vector<PartTimes> part_times(const LeggedRun& run, double start) {
  struct Part {
    const char* name;
    double LeggedTimes::*value;
  };
  const Part parts[] = {{"estimator", &LeggedTimes::estimator},
                        {"kinematics and dynamics", &LeggedTimes::kinematics},
                        {"plan", &LeggedTimes::plan},
                        {"forces over the horizon", &LeggedTimes::mpc},
                        {"whole-body program", &LeggedTimes::whole_body},
                        {"whole step", &LeggedTimes::total}};
  std::vector<PartTimes> all;
  const auto add = [&](const char* name, const auto& value) {
    PartTimes times{name};
    Values us;
    for (const LeggedStep& s : run.steps()) {
      if (s.t >= start && value(s) > 0) us.push_back(value(s));
    }
    times.steps = us.size();
    if (us.empty()) return;
    std::sort(us.begin(), us.end());
    for (const double x : us) times.mean += x / static_cast<double>(us.size());
    times.p99 = quantile(us, 0.99);
    times.p999 = quantile(us, 0.999);
    times.max = us.back();
    all.push_back(times);
  };
  for (const Part& part : parts) {
    add(part.name, [&](const LeggedStep& s) { return s.times.*part.value; });
  }
  add("whole step, this thread", [](const LeggedStep& s) { return s.cpu_us; });
  return all;
}

std::string legged_time_chart(const LeggedRun& run) {
  const Values t = times(run);
  Values estimator, whole, horizon, cpu;
  for (const LeggedStep& s : run.steps()) {
    estimator.push_back(s.times.estimator);
    whole.push_back(s.times.whole_body);
    horizon.push_back(s.times.mpc);
    cpu.push_back(s.cpu_us);
  }
  Figure figure;
  figure.add({"Time per control step",
              "us",
              {{"whole step, this thread", &t, &cpu},
               {"forces over the horizon", &t, &horizon},
               {"whole-body program", &t, &whole},
               {"estimator", &t, &estimator}}});
  return figure.svg("Time per control step", "Time of each part over the run");
}

}  // namespace limb::cli
