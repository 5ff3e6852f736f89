#include "cli/stick_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limb/base/check.hpp"
#include "limb/dynamics/kinematics/frames.hpp"

namespace limb::cli {
namespace {

using Point = Svg::Point;
using Vector = Vector3<double>;

/// Ends of all lines at one state: joint to joint, joint to site, and to the mass centre of bodies
/// without child or site.
std::vector<std::pair<Vector, Vector>> sticks(const Model<double>& model,
                                              const Kinematics<double>& k) {
  std::vector<std::pair<Vector, Vector>> result;
  std::vector<bool> has_line(model.bodies().size(), false);
  for (int i = 1; i < model.body_count(); ++i) {
    const Body<double>& body = model.body(BodyId(i));
    const auto parent = static_cast<std::size_t>(body.parent.value());
    has_line[parent] = true;
    const bool is_free_root = parent == 0 && body.joint.type() == JointType::free;
    const Vector p = k.X_WB[static_cast<std::size_t>(i)].p;
    result.emplace_back(is_free_root ? p : k.X_WB[parent].p, p);
  }
  for (const Frame<double>& frame : model.frames()) {
    const auto b = static_cast<std::size_t>(frame.body.value());
    if (b == 0 || frame.kind != Frame<double>::Kind::site) continue;
    has_line[b] = true;
    result.emplace_back(k.X_WB[b].p, k.X_WB[b] * frame.X_BF.p);
  }
  for (std::size_t b = 1; b < has_line.size(); ++b) {
    const Inertia<double>& inertia = model.bodies()[b].inertia;
    if (has_line[b] || inertia.mass() <= 0) continue;
    result.emplace_back(k.X_WB[b].p, k.X_WB[b] * inertia.com());
  }
  return result;
}

}  // namespace

StickFigure::StickFigure(const std::string& call, const Model<double>& model,
                         const LogSeries& state, std::size_t frames) {
  const int nq = model.nq();
  std::size_t logged = 0;
  while (logged < state.fields.size() && state.fields[logged].starts_with("q.")) ++logged;
  check_size(call, "coordinates of the log", static_cast<std::ptrdiff_t>(logged), nq,
             "the log is of another robot, or of another --base");
  Kinematics<double> kinematics(model);
  VectorX<double> q(nq);
  std::vector<std::vector<std::pair<Vector, Vector>>> all;
  const std::size_t stride = std::max<std::size_t>(1, (state.t.size() + frames - 1) / frames);
  Vector low = Vector::Constant(1e300), high = -low;
  for (std::size_t i = 0; i < state.t.size(); i += stride) {
    for (int j = 0; j < nq; ++j) q[j] = state.values[static_cast<std::size_t>(j)][i];
    if (!q.allFinite()) continue;
    forward_kinematics(model, q, kinematics);
    t_.push_back(state.t[i]);
    all.push_back(sticks(model, kinematics));
    for (const auto& [a, b] : all.back()) {
      low = low.cwiseMin(a).cwiseMin(b);
      high = high.cwiseMax(a).cwiseMax(b);
    }
  }
  // Projected along the axis of the smallest extent, x to the right if possible.
  Eigen::Index depth = 0;
  (high - low).minCoeff(&depth);
  const Eigen::Index across = depth == 0 ? 1 : 0, up = depth == 2 ? 1 : 2;
  const auto project = [&](const Vector& p) { return Point(p[across], p[up]); };
  low_ = project(low);
  high_ = project(high);
  for (const auto& frame : all) {
    frames_.emplace_back();
    for (const auto& [a, b] : frame) frames_.back().emplace_back(project(a), project(b));
  }
}

void StickFigure::draw_snapshots(Svg& svg, const Point& corner, double width, double height,
                                 const std::string& title) const {
  svg.text({corner.x() + 4, corner.y() + 16}, title, "font-size=\"13\" font-weight=\"bold\"");
  const double scale = std::min((width - 40) / std::max(high_.x() - low_.x(), 1e-3),
                                (height - 50) / std::max(high_.y() - low_.y(), 1e-3));
  const Point middle = (low_ + high_) / 2;
  const auto at = [&](const Point& p) {
    return Point(corner.x() + width / 2 + scale * (p.x() - middle.x()),
                 corner.y() + 30 + (height - 40) / 2 - scale * (p.y() - middle.y()));
  };
  constexpr std::size_t kSnapshots = 24;
  const std::size_t stride = std::max<std::size_t>(1, frames_.size() / kSnapshots);
  for (std::size_t i = 0; i < frames_.size(); i += stride) {
    const double part = static_cast<double>(i + 1) / static_cast<double>(frames_.size());
    const std::string style = fmt::format(
        "stroke=\"#0b3d61\" stroke-width=\"2\" stroke-linecap=\"round\" opacity=\"{:.2f}\"",
        0.12 + 0.88 * part * part);
    for (const auto& [a, b] : frames_[i]) svg.line(at(a), at(b), style);
  }
}

std::string StickFigure::animation() const {
  std::string data = "[";
  for (const auto& frame : frames_) {
    data += data.size() > 1 ? ",[" : "[";
    for (std::size_t i = 0; i < frame.size(); ++i) {
      data += fmt::format("{}{:.4g},{:.4g},{:.4g},{:.4g}", i > 0 ? "," : "", frame[i].first.x(),
                          frame[i].first.y(), frame[i].second.x(), frame[i].second.y());
    }
    data += "]";
  }
  std::string times;
  for (const double t : t_) times += fmt::format("{}{:.5g}", times.empty() ? "" : ",", t);
  return fmt::format(
             "<div>\n<canvas width=\"760\" height=\"420\"></canvas>\n"
             "<p><button>pause</button> <input type=\"range\" min=\"0\" "
             "max=\"{}\" value=\"0\" style=\"width:560px\"> <span></span></p>\n"
             "<script>\n{{\nconst frames={}];\nconst times=[{}];\nconst "
             "box=[{:.5g},{:.5g},{:.5g},{:.5g}];\n",
             frames_.empty() ? 0 : frames_.size() - 1, data, times, low_.x(), low_.y(), high_.x(),
             high_.y()) +
         R"(const find=name=>document.currentScript.parentElement.querySelector(name);
const canvas=find('canvas'),pen=canvas.getContext('2d'),slider=find('input'),button=find('button'),label=find('span');
const scale=Math.min((canvas.width-40)/Math.max(box[2]-box[0],1e-3),(canvas.height-40)/Math.max(box[3]-box[1],1e-3));
const x=v=>canvas.width/2+scale*(v-(box[0]+box[2])/2),y=v=>canvas.height/2-scale*(v-(box[1]+box[3])/2);
const draw=i=>{pen.clearRect(0,0,canvas.width,canvas.height);pen.lineWidth=4;pen.lineCap='round';pen.strokeStyle='#0b3d61';
const f=frames[i];for(let k=0;k<f.length;k+=4){pen.beginPath();pen.moveTo(x(f[k]),y(f[k+1]));pen.lineTo(x(f[k+2]),y(f[k+3]));pen.stroke();}
label.textContent=times[i].toFixed(2)+' s';slider.value=i;};
let playing=true,start=null,now=0;
const tick=ms=>{if(playing){if(start===null)start=ms-1e3*(times[now]-times[0]);
const t=times[0]+(ms-start)/1e3;while(now+1<frames.length&&times[now+1]<=t)now++;
if(now+1>=frames.length&&t>times[now]+0.5){now=0;start=null;}draw(now);}requestAnimationFrame(tick);};
slider.oninput=()=>{playing=false;button.textContent='play';now=+slider.value;start=null;draw(now);};
button.onclick=()=>{playing=!playing;start=null;button.textContent=playing?'pause':'play';};
requestAnimationFrame(tick);
}
</script>
</div>
)";
}

}  // namespace limb::cli
