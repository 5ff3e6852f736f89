#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/svg.hpp"

/// The charts of all pictures and reports, in one style: a unit on every axis, a complete legend
/// above the data, at most eight curves that also differ without colour, references dashed above
/// what follows them, and text that is readable in a picture of 400 pixels.
namespace limb::cli {

/// px, of all pictures; text is at least 14 px high.
inline constexpr double kChartWidth = 600;
inline constexpr std::size_t kMaxCurves = 8;

/// Attributes of text.
std::string chart_text(const char* anchor = "start");
std::string chart_title();

/// 1, 2 or 5 times a power of ten, at most `length`: for scales.
double round_length(double length);

/// Colours of curves, in order; a palette for colour-blind readers.
const char* line_color(std::size_t i);

struct ChartLine {
  std::string name;  ///< empty: not in the legend
  const std::vector<double>* t;
  const std::vector<double>* values;  ///< NaN makes a gap
  bool reference = false;             ///< dashed, above all other lines
  int follower = -1;                  ///< of a reference: index of the line that follows it
};

/// The area between two curves, in the colour of a line.
struct ChartBand {
  std::string name;  ///< empty: not in the legend
  const std::vector<double>* t;
  const std::vector<double>*low, *high;  ///< NaN makes a gap
  std::size_t line = 0;
};

struct ChartRange {
  double low = 0, high = 0;
  bool any = false;
  void add(double x);
  /// Makes the range wide enough for numbers of five digits, then wider by a margin on both sides.
  void widen(double margin);
};

/// Curves over time, or over another quantity.
struct Chart {
  std::string title;
  std::string unit;  ///< of the values, "rad"; "1": a number or a ratio; empty: not known
  std::vector<ChartLine> lines;
  std::vector<ChartBand> bands = {};
  double height = 150;                    ///< px, of the area of the data
  std::optional<ChartRange> values = {};  ///< range of the axis; otherwise by the data
  std::string x_label = "t, s";           ///< with unit: "joint1, rad"
};

/// Points and curves in a plane.
struct PlaneChart {
  enum class Kind { line, dots, area };
  struct Series {
    std::string name;  ///< empty: not in the legend
    Kind kind = Kind::line;
    std::vector<Svg::Point> points;  ///< NaN makes a gap
    std::size_t color = 0;
    bool reference = false;  ///< dashed, above all others, without influence on the range
  };
  std::string title, x_label, y_label;  ///< labels with unit: "x, m"
  std::vector<Series> series;
  double height = 260;       ///< px, of the area of the data
  bool equal_scales = true;  ///< otherwise both axes start at zero
  double least_y = 0;        ///< value that the vertical axis includes
};

/// Axes with grid, numbers and labels in a rectangle of the picture.
class ChartAxes {
 public:
  /// @param top, bottom  px, of the area of the data; its left and right margins are those of all
  ///                     charts.
  /// @param y_label      empty: rows without numbers.
  ChartAxes(Svg& svg, double left, double width, double top, double bottom, const ChartRange& x,
            const ChartRange& y, const std::string& x_label, const std::string& y_label);
  Svg::Point at(double x, double y) const;
  double left() const { return left_; }
  double right() const { return right_; }
  /// What is drawn until end() is cut off at the axes.
  void begin() const;
  void end() const;

 private:
  Svg& svg_;
  double left_, right_, top_, bottom_;
  ChartRange x_, y_;
};

/// An entry of a legend.
struct LegendKey {
  enum class Kind { line, area, dots, arrow };
  std::string name;
  Kind kind = Kind::line;
  std::size_t color = 0;
  std::string dash = {};  ///< of a line
};
/// px, of a legend as wide as a chart.
double legend_height(const std::vector<LegendKey>& keys);
void draw_legend(Svg& svg, const Svg::Point& corner, const std::vector<LegendKey>& keys);

/// Charts one below the other.
class Figure {
 public:
  /// More than eight curves become several charts with the same range.
  void add(Chart chart);
  void add(PlaneChart chart);
  /// Any other picture of this height, in px.
  void add(double height, std::function<void(Svg& svg, const Svg::Point& corner)> draw);
  bool empty() const { return parts_.empty(); }
  /// Title and description are for screen readers.
  std::string svg(const std::string& title, const std::string& description) const;

 private:
  struct Part {
    double height;
    std::function<void(Svg& svg, const Svg::Point& corner)> draw;
  };
  void add_one(Chart chart);
  std::vector<Part> parts_;
};

}  // namespace limb::cli
