#!/usr/bin/env python3
"""A program that records its calls by hand: two threads, each with a region of known sums.
region.py PROGRAM wait|kill|end: functions are those of PROGRAM, which is not run.
  end: the calls have ended; wait: they are open, until a line comes on standard input; then one more call of f."""
import array
import fcntl
import mmap
import os
import random
import socket
import struct
import subprocess
import sys
import time

HELLO, MODULE, TYPE, LINE, THREAD, SLOTS, REGION, WELCOME = 1, 2, 3, 5, 9, 10, 21, 64
FRAMES_AT, FRAMES, CONTEXTS = 4096, 16384, 131072
CONTEXTS_AT = FRAMES_AT + FRAMES * 48
REGION_BYTES = CONTEXTS_AT + CONTEXTS * 128 + 1024 * 64
NONE = (1 << 64) - 1
FUNCTION, NAMED, WAITED, OTHER = range(4)
PROGRAM, MODE = sys.argv[1:3]

string = lambda text: struct.pack("<I", len(text)) + text.encode()
server = socket.socket(socket.AF_UNIX)
server.connect(os.environ.get("POET_SERVER", "unix:" + os.environ.get("XDG_RUNTIME_DIR", "") + "/poet.sock")[5:])
BEGIN = time.monotonic_ns()
instance = random.getrandbits(64)


def send(kind, body, fd=None):
    data = struct.pack("<IH2s", len(body), kind, b"PO") + body
    if fd is None:
        server.sendall(data)
    else:
        socket.send_fds(server, [data], [fd])


def sealed(name, size, data=b""):
    fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, size)
    os.pwrite(fd, data, 0)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
    return fd


send(HELLO, struct.pack("<IIB", 0x4D454F50, 1, 1) + string(f"called@{instance:x}") + string("called") + string(PROGRAM) +
     string(socket.gethostname()) + struct.pack("<IQQQI", os.getpid(), instance, BEGIN, time.time_ns(), 0))
size, kind, _ = struct.unpack("<IHH", server.recv(8, socket.MSG_WAITALL))
answer = server.recv(size, socket.MSG_WAITALL)
if kind != WELCOME:
    raise SystemExit("the server says: " + answer[4:].decode())

symbols = {line.split()[2]: int(line.split()[0], 16)
           for line in subprocess.run(["nm", PROGRAM], capture_output=True, text=True).stdout.splitlines() if len(line.split()) == 3}
notes = subprocess.run(["readelf", "-n", PROGRAM], capture_output=True, text=True).stdout
build = bytes.fromhex(notes.split("Build ID: ")[1].split()[0])
LOADED = 0x7000000
send(MODULE, struct.pack("<QQQI", LOADED, LOADED + 0x100000, LOADED, len(build)) + build + string(PROGRAM))
at = lambda name: LOADED + symbols[name]

for code, name in enumerate(["begin", "end", "lock"], 1):
    send(TYPE, struct.pack("<H", code) + string(name) + struct.pack("<H", 0))
for line, name in enumerate(["one", "two"], 1):
    send(LINE, struct.pack("<IQQBQQ", line, instance, line, 0, 0, 0) + string("one") + string(name))


def queue(thread, events):
    """events: (type, ms) of its own line"""
    head = struct.pack("<IIIIII", 0x51544F50, 1, 64, thread, 0, 0)
    fd = sealed("queue", 4096 + 64 * 64, head)
    memory = mmap.mmap(fd, 0)
    for number, (kind, ms) in enumerate(events, 1):
        slot = struct.pack("<HHIQQIIQQIIQ", kind, 0, 0, BEGIN + ms * 1000000, 0, thread, 0, number, 0, 0, 0, 0)
        memory[4096 + 64 * (number - 1):4096 + 64 * number] = slot
    memory[64:72] = struct.pack("<Q", len(events))
    send(THREAD, struct.pack("<I", 64), fd)
    return memory


