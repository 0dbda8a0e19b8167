# schedules.py - run by check-schedules: what pldrun --schedule and --report say of steps 08 to 16.
#
# A builtin's lines without those marked "reuse" are the step's, and there are as many of those as the formula says;
# bytes are what the formulas say, also where P does not divide the size; and a wrong line in a mode is noticed.
import difflib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

import linking

SRC = os.environ["srcdir"]
LONG = bool(os.environ.get("STRESS_SECONDS"))  # make stress
PS = (2, 3, 4, 5, 8) if LONG else (2, 3, 4)  # of which 3 and 5 do not divide 64, the usual size
ODD = 61  # elements: no P divides it
CHUNK = 16384  # bytes
bad = 0
folder = tempfile.TemporaryDirectory()


def wrong(*what):
    global bad
    bad += 1
    print(*what, flush=True)


# ---- formulas -------------------------------------------------------------------------------------------------------

def seg(r, n, p):
    """Bytes of segment r of n FP32."""
    r %= p
    return 4 * ((r + 1) * n // p - r * n // p)


def mesh(r, n, p):
    return (p - 1) * 4 * n


def two_phase(r, n, p):
    return 4 * n + (p - 2) * seg(r, n, p)


def ring(r, n, p):
    return 2 * 4 * n - seg(r, n, p) - seg(r - 1, n, p)


def broadcast(r, n, p):
    return 4 * n if r else 0


def three(r, n, p):
    return broadcast(r, n, p) + 2 * mesh(r, n, p)


def chunks(n):
    return max(1, -(-4 * n // CHUNK))


# Lines marked reuse, of a rank.  A barrier is P - 1 notifies and as many waits, taking a row of cells back P - 1
# notifies.
def mesh_reuse(n, p):
    return (2 * chunks(n) + 1) * (p - 1)


def two_phase_reuse(n, p):
    return 2 * (p - 1) + 2 * (p - 1)


def ring_reuse(n, p):
    return 2 * (p - 1) + (p - 1) + 2 * (p - 1) - 1


def one_barrier(n, p):
    return 2 * (p - 1) + (p - 1)


def three_reuse(n, p):
    return one_barrier(n, p) + mesh_reuse(n, p) + one_barrier(n, p)


# ---- comparing lines ------------------------------------------------------------------------------------------------

def exact(line):
    return line


def any_window(line):
    """09 gathers from a second window."""
    return re.sub(r"\bw\d+", "w", line)


def barriers(line):
    """13 pulls, its builtin pushes behind a barrier of its own: cells, but not how far they have to be."""
    return re.sub(r" [>=+]\S+$", "", line) if line.startswith(("rank", "notify", "wait")) else None


def any_value(line):
    """15 sets, its builtin adds."""
    return line if line.startswith(("rank", "put")) else barriers(line)


HAND = {"08": "08_allreduce_mesh", "09": "09_allreduce_two_phase", "10": "10_allreduce_ring", "11": "11_allreduce_reveal",
        "12": "12_broadcast", "13": "13_allgather", "14": "14_reduce_scatter", "15": "15_all_to_all",
        "16": "16_putting_it_together"}

# by hand, builtin, how lines are compared, bytes, reuse
ROWS = [
    ("08", "11 --mode mesh", exact, mesh, mesh_reuse),
    ("09", "11 --mode two_phase", any_window, two_phase, two_phase_reuse),
    ("10", "11 --mode ring", exact, ring, ring_reuse),
    ("12 --mode hand", "12 --mode builtin", exact, broadcast, one_barrier),
    ("13 --mode hand", "13 --mode builtin", barriers, mesh, one_barrier),
    ("14 --mode hand", "14 --mode builtin", exact, mesh, one_barrier),
    ("15 --mode hand", "15 --mode builtin", any_value, mesh, one_barrier),
    (None, "16 --mode three", None, three, three_reuse),
    (None, "16 --mode one", None, three, three_reuse),
]
AUTO = ["11 --mode auto", "12 --mode auto", "13 --mode auto", "14 --mode auto", "15 --mode auto"]


# ---- runs -----------------------------------------------------------------------------------------------------------

class Run:
    """A step under pldrun, with what was seen of it.  program: instead of the step's own."""

    def __init__(self, step, p, *options, program=None, limit=20):
        words = step.split()
        files = [os.path.join(folder.name, name) for name in ("schedule", "report")]
        program = program or "tutorials/" + HAND[words[0]]
        run = subprocess.run(["./pldrun", "-n", str(p), "--timeout", str(limit), "--schedule", files[0], "--report", files[1],
                              program, *words[1:], *map(str, options)], stdin=subprocess.DEVNULL, capture_output=True,
                             text=True, timeout=60)
        self.name = "%s %s, %d ranks" % (step, " ".join(map(str, options)), p)
        self.out, self.err = run.stdout, run.stderr
        self.ok = run.returncode == 0 and run.stdout.endswith("OK\n") and run.stderr == ""
        with open(files[0]) as f:
            lines = f.read().splitlines()
        self.steps = [line for line in lines if not line.endswith(" reuse")]
        self.reuse, rank = [0] * p, 0
        for line in lines:
            rank = int(line.split()[1]) if line.startswith("rank ") else rank
            self.reuse[rank] += line.endswith(" reuse")
        with open(files[1]) as f:
            report = json.load(f)
        self.bytes = [r["remote_bytes_read"] + r["remote_bytes_written"] for r in report["ranks"]]
        self.matrix = report["bytes"]


def finished(run):
    if not run.ok:
        wrong(run.name, "failed:", run.out, run.err)
    return run


def differences(hand, builtin, how):
    """Lines that only one of them has."""
    a, b = ([s for s in map(how, run.steps) if s] for run in (hand, builtin))
    return [line for line in difflib.unified_diff(a, b, hand.name, builtin.name, "", "", 0, "") if line]


def same_lines(hand, builtin, how):
    diff = differences(hand, builtin, how)
    if diff or len([s for s in hand.steps if how(s)]) < 3 * len(hand.bytes):
        wrong("schedules differ, or are too short:", "\n".join(diff))


def right_cost(run, formula, n, times=1):
    p = len(run.bytes)
    want = [times * formula(r, n, p) for r in range(p)]
    if run.bytes != want or [sum(row) for row in run.matrix] != want:
        wrong(run.name, "bytes", run.bytes, run.matrix, "formula", want)
    line = " ".join(str(formula(r, n, p)) for r in range(p))
    if times == 1 and "moved by rank 0, 1, ..: %s (formula: %s)\n" % (line, line) not in run.out:
        wrong(run.name, "prints:", run.out, "wanted", line)


def right_reuse(run, formula, n, times=1):
    p = len(run.bytes)
    want = [times * formula(n, p)] * p
    if run.reuse != want:
        wrong(run.name, "lines for reuse:", run.reuse, "formula", want)


# ---- the steps ------------------------------------------------------------------------------------------------------

def check_row(hand_step, step, how, cost, reuse):
    for p in PS if hand_step or LONG else (2, 3):
        for n in (64, ODD) if p in (4, 8) else (64,):
            builtin = finished(Run(step, p, "--size", n))
            right_cost(builtin, cost, n)
            right_reuse(builtin, reuse, n)
            if hand_step:
                hand = finished(Run(hand_step, p, "--size", n))
                right_cost(hand, cost, n)
                right_reuse(hand, lambda n, p: 0, n)
                same_lines(hand, builtin, how)
                if hand.matrix != builtin.matrix:
                    wrong(builtin.name, hand.matrix, builtin.matrix)


def check_long(hand_step, step, cost, reuse):
    """Several chunks, and several uses."""
    for p, n, times in ((2, 20001, 1), (3, ODD, 3), (1, ODD, 2)):
        options = ["--size", n] + (["--repeat", times] if times > 1 else [])
        for name in filter(None, (hand_step, step)):
            run = finished(Run(name, p, *options))
            if p > 1:
                right_cost(run, cost, n, times)
            elif any(run.bytes) or len(run.steps) > 40:
                wrong(run.name, "alone:", run.bytes, run.steps)
            if name == step:
                right_reuse(run, reuse if p > 1 else lambda n, p: 0, n, times)


def check_auto():
    for step in AUTO:
        run = finished(Run(step, 3))
        if "formula" in run.out or "moved by rank 0, 1, ..: %s\n" % " ".join(map(str, run.bytes)) not in run.out:
            wrong(run.name, run.bytes, "prints", run.out)


# ---- mutations ------------------------------------------------------------------------------------------------------

# file, right text (its first occurrence), wrong text for it, step, what must differ: lines, bytes, reuse; hang: it
# waits for ever
READ = "pldi_coll_read(c, m, at, elems)"
MUTATIONS = [
    ("allreduce.c", READ, "(%s, %s)" % (READ, READ), "11 --mode mesh", "lines bytes"),
    ("allreduce.c", READ, "pldi_coll_read(c, n - 1 - m == me ? m : n - 1 - m, at, elems)", "11 --mode mesh", "lines"),
    ("allreduce.c", "m == me ? pldi_coll_own(c, at)", "m == n ? pldi_coll_own(c, at)", "11 --mode mesh", "lines"),
    ("allreduce.c", "rc = pldi_coll_barrier(c, 0, PLDI_REUSE);", "", "11 --mode mesh", "reuse"),
    ("allreduce.c", "rc = pldi_coll_barrier(c, 0, PLDI_REUSE);", "rc = pldi_coll_barrier(c, 0, PLDI_STEP);",
     "11 --mode mesh", "lines reuse"),
    ("allreduce.c", "m == me ? out[0] : pldi_coll_read", "m == n ? out[0] : pldi_coll_read", "11 --mode two_phase", "lines"),
    ("allreduce.c", "pldi_coll_read(c, m, mine, elems)", "pldi_coll_read(c, m, 0, c->count)", "11 --mode two_phase",
     "lines bytes"),
    ("allreduce.c", "pldi_coll_barrier(c, 1, PLDI_STEP)", "PL_OK", "11 --mode two_phase", "lines reuse"),
    ("allreduce.c", "reduces ? round + 2", "reduces ? round + 1", "11 --mode ring", "lines bytes"),
    ("allreduce.c", "round - r->n + 2;", "round - r->n + 3;", "11 --mode ring", "lines bytes"),
    ("allreduce.c", ".left = (me - 1 + n) % n", ".left = (me + 1) % n", "11 --mode ring", "lines hang"),
    ("allreduce.c", "round < 2 * (r->n - 1) - 1", "round < 2 * (r->n - 1) - 2", "11 --mode ring", "lines hang"),
    ("allreduce.c", "row = 1; row < 2", "row = 2; row < 2", "11 --mode ring", "reuse"),
    ("sync.c", "if (rc == PL_OK && c->signal.as_)\n", "if (rc == PL_OK && !c)\n", "11 --mode mesh", "reuse"),
    ("sync.c", "if (m != me)\n\t\t\tpldi_coll_notify", "if (m)\n\t\t\tpldi_coll_notify", "14 --mode builtin", "lines hang"),
]


by_hand = {}  # a step's run, which its builtin's mutations are compared with


def link(name, program, *objects):
    words = shlex.split("%(CC)s %(CPPFLAGS)s %(SANITIZE)s -std=c11 -g -c" % os.environ)
    run = subprocess.run(words + ["-o", name + ".o", name + ".c"], capture_output=True, text=True)
    if not run.returncode:
        run = linking.link("%(CC)s %(SANITIZE)s" % os.environ, name, list(objects))
    if run.returncode:
        wrong(name, program, run.stderr)
    return not run.returncode


def check_mutation(number, file, right, mutant, step, noticed):
    """The mode with a wrong line, in the step's program: linked before the library, it is taken instead of its own."""
    path = os.path.join(folder.name, "m%d" % number)
    program = HAND[step.split()[0]]
    what = "%s: %s for %s" % (file, mutant, right)
    with open(os.path.join(SRC, "lib/coll", file)) as f:
        text = f.read()
    if right not in text:
        wrong(what, "is not there")
        return
    with open(path + ".c", "w") as f:
        f.write(text.replace(right, mutant, 1))
    if not link(path, program, path + ".o", "tutorials/%s.o" % program):
        return
    hand_step, _, how, cost, reuse = next(row for row in ROWS if row[1] == step)
    p = 4
    if step not in by_hand:
        by_hand[step] = Run(hand_step, p, "--size", ODD)
    run = Run(step, p, "--size", ODD, program=path, limit=1 if "hang" in noticed else 20)
    seen = ["hang"] if "--timeout" in run.err or "deadlock:" in run.err else []
    if differences(by_hand[step], run, how):
        seen.append("lines")
    if run.bytes != [cost(r, ODD, p) for r in range(p)]:
        seen.append("bytes")
    if run.reuse != [reuse(ODD, p)] * p:
        seen.append("reuse")
    for word in noticed.split():
        if word not in seen:
            wrong(what, "is not noticed by its", word, "but by", seen)
    os.unlink(path)


for row in ROWS:
    check_row(*row)
    check_long(row[0], row[1], row[3], row[4])
check_auto()
for i, mutation in enumerate(MUTATIONS):
    check_mutation(i, *mutation)
sys.exit(1 if bad else 0)
