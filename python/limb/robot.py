"""The robot, and how it is loaded."""

import contextlib
import html
import os
import tempfile
from collections.abc import Mapping, Sequence

from numpy.typing import ArrayLike

from . import _limb
from .compiled import Compiled
from .derivation import Derivation
from .results import Finding
from .types import Axes, Base

__all__ = ["Robot", "check", "load"]


class Robot(_limb.Robot):
    """A robot: what it is, and every quantity of its kinematics and dynamics as a method.

    Methods take one state or a batch with any leading dimensions; single vectors are used for every state of a
    batch. Arrays of float64 and float32 that are C-contiguous are read where they are. If all are float32 the
    result is float32 (computed in float64). Batches run on all cores (`limb.set_threads`) without Python's
    lock. A robot never changes: any number of threads may use one. It can be pickled.
    """

    __slots__ = ()

    def compile(self, functions: Sequence[str], *, frames: Sequence[str] = (), axes: Axes = "local",
                added_inertias: Sequence[str] = (), shifted_joints: Sequence[str] = (),
                turned_joints: Sequence[str] = (), form: str = "automatic", interpret: bool = False,
                nonzeros: bool = False) -> Compiled:
        """Machine code for some functions (`limb.function_names()`): milliseconds, then several times faster.

        Args:
            functions: Names such as "rnea", "crba", "aba".
            frames: For frame_poses, frame_jacobians and operational_space.
            axes: Of their Jacobians.
            added_inertias: Joints whose bodies each state may make heavier.
            shifted_joints: Joints that each state may shift.
            turned_joints: Joints whose axes each state may turn.
            form: "straight_line" code, "recursion" over the tree, or "automatic": a measurement decides.
            interpret: No machine code: the same bits, slowly.
            nonzeros: Of matrices the entries that are not always zero, of symmetric ones the upper triangle.
        """
        return Compiled(self, functions, frames=frames, axes=axes, added_inertias=added_inertias,
                        shifted_joints=shifted_joints, turned_joints=turned_joints, form=form, interpret=interpret,
                        nonzeros=nonzeros)

    def derive(self, quantities: Sequence[str] = (), *, way: str = "both", parameters: str = "named",
               frames: Sequence[str] = ()) -> Derivation:
        """The equations of motion in closed form, for open chains of few joints.

        Args:
            quantities: Of M, C, B, christoffel, V, G, K, P, tau, J, Jdot, Lambda; empty: all that need no frame.
            way: "lagrange", "newton_euler", or "both", which proves that they agree.
            parameters: "named" (those of a recipe are symbols), "symbols" (all are) or "numbers".
            frames: For J, Jdot and Lambda.
        """
        if isinstance(quantities, str):
            quantities = [quantities]
        with self._source() as path:
            return Derivation(_limb.Forms(path, self.base, parameters, way, list(quantities), list(frames)),
                              self.name, list(frames))

    def check(self) -> list[Finding]:
        """What the linter says of the robot's file, or of the robot itself where the file is gone."""
        with self._source() as path:
            return _limb.check_file(path, [])

    def lock_joints(self, held: Mapping[str, float | Sequence[float]]) -> "Robot":
        """A robot whose joints named are held at the given coordinates."""
        lists = {name: [float(x)] if isinstance(x, (int, float)) else list(map(float, x))
                 for name, x in held.items()}
        return _make(self._lock_joints(lists))

    def attach_payload(self, link: str, mass: float, com: ArrayLike, tensor: ArrayLike) -> "Robot":
        """A robot with a rigid payload on a link: mass, its centre in the link, tensor about that centre."""
        return _make(self._attach_payload(link, mass, com, tensor))

    @contextlib.contextmanager
    def _source(self):
        """A file to read again: the robot's own, or its recipe."""
        if self.path.startswith("builtin:") or os.path.exists(self.path):
            yield self.path
            return
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "robot.toml")
            with open(path, "w") as file:
                file.write(self._recipe_source() or self.to_recipe())
            yield path

    def __repr__(self) -> str:
        return (f"Robot({self.name!r}, base={self.base!r}: {len(self.joints)} joints, nq={self.nq}, nv={self.nv}, "
                f"{self.mass:.6g} kg)")

    def _repr_html_(self) -> str:
        def row(cells, tag="td"):
            return "<tr>" + "".join(f"<{tag} style='text-align:left'>{html.escape(str(c))}</{tag}>"
                                    for c in cells) + "</tr>"

        def span(first, count):
            return "" if count == 0 else (str(first) if count == 1 else f"{first}..{first + count - 1}")

        limits = self.limits
        rows = [row(["joint", "type", "carried by", "link", "q", "v", "lower", "upper", "effort"], "th")]
        for joint in self.joints:
            one = joint.nq == joint.nv == 1
            rows.append(row([joint.name, joint.type, joint.parent, joint.link, span(joint.q_index, joint.nq),
                             span(joint.v_index, joint.nv),
                             f"{limits.lower[joint.q_index]:.4g}" if one else "",
                             f"{limits.upper[joint.q_index]:.4g}" if one else "",
                             f"{limits.effort[joint.v_index]:.4g}" if one else ""]))
        head = (f"<b>{html.escape(self.name)}</b>: {len(self.joints)} joints, nq = {self.nq}, nv = {self.nv}, "
                f"{self.mass:.6g} kg, {len(self.frames)} frames")
        return f"<div>{head}<table>{''.join(rows)}</table></div>"


def _make(state) -> Robot:
    robot = Robot.__new__(Robot)
    robot.__setstate__(state)
    return robot


def load(path: str | os.PathLike, base: Base = "described", *, roots: Sequence[str | os.PathLike] = (),
         armature: bool = True, damping: bool = True, friction: bool = True) -> Robot:
    """A robot from a `.urdf` file, an MJCF `.xml` file, a `.toml` recipe or `builtin:NAME`.

    Args:
        path: The file, or one of `builtin:` and `limb.builtin_names()`.
        base: "fixed" to the world, "free" on a joint named root_joint, or as "described" in the file.
        roots: Folders in which package:// and relative paths are looked for.
        armature: Whether the inertia of rotors counts.
        damping: Whether viscous friction of the joints counts.
        friction: Whether Coulomb friction counts.

    Raises:
        limb.Error: With file and line of the first mistake.
    """
    return Robot(os.fspath(path), base, roots=[os.fspath(root) for root in roots], armature=armature,
                 damping=damping, friction=friction)


def check(path: str | os.PathLike, *, roots: Sequence[str | os.PathLike] = ()) -> list[Finding]:
    """Everything wrong or odd in a robot file, also in one that cannot be loaded."""
    return _limb.check_file(os.fspath(path), [os.fspath(root) for root in roots])
