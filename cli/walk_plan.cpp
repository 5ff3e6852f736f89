#include "cli/walk_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limb/base/number.hpp"
#include "limb/model/core/load.hpp"

namespace limb::cli {
namespace {

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

}  // namespace

LeggedRobot read_quadruped(const QuadrupedDemo& demo) {
  QuadrupedOptions options;
  options.feet = split_list(demo.feet);
  for (const std::string& part : split_list(demo.posture)) {
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    const auto value = equals == std::string::npos
                           ? std::nullopt
                           : parse_number(std::string_view(part).substr(equals + 1));
    if (!value || name.empty()) {
      throw Error(fmt::format("limb demo: --posture has '{}', expected joint=angle, in rad", part));
    }
    options.joints.emplace_back(name, *value);
  }
  return make_quadruped(load_description(demo.model, demo.read), options);
}

WalkPlan plan_walk(const QuadrupedDemo& demo, const LeggedRobot& robot) {
  const WalkScale scale = walk_scale(robot);
  return {scale, demo.speed.value_or(scale.speed), demo.push.value_or(scale.push)};
}

LeggedRunOptions walk_options(const QuadrupedDemo& demo, const WalkPlan& walk) {
  LeggedRunOptions options;
  options.seed = demo.seed;
  const double end = kTrotStart + demo.seconds;
  options.plan = {{kTrotStart, walk.scale.trot, {walk.speed, 0, 0}},
                  {end, walk.scale.trot, {}},
                  {end + kStopping, Gait::stand(4), {}}};
  if (walk.push != 0) options.pushes = {{kTrotStart + demo.seconds / 2, {0, walk.push, 0}}};
  if (!demo.flat) {
    BlockField field;
    field.size = walk.scale.block_size;
    field.height = walk.scale.block_height;
    field.length = std::max(2.0, std::abs(walk.speed) * demo.seconds + 2);
    if (walk.speed < 0) field.begin = -field.length - 0.4;
    options.ground = block_ground(field, demo.seed);
  }
  return options;
}

std::string describe(const QuadrupedDemo& demo, const WalkPlan& walk, double seconds) {
  const std::string ground =
      demo.flat ? "on flat ground"
                : fmt::format("over blocks of +-{:g} cm", 100 * walk.scale.block_height);
  if (!Qp::available()) {
    return fmt::format(
        "{:g} s: stand under joint control (limb was built without a solver of quadratic programs)",
        seconds);
  }
  return fmt::format("{:g} s: stand, trot at {:g} m/s {}{}, stop", seconds, walk.speed, ground,
                     walk.push != 0 ? fmt::format(", push of {:g} N s", walk.push) : "");
}

}  // namespace limb::cli
