"""Compares the overview of the viewer with the tables of a run. The viewer wrote NAME.strips (state overview-bands),
NAME (state overlay) and NAME.bands (state bands). states.json is from poet states, path.json from poet path
--by thread.

overview.py path NAME      the path's length on each row is that of poet path
overview.py covered NAME   the path covers the full width, and no pixel twice
overview.py kinds NAME     wait times of each thread, of all classes, are those of poet states
overview.py states NAME    the states below the overview are those of poet states
overview.py measured NAME  so are the running, runnable and off-CPU parts of its bands, where CPU states are known
These print "alike", or what is different.

overview.py most NAME      prints the label of each row and the class that it waited most by, in the order of labels
overview.py hops NAME      prints the rows "TO FROM" of each hop of the path
"""
import collections
import json
import os
import re
import sys

what, name = sys.argv[1:]


def lines(path):
    return open(path, encoding="utf-8").read().splitlines() if os.path.exists(path) else []


def pairs(words):
    """The figures of NAME FIGURE NAME FIGURE..."""
    return dict(zip(words[::2], map(float, words[1::2])))


def rows(path):
    """The rows of a table, by thread."""
    table = map(json.loads, lines(path))
    return {line["row"]["thread"]: line["row"] for line in table if line.get("depth") == 0}


def ms(row, column):
    return (row[column + "_ns"] or 0) / 1e6


labels, measured = [], {}
for line in lines(name + ".strips"):
    range_ns = re.search(r", (-?\d+) to (-?\d+),", line)
    if range_ns:
        span = (int(range_ns[2]) - int(range_ns[1])) / 1e6
    if line.startswith("row "):
        labels.append(line.split()[-1])
    elif line.startswith("measured "):
        measured[line.split()[1]] = pairs(line.split()[2:])
length, share, waits, hops = collections.Counter(), collections.Counter(), {}, []
for line in lines(name):
    words = line.split()
    if words[0] == "trail":
        pixels = int(words[2])
    elif words[0] == "path":
        row, begin, end, part = int(words[1]), int(words[2]), int(words[3]), float(words[4])
        length[labels[row]] += (end - begin) * part * span / pixels
        for pixel in range(begin, end):
            share[pixel] += part
        hop = re.search(r" hops 1 after (\d+)$", line)
        if hop:
            hops.append(labels[row] + " " + labels[int(hop[1])])
    elif words[0] == "kinds":
        waits[labels[int(words[1])]] = pairs(words[2:])
threads, different = rows("states.json"), []


def compare(shown, wanted, where):
    if abs(shown - wanted) >= 0.015 * span:
        different.append(f"{where}: {shown} ms, not {wanted}")


if what == "most":
    for label, classes in sorted(waits.items()):
        print(label, max(classes, key=classes.get, default=None))
    sys.exit()
if what == "hops":
    print(*hops, sep="\n")
    sys.exit()
if what == "path":
    for thread, row in rows("path.json").items():
        compare(length[thread], ms(row, "critical_path"), thread)
elif what == "kinds":
    for thread, row in threads.items():
        compare(sum(waits.get(thread, {}).values()) * span, ms(row, "blocked"), thread)
elif what == "measured":
    for thread, row in threads.items():
        if any(ms(row, column) for column in ("runnable", "other_off_cpu")):
            for state, column in ("running", "running"), ("runnable", "runnable"), ("off-CPU", "other_off_cpu"):
                compare(measured.get(thread, {}).get(state, 0) * span, ms(row, column), f"{thread} {state}")
elif what == "states":
    bands = {words[2]: pairs(words[3:]) for words in map(str.split, lines(name + ".bands"))}
    for thread, row in threads.items():
        of = collections.Counter({state: count * span / pixels for state, count in bands[thread].items()})
        for state in "created", "blocked", "exited":
            compare(of[state], ms(row, state), f"{thread} {state}")
        # The part of unattributed time that ran is known for a whole lifetime only.
        rest = "rest", "runnable", "running", "other_off_cpu"
        compare(sum(of[state] for state in rest), sum(ms(row, state) for state in rest[1:]), f"{thread} rest")
else:
    different += [f"a pixel has {part} of the path" for part in share.values() if part > 1.002]
    if sum(share.values()) < 0.97 * pixels:
        different.append(f"{sum(share.values())} of {pixels} pixels have the path")
if len(threads) != 4:
    different.append("other threads")
print("\n".join(different) or "alike")
