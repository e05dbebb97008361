"""The lines of the six programs of examples/ucpp/, event for event, in every run of a dump.

    poet dump --json FILE | python3 ucpp.py PROGRAM
    python3 ucpp.py PROGRAM=DUMP...

Prints how many runs it saw and the alternatives that came up; exits 1 at the first line that is
not as it must be. With dumps it prints only what is wrong, of each of them.
"""
import json
import sys
from collections import Counter

MARKS = {"create": "□", "start": "■", "end": "■end", "delete": "□", "petition": "○", "wait": "□wait",
         "signal": "○signal", "ready": "■ready", "accept": "□accept", "accepted": "■"}
GOES = {"enter", "leave", "resume", "suspend"}  # away from its line; the others arrive
INSIDE = {"enter": "●enter", "leave": "●leave", "resume": "■resume", "suspend": "□suspend"}


class Broken(Exception):
    pass


class Line:
    def __init__(self, fact):
        self.number, self.name, self.letter = fact["line"], fact["name"], fact["letter"]
        self.tokens = []  # (mark, line gone to or come from or 0, acting thread)


def read(lines):
    runs, of_line = [], {}  # a run is what its task main and those that it made have made
    schedulers = set()  # what they choose is checked by what the others do
    for text in lines:
        fact = json.loads(text)
        if "line" in fact and fact.get("kind", fact.get("letter")) in ("scheduler", "S") and "event" not in fact:
            schedulers.add(fact["line"])
        elif "event" in fact and int(fact["event"].split(":")[0]) in schedulers:
            continue
        elif "line" in fact and not fact["hidden"]:
            if fact["opened_by"]:
                run = of_line[int(fact["opened_by"].split(":")[0])]
            else:
                runs.append(run := {})
            run[fact["line"]] = Line(fact)
            of_line[fact["line"]] = run
        elif "event" in fact:
            if fact["state"] != "ordered":
                raise Broken(f"{fact['event']} is {fact['state']}")
            number, kind = int(fact["event"].split(":")[0]), fact["type"]
            run = of_line[number]
            if fact["relation"] == "sync":
                other = int(fact["partner"].split(":")[0])
                mark = ">" if kind in GOES else "<"
            else:
                other, mark = 0, INSIDE.get(kind) or MARKS[kind]
            run[number].tokens.append((mark, other, fact["thread"]))
    return runs


class Run:
    def __init__(self, lines):
        self.lines = lines

    def of(self, name):
        return [line for line in self.lines.values() if line.name == name]

    def one(self, name):
        lines = self.of(name)
        if len(lines) != 1:
            raise Broken(f"{len(lines)} lines are called {name}")
        return lines[0]

    def name(self, number):
        return self.lines[number].name if number else ""

    def text(self, line):
        """Each mark, with the other line, and with the thread where that is not the line's own."""
        words = []
        for mark, other, thread in line.tokens:
            plain = mark in "<>□○" or thread == line.number
            acting = "" if plain else "{" + self.name(thread) + "}"
            words.append(mark + self.name(other) + acting)
        return " ".join(words)

    def must(self, line, *wanted):
        got = self.text(line)
        if got not in wanted:
            raise Broken(f"line {line.number}, {line.name}:\n  got:    {got}\n  wanted: " +
                         "\n      or: ".join(wanted))
        return wanted.index(got)


def semaphores(run):
    run.must(run.one("cons"), "□ ■ ○ >full <full ○ >empty <empty ■end □")
    run.must(run.one("prod"), "□ ■ ○ >empty <empty ○ >full <full ■end □")
    run.must(run.one("empty"), "□ <prod >prod <cons >cons □")
    return ("consumer first", "producer first")[run.must(
        run.one("full"),
        "□ <cons □wait{cons} <prod ○signal{prod} >prod ■ready{cons} >cons □",
        "□ <prod >prod <cons >cons □")]


def dating(run):
    for sex in ("Girl", "Boy"):
        if len(run.of(sex)) != 3:
            raise Broken(f"{len(run.of(sex))} of {sex}")
        for line in run.of(sex):
            run.must(line, "□ ■ ○ >DatingService <DatingService ■end □")


def others(run, line):
    """The line's marks after its begin and before its end, as (mark, thread)."""
    return [(mark, other or thread) for mark, other, thread in line.tokens]


