"""Two threads arrive at a barrier of N threads, and their program is gone: python3 rounds.py EVENTS.PY RUN N."""
import struct
import sys
import time
import types

source = open(sys.argv[1]).read().split("\npoet = Poet(")[0]
events = types.ModuleType("events")
events.__file__ = sys.argv[1]
exec(compile(source, sys.argv[1], "exec"), events.__dict__)
PARTICIPANTS = 15

poet = events.Poet(sys.argv[2], "pthread")
threads = [poet.line("thread", name) for name in ("one", "two")]
barrier = poet.line("barrier", "gate")
poet.send(PARTICIPANTS, struct.pack("<II", barrier, int(sys.argv[3])))
for kind in "start", "arrive":
    for thread in threads:
        poet.numbers[thread] += 1
        about = barrier if kind == "arrive" else 0
        body = struct.pack("<HHIQQIIQQIIQ", poet.type(kind), 0, 0, time.monotonic_ns(), 16, thread, 0,
                           poet.numbers[thread], 0, about, 0, 0)
        poet.send(events.SLOTS, struct.pack("<I", thread) + body)
