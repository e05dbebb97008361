"""An agent that has the key and means harm, over a Unix socket.

attack.py record LISTEN TO FILE            between an agent and its server: what it forwards, unpacked, into FILE
attack.py attack TO TEMPLATE VICTIM SEED N     N connections, each with another wrong made of what TEMPLATE has
attack.py lines DUMP OWN                   of a run's dump: what is said of the lines that OWN, a dump, has, too
"""
import ctypes, ctypes.util, json, os, pickle, random, select, socket, struct, sys

TYPE, LINE, NAME, TEXT, LOST, SLOTS, OBJECT, KIND, CLOSE, FAR, HOLE = 3, 5, 6, 7, 8, 10, 14, 16, 20, 28, 29
AGENT, STREAM, FORWARD, SESSION, HANGUP, END = 40, 41, 42, 64, 65, 67
zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
for name in "ZSTD_compress", "ZSTD_decompress", "ZSTD_compressBound":
    getattr(zstd, name).restype = ctypes.c_size_t


def pack(raw):
    room = zstd.ZSTD_compressBound(ctypes.c_size_t(len(raw)))
    to = ctypes.create_string_buffer(room)
    size = zstd.ZSTD_compress(to, ctypes.c_size_t(room), raw, ctypes.c_size_t(len(raw)), 1)
    return to.raw[:size]


def unpack(packed, size):
    to = ctypes.create_string_buffer(size + 1)
    got = zstd.ZSTD_decompress(to, ctypes.c_size_t(size), packed, ctypes.c_size_t(len(packed)))
    assert got == size
    return to.raw[:size]


def bomb(mebibytes):
    """A frame of so many MiB of nothing, in a few bytes."""
    frame = b"\x28\xb5\x2f\xfd" + bytes([0xa0]) + struct.pack("<I", mebibytes << 20)
    blocks = [struct.pack("<I", (131072 << 3) | 2 | (i == mebibytes * 8 - 1))[:3] + b"\0" for i in range(mebibytes * 8)]
    return frame + b"".join(blocks)


def varied(n):
    out = b""
    while n >= 128:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def read_varied(data, at):
    n = shift = 0
    while True:
        byte = data[at]
        at += 1
        n |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return n, at


def chunks_of(raw):
    at, chunks = 0, []
    while at < len(raw):
        kind = raw[at]
        session, at = read_varied(raw, at + 1)
        thread, at = read_varied(raw, at)
        size, at = read_varied(raw, at)
        chunks.append((kind, session, thread, raw[at:at + size]))
        at += size
    return chunks


def raw_of(chunks):
    return b"".join(bytes([k]) + varied(s) + varied(t) + varied(len(d)) + d for k, s, t, d in chunks)


def string(text):
    return struct.pack("<I", len(text)) + text


def message(kind, body):
    return struct.pack("<IHH", len(body), kind, 0x4f50) + body


def frames(buffer):
    while len(buffer) >= 8 and len(buffer) >= 8 + struct.unpack_from("<I", buffer)[0]:
        size, kind = struct.unpack_from("<IH", buffer)
        yield kind, bytes(buffer[8:8 + size])
        del buffer[:8 + size]


def instance_at(hello):
    """Where it is in a HELLO."""
    at = 9
    for _ in range(4):
        at += 4 + struct.unpack_from("<I", hello, at)[0]
    return at + 4


def instances(chunks):
    return [d[instance_at(d):instance_at(d) + 8] for k, _, _, d in chunks if k == SESSION]


def connect(path):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    return s


# ---- record ----

def record(listen, to, file):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(listen)
    listener.listen()
    agent, _ = listener.accept()
    server, seen, chunks, run, stream = connect(to), bytearray(), [], b"", b""
    while True:
        for end in select.select([agent, server], [], [])[0]:
            data = end.recv(65536)
            if not data:
                return
            (server if end is agent else agent).sendall(data)
            if end is server:
                continue
            seen += data
            for kind, body in frames(seen):
                if kind == STREAM:
                    stream, run = body[4:20], body[24:]
                elif kind == FORWARD:
                    _, first, count, raw = struct.unpack_from("<IQII", body)
                    chunks = chunks[:first] + chunks_of(unpack(body[20:], raw))
            with open(file + ".new", "wb") as f:
                pickle.dump((run, stream, chunks), f)
            os.rename(file + ".new", file)


