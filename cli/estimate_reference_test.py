"""The invariant filter of `limb estimate` against a direct implementation with dense matrices, with the errors and
Jacobians of [Hartley 2020], integrated by the method of Runge and Kutta: python3 cli/estimate_reference_test.py build/limb

Needs NumPy, of this interpreter or of .venv."""

import csv
import json
import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
try:
    import numpy as np
except ImportError:
    np = None

LIMB = "limb"
FEET = ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]
GRAVITY = (0, 0, -9.81)
GYRO, ACCEL, GYRO_WALK, ACCEL_WALK, CONTACT = 2e-4, 2.5e-3, 1e-4, 1e-3, 2e-3
ENCODER, FOOT_ERROR = 1e-3, 1e-3


def skew(x):
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def exp(x):
    angle = np.linalg.norm(x)
    if angle < 1e-12:
        return np.eye(3) + skew(x)
    K = skew(x / angle)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def left_jacobian(x):
    angle = np.linalg.norm(x)
    if angle < 1e-6:
        return np.eye(3) + skew(x) / 2
    K = skew(x / angle)
    return np.eye(3) + (1 - np.cos(angle)) / angle * K + (angle - np.sin(angle)) / angle * K @ K


class DirectFilter:
    """Errors, three each: rotation, velocity, position, feet, gyroscope bias, accelerometer bias."""

    def __init__(self, p, R, v, deviations):
        self.p, self.R, self.v = np.array(p, float), np.array(R, float), np.array(v, float)
        self.gyro_bias, self.accel_bias = np.zeros(3), np.zeros(3)
        self.feet = {}  # name: position, in order of contact
        d = np.asarray(deviations) ** 2  # p, R exp(e), v, biases
        common = np.diag(np.concatenate([d[3:6], d[6:9], d[0:3], d[9:12], d[12:15]]))
        J = np.eye(15)  # right-invariant errors of errors of the parts: e_v = d_v + [v] e_R
        J[:3, :3] = self.R
        J[3:6, :3] = skew(self.v) @ self.R
        J[6:9, :3] = skew(self.p) @ self.R
        self.P = J @ common @ J.T

    def rates(self, R, v, p, P, w, f):
        """Time derivatives of state and covariance."""
        k = len(self.feet)
        n = 15 + 3 * k
        A, L = np.zeros((n, n)), np.zeros((n, n))
        A[3:6, :3], A[6:9, 3:6] = skew(GRAVITY), np.eye(3)
        bias, arms = 9 + 3 * k, [v, p, *self.feet.values()]
        A[:3, bias:bias + 3] = -R
        for i, arm in enumerate(arms):
            A[3 + 3 * i:6 + 3 * i, bias:bias + 3] = -skew(arm) @ R
        A[3:6, bias + 3:] = -R
        # Noise of the gyroscope, accelerometer, feet and biases, by the adjoint of the state.
        Q = np.diag(np.repeat([GYRO**2, ACCEL**2, 0] + [CONTACT**2] * k + [GYRO_WALK**2, ACCEL_WALK**2], 3))
        L[:, :] = np.eye(n)
        L[:3, :3] = L[3:6, 3:6] = L[6:9, 6:9] = R
        for i, arm in enumerate(arms):
            L[3 + 3 * i:6 + 3 * i, :3] = skew(arm) @ R
        return R @ skew(w), R @ f + np.array(GRAVITY), v, A @ P + P @ A.T + L @ Q @ L.T

    def predict(self, gyro, accel, T, substeps=4):
        w, f, h = gyro - self.gyro_bias, accel - self.accel_bias, T / substeps
        for _ in range(substeps):
            x = (self.R, self.v, self.p, self.P)
            k1 = self.rates(*x, w, f)
            k2 = self.rates(*(a + h / 2 * b for a, b in zip(x, k1)), w, f)
            k3 = self.rates(*(a + h / 2 * b for a, b in zip(x, k2)), w, f)
            k4 = self.rates(*(a + h * b for a, b in zip(x, k3)), w, f)
            self.R, self.v, self.p, self.P = (a + h / 6 * (p + 2 * q + 2 * r + s)
                                              for a, p, q, r, s in zip(x, k1, k2, k3, k4))

    def add_foot(self, name, p_SF, noise):
        k = len(self.feet)
        at = 9 + 3 * k
        self.feet[name] = self.p + self.R @ p_SF
        G = np.zeros((18 + 3 * k, 15 + 3 * k))
        G[:at, :at] = np.eye(at)
        G[at:at + 3, 6:9] = np.eye(3)
        G[at + 3:, at:] = np.eye(6)
        self.P = G @ self.P @ G.T
        self.P[at:at + 3, at:at + 3] += self.R @ noise @ self.R.T

    def remove_foot(self, name):
        at = 9 + 3 * list(self.feet).index(name)
        keep = [i for i in range(len(self.P)) if not at <= i < at + 3]
        self.P = self.P[np.ix_(keep, keep)]
        del self.feet[name]

    def update(self, measured):
        """Feet at p_SF with these noises, all together."""
        if not measured:
            return
        n, m = len(self.P), 3 * len(measured)
        H, N, z = np.zeros((m, n)), np.zeros((m, m)), np.zeros(m)
        for i, (name, (p_SF, noise)) in enumerate(measured.items()):
            rows, at = slice(3 * i, 3 * i + 3), 9 + 3 * list(self.feet).index(name)
            # In world axes: R p_SF - (p_WF - p) = e_p - e_F + R noise, invariant.
            H[rows, 6:9], H[rows, at:at + 3] = -np.eye(3), np.eye(3)
            N[rows, rows] = self.R @ noise @ self.R.T
            z[rows] = self.R @ p_SF - (self.feet[name] - self.p)
        K = np.linalg.solve(H @ self.P @ H.T + N, H @ self.P).T
        e = K @ z
        I = np.eye(n) - K @ H
        self.P = I @ self.P @ I.T + K @ N @ K.T
        dR, V = exp(e[:3]), left_jacobian(e[:3])
        self.R = dR @ self.R
        self.v = dR @ self.v + V @ e[3:6]
        self.p = dR @ self.p + V @ e[6:9]
        for i, name in enumerate(self.feet):
            self.feet[name] = dR @ self.feet[name] + V @ e[9 + 3 * i:12 + 3 * i]
        bias = 9 + 3 * len(self.feet)
        self.gyro_bias = self.gyro_bias + e[bias:bias + 3]
        self.accel_bias = self.accel_bias + e[bias + 3:]


