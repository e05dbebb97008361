"""What `poet attach` prints: who waits for what, then each thread's stack beside its event."""
import json
import os
import subprocess

import gdb

with open(os.environ["POET_ATTACH"]) as f:
    told = json.load(f)


def poet(*words):
    environment = {k: v for k, v in os.environ.items() if k != "POET_ATTACH"}
    return subprocess.run([told["poet"], *words], env=environment, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace").stdout


def line_of(thread):
    """By its pthread_t; None: it is none of the trace."""
    try:
        handle = int.from_bytes(thread.handle(), "little")
    except gdb.error:
        return None
    return next((line for line in told["lines"] if line["object"] == handle), None)


def waits():
    """Of each thread that waits its event."""
    try:
        return {wait["thread"]["line"]: wait for wait in json.loads(poet("blocked", "--json", told["source"]))["blocked"]}
    except (ValueError, KeyError, TypeError):
        return {}


def does(thread):
    """As the kernel said before it was stopped."""
    call = told.get("calls", {}).get(str(thread.ptid[1]))
    return "blocked in %s" % call if call else "running"


gdb.write("\n" + poet("blocked", told["source"]))
waiting = waits()
for thread in sorted(gdb.selected_inferior().threads(), key=lambda t: t.num):
    thread.switch()
    line = line_of(thread)
    if line is None:
        gdb.write("\nthread %d (LWP %d), not in the trace: %s\n" %
                  (thread.num, thread.ptid[1], does(thread)))
    elif line["line"] in waiting:
        wait = waiting[line["line"]]
        gdb.write("\n%s, thread %d (LWP %d): %s (event %s%s)\n" %
                  (line["label"], thread.num, thread.ptid[1], wait["type"], wait["event"],
                   ", " + wait["site"] if wait["site"] else ""))
    else:
        gdb.write("\n%s, thread %d (LWP %d): %s, after event %d:%d\n" %
                  (line["label"], thread.num, thread.ptid[1], does(thread), line["line"], line["last"]))
    gdb.execute("backtrace 30")
