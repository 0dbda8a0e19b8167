# pitfalls.py [--paste] - runs the commands of each page and compares what they print with the page;
# those behind the diff block of the pitfall with the mistake made.  --paste writes it into the page
# instead.  A block after "<!-- race -->" shows what can happen: it has to happen within 100 runs,
# with any numbers.
import os
import re
import shlex
import subprocess
import sys
import tempfile

import linking

from pages import apply, pages, srcdir, tutorials, wrong, finish

CC = shlex.split(os.environ.get("CC", "cc"))
FLAGS = shlex.split(os.environ.get("CPPFLAGS", "-I%s/include -I." % srcdir))
here = os.getcwd()
FLAGS = [re.sub(r"^-I(?!/)", "-I" + here + "/", f) for f in FLAGS]


def compile_step(work, name):
    return subprocess.run(CC + FLAGS + ["-I" + os.path.abspath(tutorials), "-std=c11", "-g", "-c",
                                        name + ".c"],
                          cwd=work, capture_output=True, text=True)


def link(work, name):
    r = linking.link(shlex.join(CC), work + "/" + name, [work + "/" + name + ".o"])
    if r.returncode:
        wrong(name, "cannot be linked:", r.stderr)
    return not r.returncode


def run(command, work):
    """What a command of a page prints, as a terminal would show it."""
    words = shlex.split(command)
    if words[0] == "pldrun":
        words[0] = here + "/pldrun"
    r = subprocess.run(words, cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, timeout=60)
    return r.stdout.rstrip("\n").split("\n")


def commands(block):
    """(command, its output) of a console block."""
    found = []
    for line in block.lines:
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def shape(lines):
    """Lines without what differs from run to run of a race: numbers, and what the ranks hold."""
    lines = [re.sub(r"^(\d\d_\w+: )(?:every rank|ranks? \d[\d, ]*): .*", r"\1ranks: what", line)
             for line in lines]
    return sorted({re.sub(r"0x[0-9a-f]+|-?\d+(\.\d+)?(e[-+]\d+)?", "N", line) for line in lines})


def steady(lines):
    """Lines without what may differ: process ids, times, which of the ranks was first to say it."""
    lines = [re.sub(r"\b(for|waiting) \d+\.\d s\b", r"\1 N s", line) for line in lines]
    # a table of ranks: its second column is as wide as the process ids
    lines = [re.sub(r"^(pldrun:  +(?:\d+|rank)) +(\d+|pid) +", r"\1 N ", line) for line in lines]
    return [re.sub(r"\b(pid|process|rank) \d+", r"\1 N", line) for line in lines]


def compiler(text):
    """The lines of a compiler's message that name the mistake, with its quotes as in the C locale."""
    return [re.sub("[‘’]", "'", line) for line in text.split("\n") if "error:" in line]


def play(page, block, work):
    """The console block as it should be; None where the page is wrong beyond pasting."""
    name = page.name[:-3]
    with open(os.path.join(work, name + ".c"), "w") as f:
        diff = next(b for b in page.blocks if b.kind() == "diff")
        f.write("\n".join(apply(diff, open(page.program).read().split("\n"))))
    built = compile_step(work, name)
    lines = []
    for command, printed in commands(block):
        lines.append("$ " + command)
        if command.startswith("cc "):
            if built.returncode == 0:
                wrong("%s: the mistake compiles" % page.name)
            lines += compiler(built.stderr)
            continue
        if built.returncode:
            wrong("%s: the mistake does not compile: %s" % (page.name, built.stderr))
            return None
        if not os.path.exists(os.path.join(work, name)) and not link(work, name):
            return None
        got = run(command, work)
        if block.race:
            wanted = shape(printed) if "PASTE-REAL-OUTPUT" not in printed else None
            for _ in range(100):
                if got[-1] != "OK" and wanted in (None, shape(got)):
                    break
                got = run(command, work)
            if wanted == shape(got):
                got = printed
        lines += got
    return lines


def show(block, work):
    """A console block of the steps as they are, run where all of them are."""
    lines = []
    for command, _ in commands(block):
        r = subprocess.run(["sh", "-c", command], cwd=work, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
                           env=dict(os.environ, PATH=here + ":" + os.environ["PATH"]))
        lines += ["$ " + command] + r.stdout.splitlines()
    return lines


paste = sys.argv[1:] == ["--paste"]
is_gcc = "gcc" in os.path.realpath(subprocess.run(["which", CC[0]], capture_output=True,
                                                  text=True).stdout.strip())
for page in pages():
    now = []  # block, its lines as they should be
    with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory() as steps:
        for other in pages():
            os.symlink(os.path.join(here, "tutorials", other.name[:-3]),
                       os.path.join(steps, other.name[:-3]))
        for block in page.blocks:
            if block.kind() == "console":
                pitfall = block.section == "The fatal pitfall"
                now.append((block, play(page, block, work) if pitfall else show(block, steps)))
    for block, lines in reversed(now):
        if lines is None or steady(lines) == steady(block.lines):
            continue
        if paste:
            page.lines[block.first:block.first + len(block.lines)] = lines
            with open(page.path, "w") as f:
                f.write("\n".join(page.lines))
        elif block.lines[0].startswith("$ cc ") and not is_gcc:
            continue  # another compiler, other words; that it refuses has been seen
        else:
            wrong("%s:%d: the page shows\n%s\nand now it is\n%s" %
                  (page.name, block.first, "\n".join(block.lines), "\n".join(lines)))
finish()
