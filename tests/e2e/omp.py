#!/usr/bin/env python3
"""What a trace of an OpenMP program must say.

order FILE     the notes of omp-order.c stand to each other as OpenMP orders them
types FILE     how many events of each type there are
waits FILE     what poet waits says of barriers is what the dump's times say
"""
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict


def dump(path):
    out = subprocess.run(["poet", "dump", "--json", path], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in out.stdout.splitlines()]


def notes(path):
    return {text: fact for fact in dump(path) if fact.get("type") == "note" for text in fact["annotations"]}


def serves_two(found, pattern):
    """Whether one thread did such things for several teams: what it did is in its own order then, whatever OpenMP says."""
    teams = {}
    for text, fact in found.items():
        if re.fullmatch(pattern, text):
            teams.setdefault(fact["thread"], set()).add(text.split()[1])
    return any(len(of) > 1 for of in teams.values())


def expected(names):
    """Pairs of names, and what the order between them may be."""
    def all_of(pattern):
        return [n for n in names if re.fullmatch(pattern, n)]

    def before(first, second):
        for a in all_of(first):
            for b in all_of(second):
                yield a, b, {"before"}

    def concurrent(pattern):
        for a in all_of(pattern):
            for b in all_of(pattern):
                if a < b:
                    yield a, b, {"concurrent", "before", "after"} if serves_two(names, pattern) else {"concurrent"}

    chain = [r"before", r"in \d", r"out \d", r"maker", r"first", r"second", r"waited", r"child", r"grandchild", r"grouped",
             r"loop \d", r"looped", r"late \d", r"nested \d \d", r"after"]
    for i, a in enumerate(chain):
        for b in chain[i + 1:]:
            yield from before(a, b)
    for pattern in (r"in \d", r"out \d", r"free \d", r"late \d", r"nested \d \d"):
        yield from concurrent(pattern)
    yield from before(r"free \d", r"maker")
    yield from before(r"maker", r"other")
    yield from before(r"other", r"waited")
    for pattern in (r"critical \d", r"locked \d"):
        for a in all_of(pattern):
            for b in all_of(pattern):
                if a < b:
                    yield a, b, {"before", "after"}
    for i in range(6):
        yield f"ordered {i}", f"ordered {i + 1}", {"before"}


def check_order(path):
    found = notes(path)
    wanted = list(expected(found))
    asked = "".join(f"{found[a]['event']} {found[b]['event']}\n" for a, b, _ in wanted)
    out = subprocess.run(["poet", "order", path, "-"], input=asked, capture_output=True, text=True)
    answers = out.stdout.split()
    wrong = [f"{a}, {b}: {answer}" for (a, b, right), answer in zip(wanted, answers) if answer not in right]
    if len(answers) != len(wanted) or len(wanted) < 300:
        wrong.append(f"{len(answers)} answers to {len(wanted)} questions: {out.stderr}")
    print("\n".join(wrong[:20]))
    return bool(wrong)


def check_types(path):
    count = Counter(fact["type"] for fact in dump(path) if "type" in fact)
    skipped = {"acquire", "exit", "close", "start"}  # these are by chance, or the runtime's affair
    print(" ".join(f"{name} {count[name]}" for name in sorted(count) if name not in skipped))
    return False


def table(path):
    out = subprocess.run(["poet", "waits", "--json", "--by", "wait", path], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in out.stdout.splitlines()[1:]]


def check_waits(path):
    """Of the last region: each member's wait at its end is as long as the dump says, and most of it is charged to the body."""
    facts = {fact["event"]: fact for fact in dump(path) if "event" in fact}
    began = max(fact["time_ns"] for fact in facts.values() if fact["type"] == "region")
    waits, wrong, steps = {}, [], []
    for line in table(path):
        row = line.get("row")
        if row and line["depth"] == 0 and row["type"] == "reach" and facts[line["event"]]["time_ns"] > began:
            waits[line["event"]] = row
            long = facts[row["end_event"]]["time_ns"] - facts[line["event"]]["time_ns"]
            if row["waited_ns"] != long or facts[row["end_event"]]["type"] != "through":
                wrong.append(f"{line['event']}: {row['waited_ns']} for {long}")
        elif row and line["depth"] == 1 and row["attributed_ns"]:
            steps.append((row["attributed_ns"], row["segment"]))
    total = sum(row["waited_ns"] for row in waits.values())
    balance = sum(row["load_imbalance_ns"] for row in waits.values())
    if 2 * balance < total:
        wrong.append(f"{balance} of {total} is imbalance")
    if not re.search(r"omp_(fn|outlined).*→ .*omp_(fn|outlined)|^\S+ → \S+ \(.*omp_(fn|outlined)", max(steps)[1]):
        wrong.append(f"charged to {max(steps)}")
    print("\n".join(wrong) if wrong else f"{len(waits)} waits")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit({"order": check_order, "types": check_types, "waits": check_waits}[sys.argv[1]](sys.argv[2]))
