"""Threads that send each other messages, with events that are uncertain for several reasons: python3 doubts.py SEED."""
import os
import random
import struct
import sys
import time

source = open(os.path.join(os.path.dirname(__file__), "../../examples/python/events.py")).read()
exec(source.split("\npoet = ")[0])
chance = random.Random(int(sys.argv[1]))
poet = Poet("doubts", "actors")
lines = [poet.line("actor", name) for name in "abcdef"]


def doubtful(line, doubt):
    poet.numbers[line] += 1
    poet.send(SLOTS, struct.pack("<I", line) + struct.pack("<HHIQQIIQQIIQ", poet.type("note"), doubt << 12, 0,
              time.monotonic_ns(), 0, line, 0, poet.numbers[line], 0, 0, 0, KEY))


for key in range(120):
    one, other = chance.sample(lines, 2)
    if chance.random() < 0.25:
        poet.event(one, "send", SEND, key=key)
        poet.event(other, "receive", RECEIVE, key=key)
    elif chance.random() < 0.3:
        doubtful(one, chance.choice([1, 2, 3, 5, 6]))
    else:
        poet.event(one, "note")
