"""Functions of a robot, compiled to machine code."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy import ndarray as Array
from numpy.typing import ArrayLike

from . import _limb
from ._arguments import named_arguments
from ._limb import CompiledFunction
from .results import (CentroidalMatrix, CompiledForwardDerivatives, CompiledInverseDerivatives,
                      CompiledOperationalSpace, FramePoses)
from .types import Axes, Order, Strategy

__all__ = ["Compiled", "CompiledFunction"]

if TYPE_CHECKING:
    # The compiled functions by their arguments. `parameters` are those of added_inertias, shifted_joints and
    # rotated_joints. At run time all are of the class CompiledFunction, whose call takes any number of arrays.
    _Out = Array | None
    _Outs = tuple[Array, ...] | None

    class ConfigurationFunction(CompiledFunction):
        def __call__(self, q: ArrayLike, *parameters: ArrayLike, out: _Out = None,  # type: ignore[override]
                     check: bool | None = None) -> Array: ...

    class BiasFunction(CompiledFunction):
        def __call__(self, q: ArrayLike, v: ArrayLike, *parameters: ArrayLike,  # type: ignore[override]
                     out: _Out = None, check: bool | None = None) -> Array: ...

    class ForceFunction(CompiledFunction):
        def __call__(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *parameters: ArrayLike,  # type: ignore[override]
                     out: _Out = None, check: bool | None = None) -> Array: ...

    class AccelerationFunction(CompiledFunction):
        def __call__(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *parameters: ArrayLike,  # type: ignore[override]
                     out: _Out = None, check: bool | None = None) -> Array: ...

    class FramePosesFunction(CompiledFunction):
        def __call__(self, q: ArrayLike, *parameters: ArrayLike, out: _Outs = None,  # type: ignore[override]
                     check: bool | None = None) -> FramePoses: ...

    class CentroidalFunction(CompiledFunction):
        def __call__(self, q: ArrayLike, *parameters: ArrayLike, out: _Outs = None,  # type: ignore[override]
                     check: bool | None = None) -> CentroidalMatrix: ...

    class OperationalSpaceFunction(CompiledFunction):
        def __call__(self, q: ArrayLike, *parameters: ArrayLike, out: _Outs = None,  # type: ignore[override]
                     check: bool | None = None) -> CompiledOperationalSpace: ...

    class InverseDerivativesFunction(CompiledFunction):
        def __call__(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *parameters: ArrayLike,  # type: ignore[override]
                     out: _Outs = None, check: bool | None = None) -> CompiledInverseDerivatives: ...

    class ForwardDerivativesFunction(CompiledFunction):
        def __call__(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *parameters: ArrayLike,  # type: ignore[override]
                     out: _Outs = None, check: bool | None = None) -> CompiledForwardDerivatives: ...

# Each of these functions has two names, here and in Robot.
_SHORT_NAMES = {"inverse_dynamics": "rnea", "forward_dynamics": "aba", "mass_matrix": "crba",
                "inverse_dynamics_derivatives": "rnea_derivatives", "forward_dynamics_derivatives": "aba_derivatives"}


class Compiled:
    """Functions of one robot, compiled in memory: `fast.inverse_dynamics(q, v, a)` and so on.

    Each takes one state or a batch `(..., n)`. Batches run in SIMD lanes and threads (`limb.set_threads`);
    float32 arrays are computed in float32, with twice as many lanes. Leading dimensions are broadcast as in NumPy.
    Results are C-contiguous, and several results a named tuple with the names that they have in the results of the
    robot. Numbers that are not finite are refused in single states, and in batches with `check=True`.

    Matrices are computed column by column. With `order="F"` those that are not symmetric are returned as computed, as
    views that are not C-contiguous, which saves the transposition.

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

    Args:
        robot: The robot.
        functions: Names of functions, `limb.function_names()`, or their aliases.
        frames: Frames of frame_poses, frame_jacobians and operational_space.
        axes: Axes of their Jacobians.
        added_inertias: Joints whose bodies get an added inertia in each state.
        shifted_joints: Joints whose origin is displaced in each state.
        rotated_joints: Joints whose axes are rotated in each state.
        strategy: "straight_line", "recursion", "split", or "automatic": chosen by measurement.
        interpret: Whether the operations are interpreted instead: the same bits, slower.
        nonzeros: Whether only the structural nonzeros of matrices are returned.
        order: "C": results are C-contiguous; "F": matrices that are not symmetric are stored by columns.
    """

    inverse_dynamics: "ForceFunction"
    rnea: "ForceFunction"
    forward_dynamics: "AccelerationFunction"
    aba: "AccelerationFunction"
    mass_matrix: "ConfigurationFunction"
    crba: "ConfigurationFunction"
    crba_packed: "ConfigurationFunction"
    mass_inverse: "ConfigurationFunction"
    bias: "BiasFunction"
    gravity: "ConfigurationFunction"
    frame_poses: "FramePosesFunction"
    frame_jacobians: "ConfigurationFunction"
    centroidal: "CentroidalFunction"
    operational_space: "OperationalSpaceFunction"
    inverse_dynamics_derivatives: "InverseDerivativesFunction"
    rnea_derivatives: "InverseDerivativesFunction"
    forward_dynamics_derivatives: "ForwardDerivativesFunction"
    aba_derivatives: "ForwardDerivativesFunction"

    @named_arguments
    def __init__(self, robot: "_limb.Robot", functions: str | Sequence[str], *, frames: Sequence[str] = (),
                 axes: Axes = "local", added_inertias: Sequence[str] = (), shifted_joints: Sequence[str] = (),
                 rotated_joints: Sequence[str] = (), strategy: Strategy = "automatic", interpret: bool = False,
                 nonzeros: bool = False, order: Order = "C") -> None:
        if isinstance(functions, str):
            functions = [functions]
        functions = [_SHORT_NAMES.get(name, name) for name in functions]
        added, shifted, rotated = list(added_inertias), list(shifted_joints), list(rotated_joints)
        self._arguments: tuple[Any, ...] = (robot, tuple(functions), tuple(frames), axes, *map(tuple, (added, shifted, rotated)),
                           strategy, interpret, nonzeros, order)
        self._core = _limb.CompiledCore(robot, functions, list(frames), axes, added, shifted, rotated, strategy,
                                        interpret, nonzeros, order)
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
             nonzeros, order):
    return Compiled(robot, functions, frames=frames, axes=axes, added_inertias=added_inertias,
                    shifted_joints=shifted_joints, rotated_joints=rotated_joints, strategy=strategy,
                    interpret=interpret, nonzeros=nonzeros, order=order)
