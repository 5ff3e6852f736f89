#pragma once

#include <string>
#include <vector>

#include "cli/log_file.hpp"
#include "cli/svg.hpp"
#include "limb/model/core/model.hpp"

namespace limb::cli {

/// A logged motion as lines from joint to joint, projected along its shortest extent.
class StickFigure {
 public:
  /// At most `frames` rows of the topic "state".
  /// @throws Error if its coordinates are not those of the model.
  StickFigure(const std::string& call, const Model<double>& model, const LogSeries& state,
              std::size_t frames);

  /// Snapshots in one rectangle, later ones darker.
  void draw_snapshots(Svg& svg, const Svg::Point& corner, double width, double height,
                      const std::string& title) const;
  /// A self-contained HTML fragment with an animation: canvas, slider and script.
  std::string animation() const;

 private:
  using Segment = std::pair<Svg::Point, Svg::Point>;  ///< metres, y upwards
  std::vector<double> t_;
  std::vector<std::vector<Segment>> frames_;
  Svg::Point low_, high_;  ///< corners of the bounding box
};

}  // namespace limb::cli
