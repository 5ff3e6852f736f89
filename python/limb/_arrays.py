"""Arrays of other libraries, by DLPack. limb computes on the CPU: arrays that live there are read where they
are; those on a GPU are copied to the host and the results back to the same device."""

import numpy

from ._limb import Error

_CPU = (1, 3, 11)  # kDLCPU, and memory of CUDA and ROCm that the host reads as its own


def _library(x) -> str:
    return type(x).__module__.partition(".")[0]


def to_host(call: str, name: str, x):
    """The numbers as a NumPy array, and what makes results the kind of array that x is (or None)."""
    library = _library(x)
    if library == "torch":
        if x.requires_grad:
            raise Error(f"{call}: {name} requires a gradient, which NumPy does not carry (limb.torch has "
                        "functions with gradients; or detach it)")
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
    """The memory of `out` as a NumPy array, for results to be written there."""
    if _library(out) == "torch" and out.requires_grad:
        raise Error(f"{call}: out requires a gradient, which NumPy does not carry (detach it)")
    if out.__dlpack_device__()[0] in _CPU:
        return numpy.from_dlpack(out)
    raise Error(f"{call}: out is on device {tuple(map(int, out.__dlpack_device__()))}, expected memory of the host "
                "(without out, results come back to the device of the arguments)")


def _torch_to_host(x):
    import torch

    device = x.device
    return x.cpu().numpy(), lambda result: torch.from_numpy(numpy.asarray(result)).to(device)