# ---- attack ----

class Attack:
    def __init__(self, path, template, victim, seed):
        self.path, self.seed, self.random = path, seed, random.Random(seed)
        _, _, self.chunks = pickle.load(open(template, "rb"))
        self.run, _, victim_chunks = pickle.load(open(victim, "rb"))
        self.own, self.victim = instances(self.chunks)[0], instances(victim_chunks)[0]

    def renamed(self, hello_too, other):
        return [(k, s, t, d if k == SESSION and not hello_too else d.replace(self.own, other)) for k, s, t, d in self.chunks]

    def fresh(self):
        return self.renamed(True, self.random.randbytes(8))

    def spoken_for(self, as_victim):
        """Lines of the victim, told by another program, which then speaks of one of them."""
        r = self.random
        types = [x for x in self.chunks if x[0] == TYPE]
        hello = next(x for x in self.chunks if x[0] == SESSION)
        own = self.victim if as_victim else r.randbytes(8)
        chunks = [(SESSION, 0, 0, hello[3].replace(self.own, own))] + types
        for code in range(1, 9):
            chunks.append((LINE, 0, 1, struct.pack("<I8sQBQQ", code, self.victim, code, r.randrange(2), 7, 7) + string(b"evil") + string(b"evil")))
        line, number, evil = r.randrange(1, 9), r.choice([1, 2, 5, 500, 10**6]), string(b"evil")
        slot = struct.pack("<HHIQQIIQQIIQ", struct.unpack_from("<H", types[0][3])[0], 0, 0, 10**9, 0, line, 0, number, 0, 0, 0, 0)
        chunks.append(r.choice([(NAME, struct.pack("<I", line) + evil + struct.pack("<Q", 1)), (NAME, struct.pack("<IQ", line, 1) + evil),
                                (TEXT, struct.pack("<IQ", line, number) + evil), (LOST, struct.pack("<IQQ", line, number, 10**6)),
                                (OBJECT, struct.pack("<IQ", line, 9)), (KIND, struct.pack("<I", line) + evil + evil),
                                (CLOSE, struct.pack("<IQ", line, number)), (SLOTS, slot), (SLOTS, slot)]))
        chunks[-1] = chunks[-1][0], 0, 1, chunks[-1][1]
        return chunks

    def chosen(self, what):
        """Chunks, and what is wrong around them."""
        r, c = self.random, self.fresh()
        i = r.randrange(len(c))
        k, s, t, d = c[i]
        around = {}
        if what == 0:
            c = self.renamed(True, self.victim)
        elif what == 1:
            c = [(k, s, t, d.replace(self.own, self.victim) if k != SESSION else d.replace(self.own, r.randbytes(8)))
                 for k, s, t, d in self.chunks]
        elif what == 2:
            c[i] = r.randrange(256), s, t, d
        elif what == 3:
            c[i] = k, r.choice([1, 2, 7, 4096, 2**31, 2**32 - 2, 2**32 - 1]), t, d
        elif what == 4:
            c[i] = k, s, r.choice([0, 1, 65535, 2**31, 2**32 - 1]), d
        elif what == 5:
            at = r.randrange(len(d) + 1)
            c[i] = k, s, t, r.choice([d[:at], d[:at] + r.randbytes(8) + d[at + 8:], d * 3, b"\xff" * len(d)])
        elif what == 6:
            c.insert(r.randrange(len(c)), (r.choice([66, 68, 69, 70, 71, 72, 75, 79, 88, 90, 91, 95, 96, 97]), s, t, r.randbytes(r.randrange(60))))
        elif what == 7:
            around = {"first": r.choice([1, 5, 2**40, 2**62])}
        elif what == 8:
            around = {"count": r.choice([0, 1, len(c) + 1, 2**31, 2**32 - 1])}
        elif what == 9:
            around = {"raw": r.choice([0, 1, 16 << 20, 2**32 - 1])}
        elif what == 10:
            around = {"packed": bomb(r.choice([1, 16, 64])), "raw": r.choice([1000, 16 << 20])}
        elif what == 11:
            around = {"stream": r.choice([1, 4095, 4096, 2**32 - 1])}
        elif what == 12:
            r.shuffle(c)
        elif what == 13:
            c += [(SESSION, 1, 0, c[[x[0] for x in c].index(SESSION)][3])] + c
        elif what == 14:
            c = [(HANGUP, n, 0, b"") for n in range(9)] + [(END, 0, 0, b"")]
        elif what in (18, 19):
            c = self.spoken_for(what == 19)
        elif what == 20:
            place = lambda: r.randbytes(18)
            ends = [(FAR, s, t, struct.pack("<QB", r.randrange(9), r.randrange(5)) + place() + place()) for _ in range(50)]
            holes = [(HOLE, s, t, struct.pack("<QQQB", r.randrange(9), *sorted((r.randrange(2**64), r.randrange(2**64))), r.randrange(40)))
                     for _ in range(50)]
            c[i:i] = ends + holes
        return c, around

    def once(self, what):
        s = connect(self.path)
        s.settimeout(20)
        chunks, around = self.chosen(what)
        raw = raw_of(chunks)
        names = string(self.run)
        words = [message(AGENT, struct.pack("<II", 0x4D454F50, 1) + string(b"evil")),
                 message(STREAM, struct.pack("<I", 0) + self.random.randbytes(16) + names)]
        count, size = around.get("count", len(chunks)), around.get("raw", len(raw))
        words.append(message(FORWARD, struct.pack("<IQII", around.get("stream", 0), around.get("first", 0), count, size & 0xffffffff) +
                             around.get("packed", pack(raw))))
        done = [(HANGUP, n, 0, b"") for n in range(sum(k == SESSION for k, *_ in chunks))] + [(END, 0, 0, b"")]
        if what not in (18, 19): # (a peer that has hung up is not refused any more)
            words.append(message(FORWARD, struct.pack("<IQII", 0, len(chunks), len(done), len(raw_of(done))) + pack(raw_of(done))))
        if what == 15:
            words = [message(self.random.choice([2, 5, 10, 39, 43, 44, 45, 46, 64, 66, 99]), self.random.randbytes(30))]
        elif what == 16:
            words = [words[0], message(self.random.choice([2, 5, 10, 19, 32, 43, 44, 46, 64, 66, 99]), self.random.randbytes(30))]
        elif what == 17:
            words = [words[0], struct.pack("<IHH", self.random.choice([2**32 - 1, 2**31]), FORWARD, 0x4f50)]
        try:
            s.sendall(b"".join(words))
            s.shutdown(socket.SHUT_WR)
            while s.recv(65536):
                pass
        except OSError:
            pass # it was hung up on
        s.close()


