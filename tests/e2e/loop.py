"""Peers that ask much of the server at once, by bare messages of the protocol (docs/wire.md)."""
import array, fcntl, mmap, os, socket, struct, sys

PROGRAM, VIEWER = 1, 2


def string(text):
    return struct.pack("<I", len(text)) + text.encode()


def message(number, body=b""):
    return struct.pack("<IHH", len(body), number, 0x4F50) + body


def hello(run, role=PROGRAM):
    body = struct.pack("<IIB", 0x4D454F50, 1, role)
    if role == PROGRAM:
        body += string(run) + string("pthread") + string("/bin/" + run) + string("host")
        body += struct.pack("<IQQQI", 1, 1, 1, 1, 0)
    return message(1, body)


RUNS, SELECT, SEARCH, LIST = 1, 2, 25, 26


def ask(number, what, body=b""):
    return message(32, struct.pack("<IH", number, what) + body)


def answered(what):
    """Number of the question, whether that was the last part, what it is."""
    return struct.unpack_from("<I?H", what[1]) if what[0] == 66 else (0, False, 0)


def type_is(code, name):
    return message(3, struct.pack("<H", code) + string(name) + struct.pack("<H", 0))


def line(code, kind="thread", name=""):
    return message(5, struct.pack("<IQQBQQ", code, 1, code, 0, 0, 0) + string(kind) + string(name))


def event(at, number, about=0):
    return struct.pack("<HHIQQIIQQIIQ", 1, 0, 0, number, 0, at, 0, number, 0, about, 0, 0)


def slots(events):
    events = list(events)
    for i in range(0, len(events), 10000):
        yield message(10, struct.pack("<I", 1) + b"".join(events[i : i + 10000]))


class Peer:
    def __init__(self, *said):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(os.environ["XDG_RUNTIME_DIR"] + "/poet.sock")
        self.bytes, self.at = b"", 0
        self.say(*said)

    def say(self, *said):
        for what in said:
            for one in [what] if isinstance(what, bytes) else what:
                self.socket.sendall(one)

    def next(self):
        """The next answer, or None when the server has hung up."""
        while len(self.bytes) - self.at < 8 or (
            len(self.bytes) - self.at < 8 + struct.unpack_from("<I", self.bytes, self.at)[0]
        ):
            self.bytes, self.at = self.bytes[self.at :], 0
            try:
                got = self.socket.recv(1 << 20)
            except ConnectionError:
                return None
            if not got:
                return None
            self.bytes += got
        size, number = struct.unpack_from("<IH", self.bytes, self.at)
        self.at += 8 + size
        return number, self.bytes[self.at - size : self.at]

    def bye(self):
        """Hangs up; what the server said, until it has, too."""
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        told = b""
        while answer := self.next():
            told += answer[1][4:] if answer[0] == 65 else b""
        print(told.decode() or "nothing")


    def refused(self):
        """The same of a server that rejects what it receives, as soon as it reads it."""
        self.socket.settimeout(60)
        told = b""
        try:
            while answer := self.next():
                told += answer[1][4:] if answer[0] == 65 else b""
        except TimeoutError:
            told = b"no answer"
        print(told.decode() or "nothing")


def program(name, *said):
    peer = Peer(hello(name), type_is(1, "x"), line(1))
    try:
        peer.say(*said)
    except ConnectionError:
        pass
    return peer


def gone(count):
    peer = program("gone", (line(i + 2) for i in range(count)))
    peer.say(slots(event(i + 2, 1000000) for i in range(count)))
    peer.bye()


def pending(count):
    peer = program("pending", slots(event(1, i + 2) for i in range(count)))
    print("sent", flush=True)
    sys.stdin.read()
    peer.bye()


def many(count):
    """Lines of one thread, in turn; more and more until told to end, or the server is gone."""
    peer = program("many", (b"".join(line(i + 2) for i in range(k, k + 1000)) for k in range(0, count, 1000)))
    os.set_blocking(0, False)
    number, told_to_end = 0, False
    try:
        while not told_to_end:
            number += 1
            peer.say(slots(event(i + 2, number) for i in range(count)))
            try:
                told_to_end = os.read(0, 1) == b""
            except BlockingIOError:
                pass
    except ConnectionError:
        return
    print(number, flush=True)
    peer.bye()


def held(count):
    peer = program("held", slots(event(1, i + 1, 100 + i) for i in range(count)))
    peer.say(line(100 + i) for i in range(count))
    peer.bye()


def kinds(count):
    program("kinds", (line(i + 2, "kind %d" % i) for i in range(count))).refused()


def after(count):
    earlier = b"".join(struct.pack("<H", i + 1) for i in range(count))
    types = (type_is(i + 1, "type %d" % i) for i in range(count))
    body = struct.pack("<H", count + 1) + string("last") + struct.pack("<H", count) + earlier
    program("after", types, message(3, body)).refused()


def texts(count):
    text = message(7, struct.pack("<IQ", 1, 1) + string("a" * 40 + "!"))
    program("texts", slots([event(1, 1)]), (text for _ in range(count))).bye()


def wrap(_):
    bad = struct.pack("<HHIQQIIQQIIQ", 0, 13, 0xFFFFFFFF, 1, *[0] * 8)
    program("wrap", slots([event(1, 1), bad])).refused()


def queues(count):
    fd = os.memfd_create("queue", os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, 4096 + 2 * 64)
    fcntl.fcntl(fd, 1033, 2 | 4)  # F_ADD_SEALS: neither smaller nor larger
    head = mmap.mmap(fd, 4096)
    struct.pack_into("<IIIII", head, 0, 0x51544F50, 1, 2, 1, 0)
    peer = program("queues")
    try:
        for _ in range(count):
            socket.send_fds(peer.socket, [message(9, struct.pack("<I", 2))], [fd])
    except ConnectionError:
        pass
    peer.bye()


def search(expression):
    """A search in the run of texts; another viewer is answered between its steps."""
    seeker, other = Peer(hello("", VIEWER)), Peer(hello("", VIEWER))
    seeker.next(), other.next()
    seeker.say(ask(1, SELECT, string("texts")))
    while seeker.next()[0] != 83:
        pass
    seeker.say(ask(2, SEARCH, struct.pack("<QBIIII", 0, 12, 1000, 0, 0, 0) + string(expression)))
    seeker.socket.setblocking(False)
    asked = 0
    while True:
        asked += 1
        other.say(ask(asked, RUNS))
        while answered(other.next())[:2] != (asked, True):
            pass
        try:
            got = seeker.next()
        except BlockingIOError:
            continue
        if answered(got)[:2] == (2, True):
            break
    problem = got[1][-400:].decode(errors="replace").replace("\0", "")
    print("asked %s, %s" % ("often" if asked > 10 else asked, problem[problem.find("the expression") :]))


def unread(count):
    """Asks for much and reads nothing of it until another viewer was answered."""
    slow, other = Peer(hello("", VIEWER)), Peer(hello("", VIEWER))
    slow.next(), other.next()
    slow.say(ask(count + 1, SELECT, string("held")))
    slow.say(ask(i + 1, LIST, struct.pack("<QI", 0, 4096)) for i in range(count))
    for i in range(100):
        other.say(ask(i + 1, RUNS))
        while answered(other.next())[:2] != (i + 1, True):
            pass
    ends = []
    while len(ends) <= count:
        number, last, _ = answered(slow.next())
        ends += [number] if last else []
    print("each once" if sorted(ends) == list(range(1, count + 2)) else ends)


what, argument = sys.argv[1:]
globals()[what](int(argument) if argument.isdigit() else argument)
