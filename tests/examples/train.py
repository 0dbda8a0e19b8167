# train.py FILE EPOCHS <OUTPUT: what train_dp has printed against a serial training with numpy,
# batch by batch as matrices.
import re
import sys

import numpy as np

HIDDEN, BATCH, RATE, MOMENTUM = 32, 200, 0.3, 0.9


def weights(state, rows, columns):
    w = np.empty(rows * columns)
    for k in range(rows * columns):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        w[k] = (state >> 11) / 2**52 - 1
    return state, w.reshape(rows, columns) / np.sqrt(rows)


def layers(w1, b1, w2, b2, x):
    h = np.tanh(x @ w1 + b1)
    e = h @ w2 + b2
    e = np.exp(e - e.max(axis=1, keepdims=True))
    return h, e / e.sum(axis=1, keepdims=True)


def train(x, y, epochs):
    classes = y.max() + 1
    state, w1 = weights(1, x.shape[1], HIDDEN)
    state, w2 = weights(state, HIDDEN, classes)
    model = [w1, np.zeros(HIDDEN), w2, np.zeros(classes)]
    speed = [np.zeros_like(w) for w in model]
    test = np.arange(len(x)) % 6 == 5
    tx, ty, x, y = x[test], y[test], x[~test], y[~test]
    losses = []
    for _ in range(epochs):
        losses.append(0)
        for i in range(0, len(x), BATCH):
            bx, by = x[i : i + BATCH], y[i : i + BATCH]
            h, p = layers(*model, bx)
            losses[-1] -= np.log(p[np.arange(len(by)), by]).sum() / len(x)
            d = p - np.eye(classes)[by]
            dh = d @ model[2].T * (1 - h * h)
            gradient = bx.T @ dh, dh.sum(axis=0), h.T @ d, d.sum(axis=0)
            for w, s, g in zip(model, speed, gradient):
                s[...] = MOMENTUM * s - RATE * g / len(by)
                w += s
    return losses, (layers(*model, tx)[1].argmax(axis=1) == ty).sum(), len(ty)


table = np.loadtxt(sys.argv[1], delimiter=",", ndmin=2)
x, y = table[:, :-1] / np.abs(table[:, :-1]).max(), table[:, -1].astype(int)
losses, hits, tests = train(x, y, int(sys.argv[2]))
output = sys.stdin.read()
got = [float(v) for v in re.findall(r"^epoch \d+: loss (\S+)$", output, re.M)]
if len(got) != len(losses):
    sys.exit(f"{len(got)} losses, wanted {len(losses)}")
# The order of sums differs, by rank count and here: some last bits of 53.
for e, (a, b) in enumerate(zip(got, losses)):
    if not abs(a - b) <= 1e-10 * abs(b):
        sys.exit(f"epoch {e + 1}: loss {a!r}, wanted {b!r}")
if f": {hits} of {tests};" not in output:
    sys.exit(f"numpy has {hits} of {tests} right: {output}")
