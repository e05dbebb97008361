"""Prints why a server refuses a connection to $XDG_RUNTIME_DIR/poet.sock.

refused.py COUNT         connects that often; prints what is sent to the last connection
refused.py other-user    connects as another user; exits with 77 where that is impossible
"""
import os
import socket
import sys

OTHER = 65534


def connection(path):
    new = socket.socket(socket.AF_UNIX)
    new.connect(path)
    return new


os.chdir(os.environ["XDG_RUNTIME_DIR"])
if sys.argv[1] == "other-user":
    os.chmod(".", 0o711)
    os.chmod("poet.sock", 0o777)
    try:
        os.setgroups([OTHER])
        os.setgid(OTHER)
        os.setuid(OTHER)
        connections = [connection("poet.sock")]
    except OSError:
        sys.exit(77)
else:
    connections = [connection("poet.sock") for _ in range(int(sys.argv[1]))]
print(connections[-1].recv(200).replace(b"\0", b"").decode(errors="replace"))
