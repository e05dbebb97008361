"""Tells a run of which pictures are made: python3 pictured.py NAME SEED EVENTS.  Threads are created and end, lock mutexes, post
and take of semaphores, read and write, pass barriers, send signals and wake each other, also by way of lines that are never
drawn.  Each has a clock of its own, ahead of or behind the others, several do something at the same nanosecond, and now
and then nothing happens for long.  In some runs numbers are lost, and signals come that no event has sent."""
import os
import random
import socket
import struct
import sys
import time

HELLO, TYPE, SHAPE, LINE, TEXT, LOST, SLOTS, WELCOME = 1, 3, 4, 5, 7, 8, 10, 64
SEND, RECEIVE, ORDER, GROUP, KEYED = 2, 3, 4, 5, 0x10
SHARED, FOLLOWS = 1, 2
name, seed, wanted = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
choose = random.Random(seed)
KEY = choose.getrandbits(63) | 1
INSTANCE = random.getrandbits(63)
BEGIN = time.monotonic_ns()
NAMES = ["create", "start", "exit", "join", "joined", "acquire", "lock", "acquired", "released", "unlock", "sem_post", "sem_acquired",
         "read_released", "write_released", "read_acquired", "write_acquired", "arrive", "passed", "signal_sent", "handler", "signal",
         "wait", "wake", "note"]
TYPES = {text: code for code, text in enumerate(NAMES, 1)}
# (steps: on the thread's line, on the object's)
SHAPES = {"lock": ("lock", "acquired"), "unlock": ("unlock", "released"), "in": ("lock", "acquired"), "out": ("unlock", "released"),
          "to read": ("lock", "read_acquired"), "to write": ("lock", "write_acquired"), "from read": ("unlock", "read_released"),
          "from write": ("unlock", "write_released")}
PAIRS = {text: 0x8000 + at for at, text in enumerate(SHAPES)}
AFTER = {"sem_acquired": ["sem_post"], "read_acquired": ["write_released"], "write_acquired": ["read_released", "write_released"]}

string = lambda text: struct.pack("<I", len(text.encode())) + text.encode()
server = socket.socket(socket.AF_UNIX)
server.connect(os.environ["XDG_RUNTIME_DIR"] + "/poet.sock")


def send(kind, body):
    server.sendall(struct.pack("<IH2s", len(body), kind, b"PO") + body)


send(HELLO, struct.pack("<IIB", 0x4D454F50, 1, 1) + string(f"{name}@{INSTANCE:x}") + string("pthread") + string(name) +
     string(socket.gethostname()) + struct.pack("<IQQQI", os.getpid(), INSTANCE, BEGIN, time.time_ns(), 0))
size, kind, _ = struct.unpack("<IHH", server.recv(8, socket.MSG_WAITALL))
answer = server.recv(size, socket.MSG_WAITALL)
if kind != WELCOME:
    raise SystemExit("the server says: " + answer[4:].decode())
for text, code in TYPES.items():
    after = AFTER.get(text, [])
    send(TYPE, struct.pack("<H", code) + string(text) + struct.pack("<H", len(after)) +
         b"".join(struct.pack("<H", TYPES[a]) for a in after))
for text, code in PAIRS.items():
    send(SHAPE, struct.pack("<HHHHI", code, 1, *(TYPES[step] for step in SHAPES[text]), 0))

numbers, ahead, now, last = {}, {}, {}, {}
told = keys = 0


def line(kind, name, flags=0):
    code = len(numbers) + 1
    numbers[code] = 0
    send(LINE, struct.pack("<IQQBQQ", code, INSTANCE, code, flags, 0, 0) + string(kind) + string(name))
    return code


def slot(thread, shape, on, relation=0, other=0, number=0, about=0, count=0, key=0):
    global told
    last[thread] = max(last[thread], now[thread] + ahead[thread])  # along a line no clock goes back
    send(SLOTS, struct.pack("<I", thread) + struct.pack("<HHIQQIIQQIIQ", shape, relation, 0, BEGIN + last[thread],
         0x1000 + shape, on, other, numbers[on], number, about, count, key))
    told += 1


def event(thread, name, on=0, **more):
    on = on or thread
    numbers[on] += 1
    slot(thread, TYPES[name], on, **more)
    if choose.random() < 0.06:
        send(TEXT, struct.pack("<IQ", on, numbers[on]) + string(choose.choice(["step", "half done", "7"])))
    return on, numbers[on]


