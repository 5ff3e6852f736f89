#include "limb/model/recipe/read_recipe_impl.hpp"

#include "limb/base/text_file.hpp"

namespace limb {

template Description<double> parse_recipe(std::string, const std::string&, const ReadOptions&,
                                          Diagnostics&, const RecipeParameter<double>&,
                                          const RecipeAngle<double>&);

Description<double> read_recipe(const std::filesystem::path& path, const ReadOptions& options) {
  Diagnostics diagnostics;
  auto result = parse_recipe<double>(read_text_file("read_recipe", path, kMaxTomlBytes),
                                     path.string(), options, diagnostics);
  for (const Diagnostic& d : diagnostics) {
    if (d.severity != Diagnostic::Severity::error) continue;
    throw Error("read_recipe: " + d.source.text() + ": " + d.message);
  }
  return result;
}

}  // namespace limb
