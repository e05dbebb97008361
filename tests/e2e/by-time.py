"""Compares what is placed by time with the times of the events in DUMP (poet dump --json); prints what is wrong.

by-time.py diagram DUMP TEXT COLUMN_NS whole|end   a diagram as text, with rows named with the numbers of their
                                                   lines (--labels id): the marks of a row are all events of its line,
                                                   or the last ones. Times grow to the right, and agree with the ruler.
by-time.py scenes DUMP SCENE...                    saved scenes of the viewer: times grow to the right
by-time.py waits DUMP BANDS                        state bands of the overview: how long each thread waits
"""
import collections
import json
import re
import sys

UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}


def misplaced(marks):
    """Counts the marks (time, column) that are left of an earlier event. Events of one call have the same time."""
    wrong, rightmost = 0, -1
    for _, column in sorted(marks):
        wrong += column < rightmost
        rightmost = max(rightmost, column)
    return wrong


def diagram(dump, picture, column_ns, part):
    times, marks, ticks, wrong = collections.defaultdict(list), [], [], 0
    for event in dump:
        times[event["event"].split(":")[0]].append(event["time_ns"])
    for row in open(picture, encoding="utf-8"):
        label = re.match(r"\S.*?#(\d+) ", row)
        if re.match(r" *\|-?\d", row):
            found = re.finditer(r"\|(-?[\d.e+]+) (ns|µs|ms|s)\b", row)
            ticks += [(tick.start(), float(tick[1]) * UNITS[tick[2]]) for tick in found]
        elif label:
            columns = [mark.start() for mark in re.finditer("[○⊘●□■]", row)]
            own = times[label[1]]
            if len(own) != len(columns) and (part == "whole" or len(own) < len(columns)):
                wrong += 1
            marks += zip(own[max(0, len(own) - len(columns)):], columns)
    wrong += misplaced(marks)
    before = -1
    for column, time in ticks:
        wrong += time < 0 or time <= before
        before = time
        wrong += sum(at > column and event < time - column_ns * 0.51 for event, at in marks)
        wrong += sum(at < column and event > time + column_ns * 0.51 for event, at in marks)
    seen = "events" if len(marks) > 10 else f"{len(marks)} events"
    return f"{wrong} wrong, {seen}, {'ticks' if ticks else 'no ticks'}"


def scenes(dump, paths):
    times = {event["event"]: event["time_ns"] for event in dump}
    wrong = seen = 0
    for path in paths:
        found = re.findall(r"^mark (\d+:\d+) row \d+ column (\d+) ", open(path, encoding="utf-8").read(), re.M)
        marks = [(times[event], int(column)) for event, column in found]
        wrong += misplaced(marks)
        seen += len(marks)
    return f"{wrong} wrong, {'many' if seen > 60 else seen} events"


def waits(dump, bands):
    since, waited = {}, collections.Counter()
    for event in dump:
        thread, time = event["thread"], event["time_ns"]
        if event["type"] in ("wait", "acquire", "join"):
            since.setdefault(thread, time)
        elif event["type"] in ("wake", "lock", "joined") and thread in since:
            waited[thread] += time - since.pop(thread)
    times = [event["time_ns"] for event in dump]
    duration = max(times) - min(times) + 1
    shares = re.findall(r"^row (\d+) [\d.]+ [\d.]+ ([\d.]+) [\d.]+ T:", open(bands, encoding="utf-8").read(), re.M)
    wrong = []
    for line, shown in shares:
        share = waited[int(line)] / duration
        if abs(float(shown) - share) > 0.02:
            wrong.append(f"{line}: {shown}, not {share}")
    return f"{len(shares)} threads, {'; '.join(wrong) or 'right'}"


what, path, *arguments = sys.argv[1:]
lines = map(json.loads, open(path, encoding="utf-8"))
events = [line for line in lines if re.match(r"\d", line.get("event") or "")]
if what == "diagram":
    print(diagram(events, arguments[0], float(arguments[1]), arguments[2]))
elif what == "scenes":
    print(scenes(events, arguments))
else:
    print(waits(events, arguments[0]))
