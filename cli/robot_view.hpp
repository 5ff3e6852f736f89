#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/log_scene.hpp"
#include "cli/svg.hpp"

namespace limb::cli {

/// A logged motion as a picture: solids and lines from joint to joint, with ground, scale and the
/// name of the view.
class RobotView {
 public:
  enum class Direction {
    automatic,  ///< side for robots on a free base, otherwise the widest of the three
    side,       ///< horizontal: x, or y for robots that travel along y; upwards: z
    front,      ///< y and z
    top,        ///< x and y
  };
  /// "side"; @throws Error "call: --view is 'x', expected ..."
  static Direction direction_from_text(const std::string& call, const std::string& text);

  /// At most `frames` rows of the topic "state".
  /// @throws Error if its coordinates are not those of the model.
  RobotView(const std::string& call, const LogScene& scene, const LogSeries& state,
            std::size_t frames, Direction direction = Direction::automatic);

  /// px, of a picture as wide as a chart.
  double height() const;
  /// Snapshots, later ones darker.
  void draw(Svg& svg, const Svg::Point& corner) const;
  /// A self-contained HTML fragment with an animation: canvas, slider and script.
  std::string animation() const;

 private:
  using Affine = Eigen::Matrix<double, 3, 4>;  ///< body to picture: right, up, towards the reader
  struct Stick {
    std::size_t body[2];
    Vector3<double> point[2];  ///< in axes of the bodies
  };
  using Frame = std::vector<Affine>;  ///< per body

  void add_sticks(const Model<double>& model);
  Svg::Point end(const Frame& frame, const Stick& stick, int end) const;
  std::vector<Svg::Point> outline(const Frame& frame, const Solid& solid) const;
  std::vector<std::size_t> snapshots() const;
  void draw_ground(Svg& svg, const std::function<Svg::Point(const Svg::Point&)>& at) const;

  std::string view_, right_, up_;
  bool free_ = false;
  std::vector<Stick> sticks_;
  std::vector<Solid> solids_;
  std::vector<double> t_;
  std::vector<Frame> frames_;
  std::vector<Svg::Point> ground_;  ///< profile, m; empty: none
  std::vector<Svg::Point> trail_;   ///< path of the last point of a robot with a fixed base, m
  Svg::Point low_, high_;           ///< corners of the bounding box, m
};

}  // namespace limb::cli
