"""Meira's figure 4, with the times that it has: python3 waits.py EVENTS.PY RUN; three ranks, ms after the begin."""
import struct
import sys
import time
import types

source = open(sys.argv[1]).read().split("\npoet = Poet(")[0]
events = types.ModuleType("events")
events.__file__ = sys.argv[1]
exec(compile(source, sys.argv[1], "exec"), events.__dict__)
begin, site = time.monotonic_ns(), 16


class At:
    """The clock of the client, and the place in the code, as the figure has them."""
    def __init__(self):
        self.now = begin

    def monotonic_ns(self):
        return self.now

    def time_ns(self):
        return time.time_ns()


clock = events.time = At()
poet = events.Poet(sys.argv[2], "mpi")
ranks = [poet.line("rank", str(i)) for i in range(3)]


def slot(ms, rank, name, relation=0, key=None, closes=False):
    global site
    site += 16
    clock.now = begin + ms * 1000000
    line = ranks[rank]
    poet.numbers[line] += 1
    flags = relation | (events.KEYED if key is not None else 0) | (events.CLOSES if closes else 0)
    body = struct.pack("<HHIQQIIQQIIQ", poet.type(name), flags, 0, clock.now, site, line, 0, poet.numbers[line],
                       key or 0, 0, 1 if key is not None else 0, events.KEY)
    poet.send(events.SLOTS, struct.pack("<I", line) + body)


for rank in range(3):
    slot(0, rank, "start")
slot(20, 1, "recv")
slot(25, 2, "recv")
slot(50, 0, "isend", events.SEND, key=1)
slot(50, 1, "receive", events.RECEIVE, key=1)
slot(80, 0, "recv")
slot(90, 1, "isend", events.SEND, key=2)
slot(90, 1, "exit")
slot(90, 2, "receive", events.RECEIVE, key=2)
slot(125, 2, "isend", events.SEND, key=3)
slot(125, 2, "exit")
slot(125, 0, "receive", events.RECEIVE, key=3)
slot(125, 0, "exit")
for rank in range(3):
    slot(125, rank, "close", closes=True)
