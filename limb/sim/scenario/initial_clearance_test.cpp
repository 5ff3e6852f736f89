#include "limb/sim/scenario/initial_clearance.hpp"

#include <gtest/gtest.h>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/kinematics/forward_kinematics.hpp"
#include "limb/sim/contact/collide.hpp"
#include "limb/sim/scenario/scenario_contact.hpp"

namespace limb {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

/// Smallest distance of a shape from the ground, by the collision functions of the simulation.
double smallest_gap(const Scenario& s) {
  Kinematics<double> kinematics(s.model);
  forward_kinematics(s.model, s.q, kinematics);
  Least least;
  for (const ContactShape& shape : s.contact->shapes) {
    const auto body = static_cast<std::size_t>(shape.body.value());
    const PlacedShape placed{shape.kind, shape.size, kinematics.X_WB[body] * shape.X_BS,
                             shape.hull.get()};
    CollisionPoints points;
    for (const auto& solid : s.contact->ground.half_spaces()) collide(placed, solid, 10, points);
    for (const auto& solid : s.contact->ground.boxes()) collide(placed, solid, 10, points);
    for (int i = 0; i < points.size(); ++i) least.add(points[i].gap);
  }
  return least.value();
}

Scenario parse(const std::string& text) {
  return parse_scenario("test", text, "test.toml");
}

TEST(InitialClearance, LowestShapeIsThatFarAboveAPlane) {
  for (const char* robot : {"builtin:quadruped", "builtin:humanoid"}) {
    const Scenario s = parse(std::string("model = \"") + robot +
                             "\"\n[ground]\nheight = 0.3\n[initial]\nclearance = \"5 cm\"\n");
    EXPECT_NEAR(smallest_gap(s), 0.05, 64 * kEps) << robot;  // sums of lengths of about 1 m
  }
}

TEST(InitialClearance, LowersRobotsToo) {
  Scenario s = scenario_of("builtin:quadruped");
  set_plane("test", s);
  s.q[2] = 7;
  set_clearance("test", 0, s);
  EXPECT_NEAR(smallest_gap(s), 0, 64 * kEps * 7);
}

TEST(InitialClearance, OnASlopeAlongTheVertical) {
  const Scenario s = parse(
      "model = \"builtin:quadruped\"\n[ground]\nkind = \"slope\"\nangle = \"20 deg\"\n"
      "[initial]\nclearance = 0.1\n");
  EXPECT_NEAR(smallest_gap(s), 0.1, 64 * kEps);
  EXPECT_EQ(s.q[0], 0);
  EXPECT_EQ(s.q[1], 0);
}

TEST(InitialClearance, AboveABox) {
  const Scenario s = parse(
      "model = \"builtin:quadruped\"\n[ground]\nkind = \"boxes\"\n[[ground.box]]\n"
      "xyz = [0, 0, 0.4]\nsize = [3, 3, 0.8]\n[initial]\nclearance = 0.02\n");
  EXPECT_NEAR(smallest_gap(s), 0.02, 1e-9);  // the tolerance of the search
  EXPECT_GT(s.q[2], 0.8);
}

TEST(InitialClearance, SaysWhatIsMissing) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      parse(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(message("model = \"builtin:quadruped\"\n[initial]\nclearance = 0.1\n")
                .find("test.toml:3: initial: clearance needs a ground"),
            std::string::npos);
  EXPECT_NE(message("model = \"builtin:pendulum\"\n[ground]\n[[contact.foot]]\nframe = \"tip\"\n"
                    "[initial]\nclearance = 0.1\n")
                .find("clearance needs a free base"),
            std::string::npos);
  EXPECT_NE(message("model = \"builtin:quadruped\"\n[ground]\n[initial]\nclearance = -1\n")
                .find("clearance is -1"),
            std::string::npos);
}

}  // namespace
}  // namespace limb
