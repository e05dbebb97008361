"""The protocol, spoken by hand: what tests say to a server or to a client that no Poet would say.
docs/wire.md has each message."""
import socket
import struct

VERSION = 1


def frame(kind, body=b""):
    return struct.pack("<IHH", len(body), kind, 0x4F50) + body


def string(text):
    text = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<I", len(text)) + text


def ref(line, number):
    return struct.pack("<IQ", line, number)


def program_hello(run, path="/bin/program", arguments=(), pid=1, instance=1):
    return frame(1, struct.pack("<IIB", 0x4D454F50, VERSION, 1) + string(run) + string("pthread") + string(path)
                 + string("host") + struct.pack("<IQQQ", pid, instance, 0, 0)
                 + struct.pack("<I", len(arguments)) + b"".join(map(string, arguments)))


VIEWER_HELLO = frame(1, struct.pack("<IIB", 0x4D454F50, VERSION, 2))


ASK, RUNS, SELECT, WINDOW, WAITS = 32, 1, 2, 16, 24
PART_END, PART_RUN, PART_WINDOW = 0, 2, 3


def answer(question, part=PART_END, body=b"", last=True):
    return frame(66, struct.pack("<IBH", question, last, part) + body)


def module(start, end, path):
    return frame(2, struct.pack("<QQQI", start, end, 0, 4) + b"\1\2\3\4" + string(path))


def event_type(code, name):
    return frame(3, struct.pack("<H", code) + string(name) + struct.pack("<H", 0))


def line(code, kind, name, entry=0):
    return frame(5, struct.pack("<IQQBQQ", code, 1, code, 0, 0, entry) + string(kind) + string(name))


def text(on, number, words):
    return frame(7, ref(on, number) + string(words))


def slot(shape, on, number, flags=0, payload=b"", site=0, time=0, partner=0, partner_number=0):
    head = struct.pack("<HHIQQIIQQIIQ", shape, flags, len(payload), time, site, on, partner, number,
                       partner_number, 0, 0, 0)
    return head + payload + b"\0" * (-len(payload) % 64)


def slots(thread, *all_slots):
    return frame(10, struct.pack("<I", thread) + b"".join(all_slots))


def connect(endpoint):
    """unix:PATH or tcp:HOST:PORT"""
    kind, _, where = endpoint.partition(":")
    if kind == "unix":
        peer = socket.socket(socket.AF_UNIX)
        peer.connect(where)
    else:
        host, _, port = where.rpartition(":")
        peer = socket.create_connection((host, int(port)))
    peer.settimeout(20)
    return peer


def frames(peer):
    """The messages that come, until the other end hangs up."""
    data = b""
    while True:
        while len(data) >= 8 and len(data) >= 8 + struct.unpack_from("<I", data)[0]:
            size, kind, _ = struct.unpack_from("<IHH", data)
            yield kind, data[8:8 + size]
            data = data[8 + size:]
        try:
            more = peer.recv(65536)
        except OSError:
            return
        if not more:
            return
        data += more


def finish(peer):
    """Hangs up once the server has taken all: it answers by hanging up, too."""
    peer.shutdown(socket.SHUT_WR)
    return list(frames(peer))
