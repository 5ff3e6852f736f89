#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "bench/pinocchio/opponent.h"
#include "limb/model/core/model.hpp"

/// Pinocchio, built from the headers of its Python package with each compiler
/// (bench/CMakeLists.txt), with the bodies of a limb model.
namespace limb::bench {

/// Results stay in Pinocchio's data structure if the last three are null.
using OpponentDerivatives = void (*)(void* robot, const double* q, const double* v,
                                     const double* a_or_tau, double* dq, double* dv, double* da);

struct Opponent {
  std::string name;
  const OpponentTable* table = nullptr;
  OpponentDerivatives rnea_derivatives = nullptr, aba_derivatives = nullptr;
};

#ifdef LIMB_BENCH_OPPONENTS_DEFAULT
/// Libraries, separated by ':': LIMB_BENCH_OPPONENTS, or those that were built.
inline std::string opponent_paths() {
  const char* given = std::getenv("LIMB_BENCH_OPPONENTS");
  return given != nullptr ? given : LIMB_BENCH_OPPONENTS_DEFAULT;
}
#endif

/// The libraries that can be loaded.
inline std::vector<Opponent> opponents(const std::string& paths) {
  std::vector<Opponent> found;
  std::istringstream list(paths);
  for (std::string path; std::getline(list, path, ':');) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    const auto table = reinterpret_cast<OpponentEntryPoint>(dlsym(library, "opponent_entry_point"));
    if (table == nullptr) continue;
    const auto derivatives = [&](const char* symbol) {
      return reinterpret_cast<OpponentDerivatives>(dlsym(library, symbol));
    };
    found.push_back({table()->build, table(), derivatives("opponent_rnea_derivatives"),
                     derivatives("opponent_aba_derivatives")});
  }
  return found;
}

/// The bodies of a model. Only revolute, continuous, prismatic and free joints, those of the
/// measured robots. @throws Error for other types.
inline std::vector<OpponentBody> opponent_bodies(const Model<double>& model) {
  std::vector<OpponentBody> bodies;
  for (std::size_t i = 1; i < model.bodies().size(); ++i) {
    const Body<double>& body = model.bodies()[i];
    OpponentBody b{};
    b.parent = body.parent.value();
    switch (body.joint.type()) {
      case JointType::free:
        b.joint = OPPONENT_FREE;
        break;
      case JointType::prismatic:
        b.joint = OPPONENT_PRISMATIC;
        break;
      case JointType::revolute:
      case JointType::continuous:
        b.joint = OPPONENT_REVOLUTE;
        break;
      default:
        throw Error("opponent_bodies: joint '" + body.name +
                    "' has a type that is not supported here");
    }
    for (int k = 0; k < 3; ++k) {
      b.axis[k] = body.joint.axis()[k];
      b.p[k] = body.X_PJ.p[k];
      b.center[k] = body.inertia.com()[k];
      for (int c = 0; c < 3; ++c) {
        b.R[3 * k + c] = body.X_PJ.R(k, c);
        b.inertia[3 * k + c] = body.inertia.tensor_about_com()(k, c);
      }
    }
    b.mass = body.inertia.mass();
    bodies.push_back(b);
  }
  return bodies;
}

}  // namespace limb::bench
