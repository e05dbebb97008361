"""What other tools say of a program, and what Poet says, in one shape: a line for each arc (ARC CALLER CALLEE CALLS) or function (OF FUNCTION CALLS).

oracles.py poet | gprof | callgrind        arcs, of: poet calls --graph --json, gprof -b -q, callgrind_annotate --tree=caller --inclusive=yes
oracles.py poet-sums | uftrace | pprof     functions, of: poet calls --json, uftrace report, go tool pprof -top -sample_index=calls
oracles.py leaks | heaptrack               blocks and bytes never freed, by function: poet memory --json, heaptrack_print -l 1
oracles.py near WHAT GOT WANTED SHARE LEAST  says so if two numbers differ by more than that share, and more than that
"""
import collections, json, re, sys


def name(scope):
    scope = scope["name"] if isinstance(scope, dict) else str(scope)
    return re.sub(r"('\d+)?( .*)?$", "", scope)


def rows():
    for line in sys.stdin:
        row = json.loads(line)
        if "row" in row:
            yield row


def print_all(word, counted):
    for key, n in sorted(counted.items()):
        print(word, *(key if isinstance(key, tuple) else (key,)), n)


def poet():
    arcs = collections.Counter()
    for r in rows():
        if r["depth"]:
            arcs[name(r["row"]["caller"]), name(r["row"]["function"])] += r["row"]["calls"]
    print_all("ARC", arcs)


def gprof():
    arcs = collections.Counter()
    for block in sys.stdin.read().split("-" * 40):
        callers = []
        for line in block.splitlines():
            found = re.search(r"(\d+)(?:[/+]\d+)?\s+(\w+)(?: <cycle \d+>)? \[\d+\]$", line)
            if re.match(r"\[\d+\]", line):
                function = re.search(r"(\w+)(?: <cycle \d+>)? \[\d+\]$", line)
                if function and "as a whole" not in line:
                    arcs.update({(caller, function[1]): n for caller, n in callers})
                break
            if found:
                callers.append((found[2], int(found[1])))
    print_all("ARC", arcs)


def callgrind():
    arcs, callers = collections.Counter(), []
    for line in sys.stdin:
        found = re.search(r"([<*]) +\S*?([\w']+)(?: \(([\d,]+)x\))?(?: \[.*\])?$", line.rstrip())
        if not found:
            callers = []
        elif found[1] == "<":
            callers.append((name(found[2]), int((found[3] or "0").replace(",", ""))))
        else:
            for caller, n in callers:
                arcs[caller, name(found[2])] += n
    print_all("ARC", arcs)


def poet_sums():
    print_all("OF", {name(r["row"]["function"]): r["row"]["calls"] for r in rows()})


def uftrace():
    found = re.findall(r"^\s*[\d.]+ \ws\s+[\d.]+ \ws\s+(\d+)  (\w+)$", sys.stdin.read(), re.M)
    print_all("OF", {function: int(n) for n, function in found})


def pprof():
    found = re.findall(r"^\s*(\d+)ns .* (\w+)$", sys.stdin.read(), re.M)
    print_all("OF", {function: int(n) for n, function in found})


def leaks():
    print_all("OF", {name(r["row"]["function"]): f'{r["row"]["unfreed_blocks"]} {r["row"]["unfreed_bytes"]}' for r in rows()})


def heaptrack():
    found = re.findall(r"^(\d+)B leaked over (\d+) calls from\n *(\w+)$", sys.stdin.read(), re.M)
    print_all("OF", {function: f"{n} {size}" for size, n, function in found})


def near(what, got, wanted, share, least):
    got, wanted = float(got), float(wanted)
    if abs(got - wanted) > max(float(share) * wanted, float(least)):
        sys.exit(f"{what}: {got}, not {wanted}")


globals()[sys.argv[1].replace("-", "_")](*sys.argv[2:])
