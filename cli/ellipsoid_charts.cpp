#include "cli/ellipsoid_charts.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>

#include "limb/base/check.hpp"
#include "limb/base/nearest.hpp"
#include "limb/dynamics/constraints/actuated.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/workspace.hpp"
#include "limb/sim/world/sensors.hpp"

namespace limb::cli {
namespace {

using Point = Svg::Point;

/// The matrices E of the ellipsoids {x: x^T E^-1 x = 1} at one row of the log.
struct Row {
  double t;
  Vector3<double> p;                   ///< origin of the frame
  std::vector<Vector3<double>> links;  ///< from the root to the frame
  std::array<Matrix3<double>, 2> E;    ///< velocity, inertia
};

/// Two axes of the world, for a picture.
struct Plane {
  int right, up;
  Point of(const Vector3<double>& p) const { return {p[right], p[up]}; }
  Eigen::Matrix2d of(const Matrix3<double>& E) const {
    Eigen::Matrix2d part;
    part << E(right, right), E(right, up), E(up, right), E(up, up);
    return part;
  }
};

/// Column of each coordinate of q in the log.
std::vector<std::size_t> columns_of(const std::string& call, const Model<double>& model,
                                    const LogSeries& state) {
  std::vector<std::size_t> columns;
  for (const std::string& name : position_names(model)) {
    const auto found = std::find(state.fields.begin(), state.fields.end(), "q." + name);
    if (found == state.fields.end()) {
      throw Error(fmt::format("{}: the log has no coordinate '{}' of the robot", call, name));
    }
    columns.push_back(static_cast<std::size_t>(found - state.fields.begin()));
  }
  return columns;
}

std::vector<Row> read_rows(const std::string& call, const Model<double>& model,
                           const LogSeries& state, FrameId frame) {
  const std::vector<std::size_t> columns = columns_of(call, model, state);
  const int n = model.nv();
  std::vector<bool> motor(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) motor[static_cast<std::size_t>(i)] = is_actuated(model, i);
  const bool all = std::none_of(motor.begin(), motor.end(), [](bool m) { return m; });
  Kinematics<double> kinematics(model);
  Workspace<double> work(model, Loops::open);
  MatrixX<double> M(n, n);
  Matrix6X<double> J(6, n);
  std::vector<Row> rows;
  constexpr std::size_t kMost = 2000;
  const std::size_t stride = std::max<std::size_t>(1, state.t.size() / kMost);
  for (std::size_t k = 0; k < state.t.size(); k += stride) {
    VectorX<double> q(model.nq());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      q[static_cast<Eigen::Index>(i)] = state.values[columns[i]][k];
    }
    if (!q.allFinite()) continue;  // an empty cell
    forward_kinematics(model, q, kinematics);
    frame_jacobian(model, kinematics, frame, FrameAxes::local_world_aligned, J);
    crba(model, work, q, M);
    const Matrix3X<double> linear = J.topRows<3>();
    Matrix3X<double> driven = linear;
    for (int i = 0; i < n && !all; ++i) {
      if (!motor[static_cast<std::size_t>(i)]) driven.col(i).setZero();
    }
    const Eigen::LLT<MatrixX<double>> factor(M.selfadjointView<Eigen::Lower>());
    if (factor.info() != Eigen::Success) {
      fail_computation(call, fmt::format("the mass matrix is singular at {} s", state.t[k]));
    }
    const MatrixX<double> half = factor.matrixL().solve(MatrixX<double>(linear.transpose()));
    Row row{state.t[k],
            frame_pose(model, kinematics, frame).p,
            {},
            {driven * driven.transpose(), half.transpose() * half}};
    row.links.push_back(row.p);
    for (BodyId body = model.frame(frame).body; body.value() > 0; body = model.body(body).parent) {
      row.links.push_back(kinematics.X_WB[static_cast<std::size_t>(body.value())].p);
    }
    rows.push_back(std::move(row));
  }
  if (rows.empty()) throw Error(fmt::format("{}: the log has no complete state", call));
  return rows;
}

/// The plane of the world in which the ellipsoids have the largest area.
Plane best_plane(const std::vector<Row>& rows) {
  constexpr Plane kPlanes[] = {{0, 2}, {1, 2}, {0, 1}};
  Plane best = kPlanes[0];
  double largest = -1;
  for (const Plane& plane : kPlanes) {
    double area = 0;
    for (const Row& row : rows) {
      const Eigen::Matrix2d E = plane.of(row.E[1]);
      // The trace decides for a frame that moves along a line.
      area += std::sqrt(std::max(0.0, E.determinant())) + 1e-3 * E.trace();
    }
    if (area > largest * (1 + 1e-9)) {
      largest = area;
      best = plane;
    }
  }
  return best;
}

/// Half axes of an ellipsoid, longest first.
Vector3<double> half_axes(const Matrix3<double>& E) {
  const Eigen::SelfAdjointEigenSolver<Matrix3<double>> solver(E, Eigen::EigenvaluesOnly);
  return solver.eigenvalues().reverse().cwiseMax(0).cwiseSqrt();
}

std::vector<Point> ellipse(const Point& center, const Eigen::Matrix2d& E, double scale) {
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d> solver(E);
  const Eigen::Matrix2d A =
      solver.eigenvectors() * solver.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal();
  std::vector<Point> points;
  constexpr int kCount = 60;
  for (int i = 0; i <= kCount; ++i) {
    const double angle = 2 * std::numbers::pi * i / kCount;
    points.push_back(center + scale * (A * Point(std::cos(angle), std::sin(angle))));
  }
  return points;
}

/// Links and ellipses at some instants, and the path of the frame.
PlaneChart plane_chart(const std::vector<Row>& rows, std::size_t kind, const Plane& plane,
                       const std::string& frame) {
  constexpr std::size_t kShots = 6;
  std::vector<const Row*> shots;
  for (std::size_t i = 0; i < kShots; ++i) {
    const Row* row = &rows[i * (rows.size() - 1) / (kShots - 1)];
    if (shots.empty() || shots.back() != row) shots.push_back(row);
  }
  ChartRange x, y;
  double longest = 0;
  PlaneChart::Series path{"path of " + frame, PlaneChart::Kind::line, {}, 1};
  for (const Row& row : rows) path.points.push_back(plane.of(row.p));
  PlaneChart::Series links{"links", PlaneChart::Kind::line, {}, 7};
  for (const Row* row : shots) {
    for (const Vector3<double>& p : row->links) {
      links.points.push_back(plane.of(p));
      x.add(links.points.back().x());
      y.add(links.points.back().y());
    }
    links.points.emplace_back(std::nan(""), std::nan(""));
    longest = std::max(longest, half_axes(row->E[kind])[0]);
  }
  const double extent = std::max({x.high - x.low, y.high - y.low, 1e-6});
  const double scale = round_length(0.25 * extent / longest);
  PlaneChart chart;
  chart.title = fmt::format("{} ellipsoids of {}", kind == 0 ? "Velocity" : "Inertia", frame);
  chart.x_label = fmt::format("{}, m", "xyz"[plane.right]);
  chart.y_label = fmt::format("{}, m", "xyz"[plane.up]);
  for (const Row* row : shots) {
    const bool first = row == shots.front();
    const std::string name =
        fmt::format("{}; 1 m/s is drawn as {:g} m",
                    kind == 0 ? "joint speeds of 1 unit" : "kinetic energy of 1/2 J", scale);
    chart.series.push_back({first ? name : "", PlaneChart::Kind::area,
                            ellipse(plane.of(row->p), plane.of(row->E[kind]), scale), 0});
  }
  chart.series.push_back(std::move(links));
  chart.series.push_back(std::move(path));
  chart.height = 320;
  return chart;
}

}  // namespace

