#include "limb/model/mjcf/read_mjcf_height_field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "limb/base/error.hpp"
#include "limb/base/number.hpp"
#include "limb/model/mesh/little_endian.hpp"

namespace limb::mjcf {
namespace {

namespace fs = std::filesystem;

/// Points of all fields and of their copies in geoms; a few bytes of a file could ask for any
/// number.
constexpr std::size_t kMaxPoints = 4'000'000;

struct Elevation {
  int rows = 0, columns = 0;   ///< along y and along x
  std::vector<double> values;  ///< row by row, from the smallest y and x
};

/// Counts the points of a field in those of all.
void count_points(double rows, double columns, std::size_t& points) {
  const auto whole = [](double x) { return x >= 1 && x == std::floor(x); };
  if (!whole(rows) || !whole(columns) || !(rows * columns <= double(kMaxPoints - points))) {
    throw Error(
        fmt::format("height field: {} x {} points, expected whole numbers, at most {} points in "
                    "all height fields",
                    rows, columns, kMaxPoints));
  }
  points += static_cast<std::size_t>(rows * columns);
}

/// MuJoCo's format: int32 rows, int32 columns, then one float per point; little-endian.
Elevation read_binary(const fs::path& path, std::size_t& points) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(8, '\0');
  if (!file.read(bytes.data(), 8)) throw Error("height field: the file is too short");
  Elevation e;
  e.rows = little_endian_int(bytes, 0);
  e.columns = little_endian_int(bytes, 4);
  count_points(e.rows, e.columns, points);
  const auto count = static_cast<std::size_t>(e.rows) * static_cast<std::size_t>(e.columns);
  bytes.resize(4 * count);
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) ||
      file.peek() != std::ifstream::traits_type::eof()) {
    throw Error(fmt::format("height field: the file has another size than {} x {} points need",
                            e.rows, e.columns));
  }
  for (std::size_t i = 0; i < count; ++i) {
    e.values.push_back(little_endian_float(bytes, 4 * i));
    if (!std::isfinite(e.values.back())) throw Error("height field: a number is not finite");
  }
  return e;
}

Elevation read_elevation(const Attributes& a, std::size_t& points) {
  const double rows = a.number("nrow", 0), columns = a.number("ncol", 0);
  count_points(rows, columns, points);
  Elevation e{static_cast<int>(rows), static_cast<int>(columns), {}};
  const auto count = static_cast<std::size_t>(rows * columns);
  if (!a.has("elevation")) {
    e.values.assign(count, 0.0);
    return e;
  }
  const auto values = parse_numbers(a.text("elevation"));
  if (!values || values->size() != count) {
    throw Error(
        fmt::format("height field: attribute 'elevation' has {} finite numbers, expected "
                    "{} x {}",
                    values ? values->size() : 0, rows, columns));
  }
  // The first row of the text is that of the largest y.
  for (int i = e.rows - 1; i >= 0; --i) {
    const auto row = values->begin() + static_cast<std::ptrdiff_t>(i) * e.columns;
    e.values.insert(e.values.end(), row, row + e.columns);
  }
  return e;
}

}  // namespace

HeightFieldLibrary::Asset HeightFieldLibrary::read_field(const Attributes& a,
                                                         const Compiler& compiler,
                                                         const Document& document) {
  Asset asset;
  try {
    Elevation e;
    const fs::path file = a.text("file");
    if (file.empty()) {
      e = read_elevation(a, points_);
    } else {
      if (file.extension() == ".png" || a.text("content_type") == "image/png") {
        throw Error("height field: PNG files are not read");
      }
      const fs::path name =
          fs::path(compiler.meshdir) / (compiler.strippath ? file.filename() : file);
      const auto path = document.resolve_asset(a.node(), name, file);
      if (!path) {
        throw Error(
            fmt::format("height field: file '{}' was not found in the folder of the model "
                        "or the given roots",
                        name.generic_string().substr(0, 100)));
      }
      e = read_binary(*path, points_);
    }
    const auto size = a.numbers("size", 4);
    if (!size || !((*size)[0] > 0 && (*size)[1] > 0 && (*size)[2] > 0)) {
      throw Error("height field: attribute 'size' is not four positive numbers");
    }
    if (e.rows < 2 || e.columns < 2) {
      throw Error(
          fmt::format("height field: {} x {} points, expected 2 x 2 or more", e.rows, e.columns));
    }
    // MuJoCo scales the values to 0 to 1; size[2] is the height of the largest.
    const auto [low, high] = std::minmax_element(e.values.begin(), e.values.end());
    // Halves, because a difference of two numbers can be infinite.
    const double lowest = *low / 2, range = *high / 2 - lowest;
    asset.field.half = {(*size)[0], (*size)[1]};
    asset.field.heights.resize(e.columns, e.rows);
    for (int i = 0; i < e.columns; ++i) {
      for (int j = 0; j < e.rows; ++j) {
        const auto k = static_cast<std::size_t>(j) * static_cast<std::size_t>(e.columns) +
                       static_cast<std::size_t>(i);
        asset.field.heights(i, j) =
            range > 0 ? (*size)[2] * ((e.values[k] / 2 - lowest) / range) : 0;
      }
    }
  } catch (const Error& error) {
    constexpr std::string_view kOwner = "height field: ";
    asset.why = std::string_view(error.what()).substr(kOwner.size());
  }
  return asset;
}

void HeightFieldLibrary::read(const Node& section, const Compiler& compiler,
                              const Document& document, Diagnostics& diagnostics) {
  for (const Node& node : section.children) {
    if (node.tag() != "hfield") continue;
    const Attributes a(node, diagnostics);
    const std::string name = a.text("name", fs::path(a.text("file")).stem().string());
    if (!assets_.contains(name)) assets_.emplace(name, read_field(a, compiler, document));
  }
}

std::optional<HeightFieldDescription> HeightFieldLibrary::find(const Attributes& geom) const {
  const std::string name = geom.text("hfield");
  const auto found = assets_.find(name);
  if (found == assets_.end()) {
    geom.error("height-field-unknown",
               fmt::format("height field '{}' is not in <asset>", name.substr(0, 60)),
               "the shape is not known");
    return std::nullopt;
  }
  std::string why = found->second.why;
  if (why.empty()) {
    const auto size = static_cast<std::size_t>(found->second.field.heights.size());
    if (size <= kMaxPoints - points_) {
      points_ += size;
      return found->second.field;
    }
    why = fmt::format("all height fields together have more than {} points", kMaxPoints);
  }
  geom.warn("height-field-not-read",
            fmt::format("height field '{}' cannot be used: {}", name.substr(0, 60), why),
            "nothing touches this geom");
  return std::nullopt;
}

}  // namespace limb::mjcf
