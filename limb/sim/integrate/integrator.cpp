#include "limb/sim/integrate/integrator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "limb/sim/integrate/cvode.hpp"
#include "limb/sim/integrate/dormand_prince.hpp"
#include "limb/sim/integrate/fixed_step.hpp"
#include "limb/sim/integrate/implicit_midpoint.hpp"
#include "limb/sim/integrate/step_end.hpp"

namespace limb {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"explicit-euler", "semi-implicit-euler",
                                                    "runge-kutta-4",  "implicit-midpoint",
                                                    "dormand-prince", "cvode"};

}  // namespace

std::string_view to_text(IntegrationMethod method) {
  return kNames[static_cast<std::size_t>(method)];
}

IntegrationMethod method_from_text(std::string_view call, std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == text) return static_cast<IntegrationMethod>(i);
  }
  fail(call, "integrator", fmt::format("'{}'", text),
       fmt::format("one of {}", fmt::join(kNames, ", ")));
}

void fail_step(std::string_view call, double t, std::string_view reason) {
  fail_computation(call, fmt::format("after t = {} s {}", to_text(t), reason));
}

void fail_motion(std::string_view call, double t) {
  fail_step(call, t, "the motion is not finite (a force is not, or the step is too long)");
}

template <typename T>
std::unique_ptr<Integrator<T>> make_integrator(IntegrationMethod method,
                                               const ConfigurationSpace<T>& space, int extra,
                                               const IntegratorOptions<T>& options) {
  switch (method) {
    case IntegrationMethod::implicit_midpoint:
      return std::make_unique<ImplicitMidpoint<T>>(space, extra, options.step);
    case IntegrationMethod::dormand_prince:
      return std::make_unique<DormandPrince<T>>(space, extra, options);
    case IntegrationMethod::cvode:
      if constexpr (std::is_same_v<T, double>) {
        return std::make_unique<Cvode>(space, extra, options);
      }
      fail("make_integrator", "method", "cvode", "a method that supports this scalar");
    default:
      return std::make_unique<FixedStep<T>>(method, space, extra, options.step);
  }
}

template std::unique_ptr<Integrator<double>> make_integrator(IntegrationMethod,
                                                             const ConfigurationSpace<double>&, int,
                                                             const IntegratorOptions<double>&);

}  // namespace limb
