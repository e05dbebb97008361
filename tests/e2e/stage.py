"""Plays a program that is written down, every nanosecond of it known, to the server:  python3 stage.py NAME < SCRIPT

    environment pthread
    after sem_acquired sem_post           sem_acquired comes after all earlier sem_post of its line, which is shared
    line thread p0 p1                   lines of a kind; * before a kind: they are shared
    20 p0 wait on=s                     ms, the thread, what it does, and where, if not on its own line
    30 p0 lock/acquired on=m            a pair: on its own line, and on that one

More words of an event:  about=LINE  at=ADDRESS (else where the thread was)  send=KEY  receive=KEY  group=KEY/MEMBERS
stream=KEY:FIRST:BYTES (with send= or receive=)  is=NAME  order=NAME (after the event of that name)  closes
"""
import os
import random
import socket
import struct
import sys
import time

HELLO, TYPE, SHAPE, LINE, SLOTS, WELCOME = 1, 3, 4, 5, 10, 64
SEND, RECEIVE, ORDER, GROUP, KEYED, CLOSES, STREAM = 2, 3, 4, 5, 0x10, 0x20, 0x200
KEY = random.getrandbits(64)
BEGIN = time.monotonic_ns()


def string(text):
    return struct.pack("<I", len(text)) + text.encode()


class Server:
    def __init__(self, run, environment):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(os.environ.get("XDG_RUNTIME_DIR", "") + "/poet.sock")
        self.instance = random.getrandbits(64)
        self.send(HELLO, struct.pack("<IIB", 0x4D454F50, 1, 1) + string(f"{run}@{self.instance:x}") + string(environment) +
                  string(run) + string(socket.gethostname()) +
                  struct.pack("<IQQQI", os.getpid(), self.instance, BEGIN, time.time_ns(), 0))
        size, kind, _ = struct.unpack("<IHH", self.socket.recv(8, socket.MSG_WAITALL))
        answer = self.socket.recv(size, socket.MSG_WAITALL)
        if kind != WELCOME:
            raise SystemExit("the server says: " + answer[4:].decode())

    def send(self, kind, body):
        self.socket.sendall(struct.pack("<IH2s", len(body), kind, b"PO") + body)


class Stage:
    def __init__(self, run, environment):
        self.server = Server(run, environment)
        self.lines, self.numbers, self.types, self.shapes = {}, {}, {}, {}
        self.after, self.named, self.sites = {}, {}, {}

    def line(self, kind, name):
        code = self.lines[name] = len(self.lines) + 1
        self.numbers[code] = 0
        self.server.send(LINE, struct.pack("<IQQBQQ", code, self.server.instance, code, kind.startswith("*"), 0, 0) +
                         string(kind.lstrip("*")) + string(name))

    def type(self, name):
        if name not in self.types:
            after = [self.type(other) for other in self.after.get(name, [])]
            self.types[name] = len(self.types) + 1
            self.server.send(TYPE, struct.pack("<H", self.types[name]) + string(name) +
                             struct.pack(f"<H{len(after)}H", len(after), *after))
        return self.types[name]

    def shape(self, own, its):
        if (own, its) not in self.shapes:
            self.shapes[own, its] = 0x8000 + len(self.shapes)
            self.server.send(SHAPE, struct.pack("<HHHHI", self.shapes[own, its], 1, self.type(own), self.type(its), 0))
        return self.shapes[own, its]

    def number(self, line):
        self.numbers[line] += 1
        return self.numbers[line]

    def slot(self, thread, ns, site, shape, flags, on, other=0, number=0, second=0, about=0, members=0, key=0):
        self.server.send(SLOTS, struct.pack("<I", thread) + struct.pack("<HHIQQIIQQIIQ", shape, flags, 0, BEGIN + ns, site,
                         on, other, number, second, about, members, key))

    def event(self, ms, thread_name, what, words):
        thread, on = self.lines[thread_name], self.lines[words.get("on", thread_name)]
        site = self.sites[thread_name] = int(words["at"], 16) if "at" in words else self.sites.get(thread_name, 0x10)
        ns = round(float(ms) * 1000000)
        if "/" in what:
            own, its = what.split("/")
            self.slot(thread, ns, site, self.shape(own, its), 0, thread, on, self.number(thread), self.number(on))
            return
        more, flags = {}, CLOSES if "closes" in words else 0
        for word, relation in ("send", SEND), ("receive", RECEIVE), ("group", GROUP):
            if word not in words:
                continue
            flags |= relation | KEYED
            if "stream" in words:
                key, first, count = map(int, words["stream"].split(":"))
                more = dict(second=first, members=count, key=KEY + key & (1 << 64) - 1)
                flags |= STREAM
            else:
                key, _, members = words[word].partition("/")
                more = dict(second=int(key), members=int(members or 1), key=KEY)
        if "order" in words:
            flags |= ORDER
            more["other"], more["second"] = self.named[words["order"]]
        number = self.number(on)
        self.slot(thread, ns, site, self.type(what), flags, on, number=number, about=self.lines.get(words.get("about"), 0), **more)
        if "is" in words:
            self.named[words["is"]] = on, number

    def play(self, text):
        for words in text:
            if words[0] == "after":
                self.after[words[1]] = words[2:]
            elif words[0] == "line":
                for name in words[2:]:
                    self.line(words[1], name)
            else:
                self.event(*words[:3], dict(w.partition("=")[::2] for w in words[3:]))


script = [line.split("#")[0].split() for line in sys.stdin]
script = [words for words in script if words]
assert script[0][0] == "environment"
Stage(sys.argv[1], script[0][1]).play(script[1:])
