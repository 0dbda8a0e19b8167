"""What the scripts of this folder share: running pldrun, and looking for what it left behind."""
import os
import signal
import subprocess
import sys
import time

PLDRUN = os.path.abspath("pldrun")
ACT = os.path.abspath("tests/launch/act")
# times that are allowed grow under a sanitizer, and on a machine that has much else to do
SLOW = (4 if os.environ.get("SANITIZE") else 1) * min(5, max(1, os.getloadavg()[0] / os.cpu_count() / 2))
MARK = "PLD_TEST_MARK=%d.%d" % (os.getpid(), time.time_ns())
HANG = 30 * min(2, SLOW)

os.environ[MARK.split("=")[0]] = MARK.split("=")[1]


def processes():
    """Numbers of processes with our mark in their environment, but this one."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open("/proc/%s/environ" % name, "rb") as f:
                if MARK.encode() not in f.read().split(b"\0"):
                    continue
            with open("/proc/%s/stat" % name) as f:
                if f.read().rpartition(")")[2].split()[0] != "Z":
                    found.append(int(name))
        except OSError:
            pass
    return found


def gone_within(seconds):
    """Waits until no process of ours is left; those that are left after so long."""
    end = time.monotonic() + seconds
    while True:
        left = processes()
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


def inner_of(pid, seconds=10):
    """The inner process of pldrun pid; None when it is not there in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
                children = f.read().split()
            if children:
                return int(children[0])
        except OSError:
            return None
        time.sleep(0.001)
    return None


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

    def nothing_left(self, name, seconds=1.0):
        left = gone_within(seconds * SLOW)
        self.check(not left, name, "processes are left after", seconds, "s:",
                   [(p, command_line(p)) for p in left])
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        self.check(not shm_names(), name, "names are left in /dev/shm:", shm_names())

    def done(self):
        print("%d checks, %d failed" % (self.count, self.failed))
        sys.exit(1 if self.failed else 0)
