"""Viewers of the user that are open are asked to go to where the debugger is (message SHOW, docs/wire.md)."""
import glob
import os
import socket
import struct

SHOW, MARK = 37, 0x4F50
PATIENCE_S = 5
NEXT_MOST = 1000


def message(trace, at, following):
    """at, and each of following: (line, number); at None: the program has ended."""
    path = os.fsencode(trace)
    body = struct.pack("<I", len(path)) + path + struct.pack("<IQ", *(at or (0, 0)))
    following = following[:NEXT_MOST]
    body += struct.pack("<I", len(following)) + b"".join(struct.pack("<IQ", *one) for one in following)
    return struct.pack("<IHH", len(body), SHOW, MARK) + body


def ask(path, sent):
    """Does the viewer there show that trace?"""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(PATIENCE_S)
        s.connect(path)
        s.sendall(sent)
        told = b""
        while len(told) < 9:
            more = s.recv(9 - len(told))
            if not more:
                return False
            told += more
    return told == struct.pack("<IHHB", 1, SHOW, MARK, 1)


def forget(path):
    """A viewer that was killed leaves its socket."""
    try:
        os.kill(int(path.rsplit("-", 1)[1].split(".")[0]), 0)
    except ProcessLookupError:
        os.unlink(path)
    except (OSError, ValueError):
        pass


def show(directory, trace, at, following):
    """How many went there."""
    sent, count = message(trace, at, following), 0
    for path in sorted(glob.glob(os.path.join(glob.escape(directory), "poetview-*.sock"))):
        try:
            count += ask(path, sent)
        except ConnectionRefusedError:
            forget(path)
        except OSError:  # it is busy
            pass
    return count
