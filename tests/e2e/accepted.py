"""Is what Poet says of a program's waits and path what follows from the times of its events?

python3 accepted.py convoy|late OUT DUMP WAITS PATH: what its work took on its own clock (name TAB ns, in the order in which it
ended, of each thread), and of poet: dump --json, waits --by wait --tree --json, path --by piece --json.

Sums by thread follow from events alone, and must be equal to the nanosecond.  Of what a function is charged with a least
follows: it took as long as it says itself, and what else is on its path is no longer than the rest of that."""
import collections
import json
import re
import sys

what, out, dump, waits, path = sys.argv[1:]
wrong = []


def equal(name, got, wanted):
    if got != wanted:
        wrong.append(f"{name}: {got}, not {wanted}")


def between(name, got, least, most):
    if not least - 2 <= got <= most:
        wrong.append(f"{name}: {got}, not from {least:.0f} to {most:.0f}")


took = collections.defaultdict(list)
for line in open(out):
    name, ns = line.split("\t")
    took[name].append(int(ns))

# The times of each thread's events of each type.
names, times = {}, collections.defaultdict(list)
for line in map(json.loads, open(dump)):
    if "line" in line:
        names[line["line"]] = line["name"]
    elif "event" in line and line["thread"]:
        times[names[line["thread"]], line["type"]].append(line["time_ns"])
for each in times.values():
    each.sort()
T = lambda thread, type, n=0: times[thread, type][n]


def function_of(segment):
    """Of "f (a.c:1) → g (a.c:2)" and of "a.c:1 → a.c:2 (f)"."""
    within = re.fullmatch(r"\S+ → \S+ \((\S+)\)", segment)
    return within[1] if within else segment.split(" ")[0]


# Each thread's longest waits of a type: what is charged, by function and by thread; function None: wake-up latency, and others.
found = collections.defaultdict(list)
for line in map(json.loads, open(waits)):
    row = line.get("row")
    if row and line["depth"] == 0:
        charged = []
        found[row["thread"].split(":")[1], row["type"]].append((row["waited_ns"], line["event"], charged))
    elif row:
        charged.append((function_of(row["segment"]), (row["thread"] or ":").split(":")[1], row["attributed_ns"], row["direct"]))


def wait(thread, type, ns):
    for waited, _, charged in found[thread, type]:
        if waited == ns:
            return charged
    wrong.append(f"{thread} has no {type} of {ns} ns, but {[w[0] for w in found[thread, type]]}")
    return []


def of(charged, function=None, thread=None, direct=None):
    return sum(c[2] for c in charged if function in (None, c[0]) and thread in (None, c[1]) and direct in (None, c[3]))


pieces = [(r["thread"].split(":")[1], r["segment"] or "", r["critical_path_ns"], r["from_ns"])
          for r in (json.loads(line).get("row") for line in open(path)) if r]
on_path = lambda thread, from_ns, to_ns: sum(p[2] for p in pieces if p[0] == thread and from_ns <= p[3] < to_ns)
function_on_path = lambda name, thread: sum(p[2] for p in pieces if p[0] == thread and function_of(p[1]) == name)


def order(from_ns, to_ns):
    """The threads of the path, one after the other."""
    all = [p[0] for p in pieces if from_ns <= p[3] < to_ns]
    return [t for i, t in enumerate(all) if i == 0 or all[i - 1] != t]