class Region:
    """contexts: (parent, lands, name, scope, calls, concurrent, real, least, most, own, own least, own most, off), in us"""

    def __init__(self, thread, contexts, cpu=True):
        head = struct.pack("<IIIIII", 0x47525450, 1, thread, 0, 10 * 256, 5 * 256)  # 10 ns within, 5 ns in the caller
        self.fd = sealed("region", REGION_BYTES, head)
        self.memory = mmap.mmap(self.fd, 0)
        self.contexts = 0
        if cpu:
            self.memory[96:104] = struct.pack("<Q", 1)  # looked_ticks
        for context in contexts:
            self.add(context)
        send(REGION, struct.pack("<I", thread), self.fd)

    def add(self, context):
        parent, lands, name, scope, calls, concurrent, *times = context
        function = at(name) if scope in (FUNCTION, NAMED) and name else name or 0
        real, least, most, own, own_least, own_most, off = [t * 1000 if t is not None else NONE for t in times]
        self.memory[CONTEXTS_AT + 128 * self.contexts:CONTEXTS_AT + 128 * (self.contexts + 1)] = struct.pack(
            "<IIIIQII12Q", parent, 0, 0, lands, function, scope, 0, calls, concurrent, real, least, most, own, own_least,
            own_most, 0 if least is NONE else calls, off, 0, 0)
        self.contexts += 1
        self.memory[64:68] = struct.pack("<I", self.contexts)

    def open(self, frames):
        """(context, began, ran, own), the outermost first, in us from the begin"""
        for i, (context, began, ran, own) in enumerate(frames):
            self.memory[FRAMES_AT + 48 * i:FRAMES_AT + 48 * (i + 1)] = struct.pack(
                "<IIQQQQQ", context, 0, BEGIN + began * 1000, 0, 0, BEGIN + ran * 1000 if ran else 0, own * 1000)
        self.memory[68:72] = struct.pack("<I", len(frames))


# one: main calls g, k and r; g calls f 1000 times, k 300 times; r calls itself ten times; g waits for a lock.
ONE = [
    (0, 0, None, FUNCTION, 1, 0, 0, None, 0, 500, None, 0, 0),
    (0, 1, "main", FUNCTION, 1, 0, 90000, 90000, 90000, 10000, 10000, 10000, 0),
    (1, 2, "g", FUNCTION, 1, 0, 50000, 50000, 50000, 8000, 8000, 8000, 0),
    (2, 3, "f", FUNCTION, 1000, 0, 20000, 10, 100, 20000, 10, 100, 0),
    (1, 4, "k", FUNCTION, 1, 0, 10000, 10000, 10000, 4000, 4000, 4000, 0),
    (4, 5, "f", FUNCTION, 300, 0, 6000, 5, 50, 6000, 5, 50, 0),
    (1, 6, "r", FUNCTION, 1, 0, 20000, 20000, 20000, 2000, 2000, 2000, 0),
    (6, 6, "r", FUNCTION, 10, 0, 18000, 1000, 18000, 18000, 1000, 2500, 0),
    (2, 8, 3, WAITED, 1, 0, 22000, 22000, 22000, 1000, 1000, 1000, 21000),
]
# two: f at the same time as the other thread.
TWO = [
    (0, 0, None, FUNCTION, 1, 0, 0, None, 0, 0, None, 0, 0),
    (0, 1, "k", FUNCTION, 2, 2, 30000, 10000, 20000, 26000, 8000, 18000, 0),
    (1, 2, "f", FUNCTION, 4, 4, 4000, 500, 2000, 4000, 500, 2000, 0),
]

if MODE == "named":
    TWO[2] = (1, 2, "part_of_k", NAMED) + TWO[2][4:]
queues = [queue(1, [(1, 0), (2, 100)]), queue(2, [(1, 10), (2, 50)])]
if MODE == "counts":
    counted = lambda contexts: [c[:6] + (0, None, 0, 0, None, 0, 0) for c in contexts]
    Region(1, counted(ONE), False)
    Region(2, counted(TWO), False)
else:
    regions = [Region(1, ONE), Region(2, TWO)]
if MODE == "wait":
    regions[1].open([(0, 10000, 10000, 0), (1, 46000, 0, 3000), (2, 47000, 0, 1000)])
    for line in sys.stdin: # "wanted": what each queue is to measure; else it continues
        if line != "wanted\n":
            break
        if os.path.exists("more"):
            queues.append(queue(3, []))
            os.unlink("more")
        print(*(struct.unpack("<I", q[144:148])[0] & 0x7f for q in queues), flush=True)
    regions[1].memory[CONTEXTS_AT + 2 * 128 + 32:CONTEXTS_AT + 2 * 128 + 40] = struct.pack("<Q", 5)
    sys.stdin.readline()
server.shutdown(socket.SHUT_WR)
while server.recv(4096):
    pass
