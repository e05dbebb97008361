#!/usr/bin/env python3
"""Events from any language that can write to a socket: no library, only the protocol (docs/wire.md).

Two actors throw a ball; each throw is a message that the two find by a key.  The first leaves early, and its
line ends; the other plays on against the wall.  The environment is config/actors.conf.

    poet view &
    python3 events.py
"""
import os
import random
import socket
import struct
import time

HELLO, TYPE, LINE, TEXT, SLOTS, WELCOME = 1, 3, 5, 7, 10, 64
SEND, RECEIVE, KEYED, CLOSES, WITH_TEXT = 2, 3, 0x10, 0x20, 0x40
KEY = random.getrandbits(64)  # the first half of our keys: no other program's


def string(text):
    data = text.encode()
    return struct.pack("<I", len(data)) + data


class Poet:
    def __init__(self, run, environment):
        path = os.environ.get("POET_SERVER", "unix:" + os.environ.get("XDG_RUNTIME_DIR", "") + "/poet.sock")
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path.removeprefix("unix:"))
        instance, self.lines, self.types, self.numbers = random.getrandbits(64), 0, {}, {}
        self.instance = instance
        self.send(HELLO, struct.pack("<IIB", 0x4D454F50, 1, 1) + string(f"{run}@{instance:x}") +
                  string(environment) + string(__file__) + string(socket.gethostname()) +
                  struct.pack("<IQQQI", os.getpid(), instance, time.monotonic_ns(), time.time_ns(), 0))
        size, kind, _ = struct.unpack("<IHH", self.receive(8))
        answer = self.receive(size)
        if kind != WELCOME:
            raise SystemExit("events.py: the server says: " + answer[4:].decode())

    def send(self, kind, body):
        self.socket.sendall(struct.pack("<IH2s", len(body), kind, b"PO") + body)

    def receive(self, size):
        return self.socket.recv(size, socket.MSG_WAITALL)

    def line(self, kind, name):
        """Opens a line; its code is ours, its identity nobody else's."""
        self.lines += 1
        self.numbers[self.lines] = 0
        self.send(LINE, struct.pack("<IQQBQQ", self.lines, self.instance, self.lines, 0, 0, 0) +
                  string(kind) + string(name))
        return self.lines

    def type(self, name):
        if name not in self.types:
            self.types[name] = len(self.types) + 1
            self.send(TYPE, struct.pack("<H", self.types[name]) + string(name) + struct.pack("<H", 0))
        return self.types[name]

    def event(self, line, name, relation=0, key=None, closes=False, text=None):
        """One event of a line, which is also its own thread; returns its number."""
        self.numbers[line] += 1
        payload = text.encode() if text else b""
        flags = relation | (KEYED if key is not None else 0) | (CLOSES if closes else 0) | (WITH_TEXT if text else 0)
        slot = struct.pack("<HHIQQIIQQIIQ", self.type(name), flags, len(payload), time.monotonic_ns(), 0, line, 0,
                           self.numbers[line], key or 0, 0, 1 if key is not None else 0, KEY)
        self.send(SLOTS, struct.pack("<I", line) + slot + payload + bytes(-len(payload) % 64))
        return self.numbers[line]

    def annotate(self, line, number, text):
        """A text for an event, however long ago it was."""
        self.send(TEXT, struct.pack("<IQ", line, number) + string(text))


poet = Poet("ball", "actors")
ann, ben = poet.line("actor", "ann"), poet.line("actor", "ben")
for player in ann, ben:
    poet.event(player, "created")
first = None
for throw in range(6):
    thrower, catcher = (ann, ben) if throw % 2 == 0 else (ben, ann)
    number = poet.event(thrower, "send", SEND, key=throw)
    first = first or number
    poet.event(catcher, "receive", RECEIVE, key=throw)
poet.event(ann, "note", text="has to go")
poet.event(ann, "destroyed", closes=True)
for _ in range(3):
    poet.event(ben, "note", text="against the wall")
poet.annotate(ann, first, "the first throw")
poet.event(ben, "destroyed", closes=True)
