#include <array>

#include "cli/demo.hpp"
#include "cli/verb.hpp"

int main(int argc, char** argv) {
  const std::array verbs = {limb::cli::make_demo()};
  return limb::cli::run_command_line(verbs, argc, argv);
}
