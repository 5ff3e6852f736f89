"""Array arguments and results: shapes, precision, layout, out, exact error messages."""

import gc
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import limb


def states(robot, n, seed=1):
    random = np.random.default_rng(seed)
    return robot.random_configuration(seed, n), random.normal(size=(n, robot.nv)), random.normal(size=(n, robot.nv))


def message(call, *arguments, **keywords):
    with pytest.raises(limb.Error) as caught:
        call(*arguments, **keywords)
    return str(caught.value)


def test_single_state_batch_and_broadcast(arm):
    Q, V, A = states(arm, 6)
    tau = arm.rnea(Q, V, A)
    assert tau.shape == (6, 7) and tau.dtype == np.float64 and tau.flags.c_contiguous
    assert np.array_equal(tau[2], arm.rnea(Q[2], V[2], A[2]))
    # one velocity for all, and more than one leading dimension
    assert np.array_equal(arm.rnea(Q, V[0], A)[3], arm.rnea(Q[3], V[0], A[3]))
    assert np.array_equal(arm.rnea(Q.reshape(2, 3, 7), V.reshape(2, 3, 7), A[1]),
                          arm.rnea(Q, V, A[1]).reshape(2, 3, 7))
    assert arm.rnea(Q[:0], V[:0], A[:0]).shape == (0, 7)
    assert arm.rnea(Q[:1], V[:1], A[:1]).shape == (1, 7)


def test_memory_layout_does_not_matter(arm):
    Q, V, A = states(arm, 5)
    expected = arm.rnea(Q, V, A)
    assert np.array_equal(arm.rnea(np.asfortranarray(Q), V[::1], A), expected)
    wide = np.zeros((5, 14))
    wide[:, ::2] = Q
    assert np.array_equal(arm.rnea(wide[:, ::2], V, A), expected)
    assert np.array_equal(arm.rnea(Q.tolist(), V.tolist(), tuple(map(tuple, A))), expected)
    assert np.array_equal(arm.rnea(Q.astype(">f8"), V, A), expected)
    whole = np.arange(7)
    assert np.array_equal(arm.gravity(whole), arm.gravity(whole.astype(float)))


def test_float32_in_float32_out(arm):
    Q, V, A = (x.astype(np.float32) for x in states(arm, 5))
    tau = arm.rnea(Q, V, A)
    assert tau.dtype == np.float32
    exact = arm.rnea(Q.astype(float), V.astype(float), A.astype(float))
    assert np.array_equal(tau, exact.astype(np.float32))  # computed in double, rounded once
    assert arm.rnea(Q, V.astype(float), A).dtype == np.float64
    assert arm.rnea(Q[0], V[0], [0.0] * 7).dtype == np.float32  # lists take the precision of the others
    assert arm.frame_jacobian(Q, arm.frames[-1]).dtype == np.float32


def test_inputs_are_not_modified(arm):
    Q, V, A = states(arm, 4)
    copies = Q.copy(), V.copy(), A.copy()
    for x in (Q, V, A):
        x.flags.writeable = False
    arm.rnea(Q, V, A)
    arm.rnea_derivatives(Q, V, A)
    arm.normalize(Q)
    assert all(np.array_equal(x, copy) for x, copy in zip((Q, V, A), copies))


def test_out(arm):
    Q, V, A = states(arm, 4)
    out = np.empty((4, 7))
    assert arm.rnea(Q, V, A, out=out) is out
    assert np.array_equal(out, arm.rnea(Q, V, A))
    parts = tuple(np.empty((4, 7, 7)) for _ in range(3))
    derivatives = arm.rnea_derivatives(Q, V, A, out=parts)
    assert derivatives.dtau_dq is parts[0]
    assert np.array_equal(parts[1], arm.rnea_derivatives(Q, V, A).dtau_dv)
    single = np.empty(7, np.float32)
    q = Q[0].astype(np.float32)
    assert arm.gravity(q, out=single) is single