def run(*arguments):
    result = subprocess.run([LIMB, *map(str, arguments)], capture_output=True, text=True, timeout=1200)
    assert result.returncode in (0, 3), result.stderr
    return result.stdout


def largest_difference(folder):
    """Replays a synthetic walk by both, and returns the largest difference of position, angles and velocity."""
    log = Path(folder) / "walk.csv"
    base = ("--model", "builtin:quadruped", "--feet", ",".join(FEET))
    run("estimate", log, *base, "--make-walk", 4, "--seed", 7)
    with log.open() as file:
        samples = [{k: float(x) for k, x in row.items()} for row in csv.DictReader(file)]
    start = [0.3, -0.2, 0.4, 0.02, -0.04, 0.7, 0.02, 0.01, -0.01]
    found = json.loads(run("estimate", log, *base, "--start", ",".join(map(str, start)), "--gate", 1, "--json", "--noise",
                           f"{GYRO},{ACCEL},{GYRO_WALK},{ACCEL_WALK},{CONTACT}", "--encoder-noise", ENCODER,
                           "--foot-error", FOOT_ERROR))
    info = json.loads(run("info", "builtin:quadruped", "--json"))
    joints = [joint["name"] for joint in info["joints"]][1:]
    states = [{"q": [0, 0, 0, 0, 0, 0, 1] + [row[f"position.{j}"] for j in joints]} for row in samples]
    (Path(folder) / "states.json").write_text(json.dumps({"states": states, "frames": FEET}))
    legs = json.loads(run("eval", "builtin:quadruped", "--input", Path(folder) / "states.json", "--only",
                          "frames"))["states"]
    roll, pitch, yaw = start[3:6]
    R = exp(np.array([0, 0, yaw])) @ exp(np.array([0, pitch, 0])) @ exp(np.array([roll, 0, 0]))
    # The deviations of --start: position, tilt, yaw, velocity, biases.
    deviations = [1e-3] * 3 + [0.02, 0.02, 0.002] + [0.05] * 3 + [5e-3] * 3 + [0.05] * 3
    direct = DirectFilter(start[:3], R, start[6:], deviations)
    before = None
    for row, leg in zip(samples, legs):
        gyro = np.array([row[f"imu.w{a}"] for a in "xyz"])
        accel = np.array([row[f"imu.f{a}"] for a in "xyz"])
        if before is not None:
            direct.predict((before[1] + gyro) / 2, (before[2] + accel) / 2, row["t"] - before[0])
        before = (row["t"], gyro, accel)
        measured = {}
        for name in FEET:
            frame = leg["frames"][name]
            J = np.array(frame["R"]) @ np.array(frame["J_local"])[:3, 6:]  # with the base at the origin
            measured[name] = (np.array(frame["p"]), ENCODER**2 * J @ J.T + FOOT_ERROR**2 * np.eye(3))
        stands = [name for name in FEET if row[f"contact.{name}"] > 0]
        for name in list(direct.feet):
            if name not in stands:
                direct.remove_foot(name)
        direct.update({name: measured[name] for name in FEET if name in direct.feet})
        for name in stands:
            if name not in direct.feet:
                direct.add_foot(name, *measured[name])
    assert found["counts"]["contacts_broken"] > 5 and found["counts"]["feet_rejected"] == 0, found["counts"]
    assert found["counts"]["biases_widened"] == 0
    R = direct.R
    angles = [math.atan2(R[2, 1], R[2, 2]), math.atan2(-R[2, 0], math.hypot(R[2, 1], R[2, 2])),
              math.atan2(R[1, 0], R[0, 0])]
    return float(np.abs(np.array(found["end"]) - np.concatenate([direct.p, angles, direct.v])).max())


class ReferenceTest(unittest.TestCase):
    def test_equals_a_direct_implementation(self):
        if np is None:
            python = ROOT / ".venv/bin/python"
            if not python.exists():
                self.skipTest("no NumPy, and no .venv")
            result = subprocess.run([python, __file__, LIMB, "--difference"], capture_output=True, text=True)
            self.assertEqual(result.returncode, 0, result.stderr)
            difference = float(result.stdout)
        else:
            with tempfile.TemporaryDirectory() as folder:
                difference = largest_difference(folder)
        print("largest difference", difference, file=sys.stderr)
        # m, rad, m/s, after 4 s at 400 Hz.
        self.assertLess(difference, 1e-9)


if __name__ == "__main__":
    LIMB = sys.argv.pop(1)
    if sys.argv[1:] == ["--difference"]:
        with tempfile.TemporaryDirectory() as temporary:
            print(largest_difference(temporary))
    else:
        unittest.main()
