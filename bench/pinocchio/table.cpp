#include "model.hpp"
#include "robot.hpp"

namespace opponent {
namespace {

void* make(const OpponentBody* bodies, int count, const double gravity[3]) {
  auto* robot = new Robot;
  robot->model = model_of(bodies, count, gravity);
  robot->data = pinocchio::Data(robot->model);
  return robot;
}

void release(void* robot) {
  delete static_cast<Robot*>(robot);
}

}  // namespace
}  // namespace opponent

extern "C" __attribute__((visibility("default"))) const OpponentTable* opponent_entry_point() {
  static const OpponentTable table = {
      OPPONENT_BUILD, opponent::make, opponent::release,      opponent::rnea,
      opponent::crba, opponent::aba,  opponent::set_contacts, opponent::constrained};
  return &table;
}
