"""A reader of its own of which task was on which carrier when: straight from a trace file, by the definition.

    carriers.py TRACE BY ORDER WAITS

ORDER: `poet states --list --source order --json`, what each thread did between its waits by the order alone.
WAITS: `poet waits --by wait --json`; the part of a request that no other thread delayed is not a wait of a task on a carrier.
Prints LINE PLACE NS for each task and place in which it ran (BY: processor or cluster), as
`poet states --by ... --json` must have it; and complains where stays overlap."""
import json
import struct
import sys

trace, by, order, waits = sys.argv[1:5]
data = open(trace, "rb").read()


class Reader:
    def __init__(self, body):
        self.body, self.at = body, 0

    def number(self, form):
        value, = struct.unpack_from("<" + form, self.body, self.at)
        self.at += struct.calcsize("<" + form)
        return value

    def text(self):
        size = self.number("I")
        self.at += size
        return self.body[self.at - size:self.at].decode()

    def varied(self):
        value, shift = 0, 0
        while True:
            byte = self.number("B")
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value


def hello_clock(body):
    r = Reader(body)
    r.number("I"), r.number("I"), r.number("B")
    for _ in range(4):
        r.text()
    r.number("I"), r.number("Q")
    return r.number("Q")


begin, carriers, switches = None, {}, {}
at = 128
while at + 32 <= len(data):
    mark, size, session, thread, kind, epoch, other, check = struct.unpack_from("<8I", data, at)
    if mark != 0x4B48434F:
        break
    body = data[at + 32:at + 32 + size]
    at += 32 + size
    if kind == 64 and begin is None:
        begin = hello_clock(body)
    elif kind == 26:
        r = Reader(body)
        number = r.number("I")
        r.number("I"), r.number("B")
        carriers[number] = (r.text(), r.text())
    elif kind == 80:
        r = Reader(body)
        r.number("I"), r.number("Q")
        assert r.number("Q") == 0, "switches were lost"
        ns = r.number("Q")
        for _ in range(r.number("I")):
            ns += r.varied()
            switches.setdefault(thread, []).append((ns - begin, r.varied()))
            r.varied()  # the call context in which the task before left it

stays = {}  # task -> (from, to, carrier)
for carrier, told in switches.items():
    for (ns, task), after in zip(told, told[1:] + [(float("inf"), 0)]):
        assert after[0] >= ns, f"carrier {carrier}: {after} before {ns}"
        if task:
            stays.setdefault(task, []).append((ns, after[0], carrier))
for task, told in stays.items():
    told.sort()
    for one, other in zip(told, told[1:]):
        assert one[1] <= other[0] + 1000, f"task {task} is on two carriers: {one} {other}"

active = []
for text in open(order):
    row = json.loads(text).get("row")
    if row and row["state"] == "running":
        active.append((json.loads(text)["lines"], row["from_ns"], row["from_ns"] + row["duration_ns"]))
for text in open(waits):
    row = json.loads(text).get("row")
    if row and row["wait_class"] == "contention":
        end = row["from_ns"] + row["waited_ns"]
        active.append((json.loads(text)["lines"], end - row["resume_ns"] - row["unattributed_ns"], end))

ran = {}
for line, lower, upper in active:
    for since, until, carrier in stays.get(line[0], []):
        took = min(until, upper) - max(since, lower)
        name, cluster = carriers[carrier]
        if took > 0:
            place = line[0], name if by == "processor" else cluster or "no cluster"
            ran[place] = ran.get(place, 0) + took
for (line, place), ns in sorted(ran.items()):
    print(line, place, ns)
