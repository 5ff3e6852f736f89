// Every mistake in a recipe: message and line, and no crash or long run time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "limb/base/error.hpp"
#include "limb/model/recipe/read_recipe.hpp"

namespace limb {
namespace {

Diagnostics problems(const std::string& text) {
  Diagnostics diagnostics;
  parse_recipe<double>(text, "r.toml", {}, diagnostics);
  return diagnostics;
}
std::string first(const std::string& text) {
  const Diagnostics found = problems(text);
  return found.empty() ? "none" : found.front().text();
}
std::string thrown(const std::string& text) {
  try {
    problems(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}
const std::string kJoint =
    "[[joint]]\nname = \"j\"\ntype = \"revolute\"\nparent = \"world\"\nchild = \"a\"\n"
    "axis = [0, 0, 1]\n";

struct Case {
  std::string text, expected;
};

/// The recipe is a line with its name, then `text`; the message begins with r.toml:line: error.
void expect(const std::vector<Case>& cases) {
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(first("name = \"r\"\n" + text), "r.toml:" + expected) << text;
  }
}

TEST(RecipeErrors, RootTable) {
  EXPECT_EQ(first(kJoint),
            "r.toml:1: error: recipe: 'name' is missing, expected a text in quotes "
            "[recipe-missing-key]");
  const std::string forms =
      "expected exactly one of [[standard_dh]], [[modified_dh]], [[screw]], [[joint]] "
      "[recipe-ways]";
  expect({
      {"", "1: error: recipe: has no joints, " + forms},
      {"[[screw]]\n[[joint]]\n", "1: error: recipe: has screw and joint, " + forms},
      {"gravty = [0, 0, 1]\n" + kJoint,
       "2: error: recipe: unknown key 'gravty' (closest: 'gravity') [recipe-unknown-key]"},
      {"gravity = 9.81\n" + kJoint,
       "2: error: recipe: gravity is a number, expected an array of 3 numbers [recipe-wrong-type]"},
      {"gravity = [0, 9.81]\n" + kJoint,
       "2: error: recipe: gravity has 2 entries, expected 3 [recipe-wrong-size]"},
      {"gravity = [0, 0, nan]\n" + kJoint,
       "2: error: recipe: gravity[2] is nan, expected a finite number [recipe-not-finite]"},
      {"gravity = [0, 0, -inf]\n" + kJoint,
       "2: error: recipe: gravity[2] is -inf, expected a finite number [recipe-not-finite]"},
      {"units = \"mm\"\n" + kJoint,
       "2: error: recipe: units is a text, expected a table [recipe-wrong-type]"},
      {"units = {length = \"cm\"}\n" + kJoint,
       "2: error: [units]: length is 'cm', expected one of m, mm (closest: 'm') "
       "[recipe-bad-value]"},
      {"joint = 3\n",
       "2: error: recipe: joint is a number, expected tables that are each headed by "
       "[[joint]] [recipe-wrong-type]"},
      {"joint = [3]\n",
       "2: error: [[joint]]: an entry is a number, expected a table [recipe-wrong-type]"},
      {"base = {}\n" + kJoint,
       "2: error: recipe: 'base' belongs to DH and screw recipes; a [[joint]] or [[frame]] has its "
       "own placement [recipe-bad-value]"},
      {"[[screw]]\ntype = \"fixed\"\n[[link]]\nname = \"a\"\n",
       "4: error: recipe: [[link]] belongs to [[joint]] recipes; a row of [[screw]] has the mass "
       "of its link [recipe-bad-value]"},
  });
}

TEST(RecipeErrors, NumbersAndSymbols) {
  expect({
      {"[parameters]\nm1 = 2\n[[link]]\nname = \"a\"\nmass = \"2*m2\"\n",
       "6: error: link 'a': mass = '2*m2' column 3: unknown symbol 'm2' (closest: 'm1') "
       "[recipe-unknown-symbol]"},
      {"[[link]]\nname = \"a\"\nmass = \"2*\"\n",
       "4: error: link 'a': mass = '2*' column 3: expected a number or a symbol, found end "
       "[recipe-expression]"},
      {"[[link]]\nname = \"a\"\nmass = true\n",
       "4: error: link 'a': mass is true or false, expected a number or an expression in quotes "
       "[recipe-wrong-type]"},
      {"[[link]]\nname = \"a\"\nmass = 1979-05-27\n",
       "4: error: link 'a': mass is a date or time, expected a number or an expression in quotes "
       "[recipe-wrong-type]"},
      {"[[link]]\nname = \"a\"\nmass = \"1/0\"\n",
       "4: error: link 'a': mass = '1/0' is inf, expected a finite number [recipe-not-finite]"},
      {"[parameters]\npi = 3\n" + kJoint,
       "3: error: [parameters]: 'pi' is not a valid symbol, expected letters, digits and _, and "
       "neither pi nor sqrt [recipe-bad-value]"},
      {"[parameters]\na = \"b\"\nb = 1\n" + kJoint,
       "3: error: [parameters]: a = 'b' column 1: unknown symbol 'b' [recipe-unknown-symbol]"},
      {"[parameters]\na = \"a\"\n" + kJoint,
       "3: error: [parameters]: a = 'a' column 1: unknown symbol 'a' [recipe-unknown-symbol]"},
      {"[[link]]\nname = \"a\"\nmass = \"" + std::string(2000, '1') + "\"\n",
       "4: error: link 'a': mass = '" + std::string(57, '1') +
           "...' column 1001: longer than 1000 characters [recipe-expression]"},
  });
}

TEST(RecipeErrors, Joints) {
  const std::string open = "[[joint]]\nname = \"j\"\n";
  const std::string rest = "parent = \"world\"\nchild = \"a\"\n";
  expect({
      {"[[joint]]\ntype = \"fixed\"\n" + rest,
       "2: error: [[joint]]: 'name' is missing, expected a text in quotes [recipe-missing-key]"},
      {open + "type = \"revolut\"\naxis = [0, 0, 1]\n" + rest,
       "4: error: joint 'j': type is 'revolut', expected one of fixed, revolute, continuous, "
       "prismatic, helical, cylindrical, universal, translation, planar, spherical, free (closest: "
       "'revolute') [recipe-bad-value]"},
      {open + "type = \"revolute\"\n" + rest,
       "2: error: joint 'j': 'axis' is missing, expected an array of 3 numbers "
       "[recipe-missing-key]"},
      {open + "type = \"fixed\"\naxis = [1, 0, 0]\n" + rest,
       "5: error: joint 'j': a fixed joint has no axis [recipe-bad-value]"},
      {open + "type = \"helical\"\naxis = [1, 0, 0]\n" + rest,
       "2: error: joint 'j': 'pitch' is missing, expected a number or an expression "
       "[recipe-missing-key]"},
      {kJoint + "pitch = 1\n",
       "8: error: joint 'j': a revolute joint has no pitch [recipe-bad-value]"},
      {kJoint + "parnt = 1\n",
       "8: error: joint 'j': unknown key 'parnt' (closest: 'parent') [recipe-unknown-key]"},
      {kJoint + "rpy = [0, 0, 0]\nquat = [0, 0, 0, 1]\n",
       "9: error: joint 'j': two rotations, expected one of rpy, quat, axis_angle, matrix "
       "[recipe-bad-value]"},
      {kJoint + "quat = [0, 0, 0, 2]\n",
       "8: error: joint 'j': quat has length 2, expected 1 (order x, y, z, w) [recipe-bad-value]"},
      {kJoint + "axis_angle = {axis = [0, 0, 2], angle = 1}\n",
       "8: error: joint 'j': axis_angle: axis has length 2, expected 1 [recipe-bad-value]"},
      {kJoint + "matrix = [[1, 0, 0], [0, 1, 0], [0, 0, -1]]\n",
       "8: error: joint 'j': matrix is not a rotation: |R^T R - 1| = 0, det = -1 "
       "[recipe-bad-value]"},
      {kJoint + "matrix = 1\n",
       "8: error: joint 'j': matrix is a number, expected an array of 3 rows [recipe-wrong-type]"},
      {kJoint + "limits = 1\n",
       "8: error: joint 'j': limits is a number, expected a table {lower, upper, velocity, effort} "
       "[recipe-wrong-type]"},
      {kJoint + "limits = {low = 1}\n",
       "8: error: joint 'j': limits: unknown key 'low' (closest: 'lower') [recipe-unknown-key]"},
      {kJoint + "armature = 1\nrotor = {inertia = 1}\n",
       "9: error: joint 'j': both armature and rotor, expected one [recipe-bad-value]"},
      {kJoint + "rotor = {}\n",
       "8: error: joint 'j': rotor: 'inertia' is missing, expected a number or an expression "
       "[recipe-missing-key]"},
      {open + "type = \"planar\"\naxis = [0, 0, 1]\nlimits = {lower = 0}\n" + rest,
       "6: error: joint 'j': limits is a table, expected an array of 3 tables, one per degree of "
       "freedom [recipe-wrong-type]"},
      {open + "type = \"fixed\"\nparent = \"\"\nchild = \"a\"\n",
       "5: error: joint 'j': parent is empty [recipe-bad-value]"},
      {open + "type = \"fixed\"\nparent = 1\nchild = \"a\"\n",
       "5: error: joint 'j': parent is a number, expected a text in quotes [recipe-wrong-type]"},
  });
}

TEST(RecipeErrors, RowsOfDhAndScrews) {
  expect({
      {"[[standard_dh]]\ntype = \"helical\"\n",
       "3: error: [[standard_dh]] row 1: type is 'helical', expected one of revolute, continuous, "
       "prismatic, fixed [recipe-bad-value]"},
      {"[[modified_dh]]\ntype = \"revolute\"\nalfa = 1\n",
       "4: error: [[modified_dh]] row 1: unknown key 'alfa' (closest: 'alpha') "
       "[recipe-unknown-key]"},
      {"[[screw]]\ntype = \"revolute\"\n",
       "2: error: [[screw]] row 1: 'w' is missing, expected an array of 3 numbers "
       "[recipe-missing-key]"},
      {"[[screw]]\ntype = \"revolute\"\nw = [0, 0, 2]\nq = [0, 0, 0]\n",
       "2: error: [[screw]] row 1: w has length 2, expected 1 [recipe-bad-value]"},
      {"[[screw]]\ntype = \"revolute\"\nw = [0, 0, 1]\n",
       "2: error: [[screw]] row 1: has neither q nor v, expected one of q (a point on the axis), v "
       "= "
       "-w x q [recipe-missing-key]"},
      {"[[screw]]\ntype = \"revolute\"\nw = [0, 0, 1]\nv = [0, 0, 1]\n",
       "2: error: [[screw]] row 1: w.v is 1, expected 0 for a revolute joint [recipe-bad-value]"},
      {"[[screw]]\ntype = \"helical\"\nw = [0, 0, 1]\nq = [0, 0, 1]\n",
       "2: error: [[screw]] row 1: a helical joint needs v = -w x q + pitch w "
       "[recipe-missing-key]"},
      {"[[screw]]\ntype = \"prismatic\"\nw = [0, 0, 1]\nv = [0, 0, 1]\n",
       "4: error: [[screw]] row 1: a prismatic joint has no w, expected v only [recipe-bad-value]"},
      {"[[screw]]\ntype = \"fixed\"\nparent = \"nobody\"\n",
       "2: error: [[screw]] row 1: parent 'nobody' is not the link of a row above "
       "[recipe-bad-value]"},
      {"[[screw]]\ntype = \"fixed\"\nhome = {xyy = 1}\n",
       "4: error: [[screw]] row 1: home: unknown key 'xyy' (closest: 'xyz') [recipe-unknown-key]"},
  });
}

TEST(RecipeErrors, Links) {
  const std::string link = "[[link]]\nname = \"a\"\n";
  const std::string sources =
      "two sources of inertia, expected one of: mass with com and inertia; solid; solids "
      "[recipe-bad-value]";
  expect({
      {link + "com = [0, 0, 1]\n",
       "2: error: link 'a': 'mass' is missing, expected a number or an expression "
       "[recipe-missing-key]"},
      {link + "mass = 1\ninertia = [1, 1]\n",
       "5: error: link 'a': inertia has 2 entries, expected 3 [recipe-wrong-size]"},
      {link + "mass = 1\ninertia_entries = {xx = 1, yy = 1}\n",
       "5: error: link 'a': inertia_entries: 'zz' is missing, expected a number or an expression "
       "[recipe-missing-key]"},
      {link + "mass = 1\ninertia = [1, 1, 1]\ninertia_products = {xx = 1, yy = 1, zz = 1}\n",
       "6: error: link 'a': inertia given twice, expected one of inertia, inertia_entries, "
       "inertia_products [recipe-bad-value]"},
      {link + "mass = 1\ninertia_axes = {xyz = [1, 0, 0]}\n",
       "5: error: link 'a': inertia_axes has xyz, expected a rotation only; the position of the "
       "mass centre is com [recipe-bad-value]"},
      {link + "mass = 1\nsolid = {shape = \"sphere\", radius = 1, mass = 1}\n",
       "5: error: link 'a': " + sources},
      {link + "solid = {shape = \"bal\", mass = 1}\n",
       "4: error: link 'a': solid: shape is 'bal', expected one of point, box, cylinder, tube, "
       "sphere, hollow_sphere, shell, capsule, ellipsoid, cone (closest: 'box') "
       "[recipe-bad-value]"},
      {link + "solid = {shape = \"sphere\", mass = 1, length = 1}\n",
       "4: error: link 'a': solid: unknown key 'length' [recipe-unknown-key]"},
      {link + "solid = {shape = \"sphere\", radius = 1}\n",
       "4: error: link 'a': solid: has no mass and no density, expected one of mass, density "
       "[recipe-missing-key]"},
      {link + "solid = {shape = \"point\", density = 1}\n",
       "4: error: link 'a': solid: a point has no volume, expected mass instead of density "
       "[recipe-bad-value]"},
      {link + "solid = {shape = \"sphere\", mass = 1, radius = -1}\n",
       "4: error: link 'a': solid: radius is -1, expected > 0 and finite "
       "[recipe-bad-value]"},
      {link + "solids = []\n",
       "4: error: link 'a': solids is an array, expected an array of tables, at least one "
       "[recipe-wrong-type]"},
      {link + "solids = [{shape = \"point\", mass = 0}]\n",
       "4: error: link 'a': the total mass of solids is not positive [recipe-bad-value]"},
      {link + "geometry = [{shape = \"mesh\"}]\n",
       "4: error: link 'a': geometry[0]: 'uri' is missing, expected a text in quotes "
       "[recipe-missing-key]"},
      {link + "geometry = [{shape = \"mesh\", uri = \"package://p/a.stl\"}]\n",
       "4: note: mesh 'package://p/a.stl' was not found [mesh-not-found]"},
      {link + "geometry = [{shape = \"mesh\", uri = \"../../../../etc/passwd\"}]\n",
       "4: warning: mesh '../../../../etc/passwd' is outside the given folders "
       "[mesh-outside-root]"},
  });
}

TEST(RecipeErrors, CouplingsLoopsFramesActuators) {
  expect({
      {kJoint + "[[coupling]]\njoint = \"j\"\n",
       "8: error: [[coupling]]: has none, expected exactly one of terms, mimic, belt, differential "
       "[recipe-ways]"},
      {kJoint + "[[coupling]]\njoint = \"j\"\nbelt = \"k\"\n",
       "8: error: coupling of 'j': 'over' is missing, expected the joints that the belt runs over "
       "[recipe-missing-key]"},
      {kJoint + "[[coupling]]\njoint = \"j\"\nterms = [{joint = \"k\", ration = 2}]\n",
       "10: error: coupling of 'j': terms[0]: unknown key 'ration' (closest: 'ratio') "
       "[recipe-unknown-key]"},
      {kJoint + "[[coupling]]\njoint = \"j\"\nmimic = \"k\"\npowers = 2\n",
       "11: error: coupling of 'j': powers is a number, expected an array of numbers "
       "[recipe-wrong-type]"},
      {kJoint + "[[coupling]]\njoint = \"j\"\nterms = []\n",
       "10: error: coupling of 'j': terms is an array, expected an array of tables {joint, ratio} "
       "[recipe-wrong-type]"},
      {kJoint + "[[coupling]]\ndifferential = [\"a\"]\nmotors = [\"b\", \"c\"]\n",
       "8: error: [[coupling]]: differential has 1 joints and 2 motors, expected 2 and 2 "
       "[recipe-wrong-size]"},
      {kJoint + "[[coupling]]\ndifferential = [1, 2]\nmotors = 1\n",
       "9: error: [[coupling]]: an entry of differential is a number, expected a text in quotes "
       "[recipe-wrong-type]"},
      {kJoint + "[[loop]]\nname = \"l\"\nkind = \"glue\"\nlink_a = \"a\"\nlink_b = \"b\"\n",
       "10: error: loop 'l': kind is 'glue', expected one of connect, weld [recipe-bad-value]"},
      {kJoint + "[[frame]]\nname = \"f\"\n",
       "8: error: frame 'f': 'link' is missing, expected a text in quotes [recipe-missing-key]"},
      {kJoint + "[parameters]\nk = 1\n[[actuator]]\njoint = \"j\"\ngear = \"2*k\"\n",
       "12: error: actuator of 'j': gear = '2*k' has symbols, expected numbers only "
       "[recipe-bad-value]"},
  });
}

TEST(RecipeErrors, ReadingContinuesAfterAMistake) {
  const Diagnostics found = problems(
      "name = \"r\"\nfoo = 1\n[[link]]\nname = \"a\"\nmass = \"x\"\n" + kJoint + "bar = 1\n");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[2].source.line, 12);
}

TEST(RecipeErrors, TextThatIsNotToml) {
  EXPECT_EQ(thrown("name = ").substr(0, 51), "parse_recipe: r.toml:1: not well-formed TOML (Error");
  EXPECT_EQ(thrown("a = 1\na = 2\n").substr(0, 46),
            "parse_recipe: r.toml:2: not well-formed TOML (");
  EXPECT_EQ(
      thrown("a = 1\n\u00e9 = 2\n"),
      "parse_recipe: r.toml:2: not well-formed TOML (a non-ASCII character outside of quotes)");
  EXPECT_EQ(thrown("\xEF\xBB\xBF# caf\u00e9\nname = 'caf\u00e9'\n"), "none");
  // The quote is part of a broken value, not the start of a text.
  EXPECT_EQ(thrown("\xEF\xBB\xBFname = 023/S[\"x\u0277").substr(0, 46),
            "parse_recipe: r.toml:1: not well-formed TOML (");
  EXPECT_EQ(thrown("name = 023/S[\"x\u0277\"]\n").substr(0, 46),
            "parse_recipe: r.toml:1: not well-formed TOML (");
  // Two keys that differ in one such character are two keys.
  EXPECT_EQ(thrown("\"\u00e9\" = 1\n\"\u00e8\" = 2\n"), "none");
  EXPECT_EQ(thrown("[= 1]\n"),
            "parse_recipe: r.toml: not well-formed TOML (a table header or key is broken)");
  EXPECT_EQ(thrown(std::string("a\0b", 3)),
            "parse_recipe: r.toml: is a binary file, expected TOML "
            "text");
  try {
    read_recipe("/nonexistent/robot.toml");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, 12), "read_recipe:");
  }
}

