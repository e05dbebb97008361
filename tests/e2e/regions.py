"""What the threads of a program measure of themselves: python3 regions.py PROGRAM ARGUMENT...

A server of its own, which keeps the regions (wire/profile_region.h) and prints, once the program has ended, a line for each
context that was called: thread, path, calls, ended, concurrent, real, own, off, least, most (ticks; - where none is).
Functions are called as in the table of symbols of the program, which is linked with -no-pie.  Then for each thread
its numbers: folded, deep, mismatched, depth; and which contexts its records bore, with their shapes."""
import mmap
import os
import re
import selectors
import socket
import struct
import subprocess
import sys
import tempfile

REGION, THREAD, SLOTS_AT, CONTEXT = 21, int(os.environ.get("THREAD", 9)), 4096, 0x800
HEAD, FRAME, FRAMES = 4096, 48, 16384
CONTEXTS_AT = HEAD + FRAME * FRAMES


def enum(name):
    """The numbers of messages, from the source."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    text = open(root + "/wire/message.h").read()
    return int(re.search(r"M\((\d+), %s\)" % name, text).group(1))


REGION, THREAD, HELLO, ENTRIES = enum("REGION"), enum("THREAD"), enum("HELLO"), enum("ENTRIES")
symbols = {}
for line in subprocess.run(["nm", "-C", sys.argv[1]], capture_output=True, text=True).stdout.splitlines():
    address, _, name = line.partition(" ")
    if address:
        symbols[int(address, 16)] = name[2:].split("(")[0]

where = tempfile.mkdtemp(dir=os.getcwd()) + "/socket"
listener = socket.socket(socket.AF_UNIX)
listener.bind(where)
listener.listen()
program = subprocess.Popen(sys.argv[1:], env=dict(os.environ, POET_SERVER="unix:" + where))
selector = selectors.DefaultSelector()
selector.register(listener, selectors.EVENT_READ)
said, waiting, queues, regions, bore = {}, {}, [], [], {}


def slots_of(queue):
    """Takes what is in a queue."""
    m, size, tail = queue
    thread, head = struct.unpack_from("<I", m, 12)[0], struct.unpack_from("<Q", m, 64)[0]
    while tail < head:
        at = SLOTS_AT + tail % size * 64
        shape, flags, payload = struct.unpack_from("<HHI", m, at)
        count = struct.unpack_from("<I", m, at + 52)[0]
        if shape and flags & CONTEXT:
            bore.setdefault(thread, set()).add((shape, count))
        tail += 1 + (payload + 63) // 64
    queue[2] = tail
    struct.pack_into("<Q", m, 128, tail)


def take(peer, kind, body):
    if kind == HELLO:
        peer.sendall(struct.pack("<IHHIII", 12, 64, 0x4F50, 1, 0, 0))
    if kind == THREAD:
        fd = waiting[peer].pop(0)
        size = struct.unpack("<I", body)[0]
        queues.append([mmap.mmap(fd, SLOTS_AT + size * 64), size, 0])
    if kind == ENTRIES:
        os.close(waiting[peer].pop(0))
    if kind == REGION:
        fd = waiting[peer].pop(0)
        regions.append((struct.unpack("<I", body)[0], mmap.mmap(fd, 0, prot=mmap.PROT_READ)))


def hear(peer):
    data, fds, _, _ = socket.recv_fds(peer, 65536, 16)
    if not data:
        selector.unregister(peer)
        return
    waiting[peer] += fds
    said[peer] += data
    while len(said[peer]) >= 8:
        size, kind, _ = struct.unpack("<IHH", said[peer][:8])
        if len(said[peer]) < 8 + size:
            return
        body = said[peer][8:8 + size]
        said[peer] = said[peer][8 + size:]
        take(peer, kind, body)


def switch():
    """A program that makes a file `off` wants nothing measured, until it makes `on`.  What it told of before it made the
    file is received first: its queue may be among that."""
    for what, wanted in (("off", 0), ("on", 7)):
        if os.path.exists(what):
            while hear_all(0):
                pass
            for m, _, _ in queues:
                struct.pack_into("<I", m, 64 + 64 + 16, wanted)
            os.unlink(what)


def hear_all(seconds):
    """Whatever has come by then; is there any?"""
    ready = selector.select(seconds)
    for key, _ in ready:
        if key.fileobj is listener:
            peer = listener.accept()[0]
            said[peer], waiting[peer] = b"", []
            selector.register(peer, selectors.EVENT_READ)
        else:
            hear(key.fileobj)
    return ready


def listen(ended):
    switch()
    hear_all(0 if ended else 0.002)
    for queue in queues:
        slots_of(queue)


def name_of(scope, function, m):
    if scope == 2:
        return "wait-%d" % function
    if scope == 3:
        return "(other)"
    if scope == 1:
        with open(sys.argv[1], "rb") as f:  # a literal, where the program was linked to
            f.seek(function - 0x400000)
            return "[" + f.read(100).split(b"\0")[0].decode() + "]"
    return symbols.get(function, "%x" % function)


def show(thread, m):
    magic, version, code, clock, enter, leave = struct.unpack_from("<IIIIII", m, 0)
    count, depth, folded, deep, mismatched = struct.unpack_from("<IIQQQ", m, 64)
    paths, rows = [], {}
    for c in range(count):
        at = CONTEXTS_AT + 128 * c
        (parent, child, sibling, lands, function, scope, opened, calls, concurrent, real, least, most, own, own_least,
         own_most, ended, off) = struct.unpack_from("<IIIIQIIQQQQQQQQQQ", m, at)
        assert parent < c or c == 0, (c, parent)
        name = name_of(scope, function, m) if c else ""
        paths.append(("%s/%s%s" % (paths[parent], name, "" if lands == c else "*")) if c else "")
        if calls:  # of one function and caller, wherever it was called from
            row = rows.setdefault(paths[c] or "/", [0] * 6 + [2**64 - 1, 0, 0])
            sums = (calls, ended, concurrent, real, own, off)
            row[:6] = [a + b for a, b in zip(row, sums)]
            row[6:] = [min(row[6], least), max(row[7], most), row[8] + opened]
    for path, row in rows.items():
        print(thread, path, *("-" if n == 2**64 - 1 else n for n in row))
    print(thread, "numbers", folded, deep, mismatched, depth)
    print(thread, "rates", enter, leave)
    for shape, c in sorted(bore.get(thread, ())):
        print(thread, "bears", shape, paths[c] or "/")


while program.poll() is None:
    listen(False)
for _ in range(20):
    listen(True)
for thread, m in regions:
    show(thread, m)
sys.exit(program.returncode if program.returncode >= 0 else 128 - program.returncode)
