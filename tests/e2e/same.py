"""same.py A.poet B.poet: whether two runs did the same, line for line and event for event: which line is which is found by which
made it, or used it first.  Prints the first difference, and how many events are equal."""
import json
import subprocess
import sys


class Run:
    def __init__(self, path):
        self.of, self.events, self.names = {}, {}, {}
        out = subprocess.run(["poet", "dump", "--json", path], capture_output=True, text=True, check=True).stdout
        for fact in map(json.loads, out.splitlines()):
            if "line" in fact:
                self.names[fact["line"]] = fact["name"]
            if "event" not in fact or fact["event"].startswith("h"):
                continue
            line, number = map(int, fact["event"].split(":"))
            fact["line"], fact["number"] = line, number
            self.events[line, number] = fact
            self.of.setdefault(fact["thread"], []).append(fact)
        self.main = next(e["thread"] for e in self.events.values() if e["type"] == "start")


BIRTHS = "fork", "exec"


def born(e):
    """the thread that begins with what it sends"""
    return int(e["partner"].split(":")[0])


def sorted_pairs(events):
    """The two sides of a pair are one point, and come in any order."""
    result = []
    for e in events:
        if result and e["relation"] == "sync" and result[-1]["partner"] == e["event"]:
            pair = sorted([result.pop(), e], key=lambda x: x["type"])
            result += pair
        else:
            result.append(e)
    return result


class Same:
    def __init__(self, a, b):
        self.a, self.b, self.as_b, self.as_a, self.count = a, b, {None: None}, {None: None}, 0

    def line(self, x, y):
        if x not in self.as_b and y not in self.as_a:
            self.as_b[x], self.as_a[y] = y, x
        return self.as_b.get(x) == y

    def refs(self, refs):
        known = [tuple(map(int, r.split(":"))) for r in refs if not r.startswith("h")]
        return sorted((self.as_b.get(line, -line), number) for line, number in known)

    def strangers(self, run):
        """threads without a known creator, by their names, and as the how-manieth of that name they began"""
        made = {e["line"] for e in run.events.values() if e["type"] == "create"} | {run.main}
        made |= {born(e) for e in run.events.values() if e["type"] in BIRTHS and e["partner"]}
        found = {}
        for t in sorted(run.of, key=lambda t: run.of[t][0]["time_ns"]):
            if t not in made:
                name = run.names[t]
                found[name, sum(n == name for n, _ in found)] = t
        return found

    def compare(self):
        first = self.a.names[self.a.main]  # of several ranks without a creator any may be the first
        if self.b.names[self.b.main] != first:
            self.b.main = self.strangers(self.b).get((first, 0), self.b.main)
        a, b = self.strangers(self.a), self.strangers(self.b)
        todo = [(self.a.main, self.b.main)] + [(t, b[name]) for name, t in sorted(a.items()) if name in b]
        for x, y in todo:
            self.line(x, y)
        pairs, seen = [], {x for x, _ in todo}
        while todo:
            x, y = todo.pop()
            first, second = sorted_pairs(self.a.of.get(x, [])), sorted_pairs(self.b.of.get(y, []))
            for e, f in zip(first, second):
                if (e["type"], e["number"], e["relation"], e["uncertain"]) != (f["type"], f["number"], f["relation"], f["uncertain"]):
                    return f"{e['event']} {e['type']} ({e['relation']}), but {f['event']} {f['type']} ({f['relation']})"
                if not self.line(e["line"], f["line"]) or not self.line(e["object"], f["object"]):
                    return f"{e['event']} {e['type']} about {e['object']}, but {f['event']} about {f['object']}: another line"
                if e["type"] in BIRTHS and e["partner"] and f["partner"]:
                    child, other = born(e), born(f)
                    if child not in seen:
                        self.line(child, other)
                        seen.add(child)
                        todo.append((child, other))
                if e["type"] == "create" and e["line"] not in seen:
                    seen.add(e["line"])
                    todo.append((e["line"], f["line"]))
                pairs.append((e, f))
            if len(first) != len(second):
                return f"thread {x}: {len(first)} events, but {len(second)}"
        for e, f in pairs:
            if self.refs(e["order_after"]) != sorted(tuple(map(int, r.split(":"))) for r in f["order_after"] if r[0] != "h"):
                return f"{e['event']} {e['type']} after {e['order_after']}, but {f['event']} after {f['order_after']}"
        self.count = len(pairs)
        if self.count != len(self.a.events) or self.count != len(self.b.events):
            return f"{self.count} of {len(self.a.events)} and {len(self.b.events)} events were found"
        return None


same = Same(Run(sys.argv[1]), Run(sys.argv[2]))
difference = same.compare()
print(difference or f"the same: {same.count} events")
sys.exit(difference is not None)
