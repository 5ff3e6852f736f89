#include "limb/model/testing/shared.hpp"

namespace limb::testing {

const char* shared_default() {
  return LIMB_SHARED_DEFAULT;
}

}  // namespace limb::testing
