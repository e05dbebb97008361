"""One of two programs on two hosts that send each other messages, twenty each; both join one run:
two-hosts.py SOCKET NAME OFFSET_NS LINE.  Its clock is ahead by OFFSET_NS; the names are here and there, the lines 1 and 2."""
import os
import socket
import struct
import sys
import time

HELLO, TYPE, LINE, SLOTS = 1, 3, 5, 10
SEND, RECEIVE = 2, 3
path, host, offset, own = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
other = 3 - own

server = socket.socket(socket.AF_UNIX)
server.connect(path)


def string(text):
    return struct.pack("<I", len(text)) + text.encode()


def send(kind, body):
    server.sendall(struct.pack("<IH2s", len(body), kind, b"PO") + body)


def both(have):
    """Waits until the other has come as far, too."""
    open(f"{host}.{have}", "w").close()
    while not (os.path.exists(f"here.{have}") and os.path.exists(f"there.{have}")):
        time.sleep(0.01)


send(HELLO, struct.pack("<IIB", 0x4D454F50, 1, 1) + string("hosts@1") + string("shiviz") + string("/bin/x") + string(host) +
     struct.pack("<IQQQI", 1, own, 0, 0, 0))
server.recv(12)
both("joined")  # before either exits
for code, name in enumerate(["event", "send", "receive"], 1):
    send(TYPE, struct.pack("<H", code) + string(name) + struct.pack("<H", 0))
for line in 1, 2:
    send(LINE, struct.pack("<IQQBQQ", line, 7, line, 0, 0, 0) + string("host") + string(f"line{line}"))
for number in range(1, 41):
    sends = (number % 2 == 1) == (own == 1)
    ns = 1000000 * number + (0 if sends else 100000) + offset
    kind = SEND if sends else RECEIVE
    send(SLOTS, struct.pack("<I", own) + struct.pack("<HHIQQIIQQIIQ", kind, kind, 0, ns, 0, own, 0 if sends else other,
         number, 0 if sends else number, 0, 0, 0))
both("sent")  # neither leaves before the other has sent what it waits for
server.shutdown(socket.SHUT_WR)
while server.recv(100000):
    pass