def test_error_messages(arm, quadruped):
    Q, V, A = states(arm, 4)
    assert message(arm.rnea, Q[:, :5], V, A) == (
        "rnea: q has shape (4, 5), expected (7,) or (..., 7) (a free joint needs 7 numbers in q but 6 in v)")
    assert message(arm.rnea, Q, V[0, :3], A) == (
        "rnea: v has shape (3,), expected (7,) or (4, 7) (batch dimensions broadcast with those of q)")
    assert message(arm.rnea, Q, V[:3], A) == (
        "rnea: v has shape (3, 7), expected (7,) or (4, 7) (batch dimensions broadcast with those of q)")
    assert message(arm.rnea, Q, V, A.astype(complex)) == (
        "rnea: a is an array of complex128, expected numbers that fit into float64")
    assert message(arm.rnea, Q, V, "text") == "rnea: a is a str, expected numbers that fit into float64"
    assert message(arm.rnea, Q, V, A, out=np.empty((4, 6))) == (
        "rnea: out has shape (4, 6), expected (4, 7)")
    assert message(arm.rnea, Q, V, A, out=np.empty((4, 7), np.float32)) == (
        "rnea: out is float32, expected float64, C-contiguous")
    assert message(arm.rnea, Q, V, A, out=np.empty((7, 4)).T) == (
        "rnea: out is float64, not C-contiguous, expected float64, C-contiguous")
    frozen = np.empty((4, 7))
    frozen.flags.writeable = False
    assert message(arm.rnea, Q, V, A, out=frozen) == "rnea: out is read-only, expected a writable array"
    assert message(arm.rnea, Q, V, A, out=Q) == "rnea: out shares memory with q"
    assert message(arm.rnea, Q, V, A, out=[1]) == (
        "rnea: out is a list, expected a NumPy array, or one with DLPack support")
    assert message(arm.rnea_derivatives, Q, V, A, out=frozen) == (
        "rnea_derivatives: out is ndarray, expected a tuple of 3 arrays")
    assert message(arm.frame_pose, Q, "tol") == "frame_pose: no frame is named 'tol' (closest: 'tool')"
    assert message(arm.frame_jacobian, Q, arm.frames[-1], "global") == (
        "frame_jacobian: axes is 'global', expected 'local', 'local_world_aligned' or 'world'")
    assert message(arm.rnea, Q, V, A, external=3) == "rnea: external is int, expected a dict {frame: wrench}"
    assert message(arm.rnea, Q, V, A, external={arm.frames[-1]: [1, 2]}) == (
        f"rnea: external['{arm.frames[-1]}'] has shape (2,), expected (6,) or (4, 6) (batch dimensions broadcast with those of q)")
    bad = np.array([quadruped.neutral()] * 2)
    bad[1, 3:7] *= 2
    joint = quadruped.joints[0].name
    assert message(quadruped.gravity, bad) == (
        f"gravity: norm of the quaternion q[1, 3] to q[1, 6] of joint '{joint}' is 2, expected 1 within 1e-06 "
        "(robot.normalize makes it unit)")
    assert np.allclose(quadruped.normalize(bad), quadruped.neutral())
    assert message(limb.load, "nowhere.urdf") == "load: nowhere.urdf: no such file"
    assert message(limb.load, "builtin:arm7", "floating") == (
        "load: base is 'floating', expected 'described', 'fixed' or 'free'")
    assert isinstance(limb.Error("x"), ValueError) and issubclass(limb.ComputationError, limb.Error)


def test_singular_mass_matrix_names_the_joint(tmp_path):
    path = tmp_path / "weightless.toml"
    path.write_text('name = "weightless"\n[[modified_dh]]\ntype = "revolute"\nmass = 0\n')
    robot = limb.load(path)
    with pytest.raises(limb.ComputationError, match="singular.*joint"):
        robot.aba([0.0], [0.0], [1.0])


def test_pickle(quadruped, tmp_path):
    Q, V, A = states(quadruped, 3)
    again = pickle.loads(pickle.dumps(quadruped))
    assert type(again) is limb.Robot and repr(again) == repr(quadruped)
    assert np.array_equal(again.rnea(Q, V, A), quadruped.rnea(Q, V, A))
    # Also after the file was deleted, with the symbols of its recipe.
    path = tmp_path / "arm.toml"
    path.write_text('name = "arm"\n[parameters]\nm1 = 2\nl1 = 0.5\n[[modified_dh]]\ntype = "revolute"\n'
                    'mass = "m1"\ncom = ["l1", 0, 0]\n')
    robot = limb.load(path)
    data = pickle.dumps(robot)
    path.unlink()
    other = pickle.loads(data)
    assert str(other.derive(["M"]).M) == "[['m1*l1^2']]"


