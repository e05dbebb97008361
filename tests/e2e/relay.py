"""A relay between a viewer and a server: relay.py SOCKET SERVER stall|cut|garble BYTES

After so many bytes from the server it sends nothing more (stall), disconnects (cut), or sends other bytes (garble)."""
import os
import select
import signal
import socket
import sys


def received(connection):
    try:
        return connection.recv(65536)
    except ConnectionError:
        return b""


path, to, how, left = *sys.argv[1:4], int(sys.argv[4])
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
listener = socket.socket(socket.AF_UNIX)
listener.bind(path + ".new")
listener.listen()
os.rename(path + ".new", path)  # a client that sees it can connect
client, _ = listener.accept()
server = socket.socket(socket.AF_UNIX)
server.connect(to)
while True:
    for sender in select.select([client, server], [], [])[0]:
        data = received(sender)
        if not data:
            sys.exit()
        if sender is client:
            server.sendall(data)
            continue
        if left > 0:
            client.sendall(data[:left])
            if left <= len(data):
                if how == "cut":
                    sys.exit()
                if how == "garble":
                    client.sendall(b"nonsense " * 1000)
        left -= len(data)
