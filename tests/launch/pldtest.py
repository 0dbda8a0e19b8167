"""What the scripts of this folder share: running pldrun, and looking for what it left behind."""
import os
import random
import signal
import subprocess
import sys
import time

PLDRUN = os.path.abspath("pldrun")
ACT = os.path.abspath("tests/launch/act")
# times that are allowed in `make stress` grow under a sanitizer, and on a machine that has much else to do
SLOW = (4 if os.environ.get("SANITIZE") else 1) * min(5, max(1, os.getloadavg()[0] / os.cpu_count() / 2))
MARK = "PLD_TEST_MARK=%d.%d" % (os.getpid(), time.time_ns())
HANG = 30 * min(2, SLOW)
SECONDS = float(os.environ.get("STRESS_SECONDS") or 0) # 0: the short form of make check
# How a rank ends that was too slow to follow the end of its job: pldrun has ended it.
TOO_SLOW = (143, 137)

os.environ[MARK.split("=")[0]] = MARK.split("=")[1]


def at_most(seconds):
    """What may take so long in `make stress`.  In make check only a hang fails: its machine may be busy."""
    return seconds * SLOW if SECONDS else HANG


def eventually(condition, seconds=1.0):
    """Waits until it holds; whether it does."""
    end = time.monotonic() + at_most(seconds)
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


def new_random():
    """Random numbers from PLD_TEST_SEED, or from the clock; the seed is printed."""
    seed = int(os.environ.get("PLD_TEST_SEED") or time.time_ns() % 1000000007)
    print("PLD_TEST_SEED=%d" % seed, flush=True)
    return random.Random(seed)


def own_shm():
    """Starts this script again where /dev/shm is its own, if that is possible: then shm_bytes() is exact."""
    if os.environ.get("PLD_TEST_OWN_SHM") is not None:
        return
    mount = 'mount -t tmpfs -o mode=1777 tmpfs /dev/shm && exec "$@"'
    for flags in ("-m", "-Urm"):
        if subprocess.run(["unshare", flags, "sh", "-c", mount, "sh", "true"], stderr=subprocess.DEVNULL,
                          check=False).returncode == 0:
            os.environ["PLD_TEST_OWN_SHM"] = "1"
            os.execvp("unshare", ["unshare", flags, "sh", "-c", mount, "sh", sys.executable, "-B"] + sys.argv)
    os.environ["PLD_TEST_OWN_SHM"] = ""
    print("no mount namespace: memory in /dev/shm is not compared")


def shm_bytes():
    """Bytes in use in /dev/shm when it is our own; else 0."""
    if not os.environ.get("PLD_TEST_OWN_SHM"):
        return 0
    fs = os.statvfs("/dev/shm")
    return (fs.f_blocks - fs.f_bfree) * fs.f_frsize


def processes(mark=MARK):
    """Numbers of processes with our mark, or another, in their environment, but this one."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open("/proc/%s/environ" % name, "rb") as f:
                if mark.encode() not in f.read().split(b"\0"):
                    continue
            with open("/proc/%s/stat" % name) as f:
                if f.read().rpartition(")")[2].split()[0] != "Z":
                    found.append(int(name))
        except OSError:
            pass
    return found


def gone_within(seconds, mark=MARK):
    """Waits until no process of ours is left; those that are left after so long."""
    end = time.monotonic() + seconds
    while True:
        left = processes(mark)
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.005)


def command_line(pid):
    try:
        with open("/proc/%d/cmdline" % pid) as f:
            return f.read().replace("\0", " ")
    except OSError:
        return "?"


def shm_names():
    """Names in /dev/shm that stay.  One that a launcher was killed with is removed by the next."""
    def names():
        try:
            return {n for n in os.listdir("/dev/shm") if n.startswith("pld-")}
        except OSError:
            return set()
    first = names()
    if first:
        subprocess.run([PLDRUN, "-n", "1", "true"], check=True)
        first &= names()
    return first


class Result:
    def __init__(self, status, out, err, seconds):
        # a shell's way to say it
        self.status = 128 - status if status < 0 else status
        self.signal = -status if status < 0 else 0  # that pldrun itself has died of
        self.out, self.err, self.seconds = out, err, seconds


def run(args, stdin=b"", timeout=HANG, text=True, **more):
    """pldrun with args to its end.  Raises subprocess.TimeoutExpired when it hangs."""
    begin = time.monotonic()
    if isinstance(stdin, bytes):
        more["input"] = stdin
    else:
        more["stdin"] = stdin
    p = subprocess.run([PLDRUN] + [str(a) for a in args], stdout=more.pop("stdout", subprocess.PIPE),
                       stderr=more.pop("stderr", subprocess.PIPE), timeout=timeout, **more)
    out, err = p.stdout or b"", p.stderr or b""
    if text:
        out, err = out.decode(errors="replace"), err.decode(errors="replace")
    return Result(p.returncode, out, err, time.monotonic() - begin)


def start(args, **more):
    more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen([PLDRUN] + [str(a) for a in args], stdout=more.pop("stdout", subprocess.PIPE),
                            stderr=more.pop("stderr", subprocess.PIPE), **more)


def state(pid):
    """As ps shows it, 'Z' for one that has ended; '?' when there is none."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rpartition(")")[2].split()[0]
    except OSError:
        return "?"


def children(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
            return [int(c) for c in f.read().split()]
    except OSError:
        return []


def inner_of(pid, seconds=10):
    """The inner process of pldrun pid; None when it is not there in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = children(pid)
        if found:
            return found[0]
        if state(pid) in "?Z":
            return None
        time.sleep(0.001)
    return None


def kill(pid, sig=signal.SIGKILL):
    """Whether it was there."""
    try:
        os.kill(pid, sig)
        return True
    except OSError:
        return False


def status_of(p):
    code = p.wait(HANG)
    return 128 - code if code < 0 else code


class Tests:
    """Counts and names failures."""

    def __init__(self):
        self.failed = self.count = 0

    def check(self, ok, name, *what):
        self.count += 1
        if not ok:
            self.failed += 1
            print("FAILED %s:" % name, *what, flush=True)
        return ok

    def nothing_left(self, name, seconds=1.0, mark=MARK):
        left = gone_within(at_most(seconds), mark)
        self.check(not left, name, "processes are left after", seconds, "s:",
                   [(p, command_line(p)) for p in left])
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        self.check(not shm_names(), name, "names are left in /dev/shm:", shm_names())

    def done(self):
        print("%d checks, %d failed" % (self.count, self.failed))
        sys.exit(1 if self.failed else 0)
