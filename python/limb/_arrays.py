"""Arrays of other libraries, through DLPack. limb computes on the CPU: arrays in host memory are read in place;
arrays on a GPU are copied to the host, and the results are copied back to the same device."""

import numpy

from ._limb import Error

_CPU = (1, 3, 11)  # kDLCPU, and pinned host memory of CUDA and ROCm


def _library(x) -> str:
    return type(x).__module__.partition(".")[0]


def to_host(call: str, name: str, x):
    """x as a NumPy array, and a function that converts results to the library of x (or None)."""
    library = _library(x)
    if library == "torch":
        if x.requires_grad:
            raise Error(f"{call}: {name} requires a gradient, which NumPy does not track (use limb.torch, "
                        "or detach it)")
        return _torch_to_host(x)
    if library in ("jax", "jaxlib"):
        import jax

        device = x.device
        return numpy.asarray(x), lambda result: jax.device_put(result, device)
    if library == "cupy":
        import cupy

        device = x.device

        def back(result):
            with device:
                return cupy.asarray(result)
        return cupy.asnumpy(x), back
    if x.__dlpack_device__()[0] in _CPU:
        return numpy.from_dlpack(x), None
    raise Error(f"{call}: {name} is a {type(x).__module__}.{type(x).__name__} on device "
                f"{tuple(map(int, x.__dlpack_device__()))}, expected the CPU, or an array of torch, jax or cupy")


def to_fill(call: str, out):
    """The memory of `out` as a NumPy array, to write results to."""
    if _library(out) == "torch" and out.requires_grad:
        raise Error(f"{call}: out requires a gradient, which NumPy does not track (detach it)")
    if out.__dlpack_device__()[0] in _CPU:
        return numpy.from_dlpack(out)
    raise Error(f"{call}: out is on device {tuple(map(int, out.__dlpack_device__()))}, expected host memory "
                "(without out, results are copied to the device of the arguments)")


def _torch_to_host(x):
    import torch

    device = x.device
    return x.cpu().numpy(), lambda result: torch.from_numpy(numpy.asarray(result)).to(device)
