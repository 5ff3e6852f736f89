#pragma once

#include <string>
#include <vector>

#include "limb/dynamics/recursive/external.hpp"
#include "limb/model/core/model.hpp"
#include "limb/model/testing/random_tree.hpp"

/// Robots and states for the tests of this module.
namespace limb::testing {

/// A robot with a state; `name` identifies the seed and options that reproduce it.
struct Sample {
  std::string name;
  Model<double> model;
  VectorX<double> q, v, a, tau;
};

inline VectorX<double> random_numbers(Random& random, int n) {
  VectorX<double> x(n);
  for (int i = 0; i < n; ++i) x[i] = random.uniform(-1, 1);
  return x;
}

/// q moved by v, joint by joint for the independent joints.
template <typename T>
VectorX<T> integrate_configuration(const Model<T>& model, const VectorX<T>& q,
                                   const VectorX<T>& v) {
  VectorX<T> moved = q;
  for (std::size_t i = 1; i < model.bodies().size(); ++i) {
    const auto& row = model.coupling().rows()[i - 1];
    if (row.yq < 0 || row.terms.empty()) continue;
    model.bodies()[i].joint.integrate(q.data() + row.yq, v.data() + row.terms[0].y,
                                      moved.data() + row.yq);
  }
  return moved;
}

/// The neutral configuration, joint by joint for the independent joints.
inline VectorX<double> neutral_configuration(const Model<double>& model) {
  VectorX<double> q(model.nq());
  for (std::size_t i = 1; i < model.bodies().size(); ++i) {
    const auto& row = model.coupling().rows()[i - 1];
    if (row.yq >= 0) model.bodies()[i].joint.neutral(q.data() + row.yq);
  }
  return q;
}

/// External wrenches on two frames of a robot.
inline std::vector<FrameWrench<double>> example_wrenches(const Model<double>& model) {
  const int last = static_cast<int>(model.frames().size()) - 1;
  return {{FrameId(last), {{3, -1, 2}, {0.5, 0.2, -0.4}}},
          {FrameId(last / 2), {{-1, 4, 0}, {0, 0.3, 0.1}}}};
}

inline Sample sample_of(std::string name, Model<double> model, unsigned seed) {
  Random random(seed);
  const int n = model.nv();
  const VectorX<double> step = 1.5 * random_numbers(random, n);
  const VectorX<double> q =
      integrate_configuration<double>(model, neutral_configuration(model), step);
  const VectorX<double> v = random_numbers(random, n), a = random_numbers(random, n);
  const VectorX<double> tau = random_numbers(random, n);
  return {std::move(name), std::move(model), q, v, a, tau};
}

/// Random trees of all joint types: on a fixed base, on a free one, and each with couplings.
inline std::vector<Sample> samples(unsigned seeds, int joints = 12) {
  std::vector<Sample> all;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    for (const Base base : {Base::fixed, Base::free}) {
      for (const bool coupled : {false, true}) {
        RandomTreeOptions options;
        options.joints = joints;
        options.with_couplings = coupled;
        const std::string name = "seed " + std::to_string(seed) +
                                 (base == Base::free ? ", free base" : ", fixed base") +
                                 (coupled ? ", coupled" : "");
        all.push_back(sample_of(name, build_model(random_tree(seed, options), base), seed));
      }
    }
  }
  return all;
}

/// Random trees whose joints have rotors, damping and friction.
inline std::vector<Sample> driven_samples(unsigned seeds) {
  std::vector<Sample> all;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    RandomTreeOptions options;
    options.joints = 14;
    options.with_couplings = seed % 2 == 0;
    if (seed % 3 == 0) options.root = JointType::free;
    Description<double> robot = random_tree(seed, options);
    Random random(seed);
    for (auto& joint : robot.joints) {
      joint.armature = random.uniform(0, 0.5);
      joint.damping = random.uniform(0, 0.3);
      joint.friction = random.uniform(0, 0.2);
    }
    all.push_back(sample_of("driven, seed " + std::to_string(seed), build_model(robot), seed));
  }
  return all;
}

}  // namespace limb::testing