# ---- compare ----

def told(dump):
    lines, events = {}, {}
    for text in open(dump):
        e = json.loads(text)
        if "line" in e and "event" not in e:
            lines[e["line"]] = (e["kind"], e["name"], e["object"], e["shared"])
        elif "event" in e:
            line, number = map(int, e["event"].split(":"))
            events[line, number] = e
    return lines, events


def said(e, lines, ref):
    other = lambda r: None if r is None else [other(x) for x in r] if isinstance(r, list) else ref(r)
    return e["type"], other(e.get("partner")), e.get("object") and lines.get(int(str(e["object"]).split(":")[0])), e.get("site")


def own_lines(dump, own):
    mine = set(told(own)[0].values())
    lines, events = told(dump)
    ref = lambda r: (lines[int(r.split(":")[0])], int(r.split(":")[1]))
    for name, number, what in sorted((lines[l], n, repr(said(e, lines, ref))) for (l, n), e in events.items() if lines[l] in mine):
        print(name, number, what)


if sys.argv[1] == "record":
    record(*sys.argv[2:5])
elif sys.argv[1] == "attack":
    attack = Attack(*sys.argv[2:5], int(sys.argv[5]))
    for n in range(int(sys.argv[6])):
        attack.once(n % 21)
else:
    own_lines(*sys.argv[2:4])
