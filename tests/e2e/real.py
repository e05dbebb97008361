"""Is what Poet tells of a run what the program measured itself?  python3 real.py WHAT MEASURED WAITS.json

A wait is no longer than the program measured, and shorter by no more than 2 %, or by what the program was late; so is what
is charged to each thread, which follows from how long each of them worked."""
import json
import sys

what, wrong = sys.argv[1], []
works, waits, holds, late, begun = {}, {}, {}, 300_000, {}
for kind, name, begin, end in (line.split() for line in open(sys.argv[2]) if line.count(" ") == 3):
    begin, end = int(begin), int(end)
    if kind == "late":
        late += end
    elif kind == "wait":
        waits.setdefault(name, []).append((begin, end))
    elif kind == "hold":
        holds[name] = begin, end
    else:
        works.setdefault(name, []).append(end - begin)
        begun.setdefault(name, begin)
work = {name: all[0] for name, all in works.items()}

def name_of(cells):
    """T:p0, and of a rank the same: R:rank 0."""
    return (cells["thread"] or "?:others").split(":")[1].replace("rank ", "p")


told, thread = {}, None
for row in (json.loads(line) for line in open(sys.argv[3])):
    cells = row.get("row")
    if cells and row["depth"] == 0:
        thread = told.setdefault(name_of(cells), [])
        # (not where they wait until all are there, or for the end of a task, which has no place)
        if cells["location"] and not cells["location"].startswith(("processes (", "main (")):
            thread.append((cells, {}))
        else:
            thread = None
    elif cells and row["depth"] == 1 and thread and cells["attributed_ns"]:
        thread_name = "latency" if cells["segment"].startswith("wake-up latency") else name_of(cells)
        thread[-1][1][thread_name] = thread[-1][1].get(thread_name, 0) + cells["attributed_ns"]


def shared(parts):
    """Reasons, as charges: (thread, ns), those that are positive."""
    sums = {}
    for thread_name, ns in parts:
        sums[thread_name] = sums.get(thread_name, 0) + max(ns, 0)
    return lambda wait: {thread_name: wait * ns / sum(sums.values()) for thread_name, ns in sums.items()}


def held(name):
    """The holders of the lock while it was waited for."""
    begin, end = waits[name][0]
    return shared([(thread_name, min(end, h[1]) - max(begin, h[0])) for thread_name, h in holds.items() if thread_name != name])


w = work.get
first = [begun[name] for name in ("A1", "B1", "C1") if name in begun]
if what == "figure" and first: # processes begin one after the other
    late += max(first) - min(first)
expected = {
    "figure": lambda: {"p1": [shared([("p0", w("A1"))])], "p2": [shared([("p0", w("A1")), ("p1", w("B3"))])],
                       "p0": [shared([("p1", w("B3")), ("p2", w("C3"))])]},
    "late": lambda: {"p0": [shared([("p1", 1)])] * 2, "p1": [shared([("p0", 1)])]},
    "early": lambda: {"p1": [shared([("p0", 1)])]},
    "barrier": lambda: {name: [shared([("t4", 1)])] * 3 for name in ("t1", "t2", "t3")},
    "convoy": lambda: {name: [held(name)] for name in ("p1", "p2")},
    "cascade": lambda: {"main": [shared([("q", w("f1") + w("f2")), ("r", w("slow") - w("f1"))])], "q": [shared([("r", 1)])]},
    "condition": lambda: {"fast": [shared([("slow", 1)])] * 2},
    "full": lambda: {"w": [shared([("r", 1)])]},
    "readers": lambda: {"w": [shared([("r3", 1)])]},
    "rest": lambda: {"b": [shared([("a", 1)])], "c": [shared([("c", 1)])]},  # the clock's are its own
}[what]()


def near(is_ns, should_ns, what, whole, more=0):
    most = max(0.02 * whole, late) + more
    if abs(is_ns - should_ns) > most:
        wrong.append(f"{what}: {is_ns / 1e6:.3f} ms, not {should_ns / 1e6:.3f} (within {most / 1e6:.3f})")


for name, charges in expected.items():
    # the longest with the longest; a thread that was so late that its wait is negligible is not tested
    measured = sorted(zip(waits[name], charges), key=lambda m: m[0][0] - m[0][1])
    measured = [m for m in measured if m[0][1] - m[0][0] > late]
    found = sorted(told.get(name, []), key=lambda t: -t[0]["waited_ns"])
    if len(found) < len(measured):
        wrong.append(f"{name} waited {len(measured)} times, not {len(found)}")
    for ((begin, end), charge), (cells, charged) in zip(measured, found):
        wait = cells["waited_ns"]
        if wait > end - begin:
            wrong.append(f"{name} waited {wait} ns, longer than it measured, {end - begin} ns")
        near(wait, end - begin, f"{name} waited", wait)
        for thread_name, ns in charge(wait).items():
            near(charged.get(thread_name, 0), ns, f"{name} waited, charged to {thread_name}", wait, charged.get("latency", 0))
print("\n".join(wrong) or "as measured")
