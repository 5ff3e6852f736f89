#pragma once

#include <string>
#include <vector>

#include "cli/log_file.hpp"
#include "cli/svg.hpp"
#include "limb/model/model.hpp"

namespace limb::cli {

/// A logged motion as sticks from joint to joint, seen from the side that shows most of it.
class StickFigure {
 public:
  /// At most `frames` moments of the series "state".
  /// @throws Error if its coordinates are not those of the model.
  StickFigure(const std::string& call, const Model<double>& model, const LogSeries& state,
              std::size_t frames);

  /// Some moments in one box, the later the darker.
  void draw_strip(Svg& svg, const Svg::Point& corner, double width, double height,
                  const std::string& title) const;
  /// An animation for a web page: a canvas, a slider, and the script that moves them; nothing from
  /// outside.
  std::string animation() const;

 private:
  using Segment = std::pair<Svg::Point, Svg::Point>;  ///< metres, y upwards
  std::vector<double> t_;
  std::vector<std::vector<Segment>> frames_;
  Svg::Point low_, high_;  ///< corners of all that is shown
};

}  // namespace limb::cli
