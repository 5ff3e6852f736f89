"""Properties and methods of a robot; each method is checked by an identity."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import limb

EPS = np.finfo(float).eps


def state(robot, seed=5):
    random = np.random.default_rng(seed)
    return robot.random_configuration(seed), random.normal(size=robot.nv), random.normal(size=robot.nv)


def close(found, expected, n, what=""):
    """Within n eps relative to the expected values; n grows with the number of joints and products."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, what
    scale = max(1.0, np.abs(expected).max(initial=0))
    error = np.abs(found - expected).max(initial=0) / scale / EPS
    assert error <= n, f"{what}: {error:.0f} eps"


@pytest.fixture(scope="module", params=["arm7", "belt-leg", "quadruped", "humanoid", "cartpole"])
def robot(request):
    return limb.load(f"builtin:{request.param}")


def test_properties(arm, quadruped):
    assert (arm.nq, arm.nv, len(arm.joints), arm.base) == (7, 7, 7, "described")
    assert (quadruped.nq, quadruped.nv) == (19, 18)
    first = quadruped.joints[0]
    assert (first.type, first.nq, first.nv, first.q_index, first.v_index, first.parent) == (
        "free", 7, 6, 0, 0, "world")
    assert quadruped.motors == 12 and quadruped.loops == 0
    assert arm.mass > 0 and arm.gravity_vector == (0.0, 0.0, -9.81)
    assert arm.limits.lower.shape == (7,) and (arm.limits.lower < arm.limits.upper).all()
    assert "Robot('arm7'" in repr(arm) and "7 joints" in repr(arm)
    page = arm._repr_html_()
    assert page.count("<tr>") == 8 and all(joint.name in page for joint in arm.joints)
    assert sorted(limb.builtin_names()) == limb.builtin_names() and "arm7" in limb.builtin_names()
    assert limb.load("builtin:quadruped", base="fixed").nv == 12
    assert arm.effects == {"armature": True, "damping": True, "friction": True}


def test_equations_of_motion(robot):
    q, v, a = state(robot)
    M, h = robot.mass_matrix(q), robot.bias(q, v)
    tau = robot.rnea(q, v, a)
    close(M @ a + h, tau, 2000, "M a + h")
    close(M, M.T, 0, "symmetric")
    close(robot.crba(q), M, 0, "crba is an alias")
    close(robot.inverse_dynamics(q, v, a), tau, 0, "rnea is an alias")
    close(robot.forward_dynamics(q, v, tau), robot.aba(q, v, tau), 0, "aba is an alias")
    close(robot.aba(q, v, tau), a, 1e6, "forward dynamics inverts inverse dynamics, up to the condition of M")
    close(M @ robot.mass_inverse(q), np.eye(robot.nv), 1e6, "M^-1")
    close(robot.gravity(q), robot.rnea(q, 0 * v, 0 * a), 1000, "gravity")


def test_lagrange(robot):
    rigid = limb.load(robot.path, robot.base, armature=False, damping=False, friction=False)
    q, v, _ = state(rigid)
    C, gamma = rigid.coriolis_matrix(q, v), rigid.christoffel(q)
    close(gamma @ v, C, 2000, "C from the symbols")
    close(C @ v, rigid.bias(q, v) - rigid.gravity(q), 4000, "C v")
    split = rigid.centrifugal_coriolis_split(q)
    pairs = np.concatenate([v[i] * v[i + 1:] for i in range(rigid.nv)])
    close(split.squares @ v**2 + split.products @ pairs, C @ v, 4000, "split")
    budget = rigid.torque_budget(q, v, v)
    close(sum(budget[:-1]), budget.tau, 100, "budget")
    close(budget.tau, rigid.rnea(q, v, v), 4000, "budget")


