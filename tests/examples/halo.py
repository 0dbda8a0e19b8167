# halo.py PLATE: writes a plate for halo2d.  halo.py PLATE STEPS RESULT: RESULT has the bits that
# numpy computes, all points at a time.
import sys

import numpy as np

if len(sys.argv) == 2:
    noise = np.random.default_rng(seed=1).normal(size=(23, 37))
    np.save(sys.argv[1], 1e3 * noise)
    sys.exit()

u = np.load(sys.argv[1])
for _ in range(int(sys.argv[2])):
    n, s, w, e, c = u[:-2, 1:-1], u[2:, 1:-1], u[1:-1, :-2], u[1:-1, 2:], u[1:-1, 1:-1]
    new = u.copy()
    new[1:-1, 1:-1] = c + 0.2 * (n + s + w + e - 4 * c)
    u = new
got = np.load(sys.argv[3])
if got.dtype != u.dtype or got.tobytes() != u.tobytes():
    sys.exit(f"differs by up to {abs(got - u).max()}")
