#!/usr/bin/env python3
"""One vocabulary: C++ free functions, Robot, Compiled, Python and the command line have the same functions under the
same names, or a stated reason why not. Reads the sources only.

  api_test.py [ROOT] [--table]     --table prints the table of all functions
"""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Each of these functions has two names in all five.
ALIASES = {"inverse_dynamics": "rnea", "forward_dynamics": "aba", "mass_matrix": "crba",
           "inverse_dynamics_derivatives": "rnea_derivatives", "forward_dynamics_derivatives": "aba_derivatives"}

# Members that are not functions of the dynamics: state, settings, files, introspection.
OTHERS = {
    "Robot": "model effects q v a position_index velocity_index evaluations",
    "Compiled": "has has_program program strategy shape pattern why_not_compiled run",
    "Python": "check compile contacts derive prove to_recipe to_urdf lock_joints attach_payload parameter_names "
              "add_frame with_gravity gravity_vector meshes show",
    "CLI": "external frames V",  # V: the part of the bias that depends on velocities
}

# Other spellings of a function, and why.
SPELLINGS = {
    "C++": {"torque_regressor": "regressor"},  # several regressors share one namespace
    # Robot addresses frames by name: its argument says that it is a frame.
    "Robot": {name.removeprefix("frame_"): name for name in (
        "frame_pose", "frame_velocity", "frame_acceleration", "frame_jacobian", "frame_jacobian_rate",
        "frame_jacobian_rate_times_v", "frame_hessian", "frame_velocity_derivatives",
        "frame_acceleration_derivatives")},
    # All frames of the options at once.
    "Compiled": {"frame_poses": "frame_pose", "frame_jacobians": "frame_jacobian"},
    "CLI": {"acceleration_split": "frame_acceleration_split"},
}

# (which API lacks them, reason, functions).
EXCEPTIONS = [
    ("CLI", "limb eval writes the quantities of the golden files", """
        aba_hessian aba_parameter_derivatives aba_second_derivatives base_acceleration base_joint_partition
        base_velocity center_of_mass_acceleration_derivatives center_of_mass_jacobian
        center_of_mass_velocity_derivatives centrifugal_coriolis_split centroidal_matrix_rate
        centroidal_momentum_derivatives centroidal_momentum_rate_derivatives christoffel constrained_derivatives
        constrained_forward_dynamics constrained_inverse_dynamics constrained_parameter_derivatives
        constraint_jacobian frame_acceleration_derivatives frame_hessian frame_jacobian_rate
        frame_jacobian_rate_times_v frame_velocity_derivatives impact impact_derivatives inverse_kinematics kinetic_energy_regressor
        momentum_regressor point_jacobian point_jacobian_rate_times_v potential_energy_regressor
        rnea_gradient rnea_hessian rnea_second_derivatives selection_matrix spatial_momentum static_regressor
        underactuation center_of_mass_jacobian_rate_times_v distance interpolate
        integrate_jacobians difference_jacobians inertial_parameters log_cholesky_parameters"""),
    ("CLI", "limb eval takes configurations and makes none", """
        neutral random_configuration normalize"""),
    ("CLI Robot", "every quantity of a state includes its kinematics", "forward_kinematics"),
    ("CLI Robot", "for identification from recorded motions, not at one state", """
        base_parameters parameters_from_log_cholesky regressor_by_log_cholesky"""),
    ("Robot", "not a function of the state", """
        distance interpolate integrate_jacobians difference_jacobians normalize neutral random_configuration
        inertial_parameters log_cholesky_parameters"""),
    ("Robot", "less common: use the free functions", """
        frame_acceleration_split frame_bias_acceleration point_jacobian point_jacobian_rate_times_v
        center_of_mass_jacobian_rate_times_v spatial_momentum constraint_jacobian"""),
    ("Robot", "n^3 numbers or products of derivatives: use the free functions with a workspace", """
        rnea_gradient rnea_second_derivatives aba_second_derivatives"""),
    ("Python", "not bound", "constrained_parameter_derivatives"),
    ("C++ Robot Python CLI", "a storage format of compiled code", "crba_packed"),
    ("C++ Robot Python CLI", "centroidal_matrix and center_of_mass in one function", "centroidal"),
    ("Robot Python CLI", "building blocks of C++ programs: sizes, selections, factors, directions", """
        all_loops base_size base_velocity_matrix convert_base_acceleration convert_base_columns convert_base_force
        convert_base_velocity equation_of_motion_residual factorize_mass floating_base has_floating_base is_actuated
        locked_joints motor_count parameter_count transfer_wrench rnea_derivatives_along aba_derivatives_along"""),
]


def code(path: Path) -> str:
    """The text of a C++ file without comments and empty default arguments."""
    return re.sub(r"//[^\n]*|\s*=\s*\{\}", "", path.read_text())


