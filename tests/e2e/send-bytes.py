"""Sends bytes to a Unix socket, and writes what is answered.

send-bytes.py PATH HEX          hangs up after the bytes
send-bytes.py PATH HEX stay     waits until the other end hangs up, at most 200 seconds
"""
import contextlib
import signal
import socket
import sys

signal.alarm(200)
peer = socket.socket(socket.AF_UNIX)
peer.connect(sys.argv[1])
with contextlib.suppress(OSError):  # the other end may hang up at any time
    peer.sendall(bytes.fromhex(sys.argv[2]))
    if sys.argv[3:] != ["stay"]:
        peer.shutdown(socket.SHUT_WR)
    while answer := peer.recv(4096):
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
