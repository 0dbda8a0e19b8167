# quotes.py - a page has its sections, its quotes are lines of the program in the program's order,
# its pitfall can be made, its outputs were pasted; a program has its head and is short.
import os

from pages import SECTIONS, apply, pages, tutorials, wrong, finish

HEAD = ["Step ", "You know:", "New here:", "Picture:", "Cost:", "Run:", "Prints:", "Try:"]

for page in pages():
    source = open(page.program).read().split("\n")
    stripped = [line.strip() for line in source]
    if page.sections != SECTIONS:
        wrong("%s: sections %s, wanted %s" % (page.name, page.sections, SECTIONS))

    # Quotes, in order through the page.
    at = 0
    for block in page.blocks:
        if block.kind() != "c":
            continue
        if len(block.info) > 1:
            other = open(os.path.join(tutorials, block.info[1])).read().split("\n")
            other = [line.strip() for line in other]
            for line in block.lines:
                if line.strip() and line.strip() not in other:
                    wrong("%s:%d: not in %s: %s" % (page.name, block.first, block.info[1], line))
            continue
        for line in filter(None, map(str.strip, block.lines)):
            if line in stripped[at:]:
                at += stripped[at:].index(line) + 1
            elif line in stripped:
                wrong("%s:%d: out of the program's order: %s" % (page.name, block.first, line))
            else:
                wrong("%s:%d: not in the program: %s" % (page.name, block.first, line))

    # The pitfall: a change that can be made, and what happens then.
    kinds = [b.kind() for b in page.blocks if b.section == "The fatal pitfall"]
    if kinds != ["diff", "console"]:
        wrong("%s: the pitfall has blocks %s, wanted a diff and a console" % (page.name, kinds))
    for block in page.blocks:
        if block.kind() == "diff":
            try:
                apply(block, source)
            except ValueError as e:
                wrong("%s:%d: %s" % (page.name, block.first, e))
        if "PASTE-REAL-OUTPUT" in block.lines:
            wrong("%s:%d: output is still to be pasted: pitfalls.py --paste" % (page.name, block.first))
    for i, line in enumerate(page.lines):
        if len(line) > 100 and not line.startswith("|") and line not in source:
            if not any(b.first <= i < b.first + len(b.lines) for b in page.blocks):
                wrong("%s:%d: %d columns" % (page.name, i + 1, len(line)))

    # The head, and the length.
    head = "\n".join(source[:source.index(" */")])
    found = [head.find("\n * " + word) for word in HEAD]
    if -1 in found or found != sorted(found):
        wrong("%s: head needs, in this order: %s" % (page.program, HEAD))
    if len(source) > 151:
        wrong("%s: %d lines, up to 150 allowed" % (page.program, len(source) - 1))
    if "Step %s of 16:" % page.name[:2] not in head:
        wrong("%s: head has another number" % page.program)
finish()
