#include "limb/symbolic/typeset/robot_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limb/symbolic/derive/closed_form.hpp"
#include "limb/symbolic/typeset/line_breaks.hpp"
#include "limb/symbolic/typeset/page_writer.hpp"
#include "limb/symbolic/typeset/textbook_form.hpp"

namespace limb::symbolic {
namespace {

using P = Polynomial;
using V2 = Eigen::Vector2d;
using V3 = Eigen::Vector3d;

constexpr double kSize = 300, kMargin = 78;  // of the drawing, pixels

/// A formula as the inside of an SVG text: letters in italics, indices lowered.
std::string svg_text(const MathNode& node, bool lowered = false) {
  using Kind = MathNode::Kind;
  const auto escaped = [](const std::string& text) {
    std::string result;
    for (const char c : text) {
      result += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
    }
    return result;
  };
  switch (node.kind) {
    case Kind::letter:
      return fmt::format("<tspan font-style=\"italic\">{}</tspan>", escaped(node.text));
    case Kind::sign:
    case Kind::number:
    case Kind::upright:
      return fmt::format("<tspan>{}</tspan>", escaped(node.text));
    case Kind::fraction:
      return svg_text(node.parts[0], lowered) + "<tspan>/</tspan>" +
             svg_text(node.parts[1], lowered);
    case Kind::script: {
      std::string text = svg_text(node.parts[0], lowered);
      const std::string below = svg_text(node.parts[1], true),
                        above = svg_text(node.parts[2], true);
      // The shift is undone by an empty span with the opposite one.
      if (!below.empty()) {
        text += fmt::format(
            "<tspan dy=\"4\" font-size=\"70%\">{}</tspan><tspan dy=\"-4\">&#8203;</tspan>", below);
      }
      if (!above.empty()) {
        text += fmt::format(
            "<tspan dy=\"-6\" font-size=\"70%\">{}</tspan><tspan dy=\"6\">&#8203;</tspan>", above);
      }
      return text;
    }
    default: {
      std::string text;
      for (const MathNode& part : node.parts) text += svg_text(part, lowered);
      return text;
    }
  }
}

class RobotFigure {
 public:
  RobotFigure(const Robot& robot, const FigureOptions& options)
      : robot_(robot),
        names_(*robot.ring, coordinate_letters(robot, options.plain_names)),
        links_(derive_links(robot, false)),
        values_(known_values(*robot.ring)) {
    const std::size_t n = robot.coordinates.size();
    if (!options.q.empty() && options.q.size() != n) {
      throw Error(fmt::format("draw_robot: q has {} numbers, expected {}", options.q.size(), n));
    }
    for (double& x : values_) {
      if (std::isnan(x)) x = 0;
    }
    for (SymbolId id = 0; id < robot.ring->symbols().size(); ++id) {
      const Symbol& symbol = robot.ring->symbol(id);
      if (symbol.kind == Symbol::Kind::parameter && !symbol.value) values_[id] = 1;
    }
    for (std::size_t i = 0; i < n; ++i) {
      values_[robot.coordinates[i].q] = options.q.empty() ? pose(i) : options.q[i];
    }
  }

  std::string draw() {
    choose_view();
    collect();
    fit();
    ground();
    for (const Line& line : lines_) draw_line(line);
    for (std::size_t k = 0; k < links_.size(); ++k) joint(k);
    for (std::size_t k = 0; k < links_.size(); ++k) mass(k);
    for (const auto& [name, at] : tips_) frame(name, at);
    gravity();
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"robot\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" font-family=\"serif\" font-size=\"16\" "
        "stroke-linecap=\"round\" fill=\"none\" "
        "stroke=\"currentColor\">\n<title>{2}</title>\n{3}</svg>\n",
        width_, height_, title(), out_);
  }

 private:
  struct Line {
    V3 from, to;
    std::string label;
    bool dashed = false;
    bool to_center = false;  ///< ends at the mass centre: its label is on the other side
  };

