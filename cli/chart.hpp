#pragma once

#include <string>
#include <vector>

#include "cli/svg.hpp"

namespace limb::cli {

struct ChartLine {
  std::string name;  ///< empty: not in the legend
  const std::vector<double>* t;
  const std::vector<double>* values;  ///< NaN: a gap
};

/// Colours of lines, in order; they are told apart by people who see few colours.
const char* line_color(std::size_t i);

/// Lines over time with axes, ticks and a legend, in a box of the picture. Long lines are thinned
/// to what a pixel can show: its least and largest value.
void draw_chart(Svg& svg, const Svg::Point& corner, double width, double height,
                const std::string& title, const std::vector<ChartLine>& lines);

}  // namespace limb::cli
