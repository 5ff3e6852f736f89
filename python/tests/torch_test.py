"""Gradients of limb.torch, compared with difference quotients; tensors as arguments of methods."""

import numpy as np
import pytest

import limb

torch = pytest.importorskip("torch", reason="the package torch is not installed")
import limb.torch  # noqa: E402
from limb._gradients import FUNCTIONS, size_of  # noqa: E402


def tensors(robot, n, seed=2):
    random = np.random.default_rng(seed)
    return [torch.tensor(x, requires_grad=True) for x in
            (robot.random_configuration(seed, n), random.normal(size=(n, robot.nv)), random.normal(size=(n, robot.nv)))]


@pytest.mark.parametrize("name", ["arm7", "belt-leg"])
@pytest.mark.parametrize("function", ["inverse_dynamics", "forward_dynamics", "rnea", "aba"])
def test_gradients_of_angles(name, function):
    robot = limb.load(f"builtin:{name}")
    x = tensors(robot, 3)
    call = getattr(limb.torch, function)
    # gradcheck uses central differences with step 1e-6: relative errors of 1e-10, times the curvature.
    assert torch.autograd.gradcheck(lambda *args: call(robot, *args), x, eps=1e-6, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("function", ["rnea", "aba"])
def test_gradients_along_tangents(quadruped, function):
    """With a quaternion: the change along integrate(q, e w) is the gradient times the change of the entries of q."""
    q, v, a = tensors(quadruped, 1)
    call = getattr(limb.torch, function)
    weights = torch.tensor(np.random.default_rng(3).normal(size=(1, quadruped.nv)))
    (call(quadruped, q, v, a) * weights).sum().backward()

    def value(at):
        return (call(quadruped, torch.tensor(at), v, a) * weights).sum().item()

    start, e = q.detach().numpy(), 1e-6
    for k in range(quadruped.nv):
        w = np.zeros((1, quadruped.nv))
        w[0, k] = e
        ahead, behind = quadruped.integrate(start, w), quadruped.integrate(start, -w)
        slope = (value(ahead) - value(behind)) / (2 * e)
        rate = ((ahead - behind) / (2 * e) * q.grad.numpy()).sum()
        # Central differences with step 1e-6 have an error of eps / 1e-6 relative to the torques, about 1e3 here.
        assert abs(rate - slope) < 1e-5 * max(1, abs(slope)), k


def test_one_vector_for_a_batch(arm):
    q, v, a = tensors(arm, 4)
    single = v[0].detach().requires_grad_()
    limb.torch.rnea(arm, q, single, a).sum().backward()
    repeated = single.detach().expand(4, 7).clone().requires_grad_()
    limb.torch.rnea(arm, q, repeated, a).sum().backward()
    assert torch.allclose(single.grad, repeated.grad.sum(0))


def test_tensors_in_tensors_out(arm):
    q, v, a = (x.detach() for x in tensors(arm, 4))
    tau = arm.rnea(q, v, a)
    assert isinstance(tau, torch.Tensor) and tau.dtype == torch.float64
    assert np.array_equal(tau.numpy(), arm.rnea(q.numpy(), v.numpy(), a.numpy()))
    assert arm.rnea(q.float(), v.float(), a.float()).dtype == torch.float32
    assert isinstance(arm.rnea_derivatives(q, v, a).dtau_dq, torch.Tensor)
    assert isinstance(arm.compile(["rnea"]).rnea(q, v, a), torch.Tensor)
    with pytest.raises(limb.Error, match="rnea: q requires a gradient.*limb.torch"):
        arm.rnea(q.requires_grad_(), v, a)


def test_out_may_be_a_tensor(arm):
    q, v, a = (x.detach() for x in tensors(arm, 4))
    out = torch.zeros(4, 7, dtype=torch.float64)
    assert arm.rnea(q, v, a, out=out) is out and torch.equal(out, arm.rnea(q, v, a))
    with pytest.raises(limb.Error, match="rnea: out requires a gradient"):
        arm.rnea(q, v, a, out=out.clone().requires_grad_())


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function_against_differences_along_tangents(quadruped, name):
    """As for limb.jax: step 1e-6, an error of eps / 1e-6 times the size of the result."""
    robot, inputs = quadruped, FUNCTIONS[name].inputs
    random = np.random.default_rng(1)
    options = ({"frame": robot.frames[-1]} if name.startswith("frame_") else
               {"contacts": ["FL_foot", "RR_foot"]} if name in ("constrained_forward_dynamics", "impact") else {})
    arrays = [robot.random_configuration(k + 1) if size_of(robot, x) == robot.nq else random.normal(size=robot.nv)
              for k, x in enumerate(inputs)]
    call = getattr(limb.torch, name)

    def flat(arrays):
        result = call(robot, *arrays, **options)
        return torch.cat([x.reshape(-1) for x in (result if isinstance(result, tuple) else (result,))])

    given = [torch.tensor(x, requires_grad=True) for x in arrays]
    values = flat(given)
    weights = torch.tensor(random.normal(size=tuple(values.shape)))
    (values * weights).sum().backward()
    scale = float((values * weights).norm()) + 1
    for i, argument in enumerate(inputs):
        for k in range(robot.nv):
            w = np.zeros(robot.nv)
            w[k] = 1e-6
            sides = []
            for sign in (1, -1):
                moved = list(arrays)
                moved[i] = robot.integrate(arrays[i], sign * w) if argument[0] == "q" else arrays[i] + sign * w
                sides.append((moved[i], float(flat([torch.tensor(x) for x in moved]) @ weights)))
            slope = (sides[0][1] - sides[1][1]) / 2e-6
            rate = (sides[0][0] - sides[1][0]) / 2e-6 @ given[i].grad.numpy()
            assert abs(slope - rate) < 1e-7 * scale + 1e-5 * abs(slope), (argument, k)


def test_broadcast_arguments_get_summed_gradients(arm):
    q, v = torch.zeros(3, 1, 7, requires_grad=True, dtype=torch.float64), torch.ones(4, 7, requires_grad=True, dtype=torch.float64)
    limb.torch.bias(arm, q, v).sum().backward()
    full = torch.zeros(3, 4, 7, requires_grad=True, dtype=torch.float64)
    limb.torch.bias(arm, full, v.detach()).sum().backward()
    assert q.grad.shape == (3, 1, 7) and v.grad.shape == (4, 7)
    assert torch.allclose(q.grad, full.grad.sum(1, keepdim=True), rtol=1e-12)
