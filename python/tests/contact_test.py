"""Contact in limb.sim: closed forms, scenarios, height fields, contact results, errors."""

import copy
import gc
import math
import pickle
import resource
import threading
from pathlib import Path

import numpy as np
import pytest

import limb
from limb.sim import ContactShape, Ground, Scenario, Simulation, World, contact_shapes

ROOT = Path(__file__).resolve().parents[2]
FEET = ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]


@pytest.fixture(scope="module")
def ball():
    return limb.load(str(ROOT / "docs/scenarios/ball.toml"), base="free")


@pytest.fixture(scope="module")
def block():
    return limb.load(str(ROOT / "docs/scenarios/block.toml"), base="free")


def standing(quadruped, z=0.315):
    return np.r_[0, 0, z, 0, 0, 0, 1, np.tile([0, 0.8, -1.6], 4)]


def run(robot, ground, q, v=None, *, until=1.0, step=1e-3, shapes=None, **contact):
    world = World(robot)
    world.set_contact(ground, shapes, **contact)
    simulation = Simulation(world, step=step)
    simulation.set_state(q, v)
    return simulation, simulation.record(until)


def gravity_of(robot):
    return np.linalg.norm(robot.gravity(robot.neutral())[:3]) / robot.mass


def test_a_thrown_ball_rolls_with_five_sevenths(ball):
    """[Routh 1905]; a uniform ball without initial spin, for any friction."""
    radius = contact_shapes(ball)[0].size[0]
    simulation, motion = run(ball, Ground.plane(friction=0.2), np.r_[0, 0, radius, 0, 0, 0, 1], [7, 0, 0, 0, 0, 0], until=2.5)
    speed = np.linalg.norm(simulation.v[:3])
    assert speed == pytest.approx(5, abs=1e-6)
    lost = 0.5 * ball.mass * 49 * 2 / 7
    assert simulation.contact_dissipated == pytest.approx(lost, rel=1e-6)
    contact = motion["contact"]
    assert contact["dissipated"][-1] == simulation.contact_dissipated
    assert (np.diff(contact["dissipated"]) >= -1e-13 * 4.9).all()  # rounding of the kinetic energy, 4.9 J
    assert contact["converged"] and contact["penetration"].max() < 1.1e-5  # the slop
    assert contact["cone"].max() <= 1e-9 and contact["residual"].max() < 1e-9
    # Coulomb friction: mu m g while it slides, zero afterwards.
    force = contact["force"]["ball"]
    weight = ball.mass * gravity_of(ball)
    np.testing.assert_allclose(force[1:, 2], weight, atol=4 * 1e-10 * ball.mass / 1e-3,
                               equal_nan=False)  # the solver's tolerance of 1e-10 m/s, per step
    assert force[5, 0] == pytest.approx(-0.2 * weight, rel=1e-9)
    assert abs(force[-1, 0]) < 1e-6 * weight


@pytest.mark.parametrize("share, slides", [(0.99, False), (1.01, True)])
def test_a_block_slides_beyond_the_friction_angle(block, share, slides):
    mu = 0.4
    angle = share * math.atan(mu)
    size = contact_shapes(block)[0].size
    normal = np.array([math.sin(angle), 0, math.cos(angle)])
    q = np.r_[normal * size[2] / 2, 0, math.sin(angle / 2), 0, math.cos(angle / 2)]
    simulation, motion = run(block, Ground.slope(angle, friction=mu), q, until=0.5)
    a = gravity_of(block) * (math.sin(angle) - mu * math.cos(angle)) if slides else 0
    assert np.linalg.norm(simulation.v[:3]) == pytest.approx(0.5 * a, abs=1e-7)
    points = simulation.contact_points()
    assert points.position.shape == points.force.shape == (len(points.name), 3) and points.other == [0] * 4
    np.testing.assert_allclose(points.normal, np.tile(normal, (4, 1)), atol=1e-12, equal_nan=False)
    along = np.einsum("ij,ij->i", points.force, points.normal)
    across = np.linalg.norm(points.force - along[:, None] * points.normal, axis=1)
    assert (across <= mu * along * (1 + 1e-9) + 1e-9).all()
    assert along.sum() == pytest.approx(block.mass * gravity_of(block) * math.cos(angle), rel=1e-7)


