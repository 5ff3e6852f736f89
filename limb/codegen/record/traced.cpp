#include "limb/codegen/record/traced.hpp"

#include "limb/base/error.hpp"

namespace limb::codegen {
namespace {

thread_local Graph* current = nullptr;

}  // namespace

Recording::Recording(Graph& graph) : before_(current) {
  current = &graph;
}

Recording::~Recording() {
  current = before_;
}

Graph& Recording::graph() {
  if (current == nullptr) {
    throw Error("Traced: a number that is not a constant needs a Recording, or trace()");
  }
  return *current;
}

}  // namespace limb::codegen