void add_ellipsoid_charts(Figure& figure, const std::string& call, const Model<double>& model,
                          const LogSeries& state, const std::string& frame) {
  std::vector<std::string> names;
  for (const Frame<double>& one : model.frames()) names.push_back(one.name);
  if (std::find(names.begin(), names.end(), frame) == names.end()) {
    const std::string close = nearest(frame, names);
    throw Error(fmt::format("{}: --ellipsoids: no frame is named '{}'{}", call, frame,
                            close.empty() ? "" : fmt::format(" (closest: '{}')", close)));
  }
  const std::vector<Row> rows = read_rows(call, model, state, model.find_frame(frame));
  std::array<std::array<std::vector<double>, 3>, 2> axes;
  auto t = std::make_shared<std::vector<double>>();
  double longest[2] = {0, 0};
  for (const Row& row : rows) {
    t->push_back(row.t);
    for (std::size_t kind = 0; kind < 2; ++kind) {
      const Vector3<double> a = half_axes(row.E[kind]);
      longest[kind] = std::max(longest[kind], a[0]);
      for (std::size_t i = 0; i < 3; ++i) {
        axes[kind][i].push_back(a[static_cast<Eigen::Index>(i)]);
      }
    }
  }
  if (!(longest[1] > 0)) {
    fail_computation(call, fmt::format("--ellipsoids: frame '{}' never moves", frame));
  }
  const Plane plane = best_plane(rows);
  for (std::size_t kind = 0; kind < 2; ++kind) {
    if (longest[kind] > 0) figure.add(plane_chart(rows, kind, plane, frame));
  }
  // Directions in which the frame never moves have no axis.
  constexpr double kNone = 1e-9;
  const auto curves = std::make_shared<std::vector<std::vector<double>>>();
  curves->reserve(6);
  for (std::size_t kind = 0; kind < 2; ++kind) {
    Chart chart;
    chart.title = kind == 0 ? fmt::format("Half axes of the velocity ellipsoid of {}", frame)
                            : fmt::format("Apparent mass of {} along the axes", frame);
    chart.unit = kind == 0 ? "m/s" : "kg";
    for (std::size_t i = 0; i < 3; ++i) {
      std::vector<double> values = axes[kind][i];
      if (*std::max_element(values.begin(), values.end()) <= kNone * longest[kind]) continue;
      for (double& value : values) {
        if (kind == 0) continue;
        value = value > kNone * longest[1] ? 1 / (value * value) : std::nan("");
      }
      curves->push_back(std::move(values));
      constexpr const char* kNames[] = {"longest axis", "second axis", "third axis"};
      chart.lines.push_back({kNames[i], t.get(), &curves->back()});
    }
    if (!chart.lines.empty()) figure.add(std::move(chart));
  }
  // The curves live as long as the figure.
  figure.add(0, [t, curves](Svg&, const Point&) {});
}

}  // namespace limb::cli
