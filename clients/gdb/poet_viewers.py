"""Makes the user's open viewers go to where the debugger is (message SHOW, docs/wire.md)."""
import glob
import os
import socket
import struct

SHOW, MARK = 37, 0x4F50
TIMEOUT_S = 5
MAX_FOLLOWING = 1000  # further events of one message


def message(trace, at, following):
    """Encodes SHOW. at, and each of following: (line, number); at is None if the program exited."""
    path = os.fsencode(trace)
    body = struct.pack("<I", len(path)) + path + struct.pack("<IQ", *(at or (0, 0)))
    following = following[:MAX_FOLLOWING]
    body += struct.pack("<I", len(following)) + b"".join(struct.pack("<IQ", *event) for event in following)
    return struct.pack("<IHH", len(body), SHOW, MARK) + body


def send(path, request):
    """Sends the message to a viewer; returns whether the viewer shows that trace."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(TIMEOUT_S)
        s.connect(path)
        s.sendall(request)
        response = b""
        while len(response) < 9:
            more = s.recv(9 - len(response))
            if not more:
                return False
            response += more
    return response == struct.pack("<IHHB", 1, SHOW, MARK, 1)


def remove_stale_socket(path):
    """Removes the socket of a viewer that was killed."""
    try:
        os.kill(int(path.rsplit("-", 1)[1].split(".")[0]), 0)
    except ProcessLookupError:
        os.unlink(path)
    except (OSError, ValueError):
        pass


def show(directory, trace, at, following):
    """Sends SHOW to the viewers with a socket in the directory; returns how many show the trace."""
    request, count = message(trace, at, following), 0
    for path in sorted(glob.glob(os.path.join(glob.escape(directory), "poetview-*.sock"))):
        try:
            count += send(path, request)
        except ConnectionRefusedError:
            remove_stale_socket(path)
        except OSError:  # the viewer is busy
            pass
    return count
