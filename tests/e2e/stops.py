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
        text, end = "", time.monotonic() + float(os.environ.get("PATIENCE", "400"))
        while not text.endswith("(gdb) "):
            if not select.select([self.fd], [], [], max(end - time.monotonic(), 0))[0]:
                raise SystemExit("nothing more after: " + text)
            text += os.read(self.fd, 65536).decode(errors="replace")
        return text.replace("\r", "")

    def ask(self, words):
        os.write(self.fd, words.encode() + b"\n")
        return self.read()

    def end(self):
        os.write(self.fd, b"set confirm off\nquit\n")
        try:
            while os.read(self.fd, 65536):
                pass
        except OSError:
            pass
        os.waitpid(self.pid, 0)


def line_of(e):
    found = re.search(r"stops\.c:(\d+)", e.get("site") or "")
    return int(found.group(1)) if found else None


def turns(course):
    """Of each event of a thread that lies in a loop the counter of that loop: the calls of the loop's first place so far, from 0;
    a call is over when a type comes again."""
    first = {26: 26, 28: 26, 29: 26, 31: 26, 33: 26, 34: 26, 35: 26, 37: 26, 46: 46, 48: 46, 50: 46}
    turn, seen, before, of = -1, set(), None, {}
    for e in course:
        line = line_of(e)
        if line in (26, 46):
            if before != line or e["type"] in seen:
                turn, seen = turn + 1, set()
            seen.add(e["type"])
        before = line
        if line in first:
            of[e["event"]] = (line, turn)
    return of


def main():
    wanted = {}
    labels = {}
    for thread, course in events().items():
        for event, (line, turn) in turns(course).items():
            wanted[event] = (thread, line, turn)
    some = random.Random(seed).sample(sorted(wanted), min(count, len(wanted)))
    right = 0
    # half of them one gdb each way: some in the order of the trace with `poet until`, the first with the command line
    by_time = {e["event"]: e["time_ns"] for course in events().values() for e in course}
    some.sort(key=lambda event: by_time[event])
    gdb, threads = None, {}
    for event in some:
        thread, line, turn = wanted[event]
        if gdb is None:
            gdb = Gdb(trace, event, "-o", "again.%d.poet" % os.getpid())
            said = gdb.read()
            gdb.ask("set pagination off")
        else:
            said = gdb.ask("poet until " + event)
        if "already executed" in said:  # as another one of one time
            gdb.end()
            gdb = Gdb(trace, event, "-o", "again.%d.poet" % os.getpid())
            said = gdb.read()
            gdb.ask("set pagination off")
        locals_ = gdb.ask("info locals")
        number = gdb.ask("thread")
        ok = ("(%s" % event in said and "stops.c:%d\n" % line in said and "turn = %d\n" % turn in locals_)
        current = re.search(r"Current thread is (\d+)", number)
        me = re.search(r"me = (\d+)", locals_)
        ok = ok and current is not None and me is not None and threads.setdefault(thread, me.group(1)) == me.group(1)
        right += ok
        if not ok:
            print("# %s: line %d, turn %d wanted\n%s%s%s" % (event, line, turn, said, locals_, number))
    gdb.end()
    print("%d of %d" % (right, len(some)))


if __name__ == "__main__":
    main()
