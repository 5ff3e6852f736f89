#include "limb/symbolic/derive/robot.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "limb/base/text_file.hpp"
#include "limb/dynamics/constraints/actuated.hpp"
#include "limb/model/core/builtin.hpp"
#include "limb/model/recipe/read_recipe.hpp"
#include "limb/symbolic/derive/euler_joints.hpp"
#include "limb/symbolic/derive/exact_description.hpp"

namespace limb::symbolic {
namespace {

using T = Polynomial;

/// q, qd or qdd followed by a number: names reserved for coordinates.
bool is_coordinate_name(const std::string& name) {
  const std::size_t digits = name.find_first_of("0123456789");
  if (digits == name.npos || name.find_first_not_of("0123456789", digits) != name.npos)
    return false;
  const std::string letters = name.substr(0, digits);
  return letters == "q" || letters == "qd" || letters == "qdd";
}

RecipeParameter<T> parameters_of(const std::shared_ptr<Ring>& ring, const std::string& file) {
  return [=](const std::string& name, const T& value) {
    if (is_coordinate_name(name)) {
      throw Error(
          fmt::format("symbolic: {}: parameter '{}' has the name of a coordinate, expected "
                      "another name",
                      file, name));
    }
    // A parameter defined by others stays an expression in them.
    if (!value.is_constant()) return value;
    return T::symbol(
        ring,
        ring->add_symbol({name, Symbol::Kind::parameter, value.constant().to_double(), {}, 0}));
  };
}

template <typename S>
void refuse(const Description<S>& description) {
  for (const auto& loop : description.loops) {
    throw Error(
        fmt::format("symbolic: loop '{}' connects '{}' and '{}': closed forms exist only for "
                    "open chains and trees",
                    loop.name, loop.link_a, loop.link_b));
  }
  for (const auto& coupling : description.couplings) {
    if (!coupling.is_polynomial()) continue;
    throw Error(fmt::format(
        "symbolic: joint '{}' follows a polynomial of another joint: closed forms exist "
        "only for linear couplings",
        coupling.joint));
  }
}

/// `names`: the named parameters of a recipe are symbols.
Description<T> read(const std::shared_ptr<Ring>& ring, const std::string& path,
                    const RobotOptions& options, bool names, std::vector<std::string>& notes) {
  // Read as numbers first, which reports every error of the file with its line.
  const Description<double> numbers = load_description(path, options.read);
  refuse(numbers);
  std::string text =
      is_builtin(path) ? std::string(builtin_text(path)) : read_text_file("load", path);
  const bool recipe = is_builtin(path) || robot_format(path, text) == RobotFormat::recipe;
  if (!recipe || !names) return exact_numbers(numbers);
  Diagnostics diagnostics;
  const auto angle = [&](const std::string& owner, const T& value) {
    return exact_angle(value, owner, notes);
  };
  auto description = parse_recipe<T>(std::move(text), path, options.read, diagnostics,
                                     parameters_of(ring, path), angle);
  throw_first_error("load", diagnostics);
  return description;
}

bool is_angle(JointType type, int k) {
  return type != JointType::prismatic && type != JointType::translation &&
         !(type == JointType::cylindrical && k == 0);
}

void add_coordinates(Robot& robot) {
  const Model<T>& model = robot.model;
  for (int i = 1; i < model.body_count(); ++i) {
    const Body<T>& body = model.body(BodyId(i));
    const auto& row = model.coupling().rows()[static_cast<std::size_t>(i - 1)];
    if (row.yq < 0) continue;
    for (int k = 0; k < row.nv; ++k) {
      const std::size_t n = robot.coordinates.size() + 1;
      const SymbolId q = robot.ring->add_coordinate(fmt::format("q{}", n), fmt::format("qd{}", n),
                                                    fmt::format("qdd{}", n));
      const SymbolId v = *robot.ring->symbol(q).rate;
      robot.coordinates.push_back(
          {body.name, is_angle(body.joint.type(), k), q, v, *robot.ring->symbol(v).rate});
    }
  }
  for (std::size_t i = 0; i < robot.coordinates.size(); ++i) {
    robot.coordinates[i].actuated = is_actuated(model, static_cast<int>(i));
  }
}

VectorX<T> symbols(const Robot& robot, SymbolId Coordinate::*which) {
  VectorX<T> x(static_cast<Eigen::Index>(robot.coordinates.size()));
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    x[i] = T::symbol(robot.ring, robot.coordinates[static_cast<std::size_t>(i)].*which);
  }
  return x;
}

}  // namespace

VectorX<T> Robot::q() const {
  return symbols(*this, &Coordinate::q);
}
VectorX<T> Robot::v() const {
  return symbols(*this, &Coordinate::v);
}
VectorX<T> Robot::a() const {
  return symbols(*this, &Coordinate::a);
}

Robot make_robot(const std::shared_ptr<Ring>& ring, Description<T> description,
                 const RobotOptions& options) {
  const RingScope scope(ring);
  refuse(description);
  Robot robot;
  robot.ring = ring;
  ExactOptions exact;
  if (options.parameters == Parameters::symbols) exact.names = ring;
  make_exact(description, exact, robot.notes);
  replace_manifold_joints(description, options.base, robot.notes);
  for (const auto& joint : description.joints) {
    if (joint.friction.is_zero()) continue;
    robot.notes.push_back(
        fmt::format("joint '{}': Coulomb friction is not a polynomial; pages and functions add it "
                    "to tau as the "
                    "sign of a velocity",
                    joint.name));
  }
  if (options.parameters == Parameters::symbols) {
    name_parameters(ring, build_model(description, Base::described), description);
  }
  robot.model = build_model(description, Base::described);
  if (robot.model.nv() == 0) {
    throw Error(fmt::format("symbolic: robot '{}' has no movable joint", description.name));
  }
  add_coordinates(robot);
  return robot;
}

namespace {

Robot load(const std::string& path, const RobotOptions& options, bool names,
           std::vector<std::string> notes) {
  const std::shared_ptr<Ring> ring = Ring::make(options.limits);
  ring->set_progress(options.progress);
  const RingScope scope(ring);
  Description<T> description = read(ring, path, options, names, notes);
  Robot robot = make_robot(ring, std::move(description), options);
  robot.notes.insert(robot.notes.begin(), notes.begin(), notes.end());
  return robot;
}

}  // namespace

Robot load_robot(const std::string& path, const RobotOptions& options) {
  if (options.parameters == Parameters::numbers) return load(path, options, false, {});
  try {
    return load(path, options, true, {});
  } catch (const Error& error) {
    // A mass centre is a quotient, and a sum of symbols has no inverse.
    const std::string text = error.what();
    if (text.find("division by") == text.npos) throw;
    return load(path, options, false,
                {"a value of the recipe is divided by a sum of its parameters, such as the mass of "
                 "a link with several solids: its parameters are numbers here"});
  }
}

int floating_base_size(const Robot& robot) {
  const auto& all = robot.coordinates;
  const auto first =
      std::find_if(all.begin(), all.end(), [](const Coordinate& c) { return c.actuated; });
  const bool rest = std::all_of(first, all.end(), [](const Coordinate& c) { return c.actuated; });
  return first != all.end() && rest ? static_cast<int>(first - all.begin()) : 0;
}

}  // namespace limb::symbolic
