#!/usr/bin/env python3
"""Three that wait for each other's messages, at times that the test knows to the nanosecond (as in figure 4 of
Meira's Carnival): one, by ask and get, waits for what another tells.  Milliseconds from an arbitrary moment."""
import os
import random
import socket
import struct
import time

HELLO, TYPE, LINE, SLOTS, WELCOME = 1, 3, 5, 10, 64
SEND, RECEIVE, KEYED = 2, 3, 0x10
KEY = random.getrandbits(64)
BEGIN = time.monotonic_ns()

string = lambda text: struct.pack("<I", len(text)) + text.encode()
server = socket.socket(socket.AF_UNIX)
server.connect(os.environ.get("POET_SERVER", "unix:" + os.environ.get("XDG_RUNTIME_DIR", "") + "/poet.sock")[5:])


def send(kind, body):
    server.sendall(struct.pack("<IH2s", len(body), kind, b"PO") + body)


instance = random.getrandbits(64)
send(HELLO, struct.pack("<IIB", 0x4D454F50, 1, 1) + string(f"three@{instance:x}") + string("three") + string("three") +
     string(socket.gethostname()) + struct.pack("<IQQQI", os.getpid(), instance, BEGIN, time.time_ns(), 0))
size, kind, _ = struct.unpack("<IHH", server.recv(8, socket.MSG_WAITALL))
answer = server.recv(size, socket.MSG_WAITALL)
if kind != WELCOME:
    raise SystemExit("the server says: " + answer[4:].decode())

types = ["begin", "tell", "ask", "get", "end"]
for code, name in enumerate(types, 1):
    send(TYPE, struct.pack("<H", code) + string(name) + struct.pack("<H", 0))
numbers = {}
for line, name in enumerate(["p0", "p1", "p2"], 1):
    send(LINE, struct.pack("<IQQBQQ", line, instance, line, 0, 0, 0) + string("one") + string(name))
    numbers[line] = 0


def event(ms, line, name, site, relation=0, key=None):
    numbers[line] += 1
    flags = relation | (KEYED if key is not None else 0)
    slot = struct.pack("<HHIQQIIQQIIQ", types.index(name) + 1, flags, 0, BEGIN + ms * 1000000, site, line, 0,
                       numbers[line], key or 0, 0, 1 if key is not None else 0, KEY)
    send(SLOTS, struct.pack("<I", line) + slot)


event(0, 1, "begin", 0xA0)
event(50, 1, "tell", 0xA1, SEND, 1)
event(80, 1, "ask", 0xA2)
event(0, 2, "begin", 0xB0)
event(20, 2, "ask", 0xB1)
event(50, 2, "get", 0xB2, RECEIVE, 1)
event(90, 2, "tell", 0xB3, SEND, 2)
event(0, 3, "begin", 0xC0)
event(25, 3, "ask", 0xC1)
event(90, 3, "get", 0xC2, RECEIVE, 2)
event(125, 3, "tell", 0xC3, SEND, 3)
event(125, 1, "get", 0xA3, RECEIVE, 3)
