"""A server of an older Poet, which refuses every client: old-server.py SOCKET"""
import contextlib
import os
import socket
import sys

import talk

REFUSAL = talk.frame(65, talk.string("protocol version mismatch (server 0, peer 3): restart the server with the newer Poet"))

with contextlib.suppress(FileNotFoundError):
    os.unlink(sys.argv[1])
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(5)
while True:
    client, _ = listener.accept()
    client.recv(99999)
    client.sendall(REFUSAL)
    client.close()
