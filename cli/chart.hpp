#pragma once

#include <string>
#include <vector>

#include "cli/svg.hpp"

namespace limb::cli {

struct ChartLine {
  std::string name;  ///< empty: not in the legend
  const std::vector<double>* t;
  const std::vector<double>* values;  ///< NaN makes a gap
};

/// Colours of lines, in order; a palette for colour-blind readers.
const char* line_color(std::size_t i);

/// Draws lines over time with axes, ticks and a legend into a rectangle of the picture. Long lines
/// are reduced to the smallest and the largest value per pixel.
void draw_chart(Svg& svg, const Svg::Point& corner, double width, double height,
                const std::string& title, const std::vector<ChartLine>& lines);

}  // namespace limb::cli
