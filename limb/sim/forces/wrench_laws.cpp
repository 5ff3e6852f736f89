#include "limb/sim/forces/wrench_laws.hpp"

#include <algorithm>

namespace limb {
namespace {

constexpr double kShortestPeriod = 1e-6;  // s, of disturbances
/// s; times closer than this are equal but for rounding.
constexpr double kSlack = 1e-9;

void check_frame(const char* call, const Model<double>& model, FrameId frame) {
  const int frames = static_cast<int>(model.frames().size());
  if (frame.value() < 0 || frame.value() >= frames) {
    fail(call, "frame", std::to_string(frame.value()),
         "one of the " + std::to_string(frames) + " frames of the model");
  }
}

}  // namespace

WrenchSchedule::WrenchSchedule(const Model<double>& model, std::vector<Push> pushes)
    : pushes_(std::move(pushes)) {
  for (const Push& push : pushes_) {
    check_frame("WrenchSchedule", model, push.frame);
    check_finite("WrenchSchedule", "begin", push.begin);
    check_finite("WrenchSchedule", "F", push.F.vector());
    if (!(push.end > push.begin)) {
      fail("WrenchSchedule", "end", to_text(push.end),
           "> " + to_text(push.begin) + ", its 'begin'");
    }
  }
}

void WrenchSchedule::append_ports(std::vector<WrenchPort>& ports) const {
  for (const Push& push : pushes_) ports.push_back({push.frame, push.axes});
}

void WrenchSchedule::add(ForceInput&, AppliedLoads& loads) {
  for (const Push& push : pushes_) {
    if (push.begin - kSlack <= t_ && t_ < push.end - kSlack) {
      loads.add({push.frame, push.axes}, push.F);
    }
  }
}

double WrenchSchedule::next_jump(double t) const {
  double next = std::numeric_limits<double>::infinity();
  for (const Push& push : pushes_) {
    for (const double edge : {push.begin, push.end}) {
      if (edge > t + kSlack) next = std::min(next, edge);
    }
  }
  return next;
}

RandomWrench::RandomWrench(const Model<double>& model, const Parameters& parameters,
                           std::uint64_t seed)
    : parameters_(parameters), noise_(seed) {
  check_frame("RandomWrench", model, parameters.frame);
  check_not_negative("RandomWrench", "force_deviation", parameters.force_deviation);
  check_not_negative("RandomWrench", "moment_deviation", parameters.moment_deviation);
  check_positive("RandomWrench", "period", parameters.period);
  if (parameters.period < kShortestPeriod) {
    fail("RandomWrench", "period", to_text(parameters.period) + " s",
         ">= " + to_text(kShortestPeriod) + " s", "each period draws six random numbers");
  }
}

void RandomWrench::begin_step(double t) {
  const double index = std::floor(t / parameters_.period + kSlack);
  while (index_ < index) {
    ++index_;
    for (int i = 0; i < 3; ++i) F_.f[i] = parameters_.force_deviation * noise_.normal();
    for (int i = 0; i < 3; ++i) F_.n[i] = parameters_.moment_deviation * noise_.normal();
  }
}

void RandomWrench::append_ports(std::vector<WrenchPort>& ports) const {
  ports.push_back({parameters_.frame, parameters_.axes});
}

void RandomWrench::add(ForceInput&, AppliedLoads& loads) {
  loads.add({parameters_.frame, parameters_.axes}, F_);
}

double RandomWrench::next_jump(double t) const {
  return (std::floor(t / parameters_.period + kSlack) + 1) * parameters_.period;
}

}  // namespace limb