def public_headers(root: Path):
    for path in sorted((root / "limb/dynamics").rglob("*.hpp")):
        if not path.name.endswith("_impl.hpp") and path.parent.name not in ("testing", "textbook"):
            yield path


def signatures(root: Path):
    """(name, list of parameters) of every function template of limb/dynamics that takes a model first."""
    pattern = re.compile(r"template <\w+ T>\s*[\w:<>&\s]+?\s(\w+)\((\s*const Model<T>& model[^;{]*)\)\s*[;{]")
    for path in public_headers(root):
        for name, parameters in pattern.findall(code(path)):
            flat = re.sub(r"\s+", " ", parameters).strip()
            yield name, re.split(r",\s*(?![^<]*>)", flat)


def declared(root: Path) -> set[str]:
    """Every free function of limb/dynamics, also those that take no model, or only one of doubles."""
    return {name for path in public_headers(root) for name in re.findall(r"\n[\w:<>&][\w:<>& ]* (\w+)\(", code(path))}


def methods(path: Path, name: str) -> set[str]:
    """Public const methods of a class."""
    text = code(path)
    text = text[text.index(f"\nclass {name} {{"):]
    text = text[text.index("public:"):text.index("\n private:")]
    return set(re.findall(r"\n  [\w:<>&\s,]*?\b(\w+)\([^;{]*\) const\b", text))


def python_methods(root: Path) -> set[str]:
    found = set()
    for path in sorted((root / "python/src").glob("bind_*.cpp")):
        bound = re.findall(r"void bind_\w+\([^)]*RobotClass& (\w+)\) \{(.*?)\n\}\n", path.read_text(), re.S)
        for variable, body in bound:
            found |= set(re.findall(rf'(?:\b{variable}|\n\s+)\.def\(\s*"([a-z]\w*)"', body))
    text = (root / "python/limb/robot.py").read_text()
    text = text[text.index("class Robot"):]
    return found | set(re.findall(r"\n    def ([a-z]\w*)\(self", text[:text.index("\n\n\ndef ")]))


def python_compiled(root: Path) -> set[str]:
    return set(re.findall(r'\n    (\w+): "\w+Function"', (root / "python/limb/compiled.py").read_text()))


def block(text: str, start: str) -> str:
    """From `start` to the end of that definition."""
    text = text[text.index(start):]
    return text[:text.index("\n}")]


def eval_names(root: Path) -> dict[str, list[str]]:
    """Names that limb eval --only accepts besides the fields, with the fields of each."""
    table = block((root / "cli/state_quantities.cpp").read_text(), "quantity_names() {")
    return {name: re.findall(r'"(\w+)"', fields) for name, fields in re.findall(r'\{"(\w+)", \{([^}]*)\}', table)}


def eval_fields(root: Path) -> set[str]:
    text = (root / "cli/state_quantities.cpp").read_text()
    return {name for table in ("state_fields() {", "frame_fields() {", "named_fields() {")
            for name in re.findall(r'"(\w+)"', block(text, table))}


def compiled_functions(root: Path) -> set[str]:
    """DynamicsFunction by name."""
    text = code(root / "limb/codegen/record/functions.hpp")
    text = text[text.index("enum class DynamicsFunction {"):]
    return set(re.findall(r"\b(\w+),", text[:text.index("};")]))


def vocabulary(root: Path) -> dict[str, set[str]]:
    """All functions of the five, in common spelling."""
    names, fields = eval_names(root), eval_fields(root)
    named = {field for selected in names.values() for field in selected}
    derivatives = {name for name in names if re.fullmatch(r"d\w+_d\w+", name)}
    found = {
        "C++": {name for name, _ in signatures(root)},
        "Robot": methods(root / "limb/dynamics/robot/robot.hpp", "Robot"),
        "Compiled": methods(root / "limb/batch/compiled.hpp", "Compiled"),
        "Python": python_methods(root),
        "CLI": (set(names) | fields - named) - derivatives,
    }
    return {api: {SPELLINGS.get(api, {}).get(name, name)
                  for name in members - set(OTHERS.get(api, "").split())} for api, members in found.items()}


def exceptions() -> dict[tuple[str, str], str]:
    return {(api, name): reason for lacking, reason, names in EXCEPTIONS
            for api in lacking.split() for name in names.split()}


def kind(parameter: str) -> int:
    """The place of a parameter: 0 model, 1 workspace or what was computed before, 2 input, 3 output, 4 options."""
    if parameter.startswith("const Model<T>&"):
        return 0
    if re.search(r"(Workspace|Scratch)<T>&", parameter) or re.match(r"const (Kinematics|ConstraintSet)<T>&", parameter):
        return 1
    if re.match(r"const (JointEffects|\w*Options)\b|const std::type_identity_t<\w*Options<T>>", parameter):
        return 4
    if "Out<T>" in parameter or ("&" in parameter and "In<T>&" not in parameter and not parameter.startswith("const ")):
        return 3
    return 2


