#include "cli/legged_animation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/legged_figure.hpp"

namespace limb::cli {
namespace {

using Vec = Vector3<double>;

/// Appends a number rounded to 1e-3.
void append(std::string& text, double x) {
  if (!text.empty() && text.back() != '[') text += ',';
  text += fmt::format("{:g}", std::round(1e3 * x) / 1e3);
}
void append(std::string& text, const Vec& p) {
  for (const double x : p) append(text, x);
}
void append(std::string& text, const limb::Pose<double>& X) {
  append(text, X.p);
  for (int column = 0; column < 3; ++column) append(text, Vec(X.R.col(column)));
}

/// The ground near the path as tiles [x0, x1, y0, y1, height]: the blocks, and squares elsewhere.
/// @param low  m, set to a depth below all tiles.
std::string tiles(const LeggedRun& run, double& low) {
  const auto& steps = run.steps();
  const double far = 2.5 * run.robot().height(), size = 0.25;
  const auto [first, last] = std::minmax(steps.front().q[0], steps.back().q[0]);
  std::string all;
  low = 0.05 * run.robot().height();
  const auto add = [&](double x0, double x1, double y0, double y1, double top) {
    std::string one = "[";
    for (const double x : {x0, x1, y0, y1, top}) append(one, x);
    all += (all.empty() ? "" : ",") + one + "]";
    low = std::max(low, 0.01 - top);
  };
  std::vector<const Ground::Box*> small;
  for (const Ground::Box& box : run.options().ground.boxes()) {
    const Vec &p = box.X_WG.p, &half = box.half;
    if (half.head<2>().maxCoeff() > 1) continue;
    if (p.x() < first - far || p.x() > last + far || std::abs(p.y()) > far + 0.5) continue;
    small.push_back(&box);
    add(p.x() - half.x(), p.x() + half.x(), p.y() - half.y(), p.y() + half.y(), p.z() + half.z());
  }
  for (double x = std::floor((first - far) / size) * size; x < last + far; x += size) {
    for (double y = -std::ceil((far + 0.5) / size) * size; y < far + 0.5; y += size) {
      const Vec middle(x + size / 2, y + size / 2, 0);
      const bool taken = std::any_of(small.begin(), small.end(), [&](const Ground::Box* box) {
        const Vec off = middle - box->X_WG.p;
        return std::abs(off.x()) < box->half.x() && std::abs(off.y()) < box->half.y();
      });
      if (taken) continue;
      add(x, x + size, y, y + size, ground_height(run.options().ground, middle.x(), middle.y()));
    }
  }
  return all;
}

constexpr const char* kScript = R"(
const root=document.currentScript.parentElement,find=name=>root.querySelector(name);
const canvas=find('canvas'),pen=canvas.getContext('2d'),slider=find('input'),button=find('button'),label=find('span');
const W=canvas.width,H=canvas.height;let turn=-0.6,lift=0.35;
const scale=W/(5.2*height);
const view=(p,c)=>{const x=p[0]-c[0],y=p[1]-c[1],z=p[2]-c[2],a=Math.cos(turn),b=Math.sin(turn);
const u=x*a-y*b,v=x*b+y*a;return [W/2+scale*u,H*0.62-scale*(z*Math.cos(lift)+v*Math.sin(lift)),v];};
const line=(points,c,style,width,dash)=>{pen.strokeStyle=style;pen.lineWidth=width;pen.setLineDash(dash||[]);pen.beginPath();
points.forEach((p,i)=>{const s=view(p,c);i?pen.lineTo(s[0],s[1]):pen.moveTo(s[0],s[1]);});pen.stroke();pen.setLineDash([]);};
const edges=[[0,1],[1,3],[3,2],[2,0],[4,5],[5,7],[7,6],[6,4],[0,4],[1,5],[2,6],[3,7]];
const box=(f,o,c,style,width,dash)=>{const k=[];for(let i=0;i<8;i++){const s=[i&1?half[0]:-half[0],i&2?half[1]:-half[1],i&4?half[2]:-half[2]];
k.push([0,1,2].map(d=>f[o+d]+f[o+3+d]*s[0]+f[o+6+d]*s[1]+f[o+9+d]*s[2]));}
edges.forEach(e=>line([k[e[0]],k[e[1]]],c,style,width,dash));};
const face=(points,c,fill)=>{pen.beginPath();points.forEach((p,i)=>{const s=view(p,c);i?pen.lineTo(s[0],s[1]):pen.moveTo(s[0],s[1]);});
pen.closePath();pen.fillStyle=fill;pen.fill();pen.strokeStyle='#d8cdb8';pen.lineWidth=0.5;pen.stroke();};
const ground=c=>{const r=2.9*height;const near=blocks.filter(b=>Math.abs((b[0]+b[1])/2-c[0])<r&&Math.abs((b[2]+b[3])/2-c[1])<r);
near.sort((p,q)=>view([(q[0]+q[1])/2,(q[2]+q[3])/2,0],c)[2]-view([(p[0]+p[1])/2,(p[2]+p[3])/2,0],c)[2]);
near.forEach(b=>{const t=b[4],g=Math.round(205+1100*t),fill=`rgb(${g+12},${g},${g-28})`;
const y=Math.cos(turn)>0?b[2]:b[3],x=Math.sin(turn)>0?b[0]:b[1];
face([[b[0],y,-low],[b[1],y,-low],[b[1],y,t],[b[0],y,t]],c,'#c9b993');face([[x,b[2],-low],[x,b[3],-low],[x,b[3],t],[x,b[2],t]],c,'#bfae86');
face([[b[0],b[2],t],[b[1],b[2],t],[b[1],b[3],t],[b[0],b[3],t]],c,fill);});};
const draw=i=>{pen.clearRect(0,0,W,H);const f=frames[i],c=[f[0],f[1],height*0.55];pen.lineCap='round';pen.lineJoin='round';ground(c);
let o=12;const legs=[];for(let l=0;l<joints.length;l++){const p=[];for(let k=0;k<joints[l];k++){p.push(f.slice(o,o+3));o+=3;}legs.push(p);}
const order=legs.map((p,l)=>l).sort((a,b)=>view(legs[b][0],c)[2]-view(legs[a][0],c)[2]);
const middle=order.length>>1;order.forEach((l,n)=>{if(n==middle)box(f,0,c,'#0b3d61',2);
line(legs[l],c,n<middle?'#8fb3cc':'#0b3d61',5);});
for(let l=0;l<legs.length;l++){const foot=legs[l][legs[l].length-1],tip=foot.map((x,d)=>x+f[o+d]);o+=3;
if(Math.hypot(tip[0]-foot[0],tip[1]-foot[1],tip[2]-foot[2])>0.02*height)line([foot,tip],c,'#009e73',3);}
if(f.length>o)box(f,o,c,'#d55e00',1.5,[5,4]);
pen.fillStyle='#222';pen.font='14px Helvetica,Arial,sans-serif';pen.fillText(times[i].toFixed(2)+' s',12,22);
const p=pushes.find(p=>times[i]>=p[0]&&times[i]<=p[1]+0.2);if(p){pen.fillStyle='#c00';pen.fillText('pushed',80,22);}
label.textContent=times[i].toFixed(2)+' s';slider.value=i;};
let playing=true,start=null,now=0;
const tick=ms=>{if(playing){if(start===null)start=ms-1e3*(times[now]-times[0]);const t=times[0]+(ms-start)/1e3;
while(now+1<frames.length&&times[now+1]<=t)now++;if(now+1>=frames.length&&t>times[now]+0.7){now=0;start=null;}draw(now);}requestAnimationFrame(tick);};
slider.oninput=()=>{playing=false;button.textContent='play';now=+slider.value;start=null;draw(now);};
button.onclick=()=>{playing=!playing;start=null;button.textContent=playing?'pause':'play';};
let held=null;canvas.onpointerdown=e=>{held=[e.clientX,e.clientY];canvas.setPointerCapture(e.pointerId);};
canvas.onpointerup=()=>{held=null;};canvas.onpointermove=e=>{if(!held)return;turn+=(e.clientX-held[0])*0.01;
lift=Math.min(1.5,Math.max(0.05,lift+(e.clientY-held[1])*0.01));held=[e.clientX,e.clientY];draw(now);};
draw(0);requestAnimationFrame(tick);
)";

}  // namespace

