#pragma once

#include <map>
#include <string>

#include "limb/model/core/scene_description.hpp"
#include "limb/model/mjcf/read_mjcf_compiler.hpp"

/// Height fields of <asset>: elevation data in the file, MuJoCo's binary format, or flat. PNG files
/// are not read.
namespace limb::mjcf {

class HeightFieldLibrary {
 public:
  /// `points` counts those of all fields and of their copies in geoms.
  explicit HeightFieldLibrary(std::size_t& points) : points_(points) {}

  void read(const Node& asset, const Compiler& compiler, const Document& document,
            Diagnostics& diagnostics);
  /// The field of a geom; nullopt and a diagnostic if it is not known or cannot be used.
  [[nodiscard]] std::optional<HeightFieldDescription> find(const Attributes& geom) const;

 private:
  struct Asset {
    HeightFieldDescription field;
    std::string why;  ///< it cannot be used; empty: it can
  };
  Asset read_field(const Attributes& a, const Compiler& compiler, const Document& document);

  std::size_t& points_;
  std::map<std::string, Asset, std::less<>> assets_;
};

}  // namespace limb::mjcf
