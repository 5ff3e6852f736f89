"""Functions of a robot as machine code."""

from collections.abc import Sequence

from . import _limb
from ._limb import CompiledFunction
from .types import Axes

__all__ = ["Compiled", "CompiledFunction"]


class Compiled:
    """Functions of one robot, compiled in memory: `fast.rnea(q, v, a)` and so on.

    Each takes one state or a batch `(..., n)`. Batches run in SIMD lanes and threads (`limb.set_threads`);
    float32 arrays are computed in float32, twice as many lanes. Results that are no symmetric matrices are
    stored column by column: views that are not C-contiguous.

    Bodies named in `added_inertias` (by their joint) may be heavier in each state: the functions then take one
    more argument, `added`, ten numbers a body: mass, first moment (3), tensor xx xy xz yy yz zz about the
    body's frame. `shifted_joints` take `shifted`, three numbers a joint by which it stands elsewhere in its parent,
    `turned_joints` take `turned`, roll, pitch and yaw of its axes. In this order; all zero is the robot as it is.

    With `nonzeros=True` a matrix is a vector of the entries that are not zero in every state, of a symmetric matrix
    those of the upper triangle: `rows, cols = fast.crba.pattern()`, then `M[..., rows, cols] = fast.crba(q)[..., :len(rows)]`.
    Zeros follow where 64 entries or more are filled up to whole lines of the cache.
    """

    rnea: CompiledFunction
    bias: CompiledFunction
    gravity: CompiledFunction
    crba: CompiledFunction
    crba_packed: CompiledFunction
    aba: CompiledFunction
    mass_inverse: CompiledFunction
    frame_poses: CompiledFunction
    frame_jacobians: CompiledFunction
    centroidal: CompiledFunction
    operational_space: CompiledFunction
    rnea_derivatives: CompiledFunction
    aba_derivatives: CompiledFunction

    def __init__(self, robot, functions: Sequence[str], *, frames: Sequence[str] = (),
                 axes: Axes = "local", added_inertias: Sequence[str] = (), shifted_joints: Sequence[str] = (),
                 turned_joints: Sequence[str] = (), form: str = "automatic", interpret: bool = False,
                 nonzeros: bool = False):
        if isinstance(functions, str):
            functions = [functions]
        functions = ["crba" if name == "mass_matrix" else name for name in functions]
        added, shifted, turned = list(added_inertias), list(shifted_joints), list(turned_joints)
        self._arguments = (robot, tuple(functions), tuple(frames), axes, *map(tuple, (added, shifted, turned)), form,
                           interpret, nonzeros)
        self._core = _limb.CompiledCore(robot, functions, list(frames), axes, added, shifted, turned, form, interpret,
                                        nonzeros)
        for name in functions:
            setattr(self, name, self._core.function(name))
        if "crba" in functions:
            self.mass_matrix = self.crba

    def __getattr__(self, name):
        if name in _limb.function_names():
            raise AttributeError(f"{name} is not among the functions that were compiled: "
                                 f"{', '.join(self.functions)}")
        raise AttributeError(f"'Compiled' object has no attribute '{name}'")

    @property
    def functions(self) -> tuple[str, ...]:
        return self._arguments[1]

    @property
    def notice(self) -> str:
        """Why there is no machine code; empty if there is."""
        return self._core.notice

    def __reduce__(self):
        return _again, self._arguments

    def __repr__(self) -> str:
        return f"Compiled({self._arguments[0].name!r}, {list(self.functions)})"


def _again(robot, functions, frames, axes, added_inertias, shifted_joints, turned_joints, form, interpret, nonzeros):
    return Compiled(robot, functions, frames=frames, axes=axes, added_inertias=added_inertias,
                    shifted_joints=shifted_joints, turned_joints=turned_joints, form=form, interpret=interpret,
                    nonzeros=nonzeros)
