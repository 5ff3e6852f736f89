"""Arrays on a GPU, of every library that is installed and has one: in by DLPack, results back on the device."""

import numpy as np
import pytest

import limb


def on_gpu(library):
    """A function from NumPy to the library's arrays on its first GPU, and one back; or skips."""
    module = pytest.importorskip(library, reason=f"the package {library} is not installed")
    if library == "torch":
        if not module.cuda.is_available():
            pytest.skip("torch sees no CUDA device")
        return lambda x: module.from_numpy(np.ascontiguousarray(x)).cuda(), lambda x: x.cpu().numpy(), lambda x: x.device
    if library == "cupy":
        try:
            module.cuda.runtime.getDeviceCount()
        except module.cuda.runtime.CUDARuntimeError:
            pytest.skip("cupy sees no CUDA device")
        return module.asarray, module.asnumpy, lambda x: x.device
    try:
        device = module.devices("gpu")[0]
    except RuntimeError:
        pytest.skip("jax sees no GPU")
    module.config.update("jax_enable_x64", True)
    return lambda x: module.device_put(x, device), np.asarray, lambda x: x.device


@pytest.fixture(params=["torch", "cupy", "jax"])
def gpu(request):
    return on_gpu(request.param)


def states(robot, n, dtype):
    random = np.random.default_rng(5)
    return [x.astype(dtype) for x in (robot.random(5, n), random.normal(size=(n, robot.nv)),
                                      random.normal(size=(n, robot.nv)))]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [1, 7, 1000])
def test_results_come_back_to_their_device(gpu, quadruped, dtype, n):
    put, get, device = gpu
    host = states(quadruped, n, dtype)
    there = [put(x) for x in host]
    kept = [get(x).copy() for x in there]
    tau = quadruped.rnea(*there)
    assert type(tau) is type(there[0]) or isinstance(tau, type(there[0]))
    assert device(tau) == device(there[0])
    assert get(tau).dtype == dtype and np.array_equal(get(tau), quadruped.rnea(*host))
    assert all(np.array_equal(get(x), y) for x, y in zip(there, kept))  # nothing mutates its inputs


def test_several_results_and_compiled(gpu, arm):
    put, get, device = gpu
    host = states(arm, 64, "float64")
    there = [put(x) for x in host]
    derivatives, expected = arm.rnea_derivatives(*there), arm.rnea_derivatives(*host)
    assert device(derivatives.dq) == device(there[0])
    assert np.array_equal(get(derivatives.dq), expected.dq) and np.array_equal(get(derivatives.dv), expected.dv)
    fast = arm.compile(["rnea", "crba"])
    for dtype in ("float64", "float32"):
        host = states(arm, 64, dtype)
        there = [put(x) for x in host]
        tau, M = fast.rnea(*there), fast.crba(there[0])
        assert device(tau) == device(M) == device(there[0]) and get(M).dtype == dtype
        assert np.array_equal(get(tau), fast.rnea(*host)) and np.array_equal(get(M), fast.crba(host[0]))


def test_slices_and_mixed_arguments(gpu, arm):
    """Strided arrays are read right; the first argument of a library says where results go."""
    put, get, device = gpu
    q, v, a = states(arm, 8, "float64")
    tau = arm.rnea(put(q)[::2], v[::2], put(a)[::2])
    assert device(tau) == device(put(q)) and np.array_equal(get(tau), arm.rnea(q[::2], v[::2], a[::2]))


def test_out_must_be_on_the_host(gpu, arm):
    put, _, _ = gpu
    q, v, a = states(arm, 3, "float64")
    with pytest.raises(limb.Error, match=r"rnea: out is on device \(\d+, 0\), expected memory of the host"):
        arm.rnea(q, v, a, out=put(np.zeros((3, 7))))


def test_gradients_on_the_gpu(arm):
    on_gpu("torch")
    import torch

    import limb.torch
    host = [torch.from_numpy(x) for x in states(arm, 4, "float64")]
    grads = []
    for place in ("cpu", "cuda"):
        x = [y.clone().to(place).requires_grad_() for y in host]
        (limb.torch.rnea(arm, *x) ** 2).sum().backward()
        assert x[0].grad.device.type == place
        grads.append([y.grad.cpu() for y in x])
    for cpu, cuda in zip(*grads):  # the same Jacobians; the products with 2 tau are summed by other kernels
        scale = cpu.abs().max().item()
        assert (cpu - cuda).abs().max().item() < 64 * np.finfo(float).eps * scale
