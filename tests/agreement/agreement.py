"""What limb and another library compute from the same robot file, compared, and one verdict per file.

    agree       total mass, centre of mass, mass matrix and bias forces are equal at random states
    limb        limb refuses the file; the detail is a part of its message
    LIBRARY     the other library refuses it
    differs     the named quantities differ, for a known reason

Every verdict but 'agree' is listed in vs_LIBRARY.tsv, so that a new refusal, a new disagreement, and one
that no longer occurs fail the test.
"""

import json
import os
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
LIMB = Path(os.environ.get("LIMB_CLI", ROOT / "build/limb")).resolve()
STATES = 3
# limb takes rotations within 1e-10 of a quarter turn as exact (canonical.hpp), where files round pi to 12
# digits: measured at most 1.3e-10. The rest is rounding, 1e-13. A wrong term is off by 1e-6 or more.
TOLERANCE = 1e-9


class Refused(Exception):
    """A library does not accept the file; the text is its message."""


class Verdict:
    def __init__(self, kind, detail="", worst=None):
        self.kind, self.detail, self.worst = kind, detail, worst or {}

    def text(self):
        return f"{self.kind}: {self.detail}" if self.detail else self.kind


def run_limb(*arguments):
    """The JSON that a verb prints. Raises Refused with limb's last message."""
    found = subprocess.run([LIMB, *map(str, arguments)], capture_output=True, text=True)
    if found.returncode == 0:
        return json.loads(found.stdout)
    assert found.returncode in (1, 2), f"limb {arguments}: status {found.returncode}: {found.stderr[-300:]}"
    raise Refused([line for line in found.stderr.splitlines() if line][-1])


def evaluate(path, convention, states, folder, *options):
    """limb's mass matrix, bias forces and centre of mass at the states, and the moving mass."""
    inputs = Path(folder) / "states.json"
    inputs.write_text(json.dumps({"states": states}))
    values = run_limb("eval", path, "--convention", convention, "--input", inputs, "--only", "M,nle,com",
                      *options)
    return values["states"], run_limb("info", path, "--json", *options)["mass"]


def errors(found, expected, mass, gravity):
    """Errors relative to the scale of each quantity: the mass matrix and forces in coordinates in which
    every diagonal entry of the mass matrix is 1, so that a finger counts as much as the base."""
    M, bias = np.array(expected["M"]), np.array(expected["nle"])
    unit = np.sqrt(np.diag(M))
    unit[unit == 0] = unit.max(initial=0) or 1
    force = np.maximum(np.abs(bias / unit).max(initial=0), np.sqrt(mass) * max(1, np.linalg.norm(gravity)))
    com = np.array(expected["com"])
    return {"mass matrix": np.abs((np.array(found["M"]) - M) / np.outer(unit, unit)).max(initial=0),
            "bias": np.abs((np.array(found["nle"]) - bias) / unit).max(initial=0) / force,
            "centre of mass": np.abs(np.array(found["com"]) - com).max() / max(1, np.abs(com).max())}


def compare(found, found_mass, expected, mass, gravity, tolerance=TOLERANCE):
    """The verdict for a file that both libraries accept. Without moving mass only the mass is compared."""
    worst = {"total mass": abs(found_mass - mass) / max(mass, 1e-300)}
    for one, other in zip(found, expected, strict=True) if mass > 0 else ():
        for what, error in errors(one, other, mass, gravity).items():
            worst[what] = np.maximum(worst.get(what, 0), error)  # NaN stays
    wrong = [what for what, error in worst.items() if not error <= tolerance]
    return Verdict("differs", ", ".join(wrong), worst) if wrong else Verdict("agree", "", worst)


def listed(library):
    """File -> (verdict, detail) of vs_LIBRARY.tsv; the third column explains."""
    rows = (Path(__file__).parent / f"vs_{library}.tsv").read_text().splitlines()[1:]
    return {row.split("\t")[0]: tuple(row.split("\t")[1:3]) for row in rows}


def listed_but_absent(library, files):
    """Names in the table whose collection is there but has no such file."""
    names = {name for name, _ in files}
    present = {name.split("/")[0] for name in names}
    return {name for name in listed(library) if name.split("/")[0] in present} - names


REPORT = {}  # library -> file -> Verdict, printed by conftest.py


def judge(library, name, verdict, expected):
    """Fails unless the verdict is the listed one, or 'agree' for a file that is not listed."""
    REPORT.setdefault(library, {})[name] = verdict
    kind, detail = expected.get(name, ("agree", ""))
    same = verdict.kind == kind and (detail == verdict.detail if kind == "differs" else detail in verdict.detail)
    worst = ", ".join(f"{what} {error:.2g}" for what, error in verdict.worst.items())
    assert same, f"{name}: {verdict.text()} ({worst}), but listed as '{kind}: {detail}'"


def report(library):
    """Lines of the table: how many files have which verdict, and the largest error."""
    verdicts, expected = REPORT[library], listed(library)
    details = {name: expected.get(name.split(" (")[0], ("", ""))[1] for name in verdicts}
    kinds = Counter((v.kind, details[name]) for name, v in verdicts.items())
    yield f"{library}: {len(verdicts)} comparisons"
    for (kind, detail), count in sorted(kinds.items()):
        yield f"  {count:4d}  {kind if kind in ('agree', 'differs') else 'refused by ' + kind}" + (
            f": {detail}" if detail else "")
    for what in ("total mass", "centre of mass", "mass matrix", "bias"):
        agree = [(v.worst[what], name) for name, v in verdicts.items() if v.kind == "agree" and what in v.worst]
        if agree:  # none of these is NaN
            error, name = sorted(agree)[-1]
            yield f"  largest error of {what}: {error:.1e} in {name}"
