# data.py - numpy writes .npy files, ours read and write them, numpy looks at the result.
import itertools
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np

bad = 0
work = tempfile.mkdtemp()
LONG = bool(os.environ.get("STRESS_SECONDS"))  # make stress; else of some choices one in turn
seed = 20261201
rng = np.random.default_rng(seed)


def wrong(*what):
    global bad
    bad = 1
    print(*what)


def run(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def write(name, array, version=None):
    path = os.path.join(work, name)
    with open(path, "wb") as f, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy warns about versions 2.0 and 3.0
        np.lib.format.write_array(f, array, version=version)
    return path


# ---- any array through npy_copy: same shape and elements, C order, native byte order

def copies(path, array, what):
    to = os.path.join(work, "copy.npy")
    r = run("tests/tutorials/npy_copy", path, to)
    if r.returncode:
        wrong(what, "refused:", r.stderr)
        return
    got = np.load(to)
    if got.dtype != array.dtype.newbyteorder("="):
        wrong(what, "dtype", got.dtype)
    if got.shape != array.shape or not got.flags.c_contiguous:
        wrong(what, "shape", got.shape, "wanted", array.shape)
    elif got.tobytes() != np.ascontiguousarray(array.astype(got.dtype)).tobytes():
        wrong(what, "elements differ")


def any_array(shape, dtype):
    n = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer(rng.bytes(n), dtype=dtype).reshape(shape)


dtypes = "f8 f4 f2 i8 i4 i2 i1 u8 u4 u2 u1".split()
shapes = [(), (1,), (7,), (3, 5), (5, 1, 3), (2, 3, 4, 5), (2, 1, 3, 1, 2, 1, 2), (0,), (3, 0, 2)]
turns = itertools.count()
versions = itertools.cycle([(1, 0), (2, 0), (3, 0), (1, 0), (1, 0)])  # 5: out of step with the loops
for dtype, order in itertools.product(dtypes, "<>"):
    for shape in shapes:
        a = any_array(shape, order + dtype)
        both = ("C", a), ("F", np.asfortranarray(a))
        for name, b in both if LONG else [both[next(turns) % 2]]:
            version = next(versions)
            copies(write("x.npy", b, version), b, (order + dtype, shape, version, name))

for what, array in (
    ("bool", np.zeros(3, bool)),
    ("complex", np.zeros(3, "c8")),
    ("text", np.array(["abc"])),
    ("date", np.zeros(3, "M8[ns]")),
    ("records", np.zeros(3, [("a", "f4"), ("b", "i4")])),
    ("many fields", np.zeros(3, [("f%05d" % i, "f4") for i in range(4000)])),  # a version 2.0 header
    ("eight dimensions", np.zeros((1,) * 8, "f4")),
):
    r = run("tests/tutorials/npy_copy", write("x.npy", array), os.path.join(work, "copy.npy"))
    if r.returncode != 1 or "allowed" not in r.stderr:
        wrong(what, "not refused:", r.returncode, r.stderr)

# ---- the steps on data of numpy's

def total(x, m):
    return np.broadcast_to(x.astype("f8").sum(axis=0), x.shape)


def weighted(x, m):
    rows = x.astype("f8") * np.arange(1, SIZE + 1)
    return np.broadcast_to(rows.reshape(1, -1), (len(x), 1, x.size))


SIZE = 101  # --size of the steps that take it
steps = {  # name: (modes, shape of a row, what y should be); a row may depend on the number of ranks
    "01_hello_rank": ([None], (8, 8), lambda x, m: x + ranks(x)),
    "02_programming_model": ([None], (8, 8), lambda x, m: x * (ranks(x) + 1)),
    "03_window_buffer": ([None], (1, 256), lambda x, m: x),
    "04_barrier": (["builtin"], (1, 64), lambda x, m: np.roll(x, -1, axis=0)),
    "05_remote_load_store": (["load", "store"], (1, 64),
                             lambda x, m: np.roll(x, -1 if m == "load" else 1, axis=0)),
    "06_put_get": (["put", "get"], (1, 64),
                   lambda x, m: np.roll(x, -1 if m == "get" else 1, axis=0)),
    "07_dynamic_rank_count": (["put", "get"], (1, 64),
                              lambda x, m: np.roll(x, -1 if m == "get" else 1, axis=0)),
    "08_allreduce_mesh": ([None], (1, SIZE), total),
    "09_allreduce_two_phase": ([None], (1, SIZE), total),
    "10_allreduce_ring": ([None], (1, SIZE), total),
    "11_allreduce_reveal": (["mesh", "two_phase", "ring", "auto"], (1, SIZE), total),
    "12_broadcast": (["hand", "builtin", "auto"], (1, SIZE),
                     lambda x, m: np.broadcast_to(x[0], x.shape)),
    "13_allgather": (["hand", "builtin", "view", "auto"], (1, SIZE),
                     lambda x, m: np.broadcast_to(x.reshape(1, -1), (len(x), 1, x.size))),
    "14_reduce_scatter": (["hand", "builtin", "auto"], lambda p: (1, p * SIZE),
                          lambda x, m: x.astype("f8").sum(axis=0).reshape(len(x), 1, SIZE)),
    "15_all_to_all": (["hand", "builtin", "auto"], lambda p: (p, SIZE),
                      lambda x, m: x.swapaxes(0, 1)),
    "16_putting_it_together": (["three", "one"], (1, SIZE), weighted),
}
close = "01", "02", "08", "09", "10", "11", "14", "16"  # these compute; the others move


def ranks(x):
    return np.arange(len(x), dtype=x.dtype).reshape(-1, 1, 1)


def launched(p, step, *options):
    return run("./pldrun", "-n", str(p), "tutorials/" + step, *options)


def alone(p, step, *options):
    return run("tutorials/" + step, "-d", ",".join(map(str, range(p))), *options)


out = os.path.join(work, "y.npy")
for step, (modes, row, golden) in steps.items():
    for mode, p, start in itertools.product(modes, (1, 2, 3, 5) if LONG else (1, 3), (launched, alone)):
        x = rng.standard_normal((p,) + (row(p) if callable(row) else row)).astype("f4")
        options = ["--mode", mode] if mode else []
        if step >= "08":
            options += ["--size", str(SIZE), "--repeat", "7"]
        files = [
            ("C order", write("x.npy", x)),
            ("Fortran order, big-endian, 2.0", write("f.npy", np.asfortranarray(x.astype(">f4")), (2, 0))),
        ]
        for kind, path in files if LONG else [files[(next(turns) // 2 + (start is alone)) % 2]]:
            what = (step, mode, p, start.__name__, kind)
            if os.path.exists(out):
                os.unlink(out)
            r = start(p, step, *options, "--input", path, "--output", out)
            if r.returncode or r.stdout.split("\n")[-2:] != ["OK", ""] or r.stderr:
                wrong(*what, r.returncode, r.stdout, r.stderr)
                continue
            y = np.load(out)
            want = golden(x.astype("f8") if step[:2] in close else x, mode)
            if y.dtype != np.float32 or y.shape != want.shape:
                wrong(*what, "output", y.dtype, y.shape, "wanted", want.shape)
            elif step[:2] in close:
                if not np.allclose(y, want, rtol=1e-5, atol=1e-5):
                    wrong(*what, "output differs")
            elif y.tobytes() != want.tobytes():
                wrong(*what, "output differs")

r = launched(3, "04_barrier", "--output", out)
y = np.load(out)
if r.returncode or y.dtype != np.int32 or (y[:, :, 0] != 1 - np.eye(3)).any():
    wrong("04_barrier hand", r.returncode, r.stderr, y)

# Infinity is a number to move; a NaN is not.
for value, status in (np.inf, 0), (-np.inf, 0), (np.nan, 1):
    x = np.ones((3, 1, 64), "f4")
    x[1, 0, 5] = value
    r = launched(3, "05_remote_load_store", "--input", write("x.npy", x))
    if r.returncode != status or ("got nan" in r.stderr) != (status == 1):
        wrong("05 with", value, r.returncode, r.stderr)

# Files that are no input for this step: the name, what came, what is allowed; status 2.
for what, array, says in (
    ("P", np.zeros((2, 1, 64), "f4"), "float32 (2, 1, 64)"),
    ("row", np.zeros((3, 1, 63), "f4"), "float32 (3, 1, 63)"),
    ("a dimension more", np.zeros((3, 1, 64, 2), "f4"), "float32 (3, 1, 64, 2)"),
    ("dimensions", np.zeros((3, 64), "f4"), "float32 (3, 64)"),
    ("no dimension", np.zeros((), "f4"), "float32 ()"),
    ("dtype", np.zeros((3, 1, 64), "f8"), "float64 (3, 1, 64)"),
    ("integers", np.zeros((3, 1, 64), "i4"), "int32 (3, 1, 64)"),
):
    path = write("x.npy", array)
    line = ("05_remote_load_store: %s: %s; allowed: float32 (3, 1, 64), a row for each of the 3 "
            "ranks\n" % (path, says))
    for start in launched, alone:
        r = start(3, "05_remote_load_store", "--input", path)
        if r.returncode != 2 or r.stdout or line not in r.stderr:
            wrong("05 with wrong", what, start.__name__, r.returncode, r.stdout, r.stderr)

path = write("x.npy", np.zeros((3, 1, 64), "f4"))
r = launched(3, "08_allreduce_mesh", "--input", path, "--size", "63")
line = ("08_allreduce_mesh: %s: float32 (3, 1, 64); allowed: float32 (3, 1, 63), a row for each of "
        "the 3 ranks, with --size 63\n" % path)
if r.returncode != 2 or r.stdout or line not in r.stderr:
    wrong("08 with another --size", r.returncode, r.stdout, r.stderr)

for name in os.listdir(work):
    os.unlink(os.path.join(work, name))
os.rmdir(work)
if bad:
    print("seed", seed)
sys.exit(bad)
