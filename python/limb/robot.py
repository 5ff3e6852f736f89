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
from ._show import View, in_notebook
from .results import Finding, Geometry
from .types import (Axes, Base, DerivationMethod, DerivationParameters, Format, MissingMeshes, Order, Strategy,
                    Unsupported)

__all__ = ["Robot", "check", "load", "loads"]


class Robot(_limb.Robot):
    """A robot, with its kinematics and dynamics as methods.

    Methods take one state or a batch with any leading dimensions, which are broadcast as in NumPy. C-contiguous arrays of float64 and float32 are read in place. If all are float32 the result is float32
    (computed in float64). Batches run on all cores (`limb.set_threads`) without the GIL. A robot is immutable:
    any number of threads may share one. It can be pickled.

    Args:
        path: The file, or `builtin:NAME`; the other arguments are those of `limb.load`.
        base: "fixed", "free" or "described".
        roots: Folders in which package:// and relative paths are searched.
        missing_meshes: As for `limb.load`.
        unsupported: As for `limb.load`.
        armature: Whether to include the inertia of rotors.
        damping: Whether to include viscous friction of the joints.
        friction: Whether to include Coulomb friction.
    """

    __slots__ = ()

    @named_arguments
    def compile(self, functions: str | Sequence[str], *, frames: Sequence[str] = (),
                axes: Axes = "local",
                added_inertias: Sequence[str] = (), shifted_joints: Sequence[str] = (),
                rotated_joints: Sequence[str] = (), strategy: Strategy = "automatic", interpret: bool = False,
                nonzeros: bool = False, order: Order = "C") -> Compiled:
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
            order: "C": results are C-contiguous; "F": matrices that are not symmetric are returned as computed, as
                views stored column by column.
        """
        return Compiled(self, functions, frames=frames, axes=axes, added_inertias=added_inertias,
                        shifted_joints=shifted_joints, rotated_joints=rotated_joints, strategy=strategy,
                        interpret=interpret, nonzeros=nonzeros, order=order)

    @named_arguments
    def derive(self, quantities: str | Sequence[str] = (), *, method: DerivationMethod = "both",
               parameters: DerivationParameters = "named", frames: Sequence[str] = ()) -> Derivation:
        """The equations of motion in closed form, for open chains and trees of few joints, also on a floating base.

        Args:
            quantities: Some of M, C, B, christoffel, V, G, K, P, tau, J, Jdot, Lambda, mu, rho; empty: all that need no frame.
            method: "lagrange", "newton_euler", "modern_robotics", or "both" (the first two) and "all", which prove that
                the results are equal.
            parameters: "named" (named parameters of a recipe are symbols), "symbols" (all are) or "numbers".
            frames: Frames of J, Jdot, Lambda, mu and rho.
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
        """A robot in which the named joints are fixed at the given coordinates.

        Args:
            held: Coordinates by the name of the joint: a number, or as many as the joint has.
        """
        lists = {name: [float(x)] if isinstance(x, (int, float)) else list(map(float, x))
                 for name, x in held.items()}
        return _make(self._lock_joints(lists))

    @named_arguments
    def attach_payload(self, link: str, mass: float, com: ArrayLike, tensor: ArrayLike) -> "Robot":
        """A robot with a rigid payload on a link.

        Args:
            link: Name of the link.
            mass: kg.
            com: Centre of mass in the frame of the link, `(3,)`, m.
            tensor: Inertia tensor about that centre in the axes of the link, `(3, 3)`, kg m^2.
        """
        return _make(self._attach_payload(link, mass, com, tensor))

    @named_arguments
    def add_frame(self, name: str, parent: str, pose: ArrayLike) -> "Robot":
        """A robot with a further frame, such as a tool point. The robot itself is not changed.

        Args:
            name: Name of the frame; no link or frame may have it.
            parent: The link or frame to which it is fixed.
            pose: Pose in the frame of the parent: `(4, 4)`, or a `limb.SE3`.
        """
        return _make(self._add_frame(name, parent, pose))

    @named_arguments
    def with_gravity(self, gravity: ArrayLike) -> "Robot":
        """A robot in another gravity. The robot itself, which others may share, is not changed.

        Args:
            gravity: In world axes, `(3,)`, m/s^2; `(0, 0, -1.62)` is the moon.
        """
        return _make(self._with_gravity(gravity))

    @property
    def gravity_vector(self) -> tuple[float, float, float]:
        """Gravity in world axes, m/s^2. `with_gravity` returns a robot with another one."""
        return self._gravity_vector

    @gravity_vector.setter
    def gravity_vector(self, value: ArrayLike) -> None:
        raise AttributeError("gravity_vector: a robot is immutable, because worlds and compiled functions share it; "
                             "use robot = robot.with_gravity(...)")

    @property
    def meshes(self) -> list[Geometry]:
        """The shapes of `geometry` that are meshes, with their files."""
        return [shape for shape in self.geometry if shape.shape == "mesh"]

    @named_arguments
    def show(self, q: ArrayLike | None = None, *, path: str | os.PathLike | None = None, collision: bool = False,
             browser: bool | None = None) -> View:
        """Shows the robot in 3D, with a slider per joint: in a notebook in the cell, otherwise in the browser.

        The page is one file that needs no network.

        Args:
            q: Configuration, `(nq,)`; None: the neutral one.
            path: File to write, `.html`; None: a temporary file if a browser is opened.
            collision: Whether to show the shapes for contact instead of those for pictures.
            browser: Whether to open a browser; None: outside of notebooks, if no path is given.
        """
        view = View(self, q, collision=collision)
        if path is not None:
            view.save(path)
        if browser or (browser is None and path is None and not in_notebook()):
            view.open()
        return view

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
def loads(text: str, base: Base = "described", *, format: Format | None = None,
          folder: str | os.PathLike | None = None, name: str | None = None, roots: Sequence[str | os.PathLike] = (),
          missing_meshes: MissingMeshes = "error", unsupported: Unsupported = "error", armature: bool = True,
          damping: bool = True, friction: bool = True) -> Robot:
    """A robot from text: URDF, MJCF or a recipe in TOML.

    Args:
        text: The text of the file.
        base: "fixed" to the world, "free" (a free joint named root_joint), or as "described" in the text.
        format: "urdf", "mjcf" or "recipe"; None: by the first element.
        folder: Folder in which relative paths, such as those of meshes, are searched; None: the current one.
        name: Name of the text in messages.
        roots: Further folders in which package:// and relative paths are searched.
        missing_meshes: As for `load`.
        unsupported: As for `load`.
        armature: Whether to include the inertia of rotors.
        damping: Whether to include viscous friction of the joints.
        friction: Whether to include Coulomb friction.

    Raises:
        limb.Error: Names the line of the first mistake.
    """
    label = name or "text"
    file = label if folder is None else os.path.join(os.fspath(folder), label)
    return _make(_limb.load_text(text, format or "", file, base, [os.fspath(root) for root in roots], missing_meshes,
                                 unsupported, armature, damping, friction))


@named_arguments
def check(path: str | os.PathLike, *, roots: Sequence[str | os.PathLike] = (),
          missing_meshes: MissingMeshes = "error", unsupported: Unsupported = "error") -> list[Finding]:
    """All errors and warnings about a robot file, even one that cannot be loaded.

    Args:
        path: The file, or `builtin:NAME`.
        roots: Folders in which package:// and relative paths are searched.
        missing_meshes: As for `load`.
        unsupported: As for `load`.
    """
    return _limb.check_file(os.fspath(path), [os.fspath(root) for root in roots], missing_meshes, unsupported)