std::string legged_animation(const LeggedRun& run) {
  LeggedFigure figure(run.robot());
  const auto& steps = run.steps();
  constexpr double kRate = 30;  // frames per second
  const double weight = run.robot().model.total_mass() * run.robot().model.gravity().norm();
  std::string frames, times, joints, pushes;
  double next = 0;
  std::size_t count = 0;
  for (const LeggedStep& s : steps) {
    if (s.t < next - 1e-9) continue;
    next += 1 / kRate;
    const LeggedFigure::Pose pose = figure.at(s.q);
    std::string one = "[";
    append(one, pose.trunk);
    for (const auto& leg : pose.legs) {
      for (const Vec& p : leg) append(one, p);
    }
    for (const Vec& f : s.foot_force) append(one, run.robot().height() / weight * f);
    if (s.estimated) append(one, s.X_WB);
    frames += (count++ > 0 ? "," : "") + one + "]";
    append(times, s.t);
    if (count > 1) continue;
    for (const auto& leg : pose.legs) append(joints, static_cast<double>(leg.size()));
  }
  double low = 0;
  const std::string blocks = tiles(run, low);
  for (const LeggedPush& push : run.options().pushes) {
    pushes +=
        fmt::format("{}[{},{}]", pushes.empty() ? "" : ",", push.begin, push.begin + push.duration);
  }
  std::string half;
  append(half, figure.half());
  return fmt::format(
      "<div>\n<canvas width=\"860\" height=\"440\" style=\"max-width:100%;touch-action:none\">"
      "</canvas>\n<p><button>pause</button> <input type=\"range\" min=\"0\" max=\"{}\" "
      "value=\"0\" style=\"width:560px;max-width:70%\" aria-label=\"time\"> <span></span> drag to "
      "turn</p>\n<script>\n{{\nconst frames=[{}];\nconst times=[{}],joints=[{}],half=[{}],"
      "height={:g},low={:g};\nconst blocks=[{}],pushes=[{}];{}}}\n</script>\n</div>\n",
      count - 1, frames, times, joints, half, run.robot().height(), low, blocks, pushes, kScript);
}

}  // namespace limb::cli
