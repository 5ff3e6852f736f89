#include "cli/robot_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "cli/chart.hpp"
#include "cli/plane_hull.hpp"
#include "limb/base/check.hpp"
#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/legged/terrain.hpp"

namespace limb::cli {
namespace {

using Point = Svg::Point;
using Vec = Vector3<double>;

constexpr double kMargin = 16, kTop = 30, kBelow = 60;  // px, around the robot
constexpr int kRound = 12;                              // points of a circle

std::string list_of(const std::vector<Point>& points) {
  std::string text;
  for (const Point& p : points) {
    text += fmt::format("{}{:.4g},{:.4g}", text.empty() ? "" : ",", p.x(), p.y());
  }
  return fmt::format("[{}]", text);
}

}  // namespace

RobotView::Direction RobotView::direction_from_text(const std::string& call,
                                                    const std::string& text) {
  if (text.empty()) return Direction::automatic;
  if (text == "side") return Direction::side;
  if (text == "front") return Direction::front;
  if (text == "top") return Direction::top;
  fail(call, "--view", "'" + text + "'", "one of side, front, top");
}

/// Joint to joint, joint to site, and to the mass centre of bodies without child or site.
void RobotView::add_sticks(const Model<double>& model) {
  std::vector<bool> has_line(model.bodies().size(), false);
  for (int i = 1; i < model.body_count(); ++i) {
    const Body<double>& body = model.body(BodyId(i));
    const auto parent = static_cast<std::size_t>(body.parent.value()),
               own = static_cast<std::size_t>(i);
    has_line[parent] = true;
    if (parent == 0 && body.joint.type() == JointType::free) continue;
    sticks_.push_back({{parent, own}, {Vec::Zero(), Vec::Zero()}});
  }
  for (const limb::Frame<double>& frame : model.frames()) {
    const auto b = static_cast<std::size_t>(frame.body.value());
    if (b == 0 || frame.kind != limb::Frame<double>::Kind::site) continue;
    has_line[b] = true;
    sticks_.push_back({{b, b}, {Vec::Zero(), frame.X_BF.p}});
  }
  for (std::size_t b = 1; b < has_line.size(); ++b) {
    const Inertia<double>& inertia = model.bodies()[b].inertia;
    if (has_line[b] || inertia.mass() <= 0) continue;
    sticks_.push_back({{b, b}, {Vec::Zero(), inertia.com()}});
  }
}

RobotView::RobotView(const std::string& call, const LogScene& scene, const LogSeries& state,
                     std::size_t frames, Direction direction)
    : solids_(scene.solids) {
  const Model<double>& model = scene.model;
  const int nq = model.nq();
  std::size_t logged = 0;
  while (logged < state.fields.size() && state.fields[logged].starts_with("q.")) ++logged;
  check_size(call, "coordinates of the log", static_cast<std::ptrdiff_t>(logged), nq,
             "the log is of another robot, or of another --base");
  add_sticks(model);
  free_ = model.body_count() > 1 && model.bodies()[1].joint.type() == JointType::free;
  Kinematics<double> kinematics(model);
  VectorX<double> q(nq);
  std::vector<std::vector<Pose<double>>> poses;
  const std::size_t stride = std::max<std::size_t>(1, (state.t.size() + frames - 1) / frames);
  Vec low = Vec::Constant(1e300), high = -low;
  const auto include = [&](const Vec& p, double radius) {
    low = low.cwiseMin(p - Vec::Constant(radius));
    high = high.cwiseMax(p + Vec::Constant(radius));
  };
  for (std::size_t i = 0; i < state.t.size(); i += stride) {
    for (int j = 0; j < nq; ++j) q[j] = state.values[static_cast<std::size_t>(j)][i];
    if (!q.allFinite()) continue;
    forward_kinematics(model, q, kinematics);
    t_.push_back(state.t[i]);
    poses.push_back(kinematics.X_WB);
    for (const Stick& stick : sticks_) {
      for (int k : {0, 1}) include(poses.back()[stick.body[k]] * stick.point[k], 0);
    }
    for (const Solid& solid : solids_) {
      for (const Vec& p : solid.points) include(poses.back()[solid.body] * p, solid.radius);
    }
  }
  if (poses.empty()) include(Vec::Zero(), 0.5);

  // Axes of the picture: right, up, and towards the reader.
  Eigen::Index depth = 1;
  if (direction == Direction::top) depth = 2;
  if (direction == Direction::front) depth = 0;
  if (direction == Direction::automatic && !free_) {
    (high - low).minCoeff(&depth);
    // A spatial arm is seen from the side unless it moves in a plane.
    if ((high - low)[depth] > 0.2 * (high - low).maxCoeff()) depth = 1;
  }
  const bool side = direction == Direction::side || direction == Direction::automatic;
  if (side && free_ && !poses.empty()) {
    const Vec travel = poses.back()[1].p - poses.front()[1].p;
    const double size = (high - low).z();
    depth = std::abs(travel.y()) > std::max(std::abs(travel.x()), 0.5 * size) ? 0 : 1;
  }
  constexpr const char* kNames[] = {"x", "y", "z"};
  const Eigen::Index right = depth == 0 ? 1 : 0, up = depth == 2 ? 1 : 2;
  right_ = kNames[right];
  up_ = kNames[up];
  // Planar robots may stand in the plane of x and y.
  const Vec gravity = model.gravity();
  const bool upright = depth == 2 && std::abs(gravity.y()) > std::abs(gravity.z());
  const bool named_side =
      depth == 1 || upright || (depth == 0 && free_ && direction != Direction::front);
  view_ = fmt::format("{} view: {} to the right, {} up",
                      named_side   ? "side"
                      : depth == 2 ? "top"
                                   : "front",
                      right_, up_);
  Eigen::Matrix3d R = Eigen::Matrix3d::Zero();
  R(0, right) = R(1, up) = 1;
  R(2, depth) = depth == 1 ? -1 : 1;  // readers look along y, against x and z
  for (const auto& one : poses) {
    frames_.emplace_back();
    for (const Pose<double>& X : one) {
      Affine A;
      A << R * X.R, R * X.p;
      frames_.back().push_back(A);
    }
  }
  low_ = {low[right], low[up]};
  high_ = {high[right], high[up]};
  if (!free_ && !sticks_.empty()) {
    for (const Frame& frame : frames_) trail_.push_back(end(frame, sticks_.back(), 1));
  }
  // The ground below the path of the robot, a little wider than it.
  if (scene.ground && up == 2) {
    const double wide = std::max({high_.x() - low_.x(), high_.y() - low_.y(), 0.1});
    const double from = low_.x() - 0.2 * wide, to = high_.x() + 0.2 * wide;
    constexpr int kSamples = 400;
    double lowest = low_.y();
    for (int i = 0; i <= kSamples; ++i) {
      const double x = from + (to - from) * i / kSamples;
      Vec p = poses.empty() ? Vec::Zero()
                            : poses.front()[std::min<std::size_t>(1, poses[0].size() - 1)].p;
      p[right] = x;
      // The section at the lateral position of the base when it is here.
      double best = 1e300;
      for (const auto& one : poses) {
        const Vec& b = one[std::min<std::size_t>(1, one.size() - 1)].p;
        if (std::abs(b[right] - x) >= best) continue;
        best = std::abs(b[right] - x);
        p[depth] = b[depth];
      }
      const double z = ground_height(*scene.ground, p.x(), p.y());
      if (!std::isfinite(z)) continue;
      ground_.push_back({x, z});
      if (x >= low_.x() && x <= high_.x()) lowest = std::min(lowest, z);
    }
    // A ground far below is not shown.
    if (low_.y() - lowest < wide) {
      low_.y() = lowest;
    }
  }
}

Point RobotView::end(const Frame& frame, const Stick& stick, int end) const {
  const Affine& A = frame[stick.body[end]];
  return (A.leftCols<3>() * stick.point[end] + A.col(3)).head<2>();
}

std::vector<Point> RobotView::outline(const Frame& frame, const Solid& solid) const {
  std::vector<Point> points;
  const Affine& A = frame[solid.body];
  for (const Vec& p : solid.points) {
    const Point x = (A.leftCols<3>() * p + A.col(3)).head<2>();
    if (solid.radius == 0) points.push_back(x);
    for (int i = 0; solid.radius > 0 && i < kRound; ++i) {
      const double angle = 2 * std::numbers::pi * i / kRound;
      points.push_back(x + solid.radius * Point(std::cos(angle), std::sin(angle)));
    }
  }
  return plane_hull(std::move(points));
}

/// Frames to be drawn: of a robot that travels as many as fit beside each other.
std::vector<std::size_t> RobotView::snapshots() const {
  std::size_t count = solids_.empty() ? 12 : 5;
  if (free_ && frames_.size() > 1) {
    const double travel = std::abs(frames_.back()[1](0, 3) - frames_.front()[1](0, 3));
    const double size = (high_.x() - low_.x()) - travel;
    count = static_cast<std::size_t>(std::clamp(1 + travel / std::max(0.8 * size, 1e-3), 4.0, 7.0));
  }
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t frame = count == 1 ? 0 : i * (frames_.size() - 1) / (count - 1);
    if (chosen.empty() || chosen.back() != frame) chosen.push_back(frame);
  }
  return chosen;
}

