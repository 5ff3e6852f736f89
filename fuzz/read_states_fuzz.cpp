// Any bytes as the states of `limb eval`: finite numbers, or an Error.
#include "cli/state_file.hpp"
#include "fuzz/target.hpp"
#include "limb/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace limb;
  try {
    const cli::StateFile file = cli::parse_states("fuzz.json", fuzz::as_text(data, size));
    for (const cli::StateInput& state : file.states) {
      fuzz::require(state.q.allFinite());
      for (const auto* x : {&state.v, &state.a, &state.tau})
        fuzz::require(!*x || (*x)->allFinite());
      fuzz::require(!state.external || state.external->f_local.allFinite());
    }
  } catch (const Error&) {
  }
  return 0;
}
