# %% [markdown]
# # Contact
# A block on an incline, and a quadruped that is dropped on its feet. Contacts are rigid with exact friction cones;
# each simulation step solves for contact impulses.

# %%
import tempfile
from pathlib import Path

import numpy as np

import limb
from limb.sim import Ground, Simulation, World

BLOCK = """
name = "block"
[[link]]
name = "block"
solid = {shape = "box", mass = 2, size = [0.3, 0.2, 0.1]}
[[joint]]
name = "free"
type = "free"
parent = "world"
child = "block"
"""
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder, "block.toml")
    file.write_text(BLOCK)
    block = limb.load(file)

# %% [markdown]
# ## A block on an incline
# It sticks below the friction angle, atan(0.4) = 21.8 degrees, and above it slides with acceleration
# g (sin a - mu cos a).

# %%
mu, g = 0.4, 9.81
for degrees in (15, 21, 22, 30):
    angle = np.radians(degrees)
    world = World(block)
    world.set_contact(Ground.slope(angle, friction=mu))  # with the solid of the block
    simulation = Simulation(world)
    R = limb.Quaternion.from_axis_angle([0, 1, 0], angle)
    simulation.set_state(np.r_[R.matrix() @ [0, 0, 0.05], R.xyzw()])
    simulation.run(1.0)
    expected = max(0, g * (np.sin(angle) - mu * np.cos(angle)))
    speed = np.linalg.norm(simulation.v[:3])
    print(f"{degrees} degrees: {speed:.6f} m/s after 1 s, expected {expected:.6f}; "
          f"contacts dissipated {simulation.contact_dissipated:.4f} J")
    assert abs(speed - expected) < 1e-6

# %% [markdown]
# Contact points and forces: the ratio of tangential to normal force is the friction coefficient while it slides.

# %%
points = simulation.contact_points()
normal = np.einsum("ij,ij->i", points.force, points.normal)
tangential = np.linalg.norm(points.force - normal[:, None] * points.normal, axis=1)
for name, p, n, t in zip(points.name, points.position, normal, tangential):
    print(f"{name} at {p.round(3)}: {n:.3f} N, friction used {t / n:.4f}")

# %% [markdown]
# ## A quadruped is dropped
# Its feet are spheres; PD control holds the joints, without Python in the loop. Rough ground is an array of heights.

# %%
robot = limb.load("builtin:quadruped")
feet = ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]
stance = np.r_[0, 0, 0.55, 0, 0, 0, 1, np.tile([0, 0.8, -1.6], 4)]
gains = np.r_[np.zeros(6), np.ones(12)]
pd = limb.control.JointPd(robot, 120 * gains, 3 * gains, gravity=False)

rough = Ground()
rough.add_height_field(0.02 * np.random.default_rng(3).random((31, 31)), cell=0.1, friction=0.6)

runs = {}
for name, ground in (("plane", Ground.plane(friction=0.6)), ("rough", rough)):
    world = World(robot)
    world.set_contact(ground, feet=feet, radius=0.022)
    simulation = Simulation(world)
    simulation.set_state(stance)
    simulation.add_sensor("switch", "contact", frame="FL_foot")
    simulation.set_controller(pd.controller(stance))
    motion = simulation.record(3.0)
    contact = runs[name] = motion["contact"]
    landed = motion["sensors"]["switch"]["t"][np.argmax(motion["sensors"]["switch"]["values"][:, 0] > 0)]
    total = sum(contact["force"][foot] for foot in feet)
    print(f"{name}: front left lands at {landed:.3f} s, largest force {total[:, 2].max():.0f} N, "
          f"at the end {total[-1, 2]:.2f} N of {robot.mass * g:.2f} N weight")

# %% [markdown]
# Every force is in its friction cone, and the contact laws hold in every recorded step.

# %%
for foot in feet:
    f = runs["plane"]["force"][foot]
    assert (np.linalg.norm(f[:, :2], axis=1) <= 0.6 * f[:, 2] + 1e-9).all()
for name, contact in runs.items():
    print(f"{name}: largest residual {contact['residual'].max():.1e} m/s, "
          f"violation of the cone {contact['cone'].max():.1e} N")
    assert contact["converged"] and contact["cone"].max() < 1e-9
print(simulation.contact_report())

# %% [markdown]
# A picture of the landing.

# %%
force = {foot: runs["plane"]["force"][foot][:, 2] for foot in feet}
chart = limb.plot.lines(motion["t"], force, title="Landing on a plane", y_label="vertical force, N")
chart.save("contact.svg")
chart