double RobotView::height() const {
  const double wide = std::max(high_.x() - low_.x(), 1e-3),
               high = std::max(high_.y() - low_.y(), 1e-3);
  const double scale = (kChartWidth - 2 * kMargin) / wide;
  return std::clamp(scale * high, 110.0, 300.0) + kTop + kBelow;
}

void RobotView::draw_ground(Svg& svg, const std::function<Point(const Point&)>& at) const {
  std::vector<Point> line;
  for (const Point& p : ground_) line.push_back(at(p));
  if (line.size() < 2) return;
  std::vector<Point> soil = line;
  const double depth = 12;
  for (auto p = line.rbegin(); p != line.rend(); ++p) soil.push_back(*p + Point(0, depth));
  svg.polygon(soil, "fill=\"#e9dfca\" stroke=\"none\"");
  svg.polyline(line, "stroke=\"#8a6d3b\" stroke-width=\"1.6\"");
}

void RobotView::draw(Svg& svg, const Point& corner) const {
  svg.text(corner + Point(4, 18), "Motion, later poses darker", chart_title());
  const double area = height() - kTop - kBelow;
  const double scale = std::min((kChartWidth - 2 * kMargin) / std::max(high_.x() - low_.x(), 1e-3),
                                area / std::max(high_.y() - low_.y(), 1e-3));
  const Point middle = (low_ + high_) / 2;
  const Point center = corner + Point(kChartWidth / 2, kTop + area / 2);
  const std::function<Point(const Point&)> at = [&](const Point& p) {
    return Point(center.x() + scale * (p.x() - middle.x()),
                 center.y() - scale * (p.y() - middle.y()));
  };
  svg.begin_clip(corner + Point(2, kTop - 6), kChartWidth - 4, area + 26);
  draw_ground(svg, at);
  if (trail_.size() > 1) {
    std::vector<Point> path;
    for (const Point& p : trail_) path.push_back(at(p));
    svg.polyline(path, fmt::format("stroke=\"{}\" stroke-width=\"1\" stroke-opacity=\"0.55\"",
                                   line_color(1)));
  }
  const std::vector<std::size_t> chosen = snapshots();
  for (std::size_t n = 0; n < chosen.size(); ++n) {
    const Frame& frame = frames_[chosen[n]];
    const double part = static_cast<double>(n + 1) / static_cast<double>(chosen.size());
    const double strong = 0.18 + 0.82 * part * part;
    std::vector<std::size_t> order(solids_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto depth = [&](std::size_t i) {
      const Solid& solid = solids_[i];
      return solid.points.empty() ? 0 : frame[solid.body].row(2).dot(solid.points[0].homogeneous());
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return depth(a) < depth(b); });
    for (const std::size_t i : order) {
      std::vector<Point> corners;
      for (const Point& p : outline(frame, solids_[i])) corners.push_back(at(p));
      if (corners.size() < 3) continue;
      svg.polygon(corners,
                  fmt::format("fill=\"#cfe0ee\" fill-opacity=\"{0:.2f}\" stroke=\"#0b3d61\" "
                              "stroke-width=\"1\" stroke-opacity=\"{0:.2f}\" "
                              "stroke-linejoin=\"round\"",
                              0.85 * strong));
    }
    for (const Stick& stick : sticks_) {
      const Point a = at(end(frame, stick, 0)), b = at(end(frame, stick, 1));
      if ((b - a).norm() < 0.3) continue;
      svg.line(a, b,
               fmt::format("stroke=\"#0b3d61\" stroke-width=\"{}\" stroke-linecap=\"round\" "
                           "stroke-opacity=\"{:.2f}\"",
                           solids_.empty() ? 2.4 : 1.4, strong));
    }
  }
  // What is fixed to the world.
  if (!free_ && !frames_.empty()) {
    const Point base =
        at(frames_[0][std::min<std::size_t>(1, frames_[0].size() - 1)].col(3).head<2>());
    if (solids_.empty()) svg.rectangle(base - Point(5, 5), 10, 10, "fill=\"#8a6d3b\"");
  }
  svg.end_clip();
  // Times, view and scale.
  const double y = corner.y() + height() - 10;
  std::string when;
  if (!t_.empty()) {
    when = fmt::format("{:.3g} s to {:.3g} s, {} poses", t_[chosen.front()], t_[chosen.back()],
                       chosen.size());
  }
  svg.text({corner.x() + 4, y - 16}, view_, chart_text());
  svg.text({corner.x() + 4, y + 2}, when, chart_text());
  const double length = round_length(130 / scale), bar = scale * length;
  const Point right(corner.x() + kChartWidth - 10, y - 2);
  svg.line(right - Point(bar, 0), right, "stroke=\"#222\" stroke-width=\"2\"");
  for (const double x : {0.0, bar}) {
    svg.line(right - Point(x, 5), right - Point(x, -5), "stroke=\"#222\" stroke-width=\"2\"");
  }
  svg.text(right - Point(bar / 2, 8), fmt::format("{:g} m", length), chart_text("middle"));
}