def test_frames_and_points(robot):
    q, v, a = state(robot)
    e = 1e-6
    for frame in robot.frames[-2:]:
        for axes in ("local", "local_world_aligned", "world"):
            J = robot.frame_jacobian(q, frame, axes)
            close(J @ v, robot.frame_velocity(q, v, frame, axes), 1000, "J v")
            bias = robot.frame_jacobian_rate_times_v(q, v, frame, axes)
            close(robot.frame_jacobian_rate(q, v, frame, axes) @ v, bias, 4000, "dJ/dt v")
            kind = "classical" if axes == "local_world_aligned" else "spatial"
            close(J @ a + bias, robot.frame_acceleration(q, v, a, frame, axes, kind), 4000, "acceleration")
            close(robot.frame_bias_acceleration(q, v, frame, axes, kind), bias, 4000, "bias acceleration")
            H = robot.frame_hessian(q, frame, axes)
            close(H @ v, robot.frame_jacobian_rate(q, v, frame, axes), 1e4, "Hessian along v")
        pose = robot.frame_pose(q, frame)
        close(pose[3], [0, 0, 0, 1], 0)
        point = np.array([0.1, -0.2, 0.3])
        Jp = robot.point_jacobian(q, frame, point)
        ahead = robot.frame_pose(robot.integrate(q, e * v), frame)
        behind = robot.frame_pose(robot.integrate(q, -e * v), frame)
        slope = ((ahead - behind) / (2 * e) @ [*point, 1])[:3]
        assert np.abs(Jp @ v - slope).max() < 1e-8  # eps / e and e^2, times the size of the robot
        lwa = robot.frame_jacobian_rate_times_v(q, v, frame, "local_world_aligned")
        close(robot.point_jacobian_rate_times_v(q, v, frame, [0, 0, 0]), lwa[:3], 1000, "of the origin")


def test_momentum_and_energy(robot):
    q, v, a = state(robot)
    A = robot.centroidal_matrix(q)
    h = robot.centroidal_momentum(q, v)
    close(A @ v, h, 1000, "h = A v")
    close(robot.centroidal_momentum_rate(q, v, a), A @ a + robot.centroidal_matrix_rate(q, v) @ v, 1e4, "dh/dt")
    close(robot.center_of_mass_jacobian(q) @ v, robot.center_of_mass_velocity(q, v), 1000, "com")
    close(h[:3], robot.mass * robot.center_of_mass_velocity(q, v), 1000, "m v")
    close(robot.center_of_mass_acceleration(q, v, a), robot.center_of_mass_jacobian(q) @ a
          + robot.center_of_mass_jacobian_rate_times_v(q, v), 4000, "acom")
    com = robot.center_of_mass(q)
    spatial = robot.spatial_momentum(q, v)
    close(spatial[3:], h[3:] + np.cross(com, h[:3]), 4000, "about the origin")
    assert robot.kinetic_energy(q, v) == pytest.approx(v @ robot.mass_matrix(q) @ v / 2, rel=1e-12)
    assert isinstance(robot.kinetic_energy(q, v), float)
    assert robot.potential_energy(q) == pytest.approx(-robot.mass * com @ robot.gravity_vector, rel=1e-12, abs=1e-11)
    assert robot.kinetic_energy(np.array([q, q]), v).shape == (2,)


def test_regressors(robot):
    rigid = limb.load(robot.path, robot.base, armature=False, damping=False, friction=False)
    q, v, a = state(rigid)
    p = rigid.inertial_parameters()
    assert len(p) == len(rigid.parameter_names()) == 10 * len(rigid.joints)
    close(rigid.regressor(q, v, a) @ p, rigid.rnea(q, v, a), 4000, "torques")
    close(rigid.static_regressor(q) @ p, rigid.gravity(q), 4000, "gravity")
    assert rigid.kinetic_energy_regressor(q, v) @ p == pytest.approx(rigid.kinetic_energy(q, v), rel=1e-11)
    assert rigid.potential_energy_regressor(q) @ p == pytest.approx(rigid.potential_energy(q), rel=1e-11, abs=1e-9)
    close(rigid.momentum_regressor(q, v) @ p, rigid.spatial_momentum(q, v), 4000, "momentum")


def test_base_parameters(arm):
    rigid = limb.load("builtin:arm7", armature=False, damping=False, friction=False)
    base = rigid.base_parameters()
    q, v, a = state(rigid)
    groups = base.K @ rigid.inertial_parameters()
    assert len(base.groups) == len(groups) == len(base.leading)
    Y = rigid.regressor(q, v, a)
    # K is from a decomposition with tolerance 1e-9.
    assert np.allclose(Y[:, base.leading] @ groups, rigid.rnea(q, v, a), rtol=1e-7, atol=1e-7)
    assert np.abs(Y[:, base.unidentifiable]).max(initial=0) < 1e-9


