#pragma once

#include <string>
#include <vector>

#include "limb/model/core/load.hpp"
#include "limb/symbolic/algebra/scalar.hpp"
#include "limb/symbolic/derive/coordinate.hpp"

/// Robots whose masses, lengths and angles are symbols or exact numbers.
namespace limb::symbolic {

/// How the numbers of a file are represented.
enum class Parameters {
  named,    ///< named parameters of a recipe are symbols; other numbers stay exact numbers
  numbers,  ///< all stay exact numbers
  symbols,  ///< numbers become symbols m1, l1, lc1, Ixx1, g; zeros and quarter turns stay
};

struct RobotOptions {
  Parameters parameters = Parameters::named;
  Base base = Base::described;
  ReadOptions read;
  RingLimits limits;
  Ring::Progress progress;  ///< of the derivation and the pages made of it
};

struct Robot {
  std::shared_ptr<Ring> ring;
  Model<Polynomial> model;
  std::vector<Coordinate> coordinates;
  std::vector<std::string> notes;  ///< what was rounded to an exact value, or ignored

  VectorX<Polynomial> q() const;
  VectorX<Polynomial> v() const;
  VectorX<Polynomial> a() const;
};

/// The coordinates of a floating base: those before the first with a motor, if all further ones
/// have one; otherwise 0.
int floating_base_size(const Robot& robot);

/// Any robot file or builtin:NAME. Coordinates are q1, q2, ..., their time derivatives qd1, ... and
/// qdd1, ...; planar, spherical and free joints have displacements and angles (euler_joints.hpp).
/// @throws Error for files that load_model rejects, and for robots without a closed form: closed
/// loops, a free or spherical joint with more than three other joints.
Robot load_robot(const std::string& path, const RobotOptions& options = {});
/// The same from a description whose values belong to the ring.
Robot make_robot(const std::shared_ptr<Ring>& ring, Description<Polynomial> description,
                 const RobotOptions& options = {});

}  // namespace limb::symbolic