class ApiTest(unittest.TestCase):
    def test_each_has_the_functions_of_the_others(self):
        table, reasons = vocabulary(ROOT), exceptions()
        can_compile = {SPELLINGS["Compiled"].get(name, name) for name in compiled_functions(ROOT)} | set(ALIASES)
        unused = dict(reasons)
        missing = []
        other_functions = declared(ROOT)
        for name in sorted(set().union(*table.values())):
            for api, members in table.items():
                if name in members or (api == "C++" and name in other_functions):
                    continue
                if api == "Compiled" and name not in can_compile:
                    continue  # not among the functions that can be compiled
                if unused.pop((api, name), None) is None:
                    having = [other for other in table if name in table[other]]
                    missing.append(f"{api} lacks {name}, which {', '.join(having)} has")
        self.assertFalse(missing, "\n" + "\n".join(missing))
        self.assertEqual([f"{api} has {name}: remove the exception" for api, name in unused], [])

    def test_aliases(self):
        for api, members in vocabulary(ROOT).items():
            for name, alias in ALIASES.items():
                self.assertIn(name, members, api)
                self.assertIn(alias, members, api)

    def test_compiled_has_a_method_for_each_function(self):
        functions = compiled_functions(ROOT)
        self.assertGreater(len(functions), 10)
        both = functions | set(ALIASES)
        ours = methods(ROOT / "limb/batch/compiled.hpp", "Compiled") - set(OTHERS["Compiled"].split())
        self.assertEqual(ours, both)
        self.assertEqual(python_compiled(ROOT), both)
        # dynamics_function_named accepts both names, and the help of the command line lists them.
        text = (ROOT / "limb/codegen/record/functions.cpp").read_text()
        notes = (ROOT / "cli/compiled_options.hpp").read_text()
        for name in both:
            self.assertIn(f'"{name}"', text)
        for name in functions:
            self.assertRegex(notes, rf"\b{name}\b")

    def test_derivatives_have_one_name(self):
        # Only limb eval knows ddq_dq and ddq_dv, the keys of the golden files.
        for folder, suffixes in (("limb", (".hpp", ".cpp")), ("python", (".hpp", ".cpp", ".py"))):
            for path in sorted((ROOT / folder).rglob("*")):
                if path.suffix in suffixes and "_test" not in path.name:
                    self.assertNotRegex(path.read_text(), r"\bddq_d\w+", str(path))
        robot = code(ROOT / "limb/dynamics/robot/robot.hpp")
        results = (ROOT / "python/limb/results.py").read_text()
        for struct, fields in (("InverseDerivatives", ("dtau_dq", "dtau_dv", "dtau_da")),
                               ("ForwardDerivatives", ("da_dq", "da_dv", "da_dtau"))):
            ours = robot[robot.index(f"struct {struct} {{"):]
            theirs = results[results.index(f"class {struct}("):]
            for field in fields:
                self.assertIn(field, ours[:ours.index("};")])
                self.assertRegex(theirs[:theirs.index("\n\n\n")], rf"\n    {field}: ")
        names = eval_names(ROOT)
        self.assertEqual((names["da_dq"], names["da_dv"]), (["ddq_dq"], ["ddq_dv"]))

    def test_argument_order(self):
        count = 0
        for name, parameters in signatures(ROOT):
            kinds = [kind(p) for p in parameters]
            self.assertEqual(kinds, sorted(kinds), f"{name}({', '.join(parameters)})")
            for before, p in zip(parameters, parameters[1:], strict=False):
                if p == "WrenchesIn<T> external":
                    self.assertRegex(before, r"VectorIn<T>& (a|tau)$|Scratch<T>& scratch$", name)
                    count += 1
        self.assertGreater(count, 15)


def print_table():
    table, reasons = vocabulary(ROOT), exceptions()
    print(f"{'':40}" + "".join(f"{api:10}" for api in table))
    for name in sorted(set().union(*table.values())):
        marks = ["yes" if name in members else "-" for members in table.values()]
        why = sorted({reasons[api, name] for api in table if (api, name) in reasons})
        print(f"{name:40}" + "".join(f"{mark:10}" for mark in marks) + "; ".join(why))


if __name__ == "__main__":
    arguments = [a for a in sys.argv[1:] if a != "--table"]
    if arguments and not arguments[0].startswith("-"):
        ROOT = Path(arguments.pop(0)).resolve()
    if "--table" in sys.argv:
        print_table()
    else:
        unittest.main(argv=[sys.argv[0], *arguments])
