"""Arrays on a GPU, for every installed library that supports one: read by DLPack, results on the same device."""

import numpy as np
import pytest

import limb


def on_gpu(library):
    """Functions that copy a NumPy array to the first GPU, copy it back, and return the device; or skips."""
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
    return [x.astype(dtype) for x in (robot.random_configuration(5, n), random.normal(size=(n, robot.nv)),
                                      random.normal(size=(n, robot.nv)))]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [1, 7, 1000])
def test_results_are_on_the_same_device(gpu, quadruped, dtype, n):
    put, get, device = gpu
    host = states(quadruped, n, dtype)
    there = [put(x) for x in host]
    kept = [get(x).copy() for x in there]
    tau = quadruped.rnea(*there)
    assert type(tau) is type(there[0]) or isinstance(tau, type(there[0]))
    assert device(tau) == device(there[0])
    assert get(tau).dtype == dtype and np.array_equal(get(tau), quadruped.rnea(*host))
    assert all(np.array_equal(get(x), y) for x, y in zip(there, kept))  # inputs are not modified


def test_several_results_and_compiled(gpu, arm):
    put, get, device = gpu
    host = states(arm, 64, "float64")
    there = [put(x) for x in host]
    derivatives, expected = arm.rnea_derivatives(*there), arm.rnea_derivatives(*host)
    assert device(derivatives.dtau_dq) == device(there[0])
    assert np.array_equal(get(derivatives.dtau_dq), expected.dtau_dq)
    assert np.array_equal(get(derivatives.dtau_dv), expected.dtau_dv)
    fast = arm.compile(["rnea", "crba"])
    for dtype in ("float64", "float32"):
        host = states(arm, 64, dtype)
        there = [put(x) for x in host]
        tau, M = fast.rnea(*there), fast.crba(there[0])
        assert device(tau) == device(M) == device(there[0]) and get(M).dtype == dtype
        assert np.array_equal(get(tau), fast.rnea(*host)) and np.array_equal(get(M), fast.crba(host[0]))


def test_slices_and_mixed_arguments(gpu, arm):
    """Strided arrays; the first argument of another library determines the device of the results."""
    put, get, device = gpu
    q, v, a = states(arm, 8, "float64")
    tau = arm.rnea(put(q)[::2], v[::2], put(a)[::2])
    assert device(tau) == device(put(q)) and np.array_equal(get(tau), arm.rnea(q[::2], v[::2], a[::2]))


def test_out_must_be_on_the_host(gpu, arm):
    put, _, _ = gpu
    q, v, a = states(arm, 3, "float64")
    with pytest.raises(limb.Error, match=r"rnea: out is on device \(\d+, 0\), expected host memory"):
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
    for cpu, cuda in zip(*grads):  # the same Jacobians; other kernels sum the products with 2 tau
        scale = cpu.abs().max().item()
        assert (cpu - cuda).abs().max().item() < 64 * np.finfo(float).eps * scale
