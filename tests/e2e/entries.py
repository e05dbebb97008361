"""What poet calls --every --json says: is it balanced, and what follows from it?

entries.py sequences       the calls of each thread in their order, a line for each, sorted
entries.py uftrace         the same of uftrace dump
entries.py counts          how often each function began
entries.py elapsed [WITH]  for how long each was open, by any thread (and while WITH was, on another one), from single moments
"""
import collections, json, re, sys


def rows():
    for line in sys.stdin:
        row = json.loads(line)
        if "row" in row:
            yield row["row"]


def name(scope):
    return (scope["name"] if isinstance(scope, dict) else str(scope)).split(" ")[0]


def sequences():
    threads = collections.defaultdict(list)
    stacks = collections.defaultdict(list)
    for r in rows():
        thread, scope = str(r["thread"]), name(r["function"])
        stack = stacks[thread]
        if r["kind"] == "entry":
            assert r["depth"] == len(stack), r
            stack.append((scope, r["start_ns"]))
        elif r["kind"] == "exit":
            begun = stack.pop()
            assert begun[0] == scope and r["duration_ns"] == r["start_ns"] - begun[1], r
        threads[thread].append(("<" if r["kind"] == "exit" else ">") + scope)
    assert not any(stacks.values()), "not balanced"
    print("\n".join(sorted(" ".join(t) for t in threads.values())))


def uftrace():
    threads = collections.defaultdict(list)
    for line in sys.stdin:
        found = re.match(r"\s*[\d.]+\s+(\d+): \[(entry|exit )\] (\w+)\(", line)
        if found:
            threads[found[1]].append(("<" if found[2] != "entry" else ">") + found[3])
    print("\n".join(sorted(" ".join(t) for t in threads.values())))


def counts():
    n = collections.Counter(name(r["function"]) for r in rows() if r["kind"] in ("entry", "open"))
    for scope, calls in sorted(n.items()):
        print(scope, calls)


def elapsed(with_scope=None):
    events, stacks = [], collections.defaultdict(list)
    for r in rows():
        events.append((r["start_ns"], str(r["thread"]), r["kind"], name(r["function"])))
    total, together = collections.Counter(), collections.Counter()
    before = None
    for at, thread, what, scope in events:
        if before is not None and at > before:
            where = collections.defaultdict(set)
            for t, stack in stacks.items():
                for s in stack:
                    where[s].add(t)
            for s, ts in where.items():
                total[s] += at - before
                mine = where.get(with_scope, set())
                if any(a != b for a in ts for b in mine):
                    together[s] += at - before
        before = at
        if what == "exit":
            stacks[thread].pop()
        elif what != "lost":
            stacks[thread].append(scope)
    for s in sorted(total):
        print(s, total[s], *([together[s]] if with_scope else []))


globals()[sys.argv[1]](*sys.argv[2:])