def test_pickle_in_another_process(arm):
    Q, V, A = states(arm, 2)
    code = ("import sys, pickle; sys.path[:0] = pickle.load(sys.stdin.buffer)\n"
            "robot, Q, V, A = pickle.load(sys.stdin.buffer)\n"
            "sys.stdout.buffer.write(pickle.dumps(robot.rnea(Q, V, A)))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True,
                          input=pickle.dumps(sys.path) + pickle.dumps((arm, Q, V, A)))
    assert np.array_equal(pickle.loads(done.stdout), arm.rnea(Q, V, A))


def test_one_robot_many_threads(quadruped):
    Q, V, A = states(quadruped, 300)
    expected = quadruped.rnea(Q, V, A)
    derivatives = quadruped.rnea_derivatives(Q[:20], V[:20], A[:20])
    wrong = []

    def work():
        for k in range(0, 300, 7):
            if not np.array_equal(quadruped.rnea(Q[k], V[k], A[k]), expected[k]):
                wrong.append(k)
        if not np.array_equal(quadruped.rnea(Q, V, A), expected):
            wrong.append("batch")
        if not np.array_equal(quadruped.rnea_derivatives(Q[:20], V[:20], A[:20]).dtau_dq, derivatives.dtau_dq):
            wrong.append("derivatives")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_batches_let_other_threads_run(arm):
    """The GIL is released while a batch is computed: a thread that waits for it runs meanwhile."""
    Q, V, A = states(arm, 20_000)
    start, ran = threading.Event(), []
    thread = threading.Thread(target=lambda: (start.wait(), ran.append(True)))
    interval = sys.getswitchinterval()
    limb.set_threads(1)
    thread.start()
    try:
        sys.setswitchinterval(1e4)  # s; from here on the GIL changes hands only where it is released
        start.set()
        calls = 0
        while not ran and calls < 1000:  # a busy machine may start the thread later than the first call ends
            arm.rnea_derivatives(Q, V, A)
            calls += 1
        ran_meanwhile = bool(ran)
    finally:
        sys.setswitchinterval(interval)
        start.set()
        thread.join()
        limb.set_threads(0)
    assert calls > 0 and ran_meanwhile


def test_thread_count_changes_no_bit(quadruped):
    Q, V, A = states(quadruped, 1000)
    limb.set_threads(1)
    single = quadruped.rnea(Q, V, A)
    limb.set_threads(0)
    assert np.array_equal(quadruped.rnea(Q, V, A), single)
    assert message(limb.set_threads, -1) == "set_threads: threads is -1, expected 0 or more"


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/self/statm")
def test_memory_does_not_grow(arm):
    """A million calls. A leak of 16 bytes per call would be 16 MB; uncollected garbage varies by less than 4 MB."""
    Q, V, A = (x[0] for x in states(arm, 1))
    derivatives = arm.rnea_derivatives
    for _ in range(2000):
        arm.rnea(Q, V, A)
        derivatives(Q, V, A)
    gc.collect()
    before = resident()
    rnea, external = arm.rnea, {arm.frames[-1]: np.ones(6)}
    for _ in range(1_000_000):
        rnea(Q, V, A)
    for _ in range(20_000):
        derivatives(Q, V, A)
        rnea(Q, V, A, external=external)
        try:
            rnea(Q[:3], V, A)
        except limb.Error:
            pass
    gc.collect()
    assert resident() - before < 4_000_000


def test_dlpack_out_and_in(arm):
    """Results are exported by DLPack without a copy; objects with only DLPack support are accepted."""
    class Foreign:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **keywords):
            return self.array.__dlpack__(**keywords)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    Q, V, A = states(arm, 3)
    tau = arm.rnea(Foreign(Q), V, A)
    assert np.array_equal(tau, arm.rnea(Q, V, A))
    assert np.shares_memory(np.from_dlpack(tau), tau)
    memory = np.zeros_like(tau)
    given = Foreign(memory)
    assert arm.rnea(Q, V, A, out=given) is given and np.array_equal(memory, tau)

    class OnSomeDevice(Foreign):
        def __dlpack_device__(self):
            return (2, 0)

    assert "on device (2, 0), expected the CPU, or an array of torch, jax or cupy" in (
        message(arm.rnea, OnSomeDevice(Q), V, A))


def test_jax_in_jax_out(arm):
    jax = pytest.importorskip("jax", reason="the package jax is not installed")
    Q, V, A = (jax.numpy.asarray(x, "float32") for x in states(arm, 3))
    tau = arm.rnea(Q, V, A)
    assert isinstance(tau, jax.Array) and tau.devices() == Q.devices()
    assert np.array_equal(tau, arm.rnea(*(np.asarray(x) for x in (Q, V, A))))