std::string RobotView::animation() const {
  // Per frame and body the rows right, up and towards the reader of an affine map.
  std::string frames;
  for (const Frame& frame : frames_) {
    std::string one;
    for (const Affine& A : frame) {
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 4; ++j) {
          one += fmt::format("{}{:.4g}", one.empty() ? "" : ",",
                             std::round(1e4 * A(i, j)) / 1e4 + 0.0);
        }
      }
    }
    frames += fmt::format("{}[{}]", frames.empty() ? "" : ",", one);
  }
  std::string times, solids, sticks;
  for (const double t : t_) times += fmt::format("{}{:.5g}", times.empty() ? "" : ",", t);
  for (const Solid& solid : solids_) {
    std::string points;
    for (const Vec& p : solid.points) {
      for (const double x : p) points += fmt::format("{}{:.4g}", points.empty() ? "" : ",", x);
    }
    solids += fmt::format("{}[{},{:.4g},[{}]]", solids.empty() ? "" : ",", solid.body, solid.radius,
                          points);
  }
  for (const Stick& stick : sticks_) {
    for (const int k : {0, 1}) {
      sticks += fmt::format("{}{},{:.4g},{:.4g},{:.4g}", sticks.empty() ? "" : ",", stick.body[k],
                            stick.point[k].x(), stick.point[k].y(), stick.point[k].z());
    }
  }
  std::vector<Point> ground;
  for (std::size_t i = 0; i < ground_.size(); ++i) {
    // Points on a straight line add nothing.
    const bool bend = i == 0 || i + 1 == ground_.size() ||
                      std::abs(ground_[i - 1].y() + ground_[i + 1].y() - 2 * ground_[i].y()) > 1e-6;
    if (bend) ground.push_back(ground_[i]);
  }
  const double scale = std::min(520 / std::max(high_.x() - low_.x(), 1e-3),
                                250 / std::max(high_.y() - low_.y(), 1e-3));
  return fmt::format(
             "<div>\n<canvas width=\"600\" height=\"340\" style=\"max-width:100%\"></canvas>\n"
             "<p><button>pause</button> <input type=\"range\" min=\"0\" max=\"{}\" value=\"0\" "
             "style=\"width:60%\" aria-label=\"time\"> <span></span></p>\n<script>\n{{\n"
             "const frames=[{}];\nconst times=[{}],solids=[{}],sticks=[{}],ground={};\n"
             "const middle=[{:.5g},{:.5g}],scale={:.5g},bar={:g},view='{}';\n",
             frames_.empty() ? 0 : frames_.size() - 1, frames, times, solids, sticks,
             list_of(ground), (low_.x() + high_.x()) / 2, (low_.y() + high_.y()) / 2, scale,
             round_length(130 / scale), view_) +
         R"(const root=document.currentScript.parentElement,find=name=>root.querySelector(name);
