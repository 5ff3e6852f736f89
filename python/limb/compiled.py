"""Functions of a robot, compiled to machine code."""

from collections.abc import Sequence

from . import _limb
from ._arguments import named_arguments
from ._limb import CompiledFunction
from .types import Axes, Strategy

__all__ = ["Compiled", "CompiledFunction"]

# Each of these functions has two names, here and in Robot.
_SHORT_NAMES = {"inverse_dynamics": "rnea", "forward_dynamics": "aba", "mass_matrix": "crba",
                "inverse_dynamics_derivatives": "rnea_derivatives", "forward_dynamics_derivatives": "aba_derivatives"}


class Compiled:
    """Functions of one robot, compiled in memory: `fast.inverse_dynamics(q, v, a)` and so on.

    Each takes one state or a batch `(..., n)`. Batches run in SIMD lanes and threads (`limb.set_threads`);
    float32 arrays are computed in float32, with twice as many lanes. Matrices that are not symmetric are
    stored column by column: the results are views that are not C-contiguous.

    With parameters that differ from state to state the functions take further arguments, in this order; all zero is
    the robot as loaded. `added_inertias` names joints whose bodies get `added`, ten numbers per body: mass, first
    moment (3), tensor xx xy xz yy yz zz about the body frame. `shifted_joints` get `shifted`, three numbers per joint:
    the displacement of its origin in the parent. `rotated_joints` get `rotated`: roll, pitch and yaw of its axes.

    With `nonzeros=True` a matrix is returned as a vector of its structural nonzeros, for a symmetric matrix those of
    the upper triangle: `rows, cols = fast.crba.pattern()`, then
    `M[..., rows, cols] = fast.crba(q)[..., :len(rows)]`. Vectors of 64 and more entries are padded with zeros to whole
    cache lines.

    Functions with two names have both as attributes: rnea is an alias of inverse_dynamics, aba of forward_dynamics,
    crba of mass_matrix, rnea_derivatives of inverse_dynamics_derivatives, aba_derivatives of
    forward_dynamics_derivatives.
    """

    inverse_dynamics: CompiledFunction
    rnea: CompiledFunction
    forward_dynamics: CompiledFunction
    aba: CompiledFunction
    mass_matrix: CompiledFunction
    crba: CompiledFunction
    crba_packed: CompiledFunction
    mass_inverse: CompiledFunction
    bias: CompiledFunction
    gravity: CompiledFunction
    frame_poses: CompiledFunction
    frame_jacobians: CompiledFunction
    centroidal: CompiledFunction
    operational_space: CompiledFunction
    inverse_dynamics_derivatives: CompiledFunction
    rnea_derivatives: CompiledFunction
    forward_dynamics_derivatives: CompiledFunction
    aba_derivatives: CompiledFunction

    @named_arguments
    def __init__(self, robot, functions: Sequence[str], *, frames: Sequence[str] = (),
                 axes: Axes = "local", added_inertias: Sequence[str] = (), shifted_joints: Sequence[str] = (),
                 rotated_joints: Sequence[str] = (), strategy: Strategy = "automatic", interpret: bool = False,
                 nonzeros: bool = False):
        if isinstance(functions, str):
            functions = [functions]
        functions = [_SHORT_NAMES.get(name, name) for name in functions]
        added, shifted, rotated = list(added_inertias), list(shifted_joints), list(rotated_joints)
        self._arguments = (robot, tuple(functions), tuple(frames), axes, *map(tuple, (added, shifted, rotated)),
                           strategy, interpret, nonzeros)
        self._core = _limb.CompiledCore(robot, functions, list(frames), axes, added, shifted, rotated, strategy,
                                        interpret, nonzeros)
        for name in functions:
            setattr(self, name, self._core.function(name))
        for name, short in _SHORT_NAMES.items():
            if short in functions:
                setattr(self, name, getattr(self, short))

    def __getattr__(self, name):
        if name in _SHORT_NAMES or name in _limb.function_names():
            raise AttributeError(f"{name} is not among the functions that were compiled: "
                                 f"{', '.join(self.functions)}")
        raise AttributeError(f"'Compiled' object has no attribute '{name}'")

    @property
    def functions(self) -> tuple[str, ...]:
        """Names of the compiled functions, as in `limb.function_names()`."""
        return self._arguments[1]

    @property
    def why_not_compiled(self) -> str:
        """Why there is no machine code; empty if there is."""
        return self._core.why_not_compiled

    def __reduce__(self):
        return _rebuild, self._arguments

    def __repr__(self) -> str:
        return f"Compiled({self._arguments[0].name!r}, {list(self.functions)})"


def _rebuild(robot, functions, frames, axes, added_inertias, shifted_joints, rotated_joints, strategy, interpret,
             nonzeros):
    return Compiled(robot, functions, frames=frames, axes=axes, added_inertias=added_inertias,
                    shifted_joints=shifted_joints, rotated_joints=rotated_joints, strategy=strategy,
                    interpret=interpret, nonzeros=nonzeros)
