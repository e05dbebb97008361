"""Records a run with times that contradict its order: python3 skewed.py NAME SEED EVENTS.  Five threads that send each other
messages, share two locks and meet, each with a clock of its own that is ahead of or behind the others by up to 2 ms;
every now and then several do something at the same nanosecond."""
import os
import random
import socket
import struct
import sys
import time

HELLO, TYPE, SHAPE, LINE, SLOTS, WELCOME = 1, 3, 4, 5, 10, 64
SEND, RECEIVE, GROUP, KEYED = 2, 3, 5, 0x10
name, seed, wanted = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
choose = random.Random(seed)
KEY = choose.getrandbits(63) | 1
INSTANCE = random.getrandbits(63)
BEGIN = time.monotonic_ns()
THREADS, LOCKS = range(1, 6), range(6, 8)
TYPES = {name: code for code, name in enumerate(["send", "receive", "meet", "lock", "acquired", "work"], 1)}
PAIR = 0x8000

string = lambda text: struct.pack("<I", len(text)) + text.encode()
server = socket.socket(socket.AF_UNIX)
server.connect(os.environ["XDG_RUNTIME_DIR"] + "/poet.sock")


def send(kind, body):
    server.sendall(struct.pack("<IH2s", len(body), kind, b"PO") + body)


send(HELLO, struct.pack("<IIB", 0x4D454F50, 1, 1) + string(f"{name}@{INSTANCE:x}") + string("skewed") + string(name) +
     string(socket.gethostname()) + struct.pack("<IQQQI", os.getpid(), INSTANCE, BEGIN, time.time_ns(), 0))
size, kind, _ = struct.unpack("<IHH", server.recv(8, socket.MSG_WAITALL))
answer = server.recv(size, socket.MSG_WAITALL)
if kind != WELCOME:
    raise SystemExit("the server says: " + answer[4:].decode())
for text, code in TYPES.items():
    send(TYPE, struct.pack("<H", code) + string(text) + struct.pack("<H", 0))
send(SHAPE, struct.pack("<HHHHI", PAIR, 1, TYPES["lock"], TYPES["acquired"], 0))
for line in [*THREADS, *LOCKS]:
    thread = line in THREADS
    send(LINE, struct.pack("<IQQBQQ", line, INSTANCE, line, 0, 0, 0) + string("thread" if thread else "lock") +
         string(f"{'p' if thread else 'lock'}{line}"))

numbers = dict.fromkeys([*THREADS, *LOCKS], 0)
ahead = {line: choose.randint(-2000000, 2000000) for line in THREADS}
now = dict.fromkeys(THREADS, 5000000)  # by a clock that all agree on
last = dict.fromkeys(THREADS, 0)
told = messages = 0


def slot(thread, shape, relation=0, other=0, number=0, count=0, key=0):
    global told
    last[thread] = max(last[thread], now[thread] + ahead[thread])  # along a line no clock goes back
    send(SLOTS, struct.pack("<I", thread) + struct.pack("<HHIQQIIQQIIQ", shape, relation, 0, BEGIN + last[thread],
         0x1000 + shape, thread, other, numbers[thread], number, 0, count, key))
    told += 1


def event(thread, name, **more):
    numbers[thread] += 1
    slot(thread, TYPES[name], **more)


free = dict.fromkeys(LOCKS, 0)
under_way = []
while told < wanted:
    thread = choose.choice(THREADS)
    now[thread] += choose.choice([0, 0, 1000, 10000, 150000])
    what = choose.random()
    if what < 0.25:
        messages += 1
        under_way.append((messages, choose.choice([t for t in THREADS if t != thread]), now[thread]))
        event(thread, "send", relation=SEND | KEYED, number=messages, count=1, key=KEY)
    elif what < 0.5 and under_way:
        message, to, at = under_way.pop(choose.randrange(len(under_way)))
        now[to] = max(now[to], at)
        event(to, "receive", relation=RECEIVE | KEYED, number=message, count=1, key=KEY)
    elif what < 0.75:
        lock = choose.choice(LOCKS)
        now[thread] = free[lock] = max(now[thread], free[lock])
        numbers[lock] += 1
        numbers[thread] += 1
        slot(thread, PAIR, other=lock, number=numbers[lock])
    elif what < 0.8:
        meet = choose.sample(THREADS, choose.randint(2, 4))
        messages += 1
        latest = max(now[t] for t in meet)
        for t in meet:
            now[t] = latest
            event(t, "meet", relation=GROUP | KEYED, number=messages, count=len(meet), key=KEY)
    else:
        event(thread, "work")
for message, to, at in under_way:
    now[to] = max(now[to], at)
    event(to, "receive", relation=RECEIVE | KEYED, number=message, count=1, key=KEY)
