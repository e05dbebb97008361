"""Compares charts and state bands with the tables of poet states; prints "alike", or what is different.

charts.py states LIST CHART     LIST: poet states --list --json, CHART: a text chart. Each character is the state with
                                the most time there, or one with nearly as much, or several; it is blank where the
                                thread did not exist.
charts.py lives STATES CHART    STATES: poet states --json. Each row is filled from the start of its thread to its
                                end, to a character or two.
charts.py bands STATES BANDS    BANDS: of the viewer's "state bands". Each state has its share of the pixels.
"""
import collections
import json
import re
import sys

LETTERS = {"created": ":", "exited": ":", "runnable": "-", "running": "#", "blocked": "=", "off-CPU (other)": "."}
UNITS = {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}
STATES = "created", "runnable", "running", "blocked", "other_off_cpu", "exited"


def table(path):
    return [line["row"] for line in map(json.loads, open(path, encoding="utf-8")) if "row" in line]


def chart_rows(path):
    """Of each row of a chart: its thread, its characters, the time of the first one, the time of each."""
    lines = open(path, encoding="utf-8").read().splitlines()
    labels = {line: line.split()[0] for line in lines if re.match(r"T:\S+ ", line)}
    indent = max(map(len, labels.values())) + 2
    for line in lines:
        ruler = re.match(r"from ([\d.]+) (\S+) to ([\d.]+) (\S+)", line)
        if ruler:
            begin, end = float(ruler[1]) * UNITS[ruler[2]], float(ruler[3]) * UNITS[ruler[4]]
        if line in labels:
            yield labels[line], line[indent:], begin, (end - begin) / len(line[indent:])


def compare_states(rows, chart):
    """Returns what is different, and how many characters were compared."""
    spells, wrong, seen = collections.defaultdict(list), [], 0
    for row in rows:
        spells[row["thread"]].append((LETTERS[row["state"]], row["from_ns"], row["from_ns"] + row["duration_ns"]))
    for thread, characters, begin, each in chart_rows(chart):
        for i, shown in enumerate(characters):
            start, end = begin + i * each, begin + (i + 1) * each
            times = collections.Counter()
            for letter, since, until in spells[thread]:
                times[letter] += max(0, min(until, end) - max(since, start))
            total = sum(times.values())
            seen += shown != " "
            if shown == " ":
                right = total < 0.01 * each
            elif shown == "%":
                right = max(times.values(), default=0) < 0.65 * total
            else:
                right = times[shown] > 0.55 * total
            if not right:
                shares = ", ".join(f"{letter} {100 * time / each:.0f}" for letter, time in times.items() if time)
                wrong.append(f"{thread}, letter {i} is '{shown}', but {shares}")
    return wrong, seen


def compare_lives(rows, chart):
    wrong, seen = [], 0
    lives = {row["thread"]: (row["start_ns"] + row["created_ns"], row["end_ns"] - row["exited_ns"]) for row in rows}
    for thread, characters, begin, each in chart_rows(chart):
        if thread not in lives:
            continue
        start, end = ((time - begin) / each for time in lives[thread])
        first, after = characters.find("#"), characters.rfind("#") + 1
        if first < 0 or abs(first - max(start, 0)) > 1.01 or abs(after - end) > 1.01:
            wrong.append(f"{thread}: {first} to {after}, not {start} to {end}")
        seen += 1
    return wrong, seen


def compare_bands(rows, bands):
    wrong, seen = [], 0
    threads = {row["thread"]: row for row in rows}
    for line in open(bands, encoding="utf-8"):
        band = re.match(r"row \d+ (T:\S+)", line)
        if not band:
            continue
        pixels = {state: float(count) for state, count in re.findall(r" (\w+) ([\d.]+)", line[band.end():])}
        total = sum(pixels[state] for state in (*STATES, "unknown"))
        for state in STATES:
            share = threads[band[1]][state + "_ns"] / threads[band[1]]["lifetime_ns"]
            if abs(pixels[state] / total - share) > 0.02:
                wrong.append(f"{band[1]}: {state} has {pixels[state]} of {total} pixels, not {share}")
        seen += 1
    return wrong, seen


what, states, shown = sys.argv[1:]
wrong, seen = {"states": compare_states, "lives": compare_lives, "bands": compare_bands}[what](table(states), shown)
if not {"states": seen > 50, "lives": seen > 15, "bands": seen == 3}[what]:
    wrong.append(f"{seen} were compared")
print("\n".join(wrong) or "alike")
