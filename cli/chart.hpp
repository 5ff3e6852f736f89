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

/// The area between two curves.
struct ChartBand {
  std::string name;  ///< empty: not in the legend
  const std::vector<double>* t;
  const std::vector<double>*low, *high;  ///< NaN makes a gap
};

/// Colours of lines, in order; a palette for colour-blind readers.
const char* line_color(std::size_t i);

/// Draws lines over time with axes, ticks and a legend into a rectangle of the picture. Long lines
/// are reduced to the smallest and the largest value per pixel. Bands are drawn below the lines, in
/// their colours; their legend follows that of the lines.
void draw_chart(Svg& svg, const Svg::Point& corner, double width, double height,
                const std::string& title, const std::vector<ChartLine>& lines,
                const std::vector<ChartBand>& bands = {});

/// Draws curves in a plane with equal scales and a legend.
struct PlaneCurve {
  std::string name;
  const std::vector<double>*x, *y;  ///< NaN makes a gap
};
void draw_plane(Svg& svg, const Svg::Point& corner, double width, double height,
                const std::string& title, const std::vector<PlaneCurve>& curves);

}  // namespace limb::cli