  /// Alternating bends, so that no link covers another.
  double pose(std::size_t i) const {
    if (!robot_.coordinates[i].is_angle) return robot_.coordinates[i].actuated ? 0.6 * length() : 0;
    if (!robot_.coordinates[i].actuated) return i + 1 == robot_.coordinates.size() ? 0.7 : 0.1;
    if (i == 0) return 0.6;
    const double other_legs = 0.3 * (static_cast<double>((i / 2) % 3) - 1);
    return (i % 2 == 1 ? 0.7 : -0.9) + other_legs;
  }
  /// A typical length of the robot at q = 0.
  double length() const {
    double sum = 0;
    for (const Body<P>& body : robot_.model.bodies()) sum += numbers(body.X_PJ.p).norm();
    return sum > 0 ? sum / static_cast<double>(links_.size()) : 0.5;
  }
  std::string title() const {
    std::string text;
    for (const char c : robot_.model.name()) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_') text += c;
    }
    return text;
  }

  double number(const P& x) const { return evaluate(x, values_); }
  V3 numbers(const Vector3<P>& x) const { return {number(x[0]), number(x[1]), number(x[2])}; }
  V3 origin(std::size_t k) const { return numbers(links_[k].X_WB.p); }
  /// Where joint k is attached to its parent.
  V3 attachment(std::size_t k) const {
    const Body<P>& body = robot_.model.bodies()[k + 1];
    const int parent = body.parent.value();
    if (parent == 0) return numbers(body.X_PJ.p);
    return numbers(Vector3<P>(links_[static_cast<std::size_t>(parent - 1)].X_WB * body.X_PJ.p));
  }
  V3 axis(std::size_t k) const {
    const Body<P>& body = robot_.model.bodies()[k + 1];
    const VectorX<P> q = robot_.model.coupling().expand_position(VectorX<P>(robot_.q()));
    Motion<P> S[6];
    body.joint.subspace(q.data() + body.q_start, S);
    const Vector3<P> world = links_[k].X_WB.R * (turns(k) ? S[0].w : S[0].v);
    return numbers(world);
  }
  bool turns(std::size_t k) const {
    const JointType type = robot_.model.bodies()[k + 1].joint.type();
    return type != JointType::prismatic && type != JointType::translation;
  }

  /// The plane of the motion, or an oblique view; gravity points down.
  void choose_view() {
    V3 normal = V3::Zero();
    bool planar = true;
    for (std::size_t k = 0; k < links_.size(); ++k) {
      if (!turns(k)) continue;
      const V3 z = axis(k);
      if (normal.norm() == 0) normal = z;
      planar = planar && normal.cross(z).norm() < 1e-9;
    }
    const V3 g = numbers(robot_.model.gravity());
    if (normal.norm() == 0) {
      // Only displacements: the plane of the first two directions, or that of gravity.
      normal = V3::UnitZ();
      if (std::abs(g.z()) > 0) normal = V3::UnitY();
    }
    if (!planar) {
      right_ = V3(0.87, -0.5, 0);
      up_ = V3(-0.25, -0.43, 0.87);
      return;
    }
    normal.normalize();
    const V3 down = g - g.dot(normal) * normal;
    if (down.norm() > 1e-9) {
      up_ = -down.normalized();
    } else {
      up_ = std::abs(normal.y()) < 0.9 ? V3(V3::UnitY() - normal.y() * normal).normalized()
                                       : V3::UnitZ();
    }
    right_ = up_.cross(normal);
    // x to the right if possible.
    if (right_.x() < -1e-9 || (std::abs(right_.x()) < 1e-9 && right_.sum() < 0)) right_ = -right_;
  }
  V2 flat(const V3& p) const { return {right_.dot(p), -up_.dot(p)}; }
  V2 at(const V3& p) const { return scale_ * (flat(p) - low_) + V2(kMargin, kMargin); }

  std::string formula(const P& x) const {
    return svg_text(parse_math(without_breaks(to_latex(textbook_form(x), names_))));
  }
  /// The letter of a displacement with one component, else nothing.
  std::string length_label(const Vector3<P>& p) const {
    std::string label;
    int count = 0;
    for (const P& x : p) {
      if (x.is_zero()) continue;
      ++count;
      const bool negative = textbook_form(x).is_negative();
      if (!x.is_constant()) label = formula(negative ? -x : x);
    }
    return count == 1 ? label : "";
  }

