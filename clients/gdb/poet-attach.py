"""gdb script of `poet attach`: prints what threads wait for, then the event and stack of each."""
import json
import os
import subprocess

import gdb

with open(os.environ["POET_ATTACH"]) as f:
    process_info = json.load(f)


def poet(*arguments):
    environment = {k: v for k, v in os.environ.items() if k != "POET_ATTACH"}
    return subprocess.run([process_info["poet"], *arguments], env=environment, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace").stdout


def line_of(thread):
    """Returns the trace line with the pthread_t of the thread, or None."""
    try:
        handle = int.from_bytes(thread.handle(), "little")
    except gdb.error:
        return None
    return next((line for line in process_info["lines"] if line["object"] == handle), None)


def blocked_events():
    """Returns the events at which threads are blocked, by the number of the thread's line."""
    try:
        return {wait["thread"]["line"]: wait for wait in json.loads(poet("blocked", "--json", process_info["source"]))["blocked"]}
    except (ValueError, KeyError, TypeError):
        return {}


def thread_state(thread):
    """Returns the state of the thread before gdb stopped it, from its system call."""
    call = process_info.get("calls", {}).get(str(thread.ptid[1]))
    return "blocked in %s" % call if call else "running"


gdb.write("\n" + poet("blocked", process_info["source"]))
blocked = blocked_events()
for thread in sorted(gdb.selected_inferior().threads(), key=lambda t: t.num):
    thread.switch()
    line = line_of(thread)
    if line is None:
        gdb.write("\nthread %d (LWP %d), not in the trace: %s\n" %
                  (thread.num, thread.ptid[1], thread_state(thread)))
    elif line["line"] in blocked:
        wait = blocked[line["line"]]
        gdb.write("\n%s, thread %d (LWP %d): %s (event %s%s)\n" %
                  (line["label"], thread.num, thread.ptid[1], wait["type"], wait["event"],
                   ", " + wait["site"] if wait["site"] else ""))
    else:
        gdb.write("\n%s, thread %d (LWP %d): %s, after event %d:%d\n" %
                  (line["label"], thread.num, thread.ptid[1], thread_state(thread), line["line"], line["last"]))
    gdb.execute("backtrace 30")
