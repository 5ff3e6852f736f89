"""Every robot file at hand runs with the defaults of `limb simulate`, from its own pose and from a random one, as it
is and dropped on a plane: it finishes, is refused with a message, or ends for a reason that is a property of the file."""

import json
import subprocess

import pytest
from simulate_robots import CANNOT_FALL, LIMB, all_files, cases, run

# Reasons of the file: no inertia opposes a joint, or loops that contradict each other.
REASONS = ("the mass matrix is singular: no inertia opposes joint", "the loops of the robot cannot be closed")
# Seconds of computing before a run counts as hung: far more than one of these short runs takes.
MAX_WALL = 600
# s simulated: long enough to fall and touch the ground.
DURATION = 0.2
# Thousands of steps of 0.1 ms with 70 shapes each: tested by its shorter sibling.
SLOW = ("fruitfly",)


@pytest.mark.parametrize("name, path", [pytest.param(*f, id=f[0]) for f in all_files()])
def test_runs(name, path):
    duration = DURATION / 10 if any(word in name for word in SLOW) else DURATION
    for case, pose in cases(1):
        row = run(name, path, case, pose, duration, MAX_WALL)
        what = f"{name}, {row['case']}: {row['verdict']}: {row['message']}"
        assert row["verdict"] in ("finished", "ended", "refused", "not applicable"), what
        if row["verdict"] == "ended":
            assert any(reason in row["message"] for reason in REASONS), what
        elif row["verdict"] == "refused":
            assert row["message"].startswith("limb simulate: "), what
        elif row["verdict"] == "finished":
            values = [float(row[key]) for key in ("energy_start", "energy_end", "closure", "exchanged")]
            assert all(abs(value) < 1e9 for value in values), what  # NaN fails, too
        else:
            assert case == "dropped" and any(why in row["message"] for why in CANNOT_FALL), what


def test_the_fruit_fly_comes_to_rest(tmp_path):
    """Legs of micrograms, 0.1 ms, gravity 981 (centimetres): they rest on the floor of the file instead of hopping, and
    the ledger closes. While they hopped, the error was 0.12 of the energy exchanged after 0.5 s."""
    paths = [path for name, path in all_files() if name.endswith("fruitfly_v2/floor.xml")]
    if not paths:
        pytest.skip("dm_control is not installed")
    result = json.loads(subprocess.run([LIMB, "simulate", paths[0], "--duration", "0.5", "--json"], check=True,
                                       capture_output=True, text=True).stdout)
    balance, energy = result["balance"], result["energy"]
    assert abs(balance["closure"]) < 1e-3 * balance["exchanged"], balance
    assert energy["end"]["kinetic"] < 1e-6 * balance["exchanged"], energy
