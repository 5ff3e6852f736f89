#include "cli/interrupt.hpp"

#include "limb/base/error.hpp"

namespace limb::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};
volatile std::sig_atomic_t received = 0;

void receive(int signal) {
  received = signal;
}

}  // namespace

Interrupt::Interrupt() {
  for (int i = 0; i < 2; ++i) {
    struct sigaction action {};
    action.sa_handler = receive;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigaction(kSignals[i], nullptr, &before_[i]);
    // Programs in the background of a script ignore SIGINT.
    if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

Interrupt::~Interrupt() {
  for (int i = 0; i < 2; ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

int Interrupt::signal() {
  return received;
}

void Interrupt::check(const std::string& call, const std::string& how_far) {
  if (received != 0) fail_computation(call, "interrupted " + how_far);
}

}  // namespace limb::cli