@pytest.mark.parametrize("e", [0.0, 0.6, 1.0])
def test_restitution(ball, e):
    """Rebounds with e times the speed; e is that of the ground, or that of the shape if it has one."""
    radius = contact_shapes(ball)[0].size[0]
    q = np.r_[0, 0, radius + 0.3, 0, 0, 0, 1]
    g = gravity_of(ball)
    apex = 0.3 * e * e
    for ground, shapes in ((Ground.plane(restitution=e), None),
                           (Ground.plane(), [ContactShape(ball, "ball", "sphere", radius, restitution=e)])):
        landed = math.sqrt(2 * 0.3 / g)
        rise = e * landed
        simulation, _ = run(ball, ground, q, until=landed + rise, step=1e-4, shapes=shapes)
        assert simulation.q[2] - radius == pytest.approx(apex, abs=2e-3)  # the length of the step in which it lands


def test_compliant_ground_follows_hooke(ball):
    radius = contact_shapes(ball)[0].size[0]
    simulation, motion = run(ball, Ground.plane(), np.r_[0, 0, radius, 0, 0, 0, 1], until=2.0, stiffness=2000, damping=40)
    sinking = ball.mass * gravity_of(ball) / 2000
    assert radius - simulation.q[2] == pytest.approx(sinking, rel=1e-3)
    assert simulation.energy().stored == pytest.approx(0.5 * 2000 * sinking**2, rel=1e-2)


def test_height_field_equals_plane(ball):
    """The same slope as a half space, as a height field and as a tilted box gives the same motion."""
    radius = contact_shapes(ball)[0].size[0]
    angle = 0.2
    normal = np.array([math.sin(angle), 0, math.cos(angle)])
    q = np.r_[radius * normal, 0, 0, 0, 1]
    x = np.linspace(-2, 8, 101)
    field = Ground()
    field.add_height_field(np.tile(-math.tan(angle) * x[:, None], (1, 41)), cell=[0.1, 0.05], corner=[-2, -1], friction=0.5)
    box = Ground()
    pose = np.eye(4)
    pose[:3, :3] = limb.SO3.exp([0, angle, 0]).matrix()
    pose[:3, 3] = -0.5 * normal
    box.add_box([40, 4, 1], pose=pose, friction=0.5)
    ends = [run(ball, ground, q, until=1.0)[0].q for ground in (Ground.slope(angle, friction=0.5), field, box)]
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-6, equal_nan=False)
    np.testing.assert_allclose(ends[2], ends[0], atol=1e-6, equal_nan=False)
    # A rolling ball accelerates with 5/7 g sin(angle).
    assert np.linalg.norm(ends[0][:3] - q[:3]) == pytest.approx(5 / 14 * gravity_of(ball) * math.sin(angle), rel=2e-3)


def test_stairs_and_boxes(ball):
    radius = contact_shapes(ball)[0].size[0]
    stairs = Ground.stairs(count=3, rise=0.1, run=0.4, begin=0.5)
    assert len(stairs) == 4 and repr(stairs) == "Ground(1 half spaces, 3 boxes, 0 height fields)"
    for x, height in ((0.1, 0), (0.7, 0.1), (1.1, 0.2), (1.5, 0.3)):
        simulation, _ = run(ball, stairs, np.r_[x, 0, radius + height + 0.02, 0, 0, 0, 1], until=0.5)
        assert simulation.q[2] == pytest.approx(radius + height, abs=2e-5)
        assert simulation.touches("ball")