TEST(RecipeErrors, MaliciousTextsAreRejected) {
  std::string dotted = "a";
  for (int i = 0; i < 100000; ++i) dotted += ".a";
  const std::pair<std::string, std::string> cases[] = {
      {dotted + " = 1\n", "parse_recipe: r.toml:1: a key is nested too deeply"},
      {"[" + dotted + "]\n", "parse_recipe: r.toml:1: a key is nested too deeply"},
      {"\"#\"." + dotted + " = 1\n", "parse_recipe: r.toml:1: a key is nested too deeply"},
      {"x = 1\ny = \"\"\"a\"\"\"\n", "parse_recipe: r.toml:2: texts in triple quotes are not read"},
      {"x = '''a'''\n", "parse_recipe: r.toml:1: texts in triple quotes are not read"},
      {"a = " + std::string(100000, '['), "parse_recipe: r.toml:1: not well-formed TOML"},
      {"a = [" + std::string(1100000, ',') + "]",
       "parse_recipe: r.toml:1: more than 1000000 values"},
      {std::string((16u << 20) + 1, ' '),
       "parse_recipe: r.toml: has 16777217 bytes, expected at most 16777216"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string found = thrown(text);
    EXPECT_EQ(found.substr(0, expected.size()), expected);
  }
}

// Suggestions stop after the first hundred mistakes, so that the time stays linear.
TEST(RecipeErrors, ManyMistakesAreAllReported) {
  std::string text = "name = \"r\"\n[parameters]\n";
  for (int i = 0; i < 5000; ++i) text += fmt::format("p{} = 1\n", i);
  for (int i = 0; i < 5000; ++i)
    text += fmt::format("[[link]]\nname = \"l{}\"\nmass = \"x{}\"\n", i, i);
  const Diagnostics found = problems(text);
  EXPECT_EQ(found.size(), 5000u);
}

}  // namespace
}  // namespace limb