  void collect() {
    for (std::size_t k = 0; k < links_.size(); ++k) {
      const Body<P>& body = robot_.model.bodies()[k + 1];
      const int parent = body.parent.value();
      const V3 joint_at = attachment(k);
      const V3 start = parent == 0 ? V3(V3::Zero()) : origin(static_cast<std::size_t>(parent - 1));
      if ((joint_at - start).norm() > 1e-9 && parent != 0) {
        lines_.push_back({start, joint_at, length_label(body.X_PJ.p)});
      }
      if (!turns(k) && (origin(k) - joint_at).norm() > 1e-9) {
        lines_.push_back({joint_at, origin(k), "", true});
      }
      if (links_[k].center && !links_[k].mass.is_zero()) {
        const V3 c = numbers(links_[k].p);
        if ((c - origin(k)).norm() > 1e-9) {
          lines_.push_back({origin(k), c, length_label(*links_[k].center), false, true});
        }
      }
    }
    std::vector<bool> has_child(links_.size() + 1, false);
    for (const Body<P>& body : robot_.model.bodies()) {
      if (body.parent.value() > 0) has_child[static_cast<std::size_t>(body.parent.value())] = true;
    }
    for (const auto& frame : robot_.model.frames()) {
      const int body = frame.body.value();
      if (body == 0 || has_child[static_cast<std::size_t>(body)]) continue;
      const auto k = static_cast<std::size_t>(body - 1);
      const V3 p = numbers(Vector3<P>(links_[k].X_WB * frame.X_BF.p));
      if ((p - origin(k)).norm() < 1e-9) continue;
      lines_.push_back({origin(k), p, length_label(frame.X_BF.p)});
      tips_.emplace_back(frame.name, p);
    }
    for (const Line& line : lines_) {
      points_.push_back(line.from);
      points_.push_back(line.to);
    }
    for (std::size_t k = 0; k < links_.size(); ++k) points_.push_back(origin(k));
    points_.push_back(links_.empty() ? V3(V3::Zero()) : attachment(0));
  }

  void fit() {
    V2 high(-1e300, -1e300);
    low_ = -high;
    for (const V3& p : points_) {
      low_ = low_.cwiseMin(flat(p));
      high = high.cwiseMax(flat(p));
    }
    const V2 span = high - low_;
    scale_ = kSize / std::max({span.x(), span.y(), 1e-6});
    width_ = scale_ * span.x() + 2 * kMargin + 40;
    height_ = scale_ * span.y() + 2 * kMargin;
  }