def test_quadruped_settles_on_its_feet(quadruped):
    world = World(quadruped)
    world.set_contact(Ground.plane(friction=0.8), feet=FEET, radius=0.022)
    simulation = Simulation(world)
    home = standing(quadruped, 0.515)
    simulation.set_state(home, np.r_[0.5, 0.2, 0, 0, 0, 0.5, np.zeros(12)])
    for foot in FEET:
        simulation.add_sensor(foot, "force", frame=foot)
        simulation.add_sensor(foot + "_switch", "contact", frame=foot)
    pd = limb.control.JointPd(quadruped, np.r_[np.zeros(6), 120 * np.ones(12)], np.r_[np.zeros(6), 3 * np.ones(12)],
                              gravity=False)
    simulation.set_controller(pd.controller(home))
    motion = simulation.record(3.0)
    weight = quadruped.mass * gravity_of(quadruped)
    force = sum(motion["contact"]["force"][foot] for foot in FEET)
    assert np.abs(force[:10]).max() == 0  # in free fall
    np.testing.assert_allclose(force[-1], [0, 0, weight], atol=1e-3 * weight, equal_nan=False)  # small residual motion
    for foot in FEET:
        f = motion["contact"]["force"][foot]
        assert (np.linalg.norm(f[:, :2], axis=1) <= 0.8 * f[:, 2] * (1 + 1e-9) + 1e-9).all()
        switch = motion["sensors"][foot + "_switch"]["values"][:, 0]
        assert switch[0] == 0 and switch[-1] == 1
        measured = motion["sensors"][foot]["values"][-1]
        R = quadruped.frame_pose(simulation.q, foot)[:3, :3]
        np.testing.assert_allclose(R @ measured[:3], simulation.contact_force(foot)[:3], atol=1e-9, equal_nan=False)
    inside = motion["contact"]["center_of_pressure"][-1]
    feet = np.array([quadruped.frame_pose(simulation.q, foot)[:3, 3] for foot in FEET])
    assert (feet.min(0)[:2] < inside[:2]).all() and (inside[:2] < feet.max(0)[:2]).all()
    # Contacts and dampers dissipate the lost energy, so it bounds the part of the contacts.
    assert 0 < simulation.contact_dissipated < motion["energy"][0, 3]
    report = simulation.contact_report()
    assert report.touching == 4 and report.converged and report.residual < 1e-9 and report.penetration < 1.1e-5


def test_bouncing_ball_scenario():
    scenario = Scenario(str(ROOT / "docs/scenarios/bouncing_ball.toml"))
    end = scenario.run()
    assert end.dissipated == pytest.approx(1.118116, abs=1e-6)  # docs/contact.md
    two = scenario.run_batch(2)
    assert two.dissipated.shape == (2,) and two.control_periods.shape == (2,)


def test_agrees_with_drop_scenario(quadruped):
    """docs/scenarios/quadruped_drop.toml and the same world built in Python give the same bits."""
    scenario = Scenario(str(ROOT / "docs/scenarios/quadruped_drop.toml"))
    scenario.duration = 1.0
    end = scenario.run()
    world = World(quadruped)
    world.set_contact(Ground.plane(friction=0.8), feet=FEET, radius=0.022)
    simulation = Simulation(world, step=scenario.step)
    simulation.set_state(scenario.q, scenario.v)
    hold = np.r_[np.zeros(6), np.ones(12)]
    simulation.set_controller(limb.control.JointPd(quadruped, 120 * hold, 3 * hold, gravity=False).controller(scenario.q))
    simulation.run(1.0)
    assert np.array_equal(simulation.q, end.q)
    assert np.array_equal(simulation.v, end.v)
    assert simulation.contact_dissipated == end.dissipated > 1


def test_self_contact(tmp_path):
    """Two blocks on one rail collide, or pass through each other without self-contact."""
    text = 'name = "rail"\ngravity = [0, 0, 0]\n'
    for name, x in (("a", -1), ("middle", 0), ("b", 1)):
        text += f'[[link]]\nname = "{name}"\nsolid = {{shape = "box", mass = 1, size = [0.2, 0.2, 0.2]}}\n'
    for name, parent, x in (("a", "world", -1), ("middle", "a", 1), ("b", "middle", 1)):
        text += (f'[[joint]]\nname = "to_{name}"\ntype = "prismatic"\nparent = "{parent}"\nchild = "{name}"\naxis = [1, 0, 0]\n'
                 f'xyz = [{x}, {0.5 if name == "middle" else -0.5 if name == "b" else 0}, 0]\n')
    path = tmp_path / "rail.toml"
    path.write_text(text)
    robot = limb.load(str(path))
    ends = []
    for touches in (False, True):
        world = World(robot)
        world.set_contact(Ground.plane(height=-5), self_contact=touches, self_friction=0.0)
        simulation = Simulation(world)
        simulation.set_state([0, 0, 0], [1, -1, 0])  # a moves right, the others stay
        simulation.run(2.5)
        ends.append(simulation.q[0] - simulation.q.sum())  # displacement of a relative to b
        if touches:
            points = simulation.contact_points()
            assert set(points.name) | set(points.other) >= {"a", "b"}
    assert ends[0] == pytest.approx(2.5, abs=1e-9)
    assert ends[1] == pytest.approx(1.8, abs=1e-4)  # 2 m minus the two half widths