def convoy():
    asked1, asked2 = T("p1", "acquire"), T("p2", "acquire")
    left0, left1, left2 = (T(p, "unlock") for p in ("p0", "p1", "p2"))
    enter1, enter2 = T("p1", "lock"), T("p2", "lock")
    if not asked1 < asked2 < left0:
        sys.exit("not as planned: they did not ask one after the other while it was held")
    one, two = wait("p1", "acquire", enter1 - asked1), wait("p2", "acquire", enter2 - asked2)
    g, h, held = took["g"][0], took["h"][0], left0 - T("p0", "passed")
    equal("p1, for p0", of(one, thread="p0"), left0 - asked1)
    equal("p1, itself", of(one, thread="p1"), enter1 - left0)
    equal("p2, for p0", of(two, thread="p0"), left0 - asked2)
    equal("p2, for p1", of(two, thread="p1"), left1 - left0)
    equal("p2, itself", of(two, thread="p2"), enter2 - left1)
    between("p1: g", of(one, "g"), g * (left0 - asked1) / held, left0 - asked1)
    between("p2: g", of(two, "g"), g * (left0 - asked2) / held, left0 - asked2)
    between("p2: h", of(two, "h"), h, left1 - enter1)
    for name, charged in ("p1", one), ("p2", two):
        equal(f"{name}: nothing of what was before", of(charged, "before") + of(charged, "k"), 0)
        equal(f"{name}: propagated", of(charged, direct="propagated"), 0)
    met = max(T(p, "arrive") for p in ("p0", "p1", "p2"))
    equal("path", order(met, left2), ["p0", "p1", "p2"])
    equal("path, p0", on_path("p0", met, left0), left0 - met)
    equal("path, p1", on_path("p1", left0, left1), left1 - left0)
    equal("path, p2", on_path("p2", left1, left2), left2 - left1)
    between("path, g", function_on_path("g", "p0"), g, left0 - met)
    between("path, h", function_on_path("h", "p1"), h, left1 - enter1)
    between("path, k", function_on_path("k", "p2"), took["k"][0], left2 - enter2)
    equal("path, before", sum(p[2] for p in pieces if function_of(p[1]) == "before"), 0)


def late():
    met = max(T(p, "arrive") for p in ("p0", "p1", "p2"))
    post0, post1 = T("p0", "sem_post"), T("p1", "sem_post")
    wait1, taken1, wait2, taken2 = T("p1", "wait"), T("p1", "sem_acquired"), T("p2", "wait"), T("p2", "sem_acquired")
    end0, end1, end2 = (T(p, "arrive", 1) for p in ("p0", "p1", "p2"))
    if not (wait1 < post0 and wait2 < post0 and end0 < end1 < end2):
        sys.exit("not as planned: a thread came when none waited for it")
    late = took["late"][0]
    f1, f1b, f2, f2b = (took[name][0] for name in ("f p1", "g p1", "f p2", "g p2"))
    # What another path has less is at most what its thread did besides.
    one = wait("p1", "wait", taken1 - wait1)
    equal("p1, itself", of(one, thread="p1"), taken1 - post0)
    between("p1: late", of(one, "late", "p0", "direct"), (post0 - wait1) * late / (post0 - met), post0 - wait1)
    equal("p1: f", of(one, "f"), 0)
    two = wait("p2", "wait", taken2 - wait2)
    f_less = max(0, wait2 - met - f1b)
    more = (wait2 - met - f2) + f_less
    between("p2: late, by way of p1", of(two, "late", "p0", "propagated"), (post1 - wait2) * late / (post1 - wait2 + more),
            post1 - wait2)
    equal("p2: late, directly", of(two, "late", direct="direct"), 0)
    zero = wait("p0", "arrive", T("p0", "passed", 1) - end0)
    equal("p0: nothing of what it did as long itself", of(zero, "late"), 0)
    more = end0 - met - late
    between("p0: f", of(zero, "f"), (end2 - end0) * (f1b + f2b) / (end2 - end0 + more), end2 - end0)
    between("p0: f, by way of p1", of(zero, "f", "p1", "propagated"), 1, end2 - end0)
    last = wait("p1", "arrive", T("p1", "passed", 1) - end1)
    between("p1, at the end: f", of(last, "f", "p2", "direct"), (end2 - end1) * f2b / (end2 - post1), end2 - end1)
    equal("path", order(met, end2), ["p0", "p1", "p2"])
    equal("path, p0", on_path("p0", met, post0), post0 - met)
    equal("path, p1", on_path("p1", post0, post1), post1 - post0)
    equal("path, p2", on_path("p2", post1, end2), end2 - post1)
    between("path, late", function_on_path("late", "p0"), late, post0 - met)
    between("path, f", function_on_path("f", "p1"), f1b, post1 - taken1)
    between("path, f at last", function_on_path("f", "p2"), f2b, end2 - taken2)


{"convoy": convoy, "late": late}[what]()
print("\n".join(wrong) or "as it follows")
