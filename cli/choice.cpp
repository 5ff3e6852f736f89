#include "cli/choice.hpp"

namespace limb::cli {

CLI::Option* add_choice(CLI::App& app, const std::string& option, std::string& value,
                        const std::string& description, const std::vector<std::string>& choices) {
  return app.add_option(option, value, description)
      ->check(CLI::IsMember(choices).description(""))
      ->type_name("KIND");
}

}  // namespace limb::cli