def pair(thread, name, other):
    numbers[thread] += 1
    numbers[other] += 1
    slot(thread, PAIRS[name], thread, other=other, number=numbers[other])


def new_thread(name, at):
    thread = line("thread", name)
    ahead[thread] = choose.randint(-2000000, 2000000) * (seed % 5 > 0)
    now[thread], last[thread] = at, 0
    return thread


FIRST = 5000000
threads = [new_thread(f"p{at}", FIRST) for at in range(1, choose.randint(3, 6))]
mutexes = [line("mutex", f"m{at}") for at in range(choose.randint(1, 2))]
semaphores = [line("semaphore", f"s{at}", SHARED) for at in range(choose.randint(1, 2))]
shelves = [line("rwlock", "shelf", SHARED)]
unseen = line("once", "first")  # lines of this kind are not drawn
barrier = line("barrier", "all")
free = dict.fromkeys([*mutexes, unseen], FIRST)
under_way, signals, ended = [], [], []


def meet():
    global keys
    keys += 1
    members = choose.sample(threads, choose.randint(2, min(4, len(threads))))
    latest = max(now[t] for t in members)
    for t in members:
        now[t] = latest
        event(t, "passed", about=barrier, relation=GROUP | KEYED, number=keys, count=len(members), key=KEY)


def visit(t, object):
    if object == unseen or object in mutexes:
        now[t] = free[object] = max(now[t], free[object])
        pair(t, "lock", object)
        if choose.random() < 0.7:
            now[t] += choose.choice([0, 1000, 20000])
            pair(t, "unlock", object)
            free[object] = now[t]
    elif object in semaphores:
        pair(t, "in", object)
        event(t, choose.choice(["sem_post", "sem_acquired"]), on=object)
        pair(t, "out", object)
    else:
        how = choose.choice(["read", "write"])
        pair(t, "to " + how, object)
        pair(t, "from " + how, object)


def step():
    global keys
    t = choose.choice(threads)
    now[t] += choose.choice([0, 0, 0, 1000, 10000, 150000])
    what = choose.random()
    if what < 0.16:
        keys += 1
        under_way.append((keys, choose.choice([o for o in threads if o != t]), now[t]))
        event(t, "signal_sent", relation=SEND | KEYED, number=keys, count=1, key=KEY)
    elif what < 0.34 and under_way:
        message, to, at = under_way.pop(choose.randrange(len(under_way)))
        if to in threads:
            now[to] = max(now[to], at)
            event(to, "handler", relation=RECEIVE | KEYED, number=message, count=1, key=KEY)
    elif what < 0.62:
        visit(t, choose.choice([*mutexes, *mutexes, *semaphores, *shelves, unseen]))
    elif what < 0.68:
        meet()
    elif what < 0.74:
        signals.append((event(t, "signal"), now[t]))
    elif what < 0.8 and signals:
        (on, number), at = choose.choice(signals)
        now[t] = max(now[t], at)
        if on != t:
            event(t, "wake", on=mutexes[0], relation=ORDER, other=on, number=number)
    elif what < 0.83 and len(numbers) < 16:
        child = new_thread(f"w{len(numbers)}", now[t])
        event(t, "create", on=child)
        numbers[child] += 1
        slot(child, TYPES["start"], child, relation=ORDER, other=child, number=1)
        threads.append(child)
    elif what < 0.85 and len(threads) > 3:
        threads.remove(t)
        ended.append((event(t, "exit"), now[t]))
    elif what < 0.87 and ended:
        (on, number), at = ended.pop()
        now[t] = max(now[t], at)
        event(t, "joined", about=on, relation=ORDER, other=on, number=number)
    elif what < 0.88:
        for o in threads:
            now[o] += 50000000
    else:
        event(t, "note")
    if seed % 4 == 1 and choose.random() < 0.03:
        send(LOST, struct.pack("<IQQ", t, numbers[t] + 1, 3))
        numbers[t] += 3


while told < wanted:
    step()
for at in range(2 * (seed % 3 == 0)):
    event(threads[at], "handler", relation=RECEIVE | KEYED, number=keys + 1 + at, count=1, key=KEY)