def accepting(run):
    dating(run)
    service = run.one("DatingService")
    own, marks = service.number, others(run, service)
    seen, order = set(), ""
    if [m for m, _ in marks[:2]] != ["□", "■"]:
        raise Broken(f"DatingService begins {marks[:2]}")
    for i in range(2, 2 + 9 * 3, 9):
        turn = marks[i:i + 9]
        x, y = turn[1][1], turn[3][1]
        wanted = [("□accept", own), ("<", x), ("□accept", x), ("<", y), (">", y), ("■", x), (">", x), ("■", own)]
        if turn[:8] != wanted or {run.name(x), run.name(y)} != {"Girl", "Boy"}:
            raise Broken(f"DatingService, from its mark {i + 1}: {turn}")
        marks.insert(i + 8, None)  # eight marks a turn
        seen |= {x, y}
        order += run.name(x)[0]
    end = [("□accept", own), ("■", own), ("■end", own), ("□", run.one("main").number)]
    if marks[29:] != end or len(seen) != 6:
        raise Broken(f"DatingService ends {marks[29:]}")
    return order


def waiting(run):
    dating(run)
    service = run.one("DatingService")
    marks, waits, i, order = others(run, service), [], 1, ""
    while i < len(marks) - 1:
        (_, x), (second, thread) = marks[i], marks[i + 1]
        if second == "□wait" and marks[i] == ("<", x) and thread == x:
            waits.append(x)
            i += 2
            order += "w"
            continue
        ready = marks[i + 3][1]
        if marks[i:i + 5] != [("<", x), ("○signal", x), (">", x), ("■ready", ready), (">", ready)] or \
                ready not in waits or run.name(ready) == run.name(x):
            raise Broken(f"DatingService, from its mark {i + 1}: {marks[i:i + 5]}")
        waits.remove(ready)
        i += 5
        order += "s"
    if [marks[0][0], marks[-1][0]] != ["□", "□"] or waits or sorted(order) != list("ssswww"):
        raise Broken(f"DatingService: {order}, left waiting {waits}")
    return order


def coroutines(run):
    run.must(run.one("prod"), "□ <main >cons <cons >main □")
    run.must(run.one("cons"), "□ <prod >prod □")
    return ""


def fibonacci(run):
    if len(run.of("Worker")) != 4:
        raise Broken("not four workers")
    order = ""
    for name in ("f1", "f2"):
        marks, seen = others(run, run.one(name)), []
        for i in range(1, 17, 4):
            w = marks[i][1]
            if marks[i:i + 4] != [("<", w), ("■resume", w), ("□suspend", w), (">", w)]:
                raise Broken(f"{name}, from its mark {i + 1}: {marks[i:i + 4]}")
            seen.append(w)
        if len(marks) != 18 or marks[0][0] != "□" or marks[17][0] != "□" or len(set(seen)) != 4:
            raise Broken(f"{name}: {marks}")
        order += "".join(str(sorted(seen).index(w)) for w in seen) + " "
    for line in run.of("Worker"):
        run.must(line, "□ ■ ○ >f1 <f1 ○ >f2 <f2 ■end □")
    return order


def inside(run):
    run.must(run.one("fred"), "□ ■ ○ ●enter ●leave ○ ●enter ●leave □accept <main >main ■ ■end □")
    run.must(run.one("mary"), "□ <main >main □")
    return ""


MAIN = {"coroutines": "□ ■ >prod <prod ■end □", "inside": "□ ■ >mary <mary ○ >fred <fred ■end □"}


def check(program, runs):
    ways = Counter()
    for number, lines in enumerate(runs):
        run = Run(lines)
        try:
            run.must(run.one("main"), MAIN.get(program, "□ ■ ■end □"))
            ways[globals()[program](run)] += 1
        except Broken as why:
            raise Broken(f"{program}, run {number + 1}: {why}")
    return ways


def check_dump(program, dump):
    with open(dump, encoding="utf-8") as lines:
        runs = read(lines)
    if len(runs) != 1:
        raise Broken(f"{len(runs)} runs")
    check(program, runs)


def check_dumps(arguments):
    wrong = 0
    for program, dump in (argument.split("=", 1) for argument in arguments):
        try:
            check_dump(program, dump)
        except Broken as why:
            print(f"{dump}: {why}")
            wrong += 1
    return wrong > 0


if len(sys.argv) > 2 or "=" in sys.argv[1]:
    sys.exit(check_dumps(sys.argv[1:]))
try:
    runs = read(sys.stdin)
    ways = check(sys.argv[1], runs)
    print(f"{len(runs)} runs, {len(ways)} ways: " + ", ".join(sorted(ways)[:8]))
except Broken as why:
    print(why)
    sys.exit(1)
