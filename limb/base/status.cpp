#include "limb/base/status.hpp"

namespace limb {

std::string_view to_text(Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::singular:
      return "singular";
    case Status::not_finite:
      return "not finite";
    case Status::wrong_size:
      return "wrong size";
    case Status::unreachable:
      return "unreachable";
    case Status::local_minimum:
      return "local minimum";
    case Status::no_progress:
      return "no progress";
    case Status::iteration_limit:
      return "iteration limit";
    case Status::primal_infeasible:
      return "primal infeasible";
    case Status::dual_infeasible:
      return "dual infeasible";
    case Status::rejected:
      return "rejected";
    case Status::not_ready:
      return "not ready";
  }
  return "unknown";
}

}  // namespace limb