const canvas=find('canvas'),pen=canvas.getContext('2d'),slider=find('input'),button=find('button'),label=find('span');
const x=v=>300+scale*(v-middle[0]),y=v=>152-scale*(v-middle[1]);
const map=(f,b,p,k)=>{const o=12*b,r=i=>f[o+4*i]*p[k]+f[o+4*i+1]*p[k+1]+f[o+4*i+2]*p[k+2]+f[o+4*i+3];return [r(0),r(1),r(2)];};
const hull=p=>{p.sort((a,b)=>a[0]-b[0]||a[1]-b[1]);const half=q=>{const h=[];for(const c of q){
while(h.length>1){const a=h[h.length-2],b=h[h.length-1];if((b[0]-a[0])*(c[1]-a[1])-(b[1]-a[1])*(c[0]-a[0])>0)break;h.pop();}h.push(c);}h.pop();return h;};
return half(p).concat(half(p.slice().reverse()));};
const draw=i=>{pen.clearRect(0,0,600,340);pen.lineCap=pen.lineJoin='round';const f=frames[i];
if(ground.length>3){pen.beginPath();for(let k=0;k<ground.length;k+=2)pen.lineTo(x(ground[k]),y(ground[k+1]));
pen.strokeStyle='#8a6d3b';pen.lineWidth=2;pen.stroke();
for(let k=ground.length-2;k>=0;k-=2)pen.lineTo(x(ground[k]),y(ground[k+1])+14);pen.fillStyle='#e9dfca';pen.fill();}
const shapes=solids.map(([b,r,p])=>{const q=[];let depth=0;for(let k=0;k<p.length;k+=3){const c=map(f,b,p,k);if(!k)depth=c[2];
if(r>0)for(let j=0;j<12;j++)q.push([c[0]+r*Math.cos(Math.PI*j/6),c[1]+r*Math.sin(Math.PI*j/6)]);else q.push(c);}return [depth,hull(q)];});
shapes.sort((a,b)=>a[0]-b[0]);pen.lineWidth=1.2;pen.strokeStyle='#0b3d61';
for(const [d,h] of shapes){if(h.length<3)continue;pen.beginPath();for(const c of h)pen.lineTo(x(c[0]),y(c[1]));pen.closePath();pen.fillStyle='#cfe0ee';pen.fill();pen.stroke();}
pen.lineWidth=solids.length?1.6:4;for(let k=0;k<sticks.length;k+=8){const a=map(f,sticks[k],sticks,k+1),b=map(f,sticks[k+4],sticks,k+5);
pen.beginPath();pen.moveTo(x(a[0]),y(a[1]));pen.lineTo(x(b[0]),y(b[1]));pen.stroke();}
pen.fillStyle='#222';pen.font='16px Helvetica,Arial,sans-serif';pen.fillText(view,10,330);pen.strokeStyle='#222';pen.lineWidth=2;
pen.beginPath();pen.moveTo(588-scale*bar,326);pen.lineTo(588,326);pen.moveTo(588,320);pen.lineTo(588,332);pen.moveTo(588-scale*bar,320);pen.lineTo(588-scale*bar,332);pen.stroke();
pen.textAlign='center';pen.fillText(bar+' m',588-scale*bar/2,314);pen.textAlign='left';
pen.fillText(times[i].toFixed(2)+' s',10,22);label.textContent=times[i].toFixed(2)+' s';slider.value=i;};
let playing=true,start=null,now=0;
const tick=ms=>{if(playing){if(start===null)start=ms-1e3*(times[now]-times[0]);
const t=times[0]+(ms-start)/1e3;while(now+1<frames.length&&times[now+1]<=t)now++;
if(now+1>=frames.length&&t>times[now]+0.5){now=0;start=null;}draw(now);}requestAnimationFrame(tick);};
slider.oninput=()=>{playing=false;button.textContent='play';now=+slider.value;start=null;draw(now);};
button.onclick=()=>{playing=!playing;start=null;button.textContent=playing?'pause':'play';};
if(frames.length){draw(0);requestAnimationFrame(tick);}
}
</script>
</div>
)";
}

}  // namespace limb::cli