def test_controllers_can_read_contacts(quadruped):
    world = World(quadruped)
    world.set_contact(Ground.plane(), feet=dict.fromkeys(FEET, 0.022))
    simulation = Simulation(world)
    simulation.set_state(standing(quadruped))
    seen = []

    def controller(t, q, v):
        seen.append([simulation.touches(foot) for foot in FEET])
        simulation.contact_points(), simulation.contact_report(), simulation.contact_force("FL_foot")
        return np.r_[np.zeros(6), 120 * (standing(quadruped)[7:] - q[7:]) - 3 * v[6:]]

    simulation.set_controller(controller)
    simulation.run(0.1)
    assert seen[0] == [False] * 4 and seen[-1] == [True] * 4


def test_another_thread_cannot_read_during_a_run(quadruped):
    world = World(quadruped)
    world.set_contact(Ground.plane(), feet=FEET)
    simulation = Simulation(world)
    simulation.set_state(standing(quadruped))
    started, stop = threading.Event(), threading.Event()

    def controller(t, q, v):
        started.set()
        if stop.is_set():
            raise StopIteration

    def target():
        with pytest.raises(StopIteration):
            simulation.run(1e6)

    simulation.set_controller(controller)
    thread = threading.Thread(target=target)
    thread.start()
    try:
        assert started.wait(600)
        with pytest.raises(limb.Error, match="is in a run"):
            simulation.contact_points()
    finally:
        stop.set()
        thread.join(600)
    assert not thread.is_alive()


def test_pickling(ball):
    ground = Ground.stairs(count=2, friction=0.3)
    ground.add_half_space([0, 1, 1], -4, restitution=0.5)
    ground.add_height_field(np.arange(12.0).reshape(3, 4) * 0.01, cell=[0.2, 0.3])
    shapes = [ContactShape(ball, "ball", "capsule", [0.1, 0.3], pose=limb.SE3.exp([0, 0, 0.1, 0.3, 0, 0]).matrix(),
                           friction=0.1)]
    again, same = pickle.loads(pickle.dumps((ground, shapes))), copy.deepcopy((ground, shapes))
    assert repr(again[0]) == repr(ground) and again[1][0].name == "ball" and again[1][0].friction == 0.1
    q = np.r_[0.1, 0, 1, 0, 0, 0, 1]
    ends = [run(ball, g, q, [1, 0.2, 0, 1, 2, 3], until=0.6, shapes=s)[0].q for g, s in ((ground, shapes), again, same)]
    assert np.array_equal(ends[0], ends[1])
    assert np.array_equal(ends[0], ends[2])


