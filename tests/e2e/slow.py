"""A slow way to a server: python3 slow.py SERVER SOCKET ASKED [HOLD].  From the question for a table on its answer is
held back: more than a second, or, with HOLD, for good.  ASKED is made as the question comes, ASKED.gone when the client
hangs up, ASKED.cancelled when it takes the question back."""
import os
import select
import socket
import struct
import sys
import time

to, at, asked = sys.argv[1:4]
hold = len(sys.argv) > 4
ASK, TABLE, CANCEL = int(os.environ["ASK"]), 34, 33
listener = socket.socket(socket.AF_UNIX)
listener.bind(at + ".new")
listener.listen()
os.rename(at + ".new", at)  # a client that sees it can connect
client, _ = listener.accept()
server = socket.socket(socket.AF_UNIX)
server.connect(to)
said, since, question = b"", 0, 0


def look(data):
    """Is a table asked for, or not any more?"""
    global said, since, question
    said += data
    while len(said) >= 8:
        size, kind, _ = struct.unpack("<IHH", said[:8])
        if len(said) < 8 + size:
            return
        if kind == ASK and struct.unpack("<IH", said[8:14])[1] == TABLE:
            since = time.monotonic()
            question = struct.unpack("<I", said[8:12])[0]
            open(asked, "w").close()
        if kind == CANCEL and since and struct.unpack("<I", said[8:12])[0] == question:
            open(asked + ".cancelled", "w").close()
        said = said[8 + size:]


while True:
    for s in select.select([client, server], [], [])[0]:
        data = s.recv(65536)
        if not data:
            open(asked + ".gone", "w").close()
            raise SystemExit
        if s is client:
            look(data)
            server.sendall(data)
            continue
        if since and hold:
            while data := client.recv(65536):
                look(data)
            open(asked + ".gone", "w").close()
            raise SystemExit
        if since:
            time.sleep(max(0, since + 1.2 - time.monotonic()))
        client.sendall(data)
