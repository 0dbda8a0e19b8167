# pages.py - reading the pages of the steps: read by the checks here.
import glob
import os
import re
import sys

srcdir = os.environ.get("srcdir", ".")
tutorials = os.path.join(srcdir, "tutorials")
SECTIONS = ["Run it", "Walkthrough", "Cost card", "The fatal pitfall", "Symptoms", "Next"]
bad = 0


def wrong(*what):
    global bad
    bad = 1
    print(*what)


def finish():
    sys.exit(bad)


class Block:
    """A fenced block: what stands behind the fence, its lines, where it is."""

    def __init__(self, info, section, first):
        self.info, self.section, self.first = info.split(), section, first
        self.lines = []
        self.race = False

    def kind(self):
        return self.info[0] if self.info else ""


class Page:
    def __init__(self, path):
        self.path = path
        self.name = os.path.basename(path)
        self.program = path[:-3] + ".c"
        self.lines = open(path).read().split("\n")
        self.sections, self.blocks = [], []
        block, race = None, False
        for i, line in enumerate(self.lines):
            if block is not None:
                if line == "```":
                    block = None
                else:
                    block.lines.append(line)
            elif line.startswith("```"):
                block = Block(line[3:], self.sections[-1] if self.sections else "", i + 1)
                block.race = race
                race = False
                self.blocks.append(block)
            elif line.startswith("## "):
                self.sections.append(line[3:])
            elif line == "<!-- race -->":
                race = True
        if block is not None:
            wrong("%s: a block has no end" % self.name)


def pages():
    found = sorted(glob.glob(os.path.join(tutorials, "[0-9]*.md")))
    if len(found) < 16:
        wrong("%d pages in %s, wanted 16" % (len(found), tutorials))
    return [Page(p) for p in found]


def hunks(block):
    """The hunks of a diff block, as (old lines, new lines)."""
    old, new = [], []
    for line in block.lines + ["..."]:
        if line == "...":
            yield old, new
            old, new = [], []
            continue
        if line[:1] not in ("-", "+", " ", ""):
            raise ValueError("line of a diff without - + or blank: " + line)
        if line[:1] != "+":
            old.append(line[1:])
        if line[:1] != "-":
            new.append(line[1:])


def apply(block, lines):
    """lines with the diff applied; ValueError when a hunk is not there exactly once or more."""
    lines = list(lines)
    for old, new in hunks(block):
        at = [i for i in range(len(lines) - len(old) + 1) if lines[i:i + len(old)] == old]
        if not at:
            raise ValueError("not in the program: " + repr(old))
        lines[at[0]:at[0] + len(old)] = new
    return lines