  void line(const V2& a, const V2& b, double thickness, const char* more = "") {
    out_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke-width=\"{}\"{}/>\n",
        a.x(), a.y(), b.x(), b.y(), thickness, more);
  }
  void text(const V2& p, const std::string& inside, const char* anchor = "middle") {
    out_ += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"currentColor\" stroke=\"none\" "
        "text-anchor=\"{}\">{}</text>\n",
        p.x(), p.y(), anchor, inside);
  }
  void draw_line(const Line& l) {
    const V2 a = at(l.from), b = at(l.to);
    line(a, b, l.dashed ? 1.5 : 5,
         l.dashed ? " stroke-dasharray=\"6 5\"" : " stroke-opacity=\"0.35\"");
    if (l.label.empty() || (b - a).norm() < 24) return;
    // Beside the middle of the line, on its upper or right side.
    V2 side = V2(-(b - a).y(), (b - a).x()).normalized();
    if (side.y() > 0.05 || (std::abs(side.y()) <= 0.05 && side.x() < 0)) side = -side;
    if (l.to_center) side = -side;
    text(a + (l.to_center ? 0.5 : 0.7) * (b - a) + 16 * side + V2(0, 5), l.label);
  }

  void ground() {
    const V2 p = at(links_.empty() ? V3(V3::Zero()) : attachment(0));
    const bool floating = !robot_.coordinates.empty() && !robot_.coordinates[0].actuated;
    if (floating) return;
    line(p + V2(-22, 14), p + V2(22, 14), 2);
    for (int i = 0; i < 6; ++i) {
      const V2 q = p + V2(-18 + 8 * i, 14);
      line(q, q + V2(-7, 8), 1);
    }
  }

  void joint(std::size_t k) {
    const V2 p = at(attachment(k));
    if (links_[k].mass.is_zero() && !turns(k)) {
      // A coordinate of a planar base, which no bearing guides.
    } else if (turns(k)) {
      out_ += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"8\" stroke-width=\"2\" fill=\"white\" "
          "class=\"joint\"/>\n",
          p.x(), p.y());
    } else {
      const V2 direction = (flat(axis(k))).normalized();
      const double angle = std::atan2(direction.y(), direction.x()) * 180 / 3.141592653589793;
      out_ += fmt::format(
          "<rect x=\"-14\" y=\"-8\" width=\"28\" height=\"16\" stroke-width=\"2\" fill=\"white\" "
          "class=\"joint\" "
          "transform=\"translate({:.1f} {:.1f}) rotate({:.1f})\"/>\n",
          p.x(), p.y(), std::isfinite(angle) ? angle : 0.0);
    }
    // The letters of all joints at this place, once.
    std::string label;
    for (std::size_t j = 0; j < links_.size(); ++j) {
      if ((at(attachment(j)) - p).norm() > 10) continue;
      if (j < k) return;
      label += coordinate_labels(j, label.empty());
    }
    text(p + V2(-12, -12), label, "end");
  }
  std::string coordinate_labels(std::size_t k, bool first) const {
    std::string label;
    for (const Coordinate& c : robot_.coordinates) {
      if (c.joint != robot_.model.bodies()[k + 1].name) continue;
      if (!first || !label.empty()) label += "<tspan>, </tspan>";
      label += svg_text(parse_math(names_.latex(c.q)));
    }
    return label;
  }

  void mass(std::size_t k) {
    const LinkForm& link = links_[k];
    if (!link.center || link.mass.is_zero()) return;
    const V2 p = at(numbers(link.p));
    out_ += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"currentColor\" stroke=\"none\"/>\n",
        p.x(), p.y());
    if (!link.mass.is_constant()) text(p + V2(12, 18), formula(link.mass), "start");
  }

  void frame(const std::string& name, const V3& p) {
    const V2 q = at(p);
    line(q, q + V2(18, 0), 1.5);
    line(q, q + V2(0, -18), 1.5);
    std::string inside;
    for (const char c : name) {
      if (c != '<' && c != '&' && c != '>') inside += c;
    }
    text(q + V2(12, 14), fmt::format("<tspan font-size=\"80%\">{}</tspan>", inside), "start");
  }

  void gravity() {
    const V3 g = numbers(robot_.model.gravity());
    const V2 direction = flat(g);
    if (direction.norm() < 1e-9) return;
    const V2 d = direction.normalized(), start(width_ - 28, 26), end = start + 40 * d;
    line(start, end, 1.5);
    const V2 side(-d.y(), d.x());
    line(end, end - 8 * d + 4 * side, 1.5);
    line(end, end - 8 * d - 4 * side, 1.5);
    text(start + V2(-12, 24), "<tspan font-weight=\"bold\">g</tspan>");
  }

  const Robot& robot_;
  SymbolNames names_;
  std::vector<LinkForm> links_;
  std::vector<double> values_;
  V3 right_ = V3::UnitX(), up_ = V3::UnitY();
  V2 low_ = V2::Zero();
  double scale_ = 1, width_ = 0, height_ = 0;
  std::vector<Line> lines_;
  std::vector<std::pair<std::string, V3>> tips_;
  std::vector<V3> points_;
  std::string out_;
};

}  // namespace

std::string draw_robot(const Robot& robot, const FigureOptions& options) {
  const RingScope scope(robot.ring);
  return RobotFigure(robot, options).draw();
}

}  // namespace limb::symbolic
