#include "cli/legged_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "cli/chart.hpp"
#include "cli/contact_chart.hpp"
#include "limb/math/quaternion.hpp"
#include "limb/math/so3.hpp"

namespace limb::cli {
namespace {

using Point = Svg::Point;
using Vec = Vector3<double>;
using Values = std::vector<double>;

constexpr double kWidth = 860;
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

Svg blank(double height, const char* title, const char* description) {
  Svg svg(kWidth, height, title, description);
  svg.rectangle({0, 0}, kWidth, height, "fill=\"#fff\"");
  return svg;
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
  Svg svg = blank(430, "Motion of the base", "Forward velocity and height: truth and estimate");
  draw_chart(svg, {0, 0}, kWidth, 230, "Forward velocity of the base, m/s",
             {{"truth", &t, &truth}, {"estimate", &t, &estimate}, {"command", &t, &command}});
  draw_chart(svg, {0, 230}, kWidth, 200, "Height of the base, m",
             {{"truth", &t, &height}, {"estimate", &t, &estimated_height}});
  return svg.finish();
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
  constexpr double kChart = 165;
  Svg svg = blank(3 * kChart, "Errors of the estimate",
                  "Estimate minus truth of position and rotation, with 3-sigma bounds");
  const char* titles[] = {"x, mm", "y, mm", "z, mm", "roll, deg", "pitch, deg", "yaw, deg"};
  for (std::size_t i = 0; i < 6; ++i) {
    draw_chart(svg, {kWidth / 2 * static_cast<double>(i / 3), kChart * static_cast<double>(i % 3)},
               kWidth / 2 + (i < 3 ? 60 : 0), kChart, fmt::format("Error of {}", titles[i]),
               {{i < 3 ? "" : "error", &t, &error[i]},
                {i < 3 ? "" : "+3 sigma", &t, &upper[i]},
                {i < 3 ? "" : "-3 sigma", &t, &lower[i]}});
  }
  return svg.finish();
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
  Svg svg = blank(560, "Forces of the feet", "Friction cones, centre of pressure, normal forces");
  draw_contact(svg, {0, 0}, kWidth, 330, log);
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
  std::vector<ChartLine> lines;
  for (std::size_t i = 0; i < feet.size(); ++i) lines.push_back({feet[i], &t, &shown[i]});
  draw_chart(svg, {0, 335}, kWidth, 220, "Normal forces, N, for two seconds", lines);
  return svg.finish();
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
  const double row = 19, top = 46, left = 150, right = kWidth - 110;
  const double bottom = top + row * static_cast<double>(shares.size());
  Svg svg = blank(bottom + 26, "Torque budget", "Torque of each joint relative to its limit");
  svg.text({4, 16}, "Torque / limit", "font-size=\"13\" font-weight=\"bold\"");
  const auto at = [&](double share) { return left + share * (right - left); };
  for (int k = 0; k <= 5; ++k) {
    const double x = at(0.2 * k);
    svg.line({x, top}, {x, bottom}, k == 5 ? "stroke=\"#c00\"" : "stroke=\"#ddd\"");
    svg.text({x, bottom + 15}, fmt::format("{} %", 20 * k),
             "font-size=\"10\" text-anchor=\"middle\"");
  }
  const char* names[] = {"root mean square", "99th percentile", "maximum"};
  const char* fills[] = {"#0072b2", "#56b4e9", "#cfe8f7"};
  for (std::size_t k = 0; k < 3; ++k) {
    const double x = left + 190 * static_cast<double>(k);
    svg.rectangle({x, 24}, 12, 12, fmt::format("fill=\"{}\"", fills[k]));
    svg.text({x + 18, 34}, names[k], "font-size=\"11\"");
  }
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const TorqueShare& s = shares[i];
    const double y = top + row * static_cast<double>(i);
    svg.text({left - 8, y + 14}, s.joint, "font-size=\"11\" text-anchor=\"end\"");
    const double values[] = {s.rms, s.high, s.max};
    for (const std::size_t k : {2u, 1u, 0u}) {
      svg.rectangle({left, y + 3}, at(std::min(1.0, values[k])) - left, row - 6,
                    fmt::format("fill=\"{}\"", fills[k]));
    }
    svg.text({right + 10, y + 14}, fmt::format("{:g} N m", s.limit), "font-size=\"11\"");
  }
  return svg.finish();
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
  // Clipped, so that interruptions by other processes do not dominate the chart.
  const double limit = 1e6 * run.options().controller->locomotion.control_period;
  Values estimator, whole, horizon, cpu;
  for (const LeggedStep& s : run.steps()) {
    estimator.push_back(std::min(limit, s.times.estimator));
    whole.push_back(std::min(limit, s.times.whole_body));
    horizon.push_back(std::min(limit, s.times.mpc));
    cpu.push_back(std::min(limit, s.cpu_us));
  }
  Svg svg = blank(220, "Time per control step", "Time of each part over the run, us");
  draw_chart(svg, {0, 0}, kWidth, 220, "Time per control step, us; clipped at the period",
             {{"whole step, this thread", &t, &cpu},
              {"forces over the horizon", &t, &horizon},
              {"whole-body program", &t, &whole},
              {"estimator", &t, &estimator}});
  return svg.finish();
}

}  // namespace limb::cli
