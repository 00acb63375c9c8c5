"""Contact programs of random numbers, and what their solutions must meet."""

from itertools import product

import casadi as ca
import numpy as np
import pytest

from nsopt.mpcc import Mpcc


def by_enumeration(M, q):
    """The one z with z >= 0, w = M z + q >= 0, z.w = 0."""
    best = None
    for choice in product([False, True], repeat=q.size):
        free = np.array(choice)
        z = np.zeros(q.size)
        if free.any():
            z[free] = np.linalg.solve(M[free][:, free], -q[free])
        violation = max(0.0, -z.min(), -(M @ z + q).min())
        if best is None or violation < best[0]:
            best = violation, z
    return best[1]


def pins(seed, n=4, given=False, freedoms=6):
    """Contacts of n pins with a random body, friction limits given or mu times normal impulses."""
    rng = np.random.default_rng(seed)
    H = rng.normal(size=(3 * n, freedoms))
    m = Mpcc("pins")
    u = m.parameter("u", freedoms)
    v, lam, z = m.variable("v", freedoms), m.variable("lam", n), m.variable("z", 2 * n)
    m.equal("motion", v - u - H[:n].T @ lam - H[n:].T @ z)
    m.complement("contact", ca.DM(H[:n]) @ v, lam)
    limits = rng.uniform(0, 1, n)
    m.disc("friction", z, ca.DM(H[n:]) @ v, radius=ca.DM(limits) if given else limits * lam)
    return m, H, limits


def check_coulomb(H, mu, start, x, off=1e-9):
    """Assert 0 <= W v _|_ lam >= 0, |z| <= mu lam, z against the slip: from the numbers alone."""
    v, lam, z = np.split(x, np.cumsum([H.shape[1], mu.size]))
    gaps, slips = H[: mu.size] @ v, (H[mu.size :] @ v).reshape(-1, 2)
    z, size = z.reshape(-1, 2), np.linalg.norm(slips, axis=1)
    assert v == pytest.approx(start + H.T @ np.concatenate([lam, z.ravel()]), abs=1e-9)
    assert np.minimum(gaps, lam) == pytest.approx(np.zeros(mu.size), abs=off)
    assert np.all(np.linalg.norm(z, axis=1) <= mu * lam + off)
    assert np.sum(z * slips, axis=1) == pytest.approx(-mu * lam * size, abs=off)
