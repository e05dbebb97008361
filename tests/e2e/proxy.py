#!/usr/bin/env python3
"""A link that can be cut: proxy.py PORT TO-PORT LOG forwards 127.0.0.1:PORT to TO-PORT, appends all bytes of both ways
to LOG, and those from the client to LOG.client of the first connection; SIGUSR1 closes all connections in the midst."""
import os
import selectors
import signal
import socket
import sys

port, to, log = int(sys.argv[1]), int(sys.argv[2]), open(sys.argv[3], "ab", buffering=0)
first = open(sys.argv[3] + ".client", "ab", buffering=0)
select = selectors.DefaultSelector()
pairs, cut = {}, []
signal.signal(signal.SIGUSR1, lambda *_: cut.append(1))
wake_r, wake_w = os.pipe()
os.set_blocking(wake_w, False)
signal.set_wakeup_fd(wake_w)
select.register(wake_r, selectors.EVENT_READ)


def close(end):
    other = pairs.pop(end, None)
    pairs.pop(other, None)
    for s in (end, other):
        if s:
            select.unregister(s)
            s.close()


listener = socket.create_server(("127.0.0.1", port))
select.register(listener, selectors.EVENT_READ)
count = 0
while True:
    for key, _ in select.select():
        end = key.fileobj
        if end == wake_r:
            os.read(wake_r, 100)
        elif end is listener:
            client, _ = listener.accept()
            try:
                server = socket.create_connection(("127.0.0.1", to))
            except OSError:
                client.close()
                continue
            count += 1
            pairs[client], pairs[server] = server, client
            for s in (client, server):
                select.register(s, selectors.EVENT_READ, (s is client, count))
        elif end in pairs:
            try:
                data = end.recv(65536)
                log.write(data)
                if key.data == (True, 1):
                    first.write(data)
                if data:
                    pairs[end].sendall(data)
            except OSError:
                data = b""
            if not data:
                close(end)
    if cut:
        cut.clear()
        for end in list(pairs):
            if end in pairs:
                close(end)
