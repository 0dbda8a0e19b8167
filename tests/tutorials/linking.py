"""Linking a step's program as libtool would: it is asked once, for it takes longer than the linker."""
import functools
import re
import shlex
import subprocess


@functools.lru_cache(None)
def _line(cc):
    said = subprocess.run(["./libtool", "--dry-run", "--tag=CC", "--mode=link"] + shlex.split(cc) +
                          ["-o", "OUT", "IN", "tutorials/common/libtut.la"],
                          capture_output=True, text=True, check=True).stdout
    return re.search("^libtool: link: (.*)$", said, re.M).group(1)


def link(cc, program, objects):
    """The linker's run.  cc: compiler and its flags; objects come before the libraries."""
    words = []
    for word in shlex.split(_line(cc)):
        words += [program] if word == "OUT" else objects if word == "IN" else [word]
    return subprocess.run(words, capture_output=True, text=True)