def test_derivatives_and_difference_quotients(robot):
    q, v, a = state(robot)
    d = robot.rnea_derivatives(q, v, a)
    close(d.dtau_da, robot.mass_matrix(q), 1000, "dtau/da")
    e = 1e-6
    tau = np.abs(robot.rnea(q, v, a)).max()
    for k in (0, robot.nv // 2, robot.nv - 1):
        w = np.zeros(robot.nv)
        w[k] = e
        slope = (robot.rnea(robot.integrate(q, w), v, a) - robot.rnea(robot.integrate(q, -w), v, a)) / (2 * e)
        assert np.abs(d.dtau_dq[:, k] - slope).max() < 1e-7 * (1 + tau)  # eps / e relative to the torques
    f = robot.aba_derivatives(q, v, robot.rnea(q, v, a))
    close(f.da_dtau @ d.dtau_dq, -f.da_dq, 1e7, "M da/dq = -dtau/dq")
    close(f.a, a, 1e6, "accelerations")
    for found, expected in ((robot.inverse_dynamics_derivatives(q, v, a), d),
                            (robot.forward_dynamics_derivatives(q, v, robot.rnea(q, v, a)), f)):
        assert type(found) is type(expected) and all(map(np.array_equal, found, expected))
    pushed = {robot.frames[-1]: [1.0, -2, 3, 0.1, 0.2, -0.3]}
    f = robot.aba_derivatives(q, v, robot.rnea(q, v, a, external=pushed), external=pushed)
    close(f.a, a, 1e6, "accelerations under a wrench")


def test_manifold(robot):
    q0, v, _ = state(robot)
    q1 = robot.integrate(q0, 0.3 * v)
    close(robot.difference(q0, q1), 0.3 * v, 1000, "difference inverts integrate")
    close(robot.interpolate(q0, q1, 1.0), q1, 1000)
    halves = robot.interpolate(q0, q1, [0.0, 0.5])
    close(halves[0], q0, 100)
    close(robot.difference(q0, halves[1]), 0.15 * v, 1000)
    assert robot.distance(q0, q1) == pytest.approx(np.linalg.norm(0.3 * v), rel=1e-12)
    J = robot.integrate_jacobians(0.3 * v)
    D = robot.difference_jacobians(q0, q1)
    close(D.q1 @ J.v, np.eye(robot.nv), 4000, "difference(q, integrate(q, v)) = v")
    assert robot.random_configuration(3, 5).shape == (5, robot.nq)
    assert np.array_equal(robot.random_configuration(3, 5), robot.random_configuration(3, 5))
    poses = robot.forward_kinematics(q0)
    assert poses.shape == (len(robot.joints) + 1, 4, 4) and np.array_equal(poses[0], np.eye(4))


def test_polynomial_coupling(tmp_path):
    """A joint whose coordinate is a cubic polynomial of another one: a row among those of the loops."""
    path = tmp_path / "knee.xml"
    path.write_text("""<mujoco><worldbody><body><joint name="a" axis="0 1 0"/><geom size="0.1" pos="0 0 -0.3"/>
        <body pos="0 0 -0.5"><joint name="b" type="slide" axis="1 0 0"/><geom size="0.1"/></body></body></worldbody>
        <equality><joint joint1="b" joint2="a" polycoef="0.1 -0.2 0.3 0.4 0"/></equality></mujoco>""")
    robot = limb.load(str(path))
    assert (robot.nv, robot.loops) == (2, 1)
    x, rate, tau = 0.7, 1.3, np.array([0.4, -0.6])
    slope, curvature = -0.2 + 0.6 * x + 1.2 * x**2, 0.6 + 2.4 * x
    q, v = np.array([x, 0.1 - 0.2 * x + 0.3 * x**2 + 0.4 * x**3]), np.array([rate, slope * rate])
    J, drift = robot.constraint_jacobian(q, v, [])
    close(J, [[-slope, 1]], 4, "row")
    close(drift, [-curvature * rate**2], 8, "drift")
    a = robot.forward_dynamics(q, v, tau)
    close(a[1], slope * a[0] + curvature * rate**2, 100, "acceleration of the follower")
    motion = robot.constrained_forward_dynamics(q, v, tau, [])
    close(motion.a, a, 100, "forward dynamics")
    close(robot.mass_matrix(q) @ a + robot.bias(q, v), tau + J.T @ motion.f, 100, "equation of motion")


def test_contacts(quadruped):
    feet = [name for name in quadruped.frames if "foot" in name]
    assert len(feet) == 4
    q = quadruped.neutral()
    q[2] = 0.4
    q[7:] += np.tile([0.1, -0.6, 1.1], 4) * 0.5
    v, tau = np.zeros(18), np.zeros(18)
    M, h = quadruped.mass_matrix(q), quadruped.bias(q, v)
    motion = quadruped.constrained_forward_dynamics(q, v, tau, feet)
    J, drift = quadruped.constraint_jacobian(q, v, feet)
    assert J.shape == (12, 18) and motion.f.shape == (12,) and motion.rank == 12
    close(M @ motion.a + h, J.T @ motion.f, 1e5, "equation of motion")
    close(J @ motion.a + drift, np.zeros(12), 1e5, "zero foot acceleration")
    assert isinstance(motion.rank, int) and motion.residual < 1e-9
    # At rest, the contact forces balance the weight.
    torques = quadruped.constrained_inverse_dynamics(q, v, 0 * v, feet)
    assert torques.f.reshape(4, 3)[:, 2].sum() == pytest.approx(9.81 * quadruped.mass, rel=1e-9)
    assert np.abs(torques.tau[:6]).max() == 0 and torques.residual < 1e-9
    # A batch, and a ContactSet that is made once.
    contacts = quadruped.contacts(feet, kind="point", axes="world")
    assert contacts.rows == 12 and contacts.frames == feet
    batch = quadruped.constrained_forward_dynamics(np.array([q, q]), v, tau, contacts)
    assert np.array_equal(batch.f[1], motion.f) and batch.rank.tolist() == [12, 12]
    after = quadruped.impact(q, np.ones(18) * 0.1, contacts)
    close(J @ after.v, np.zeros(12), 1e5, "zero foot velocity after the impact")
    under = quadruped.underactuation(q, contacts)
    assert (under.velocities, under.motors, under.rows, under.rank) == (18, 12, 12, 18)
    assert quadruped.underactuation(q).free_directions.shape == (18, 6)
    parts = quadruped.base_joint_partition(M, h)
    close(np.block([[parts.M_bb, parts.M_bj], [parts.M_bj.T, parts.M_jj]]), M, 0, "parts")
    S = quadruped.selection_matrix()
    close(S @ np.arange(18.0), np.arange(6.0, 18.0), 0, "selection")
    with pytest.raises(limb.Error, match="contacts were made for another robot"):
        limb.load("builtin:quadruped").constrained_forward_dynamics(q, v, tau, contacts)
    with pytest.raises(limb.Error, match="contacts is int, expected a ContactSet, a frame or a list of frames"):
        quadruped.impact(q, v, 3)


def test_operational_space(arm):
    q, v, _ = state(arm)
    frame = arm.frames[-1]
    task = arm.operational_space(q, v, frame, "local_world_aligned")
    J = arm.frame_jacobian(q, frame, "local_world_aligned")
    close(np.linalg.inv(task.Lambda), J @ arm.mass_inverse(q) @ J.T, 1e8, "Lambda, up to its condition")
    close(J @ task.J_bar, np.eye(6), 1e8, "J J_bar")
    close(task.N, np.eye(7) - task.J_bar @ J, 1e6, "N")
    assert task.damped == 0 and isinstance(task.damped, int)
    assert arm.operational_space(np.array([q, q]), v, frame).Lambda.shape == (2, 6, 6)


def test_operational_space_of_a_planar_arm():
    """Two rows of a 2R arm, where J is square: Lambda = J^-T M J^-1, undamped [lecture 004]."""
    robot = limb.load("builtin:2r")
    q, v = np.array([0.4, 0.9]), np.array([1.1, -0.7])
    axes = "local_world_aligned"
    task = robot.operational_space(q, v, "tool", axes, rows=["vx", "vy"])
    J = robot.frame_jacobian(q, "tool", axes)[:2]
    inverse = np.linalg.inv(J)
    # The condition numbers of J and M are below 100.
    close(task.Lambda, inverse.T @ robot.mass_matrix(q) @ inverse, 1e4, "Lambda")
    close(task.rho, inverse.T @ robot.gravity(q), 1e4, "rho")
    dJ = robot.frame_jacobian_rate(q, v, "tool", axes)[:2]
    C = robot.coriolis_matrix(q, v)
    close(task.mu, inverse.T @ (C @ v - robot.mass_matrix(q) @ inverse @ dJ @ v), 1e4, "mu")
    close(task.N, np.zeros((2, 2)), 1e4, "N")
    assert task.damped == 0
    swapped = robot.operational_space(q, v, "tool", axes, rows=["vy", "vx"])
    close(swapped.Lambda, task.Lambda[::-1, ::-1], 1e4, "other order")
    assert robot.operational_space(np.array([q, q]), v, "tool", rows=["wz"]).Lambda.shape == (2, 1, 1)
    with pytest.raises(limb.Error, match="operational_space: row 'x' is not one of: vx vy vz wx wy wz"):
        robot.operational_space(q, v, "tool", rows=["x"])
    with pytest.raises(limb.Error, match="operational_space: row 'vx' is given twice"):
        robot.operational_space(q, v, "tool", rows=["vx", "vx"])


def test_inverse_kinematics(arm):
    frame = arm.frames[-1]
    goals = arm.frame_pose(arm.random_configuration(8, 5), frame)
    found = arm.inverse_kinematics({frame: goals}, arm.random_configuration(9), restarts=20)
    assert found.converged.all() and found.position_error.shape == (5, 1)
    assert np.abs(arm.frame_pose(found.q, frame) - goals).max() < 1e-7
    one = arm.inverse_kinematics({frame: goals[0, :3, 3]}, arm.random_configuration(9), restarts=20)
    assert one.converged is True and one.stop == "converged"
    far = arm.inverse_kinematics({frame: [50.0, 0, 0]})
    assert far.converged is False and far.stop == "unreachable"
    with pytest.raises(limb.Error, match="goals is list, expected a dict"):
        arm.inverse_kinematics([1])


def test_base_velocity_conventions(quadruped):
    q, v, a = state(quadruped)
    pose = limb.SE3(quadruped.frame_pose(q, quadruped.joints[0].link))
    close(quadruped.base_velocity(q, v, "body"), v[:6], 10)
    close(quadruped.base_velocity(q, v, "mixed"), [*(pose.R @ v[:3]), *(pose.R @ v[3:6])], 100)
    close(quadruped.base_velocity(q, v, "mujoco"), [*(pose.R @ v[:3]), *v[3:6]], 100)
    close(quadruped.base_velocity(q, v, "world"), pose.act_motion(v[:6]), 100)
    close(quadruped.base_acceleration(q, v, a, "mixed")[:3], pose.R @ (a[:3] + np.cross(v[3:6], v[:3])), 100)
    with pytest.raises(limb.Error, match="base_velocity: convention is 'hybrid', expected 'body', 'mixed', 'mujoco' or "
                                         "'world'"):
        quadruped.base_velocity(q, v, "hybrid")


def test_lock_joints_and_payload(arm):
    name = arm.joints[3].name
    locked = arm.lock_joints({name: 0.5})
    assert type(locked) is limb.Robot and locked.nv == 6
    q = arm.random_configuration(4)
    q[3] = 0.5
    rest = np.delete(q, 3)
    frame = arm.frames[-1]
    close(locked.frame_pose(rest, frame), arm.frame_pose(q, frame), 100)
    loaded = arm.attach_payload(arm.joints[-1].link, 2.0, [0, 0, 0.1], np.diag([0.01, 0.01, 0.02]))
    assert loaded.mass == pytest.approx(arm.mass + 2)
    assert np.array_equal(limb.load("builtin:arm7").to_recipe(), arm.to_recipe())


def test_missing_meshes(tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text("<mujoco><asset><mesh name='m' file='m.stl'/></asset><worldbody><body name='b'><joint/>"
                    "<geom size='1' mass='2'/><geom type='mesh' mesh='m'/></body></worldbody></mujoco>")
    with pytest.raises(limb.Error, match="mesh 'm': file 'm.stl' was not found"):
        limb.load(path)
    assert limb.load(path, missing_meshes="ignore").mass == 2
    assert "mesh-mass-unknown" in [finding.rule for finding in limb.check(path)]
    # A box about the sphere, of 2 m and 1000 kg/m^3.
    assert limb.load(path, missing_meshes="box").mass == pytest.approx(8002, rel=1e-14)
    with pytest.raises(limb.Error, match="missing_meshes is 'none', expected 'error', 'ignore' or 'box'"):
        limb.load(path, missing_meshes="none")


def test_unsupported(tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text("<mujoco><worldbody><body><joint name='j'/><geom size='1' mass='2'/></body></worldbody>"
                    "<actuator><muscle name='m' joint='j'/></actuator></mujoco>")
    with pytest.raises(limb.Error, match="muscle 'm': not supported: limb has no muscles"):
        limb.load(path)
    assert limb.load(path, unsupported="ignore").mass == 2
    for option, severity in (("error", "error"), ("ignore", "warning")):
        found = limb.check(path, unsupported=option)
        assert (found[0].rule, found[0].severity) == ("actuator-not-supported", severity)
    with pytest.raises(limb.Error, match="unsupported is 'none', expected 'error' or 'ignore'"):
        limb.load(path, unsupported="none")


def test_check_and_prove(arm, tmp_path):
    assert [finding for finding in arm.check() if finding.severity == "error"] == []
    path = tmp_path / "bad.urdf"
    path.write_text('<robot name="r"><link name="a"/><link name="b"><inertial><mass value="-1"/>'
                    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
                    '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>')
    findings = limb.check(path)
    assert any(f.severity == "error" and "-1" in f.message and f.line == 1 for f in findings)
    assert str(path) in str(findings[0])
    mesh = Path(__file__).parents[2] / "tests/broken/com_mm_mesh.urdf"  # found by the size of the mesh
    assert [f.rule for f in limb.check(mesh)] == ["com-units"]
    proof = arm.prove(states=3)
    assert proof and proof.holds and len(proof) > 5
    assert "holds" in repr(proof) and "<table>" in proof._repr_html_()


def test_command_line():
    done = subprocess.run([sys.executable, "-c", "import sys; sys.path[:0] = " + repr(sys.path)
                           + "; sys.argv = ['limb', 'info', 'builtin:arm7']; import runpy; "
                           "runpy.run_module('limb', run_name='__main__')"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "arm7" in done.stdout


def test_load_from_text(tmp_path):
    arm = limb.load("builtin:arm7")
    q = arm.random_configuration(1)
    for text, form in ((arm.to_urdf(), "urdf"), (arm.to_recipe(), "recipe")):
        for given in (form, None):
            robot = limb.loads(text, format=given)
            assert robot.nv == 7 and np.allclose(robot.gravity(q), arm.gravity(q), atol=1e-9)
    mjcf = "<mujoco><worldbody><body><joint type='hinge'/><geom size='0.1' mass='1'/></body></worldbody></mujoco>"
    assert limb.loads(mjcf).nv == limb.loads(mjcf, format="mjcf").nv == 1
    assert limb.loads(arm.to_urdf(), "free").nv == 13
    for call, message in ((lambda: limb.loads(""), "loads: text is empty, expected a robot"),
                          (lambda: limb.loads("<robot/>", format="xml"), "format is 'xml', expected 'urdf', 'mjcf' or 'recipe'"),
                          (lambda: limb.loads("<robot name='a'><link/></robot>", name="mine.urdf"), "mine.urdf:1: "),
                          (lambda: limb.loads("name = 3"), "text:1")):
        with pytest.raises(limb.Error, match=message):
            call()


def test_meshes(tmp_path):
    """File, scale, pose and link; they survive copies."""
    (tmp_path / "part.stl").write_bytes(bytes(80) + (1).to_bytes(4, "little") + bytes(50))
    text = """<robot name="m"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
        </inertial><visual><origin xyz="1 2 3"/><geometry><mesh filename="part.stl" scale="1 2 3"/></geometry></visual>
        <collision><geometry><box size="1 1 2"/></geometry></collision></link></robot>"""
    robot = limb.loads(text, "free", folder=tmp_path)
    for one in (robot, pickle.loads(pickle.dumps(robot)), copy.deepcopy(robot), robot.with_gravity([0, 0, 0])):
        mesh, = one.meshes
        assert (mesh.link, mesh.role, mesh.shape, mesh.uri) == ("a", "visual", "mesh", "part.stl")
        assert mesh.file == str(tmp_path / "part.stl")
        assert np.array_equal(mesh.scale, [1, 2, 3]) and np.array_equal(mesh.pose[:3, 3], [1, 2, 3])
        assert [(x.shape, x.role) for x in one.geometry] == [("mesh", "visual"), ("box", "collision")]
        assert np.array_equal(one.geometry[1].size, [1, 1, 2]) and one.geometry[1].file is None
    assert limb.loads(text, "free", folder=tmp_path / "none").meshes[0].file is None


def test_add_frame(arm):
    q = arm.random_configuration(2)
    X = limb.SE3(limb.SO3.from_rpy(0.1, 0.2, 0.3).matrix(), [0, 0, 0.1])
    robot = arm.add_frame("grip", "tool", X)
    assert "grip" in robot.frames and "grip" not in arm.frames
    assert np.allclose(robot.frame_pose(q, "grip"), arm.frame_pose(q, "tool") @ X.matrix(), atol=1e-14)
    again = pickle.loads(pickle.dumps(robot)).add_frame("tip", "grip", np.eye(4))
    assert np.allclose(again.frame_pose(q, "tip"), robot.frame_pose(q, "grip"), atol=1e-14)
    for call, message in ((lambda: robot.add_frame("grip", "tool", X), "already named 'grip'"),
                          (lambda: robot.add_frame("a", "tol", X), "no link or frame is named 'tol' .closest: 'tool'."),
                          (lambda: robot.add_frame("a", "tool", np.eye(3)), r"pose has shape \(3, 3\), expected \(4, 4\)"),
                          (lambda: robot.add_frame("a", "tool", 2 * np.eye(4)), "last row of the pose"),
                          (lambda: robot.add_frame("a", "tool", np.diag([2, 1, 1, 1])), "rotation of the pose")):
        with pytest.raises(limb.Error, match=message):
            call()


def test_gravity_vector(arm):
    q = arm.random_configuration(2)
    moon = arm.with_gravity([0, 0, -1.62])
    assert arm.gravity_vector == (0, 0, -9.81) and moon.gravity_vector == (0, 0, -1.62)
    assert np.allclose(moon.gravity(q) * 9.81 / 1.62, arm.gravity(q), rtol=1e-12)
    assert np.array_equal(moon.mass_matrix(q), arm.mass_matrix(q))
    with pytest.raises(AttributeError, match="a robot is immutable.*with_gravity"):
        arm.gravity_vector = (0, 0, 0)
    with pytest.raises(limb.Error, match="gravity"):
        arm.with_gravity([0, 0, np.nan])


def test_acceleration_split():
    """Lecture 001: the tip of the 2R arm at (0, 90 degrees), and the sum of the terms elsewhere."""
    robot = limb.load("builtin:2r")
    l1, l2, w1, w2 = 1.0, 0.8, 0.5, -0.4
    split = robot.frame_acceleration_split([0, np.pi / 2], [w1, w2], [0, 0], "tool")
    assert np.allclose(split.centripetal[:2], [-l1 * w1**2, -l2 * (w1**2 + w2**2)], atol=1e-15)
    assert np.allclose(split.coriolis[:2], [0, -2 * l2 * w1 * w2], atol=1e-15)
    assert np.array_equal(split.tangential, np.zeros(6))
    arm = limb.load("builtin:arm7")
    q, v, a = np.random.default_rng(4).normal(size=(3, 20, 7))
    frame = arm.frames[-1]
    parts = arm.frame_acceleration_split(q, v, a, frame)
    whole = arm.frame_acceleration(q, v, a, frame, "local_world_aligned", "classical")
    # Sums of 49 products of at most 10 m/s^2.
    assert np.allclose(sum(parts), whole, rtol=1e-12, atol=1e-12)