def test_errors_name_the_argument(ball, quadruped):
    def contact(ground=None, *arguments, **options):
        World(ball).set_contact(Ground.plane() if ground is None else ground, *arguments, **options)

    def late():
        world = World(ball)
        keep = Simulation(world)
        world.set_contact(Ground.plane())
        return keep

    def with_integrator():
        world = World(ball)
        world.set_contact(Ground.plane())
        Simulation(world, integrator="runge-kutta-4")

    for call, text in [(lambda: Ground.plane(friction=-1), "friction is -1, expected 0 or more"),
                       (lambda: Ground.plane(restitution=2), "restitution is 2, expected 0 to 1"),
                       (lambda: Ground.slope(2), "angle is 2, expected less than a right angle"),
                       (lambda: Ground.slope(0.1, direction=[1, 0, 0]), r"direction has shape \(3,\), expected \(2,\)"),
                       (lambda: Ground.stairs(count=0), "count is 0, expected 1 or more"),
                       (lambda: Ground().add_box([1, 1]), r"size has shape \(2,\), expected \(3,\)"),
                       (lambda: Ground().add_box([1, 1, 0]), "size is 0"),
                       (lambda: Ground().add_box([1, 1, 1], [0, 0, 0], pose=np.eye(4)), "position is given with pose"),
                       (lambda: Ground().add_height_field([1, 2, 3]), r"heights has shape \(3,\), expected \(n, m\)"),
                       (lambda: Ground().add_height_field([[1.0]]), "heights is 1 x 1, expected 2 x 2 or more"),
                       (lambda: Ground().add_height_field([[0, math.nan], [0, 0]]), "heights is not all finite"),
                       (lambda: Ground().add_height_field(np.zeros((3, 3)), cell=[1, 2, 3]), "cell has 3 entries, expected 2"),
                       (lambda: ContactShape(ball, "bal"), "closest: 'ball'"),
                       (lambda: ContactShape(ball, "ball", "cone"), "kind is 'cone', expected one of 'sphere'"),
                       (lambda: ContactShape(ball, "ball", "box", [1, 2]), "expected 3 numbers for a box"),
                       (lambda: ContactShape(ball, "ball", "sphere", -1), "size is -1"),
                       (lambda: contact(feet="ball"), "feet is a string"),
                       (lambda: contact(feet=["foot"]), "no frame is named 'foot'"),
                       (lambda: contact(feet=["ball"], radius=-1), "radius is -1"),
                       (lambda: contact(feet=[]), "name its feet"),
                       (lambda: contact(Ground()), "ground is empty"),
                       (lambda: contact(stiffness=-1), "stiffness is -1"),
                       (lambda: contact(damping=-1), "damping is -1"),
                       (late, "set the ground before"),
                       (with_integrator, "semi-implicit"),
                       (lambda: Simulation(World(ball)).contact_points(), "has no ground"),
                       (lambda: Simulation(World(ball)).add_sensor("s", "contact", frame="ball"), "has no ground"),
                       (lambda: run(ball, Ground.plane(), ball.neutral())[0].touches("bal"), "closest: 'ball'")]:
        with pytest.raises(limb.Error, match=text):
            call()
    with pytest.raises(TypeError):
        World(ball).set_contact("plane")


def test_meshes_touch_with_their_hull(tmp_path):
    """A cube of 0.2 m as a mesh: kind, size, a copy, and the height at which it rests."""
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    (tmp_path / "cube.obj").write_text("".join("v {} {} {}\n".format(*c) for c in corners) + "f 1 2 3\n")
    (tmp_path / "cube.urdf").write_text(
        '<robot name="m"><link name="base"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" '
        'ixz="0" iyz="0"/></inertial><collision><origin xyz="0 0 0.03"/><geometry><mesh filename="cube.obj" '
        'scale="0.1 0.1 0.1"/></geometry></collision></link></robot>')
    robot = limb.load(str(tmp_path / "cube.urdf"), base="free")
    shape, = contact_shapes(robot)
    assert shape.kind == "mesh" and shape.size == pytest.approx([0.2, 0.2, 0.2], rel=1e-15)
    for shapes in ([shape], pickle.loads(pickle.dumps([shape]))):
        simulation, _ = run(robot, Ground.plane(), [0, 0, 0.3, 0, 0, 0, 1], shapes=shapes)
        assert simulation.q[2] == pytest.approx(0.07, abs=2e-5)  # the slop is 1e-5
    with pytest.raises(limb.Error, match="kind is 'mesh', expected"):
        ContactShape(robot, "base", "mesh", 0.1)


def test_skipped_meshes_give_a_warning(tmp_path):
    path = tmp_path / "mesh.urdf"
    path.write_text('<robot name="m"><link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
                    'ixz="0" iyz="0"/></inertial><collision><geometry><mesh filename="a.stl"/></geometry></collision>'
                    '</link></robot>')
    robot = limb.load(str(path), base="free")
    with pytest.warns(UserWarning, match="left out: 'base'"):
        assert contact_shapes(robot) == []


def test_memory_does_not_grow(quadruped):
    def once():
        world = World(quadruped, compiled=False)
        world.set_contact(Ground.plane(), feet=FEET)
        simulation = Simulation(world)
        simulation.set_state(standing(quadruped, 0.295))
        simulation.record(0.02)
        for _ in range(20):
            simulation.contact_points(), simulation.contact_report(), pickle.dumps(Ground.plane())

    for _ in range(30):
        once()
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(120):
        once()
    gc.collect()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4000  # kB; leaking one world per iteration would be more
