"""The robot, and functions that load and check one."""

import contextlib
import html
import os
import tempfile
from collections.abc import Mapping, Sequence

from numpy.typing import ArrayLike

from . import _limb
from ._arguments import named_arguments
from .compiled import Compiled
from .derivation import Derivation
from .results import Finding
from .types import Axes, Base, MissingMeshes, Strategy, Unsupported

__all__ = ["Robot", "check", "load"]


class Robot(_limb.Robot):
    """A robot, with its kinematics and dynamics as methods.

    Methods take one state or a batch with any leading dimensions; a single vector is broadcast over the states of a
    batch. C-contiguous arrays of float64 and float32 are read in place. If all are float32 the result is float32
    (computed in float64). Batches run on all cores (`limb.set_threads`) without the GIL. A robot is immutable:
    any number of threads may share one. It can be pickled.
    """

    __slots__ = ()

    @named_arguments
    def compile(self, functions: Sequence[str], *, frames: Sequence[str] = (), axes: Axes = "local",
                added_inertias: Sequence[str] = (), shifted_joints: Sequence[str] = (),
                rotated_joints: Sequence[str] = (), strategy: Strategy = "automatic", interpret: bool = False,
                nonzeros: bool = False) -> Compiled:
        """Compiles functions (`limb.function_names()`) to machine code, in milliseconds; calls are then several times
        faster.

        Args:
            functions: Names such as "inverse_dynamics", "mass_matrix", "forward_dynamics", or the aliases "rnea", "crba",
                "aba".
            frames: Frames of frame_poses, frame_jacobians and operational_space.
            axes: Axes of their Jacobians.
            added_inertias: Joints whose bodies get an added inertia in each state.
            shifted_joints: Joints whose origin is displaced in each state.
            rotated_joints: Joints whose axes are rotated in each state.
            strategy: "straight_line" code, "recursion" over the tree, "split" (batches of aba_derivatives), or
                "automatic": chosen by measurement.
            interpret: Interprets the operations instead: the same bits, slower.
            nonzeros: Returns only the structural nonzeros of matrices, and the upper triangle of symmetric ones.
        """
        return Compiled(self, functions, frames=frames, axes=axes, added_inertias=added_inertias,
                        shifted_joints=shifted_joints, rotated_joints=rotated_joints, strategy=strategy,
                        interpret=interpret, nonzeros=nonzeros)

    @named_arguments
    def derive(self, quantities: Sequence[str] = (), *, method: str = "both", parameters: str = "named",
               frames: Sequence[str] = ()) -> Derivation:
        """The equations of motion in closed form, for open chains of few joints.

        Args:
            quantities: Some of M, C, B, christoffel, V, G, K, P, tau, J, Jdot, Lambda; empty: all that need no frame.
            method: "lagrange", "newton_euler", or "both", which proves that the results are equal.
            parameters: "named" (named parameters of a recipe are symbols), "symbols" (all are) or "numbers".
            frames: Frames of J, Jdot and Lambda.
        """
        if isinstance(quantities, str):
            quantities = [quantities]
        with self._source() as path:
            return Derivation(_limb.ClosedForms(path, self.base, parameters, method, list(quantities), list(frames)),
                              self.name, list(frames))

    def check(self) -> list[Finding]:
        """Findings of the linter in the robot's file, or in the robot itself if the file no longer exists."""
        with self._source() as path:
            return _limb.check_file(path, [])

    @named_arguments
    def lock_joints(self, held: Mapping[str, float | Sequence[float]]) -> "Robot":
        """A robot in which the named joints are fixed at the given coordinates."""
        lists = {name: [float(x)] if isinstance(x, (int, float)) else list(map(float, x))
                 for name, x in held.items()}
        return _make(self._lock_joints(lists))

    @named_arguments
    def attach_payload(self, link: str, mass: float, com: ArrayLike, tensor: ArrayLike) -> "Robot":
        """A robot with a rigid payload on a link: mass, centre of mass in the link, inertia tensor about that centre."""
        return _make(self._attach_payload(link, mass, com, tensor))

    @contextlib.contextmanager
    def _source(self):
        """Path of the robot's file, or of a temporary file with its recipe."""
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
        rows = [row(["joint", "type", "parent", "link", "q", "v", "lower", "upper", "effort"], "th")]
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


@named_arguments
def load(path: str | os.PathLike, base: Base = "described", *, roots: Sequence[str | os.PathLike] = (),
         missing_meshes: MissingMeshes = "error", unsupported: Unsupported = "error", armature: bool = True,
         damping: bool = True, friction: bool = True) -> Robot:
    """A robot from a `.urdf` file, an MJCF `.xml` file, a `.toml` recipe or `builtin:NAME`.

    Args:
        path: The file, or `builtin:NAME` with a name of `limb.builtin_names()`.
        base: "fixed" to the world, "free" (a free joint named root_joint), or as "described" in the file.
        roots: Folders in which package:// and relative paths are searched.
        missing_meshes: A mesh that a mass in an MJCF file needs and that is missing or cannot be read is an "error",
            or its mass is left out: "ignore", or a box about the rest of its body has the mass: "box".
        unsupported: Something in an MJCF file that limb does not model and that changes the motion, such as a muscle, is
            an "error", or it is left out: "ignore".
        armature: Whether to include the inertia of rotors.
        damping: Whether to include viscous friction of the joints.
        friction: Whether to include Coulomb friction.

    Raises:
        limb.Error: Names file and line of the first mistake.
    """
    return Robot(os.fspath(path), base, roots=[os.fspath(root) for root in roots],
                 missing_meshes=missing_meshes, unsupported=unsupported, armature=armature, damping=damping,
                 friction=friction)


@named_arguments
def check(path: str | os.PathLike, *, roots: Sequence[str | os.PathLike] = (),
          missing_meshes: MissingMeshes = "error", unsupported: Unsupported = "error") -> list[Finding]:
    """All errors and warnings about a robot file, even one that cannot be loaded."""
    return _limb.check_file(os.fspath(path), [os.fspath(root) for root in roots], missing_meshes, unsupported)
