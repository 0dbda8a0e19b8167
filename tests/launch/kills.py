"""A job of which something is killed, and what must be true afterwards."""
import re
import signal
import subprocess
import time

from pldtest import HANG, at_most, children, inner_of, kill, start

VICTIMS = ["rank", "ranks", "inner", "outer", "all", "outer and rank", "both"]


def ranks_of(p, wanted=True):
    """Numbers of the ranks that are there; wanted: waits for the first."""
    inner = inner_of(p.pid)
    ranks = children(inner) if inner else []
    while wanted and inner and not ranks and p.poll() is None:
        ranks = children(inner)
    return inner, ranks


def strike(p, victim, rng):
    """Kills; what it was in the end, and which ranks: what is not there yet cannot be killed."""
    if victim == "outer":
        kill(p.pid)
        return victim, []
    inner, ranks = ranks_of(p, "rank" in victim)
    some = []
    if not inner or ("rank" in victim and not ranks):
        victim = "outer"
        kill(p.pid)
    elif victim == "all":
        for pid in ranks + [inner]:
            kill(pid)
    elif victim == "both":
        both = [p.pid, inner]
        rng.shuffle(both)
        for pid in both:
            kill(pid)
    elif victim == "inner":
        kill(inner)
    else:
        some = ranks if victim == "ranks" and rng.randrange(2) else [rng.choice(ranks)]
        if victim == "outer and rank":
            kill(p.pid)
        for pid in some:
            kill(pid)
    return victim, some


def kill_one(t, rng, name, args, victim, delay, **more):
    """Starts pldrun with args, kills, and judges; seconds from the kill to pldrun's end."""
    p = start(args, stdout=subprocess.DEVNULL, **more)
    time.sleep(delay)
    victim, some = strike(p, victim, rng)
    begin = time.monotonic()
    name = "%s, kill %s after %.4f s" % (name, victim, delay)
    try:
        err = p.communicate(timeout=HANG)[1].decode()
    except subprocess.TimeoutExpired:
        t.check(False, name, "pldrun hangs")
        p.kill()
        err = p.communicate()[1].decode()
    took = time.monotonic() - begin
    t.check(took < at_most(1), name, "took", took, "s")
    if victim in ("rank", "ranks"):
        own = "".join(line for line in err.splitlines(True) if line.startswith("pldrun: "))
        said = re.fullmatch(r"pldrun: rank \d+ \(pid (\d+)\) was killed by signal 9 \(Killed\).*\n", own)
        t.check(p.returncode == 128 + signal.SIGKILL, name, "status", p.returncode, repr(err))
        t.check(said and int(said.group(1)) in some, name, "killed", some, "stderr is", repr(err))
    elif victim in ("inner", "all"):
        t.check(p.returncode > 0 and "pldrun: " in err, name, "status", p.returncode, repr(err))
    t.nothing_left(name)
    return took
