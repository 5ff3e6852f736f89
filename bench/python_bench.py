#!/usr/bin/env python3
"""Times of limb in Python: one call, and a million states, compared with Pinocchio (pin) and frax in the same run.

  bench/python_bench.py [--states N] [--json FILE]

Libraries that are not installed are left out, with a message. Times are the best of several windows, because other
processes only add time.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(Path(os.environ.get("LIMB_BUILD_DIR", ROOT / "build")) / "python"))
import limb  # noqa: E402

URDF = Path(os.environ.get("LIMB_SHARED", ROOT.parent / "shared")) / "robots/iiwa14.urdf"


def best_times(calls, windows=40, seconds=0.01):
    """ns per call of each, the best of several windows, measured in turns under the same conditions."""
    repeats, fastest = {}, dict.fromkeys(calls, float("inf"))
    for name, call in calls.items():
        call()
        start = time.perf_counter()
        call()
        repeats[name] = max(1, int(seconds / max(time.perf_counter() - start, 1e-8)))
    for _ in range(windows):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(repeats[name]):
                call()
            fastest[name] = min(fastest[name], (time.perf_counter() - start) / repeats[name] * 1e9)
    return fastest


def robots():
    """The seven-joint arm in limb and in Pinocchio, without armature, damping and friction."""
    rigid = {"armature": False, "damping": False, "friction": False}
    robot = limb.load(URDF, "fixed", **rigid) if URDF.exists() else limb.load("builtin:arm7", **rigid)
    try:
        import pinocchio as pin
    except ImportError:
        print("pin is not installed: left out")
        return robot, None, None, None
    model = pin.buildModelFromUrdf(str(URDF)) if URDF.exists() else limb.convert.pinocchio_model(robot)
    return robot, pin, model, model.createData()


def single(robot, pin, model, data):
    """One state per call: ns."""
    rng = np.random.default_rng(1)
    q = robot.random_configuration(1)
    v, a = rng.normal(size=(2, robot.nv))
    fast = robot.compile(["rnea", "crba", "aba"])
    out = np.empty(robot.nv)
    theirs = lambda: pin.rnea(model, data, q, v, a)  # noqa: E731
    rows = {
        "rnea": (lambda: robot.rnea(q, v, a), theirs),
        "rnea, out=": (lambda: robot.rnea(q, v, a, out=out), theirs),
        "rnea, compiled": (lambda: fast.rnea(q, v, a), theirs),
        "crba": (lambda: robot.crba(q), lambda: pin.crba(model, data, q)),
        "aba": (lambda: robot.aba(q, v, a), lambda: pin.aba(model, data, q, v, a)),
        "rnea_derivatives": (lambda: robot.rnea_derivatives(q, v, a),
                             lambda: pin.computeRNEADerivatives(model, data, q, v, a)),
    }
    results = {name: best_times({"limb": ours, "pin": theirs} if pin is not None else {"limb": ours})
               for name, (ours, theirs) in rows.items()}
    # Overhead of the call: its time minus the time per state of a batch on one thread, which is the C++ time.
    limb.set_threads(1)
    frame = robot.frames[-1]
    Q, V, A = (np.repeat(x[None], 4096, axis=0) for x in (q, v, a))
    for name, call in {"rnea": lambda q, v, a: robot.rnea(q, v, a), "crba": lambda q, v, a: robot.crba(q),
                       "aba": lambda q, v, a: robot.aba(q, v, a), "gravity": lambda q, v, a: robot.gravity(q),
                       "frame_pose": lambda q, v, a: robot.frame_pose(q, frame),
                       "frame_jacobian": lambda q, v, a: robot.frame_jacobian(q, frame),
                       "kinetic_energy": lambda q, v, a: robot.kinetic_energy(q, v),
                       "rnea_derivatives": lambda q, v, a: robot.rnea_derivatives(q, v, a)}.items():
        times = best_times({"one": lambda: call(q, v, a), "batch": lambda: call(Q, V, A),
                            "nothing": lambda: (lambda q, v, a: None)(q, v, a)})
        row = results.setdefault(name, {"limb": times["one"]})
        row["inside"] = times["batch"] / 4096
        row["overhead"] = times["one"] - times["nothing"] - row["inside"]
    limb.set_threads(0)
    return results


def batch(robot, pin, model, data, states):
    """N states: ns per state."""
    rng = np.random.default_rng(1)
    Q = robot.random_configuration(1, states)
    V, A = rng.normal(size=(2, states, robot.nv))
    fast = robot.compile(["rnea"])
    Q32, V32, A32 = (x.astype(np.float32) for x in (Q, V, A))
    out, out32 = np.empty_like(V), np.empty_like(V32)
    results = {}

    def measure(name, call, windows=5, n=states):
        results[name] = best_times({name: call}, windows, 0)[name] / n

    measure("robot.rnea", lambda: robot.rnea(Q, V, A, out=out))
    measure("compiled", lambda: fast.rnea(Q, V, A, out=out))
    measure("compiled, float32", lambda: fast.rnea(Q32, V32, A32, out=out32))
    limb.set_threads(1)
    measure("robot.rnea, one thread", lambda: robot.rnea(Q, V, A, out=out))
    measure("compiled, one thread", lambda: fast.rnea(Q, V, A, out=out))
    limb.set_threads(0)
    if pin is not None:
        few = min(states, 20_000)

        def loop():
            for i in range(few):
                out[i] = pin.rnea(model, data, Q[i], V[i], A[i])
        measure("loop over pin.rnea", loop, 3, few)
    if not URDF.exists():
        print("frax needs a URDF file: left out")
        return results
    try:
        frax(Q, V, A, out32, measure)
    except ImportError:
        print("frax is not installed: left out")
    return results


def frax(Q, V, A, reference, measure):
    """frax: JAX on the CPU, jit and vmap, float32 as it comes."""
    import frax as library
    import jax

    robot = library.Manipulator(str(URDF))
    gravity = jax.numpy.array([0.0, 0.0, 9.81, 0.0, 0.0, 0.0])  # linear first, pointing up
    call = jax.jit(jax.vmap(lambda q, v, a: robot.rnea(q, v, a, gravity, None)))
    q, v, a = (jax.numpy.asarray(x) for x in (Q, V, A))
    few = slice(0, 1000)
    error = np.abs(np.asarray(call(q[few], v[few], a[few])) - reference[few]).max()
    print(f"frax agrees within {error:.1e}")
    measure("frax, float32", lambda: call(q, v, a).block_until_ready(), 3)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=1_000_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    arm = robots()
    results = {"robot": arm[0].name, "single": single(*arm), "batch": batch(*arm, options.states)}
    print(f"\n{arm[0].name}, one state per call, ns")
    for name, row in results["single"].items():
        ratio = f"{row['pin'] / row['limb']:6.1f} x" if "pin" in row else ""
        theirs = f"{row['pin']:9.0f}" if "pin" in row else ""
        print(f"  {name:18} limb {row['limb']:8.0f}  pin {theirs} {ratio}")
    print("  overhead of a call in Python: " + ", ".join(f"{name} {row['overhead']:.0f}" for name, row in
                                                        results["single"].items() if "overhead" in row))
    print(f"\n{options.states} states, ns per state")
    compiled = results["batch"]["compiled"]
    for name, time_ns in results["batch"].items():
        print(f"  {name:26} {time_ns:9.1f}   {time_ns / compiled:8.1f} x compiled")
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
