#include "cli/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/json_document.hpp"
#include "limb/model/core/builtin.hpp"
#include "limb/model/core/builtin_data.hpp"
#include "limb/model/core/load.hpp"

namespace limb::cli {
namespace {

/// The first sentence of the comment at the top of a recipe.
std::string first_sentence(std::string_view recipe) {
  std::string text;
  while (recipe.starts_with('#')) {
    const std::size_t end = std::min(recipe.find('\n'), recipe.size());
    std::string_view line = recipe.substr(1, end - 1);
    while (line.starts_with(' ')) line.remove_prefix(1);
    text.append(text.empty() ? "" : " ").append(line);
    recipe.remove_prefix(std::min(end + 1, recipe.size()));
  }
  // A sentence ends before a capital letter: "0.85 m." does not.
  for (std::size_t i = 0; i + 2 < text.size(); ++i) {
    if (text[i] == '.' && text[i + 1] == ' ' && text[i + 2] >= 'A' && text[i + 2] <= 'Z') {
      text.resize(i);
    }
  }
  // A long one is cut before its details.
  constexpr std::size_t kLong = 66;
  for (const char* divider : {"; ", ": ", ", in ", ", ", " that "}) {
    if (text.size() > kLong) text = text.substr(0, text.find(divider));
  }
  return text;
}

class List final : public Verb {
 public:
  std::string_view name() const override { return "list"; }
  std::string_view summary() const override { return "the built-in robots, a line each"; }
  std::string_view examples() const override {
    return "  limb list                              the built-in robots\n"
           "  limb list --json                       machine-readable output\n";
  }
  void add_options(CLI::App& app) override {
    app.add_flag("--json", json_, "machine-readable output on stdout");
  }

  Exit run(std::ostream& out) override {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    std::size_t width = 0;
    for (const BuiltinRecipe& recipe : builtin_recipes())
      width = std::max(width, recipe.name.size());
    width += std::string_view("builtin:").size();
    std::string text = fmt::format("{:<{}}  dof  mass, kg   description\n", "Robot", width);
    for (const BuiltinRecipe& recipe : builtin_recipes()) {
      const std::string name = "builtin:" + std::string(recipe.name);
      const Model<double> model = load_model(name);
      const std::string description = first_sentence(recipe.text);
      list.push_back({{"name", name},
                      {"nq", model.nq()},
                      {"nv", model.nv()},
                      {"mass", model.total_mass()},
                      {"description", description}});
      text += fmt::format("{:<{}}  {:>3}  {:>8.2f}   {}\n", name, width, model.nv(),
                          model.total_mass(), description);
    }
    out << (json_ ? json_document(nlohmann::ordered_json{{"robots", list}}) : text);
    return Exit::ok;
  }

 private:
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_list() {
  return std::make_unique<List>();
}

}  // namespace limb::cli
