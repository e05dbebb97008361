"""Programs with known times: python3 causes.py condition|propagation.  Milliseconds from an arbitrary moment;
what is done is named by the places between which it was done."""
import os
import random
import socket
import struct
import sys
import time

HELLO, TYPE, SHAPE, LINE, SLOTS, WELCOME = 1, 3, 4, 5, 10, 64
SEND, RECEIVE, ORDER, GROUP, KEYED = 2, 3, 4, 5, 0x10
KEY = random.getrandbits(64)
BEGIN = time.monotonic_ns()
which = sys.argv[1]

string = lambda text: struct.pack("<I", len(text)) + text.encode()
server = socket.socket(socket.AF_UNIX)
server.connect(os.environ.get("XDG_RUNTIME_DIR", "") + "/poet.sock")
instance = random.getrandbits(64)
types, numbers, shapes = {}, {}, set()


def send(kind, body):
    server.sendall(struct.pack("<IH2s", len(body), kind, b"PO") + body)


send(HELLO, struct.pack("<IIB", 0x4D454F50, 1, 1) + string(f"{which}@{instance:x}") +
     string("pthread" if which == "condition" else "meeting") + string(which) + string(socket.gethostname()) +
     struct.pack("<IQQQI", os.getpid(), instance, BEGIN, time.time_ns(), 0))
size, kind, _ = struct.unpack("<IHH", server.recv(8, socket.MSG_WAITALL))
answer = server.recv(size, socket.MSG_WAITALL)
if kind != WELCOME:
    raise SystemExit("the server says: " + answer[4:].decode())


def line(kind, name):
    numbers[len(numbers) + 1] = 0
    send(LINE, struct.pack("<IQQBQQ", len(numbers), instance, len(numbers), 0, 0, 0) + string(kind) + string(name))
    return len(numbers)


def code(name):
    if name not in types:
        types[name] = len(types) + 1
        send(TYPE, struct.pack("<H", types[name]) + string(name) + struct.pack("<H", 0))
    return types[name]


def slot(ms, thread, on, shape, site, relation=0, other=0, number=0, about=0, count=0, key=0):
    send(SLOTS, struct.pack("<I", thread) + struct.pack("<HHIQQIIQQIIQ", shape, relation, 0,
         BEGIN + ms * 1000000, site, on, other, numbers[on], number, about, count, key))


def event(ms, thread, name, site, on=None, **more):
    on = on or thread
    numbers[on] += 1
    slot(ms, thread, on, code(name), site, **more)
    return on, numbers[on]


def pair(ms, thread, lock, own, its, site):
    """Both at one point of the order: a compound record."""
    shape = 0x8000 + code(own)
    if shape not in shapes:
        shapes.add(shape)
        send(SHAPE, struct.pack("<HHHHI", shape, 1, code(own), code(its), 0))
    numbers[thread] += 1
    numbers[lock] += 1
    slot(ms, thread, thread, shape, site, other=lock, number=numbers[lock])


def group(ms, threads, name, site, number):
    for thread in threads:
        event(ms, thread, name, site, relation=GROUP | KEYED, number=number, count=len(threads), key=KEY)


def condition():
    """Common work and extra work, a barrier, then one waits to be signalled and the other holds the lock for 5 more."""
    fast, slow = line("thread", "fast"), line("thread", "slow")
    lock, called, barrier = line("mutex", "m"), line("condvar", "c"), line("barrier", "b")
    for thread in fast, slow:
        event(0, thread, "start", 0xC0)
    event(20, fast, "arrive", 0xC1, about=barrier)
    event(30, slow, "detach", 0xC1)
    event(70, slow, "arrive", 0xE1, about=barrier)
    group(70, (fast, slow), "passed", 0xC0, 1)
    event(80, fast, "acquire", 0xC1, about=lock)
    pair(80, fast, lock, "lock", "acquired", 0xC1)
    event(80, fast, "wait", 0xC1, on=lock, about=called)
    event(80, slow, "detach", 0xC1)
    event(105, slow, "acquire", 0xE1, about=lock)
    pair(105, slow, lock, "lock", "acquired", 0xE1)
    on, number = event(105, slow, "signal", 0xE1, on=lock, about=called)
    pair(110, slow, lock, "unlock", "released", 0xF1)
    event(110, fast, "wake", 0xC2, on=lock, about=called, relation=ORDER, other=on, number=number)
    pair(110, fast, lock, "unlock", "released", 0xC2)


def propagation():
    """One is late, two wait for it one after the other, and then all meet."""
    late, first, second = (line("one", name) for name in ("late", "p1", "p2"))
    event(0, late, "begin", 0xA0)
    for thread in first, second:
        event(0, thread, "begin", 0xF0)
        event(10, thread, "ask", 0xF0)
    event(60, late, "tell", 0xA1, relation=SEND | KEYED, number=1, count=1, key=KEY)
    event(60, late, "arrive", 0xA1)
    event(60, first, "get", 0xF0, relation=RECEIVE | KEYED, number=1, count=1, key=KEY)
    event(70, first, "tell", 0xF0, relation=SEND | KEYED, number=2, count=1, key=KEY)
    event(70, first, "arrive", 0xF0)
    event(70, second, "get", 0xF0, relation=RECEIVE | KEYED, number=2, count=1, key=KEY)
    event(75, second, "arrive", 0xF0)
    group(75, (late, first, second), "meet", 0xF1, 3)


globals()[which]()
