"""stops.py TRACE COUNT SEED: `poet debug` in a pseudo-terminal stops at so many events of a trace, taken at random: whether the
thread, the place and the locals are those of the event, which the trace alone says (tests/e2e/stops.c)."""
import collections
import json
import os
import pty
import random
import re
import select
import subprocess
import sys
import time

trace, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def events():
    """Of each thread its events, as (event, type, line of the source)."""
    of = collections.defaultdict(list)
    for text in subprocess.run(["poet", "dump", "--json", trace], capture_output=True, text=True, check=True).stdout.splitlines():
        e = json.loads(text)
        if "event" in e:
            of[e.get("thread") or e["event"].split(":")[0]].append(e)
    return of


class Gdb:
    """One that is typed to."""

    def __init__(self, *words):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "dumb"
            os.execvp("poet", ["poet", "debug", *words])

    def read(self):
        """Until it asks."""
        text, end = "", time.monotonic() + 120
        while not text.endswith("(gdb) "):
            if not select.select([self.fd], [], [], max(end - time.monotonic(), 0))[0]:
                raise SystemExit("nothing more after: " + text)
            text += os.read(self.fd, 65536).decode(errors="replace")
        return text.replace("\r", "")

    def ask(self, words):
        os.write(self.fd, words.encode() + b"\n")
        return self.read()

    def end(self):
        os.write(self.fd, b"kill\nquit\n")
        try:
            while os.read(self.fd, 65536):
                pass
        except OSError:
            pass
        os.waitpid(self.pid, 0)


def line_of(e):
    found = re.search(r"stops\.c:(\d+)", e.get("site") or "")
    return int(found.group(1)) if found else None


if __name__ == "__main__":
    all_of = events()
    if os.environ.get("SHOW"):
        for key in all_of:
            print(key, all_of[key][:6])
        sys.exit()
