"""gdb commands for the order of a replayed run: `poet debug` starts gdb with this file."""
import os
import shlex
import subprocess
import sys

import gdb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import poet_viewers  # noqa: E402
from poet_run import Run, Wrong  # noqa: E402

LIBRARY = "libpoet"
run = Run(os.environ["POET_DEBUG"]) if os.environ.get("POET_DEBUG") else None
breaks = []  # (what it was told, positions)
stop_at = None  # the breakpoint that libpoet comes to
reached = False  # it did, the last time
ours = False  # a command of ours lets the program run
ended = False  # the program did
current = None  # the thread that was stopped for
viewer = None
follows = False  # viewers that show the trace go to each stop


def say(text):
    gdb.write(text + "\n")


# ---- threads and frames ----
def gdb_thread(line):
    """gdb's thread that plays a part; None: it is not there."""
    process, number = run.who(line)
    for inferior in gdb.inferiors():
        for thread in inferior.threads():
            if number and thread.ptid[0] == process and thread.ptid[1] == number:
                return thread
    return None


def line_of(thread):
    for line in range(1, run.line_count + 1):
        if run.count[line] and thread and run.who(line) == (thread.ptid[0], thread.ptid[1]):
            return line
    return None


def is_library(frame):
    return LIBRARY in os.path.basename(gdb.solib_name(frame.pc()) or "")


def caller():
    """The frame that called libpoet in the selected thread, and the one that it called; (None, None): it is not in a call."""
    frame, below = gdb.newest_frame(), None
    for _ in range(40):
        if frame is None or (below is not None and not is_library(frame)):
            break
        below = frame if is_library(frame) else None
        frame = frame.older()
    return (frame, below) if frame is not None and below is not None else (None, None)


def select(line):
    thread = gdb_thread(line)
    if thread is None:
        return False
    thread.switch()
    frame, _ = caller()
    if frame is not None:
        frame.select()
    return True


# ---- going on ----
def lives():
    return gdb.selected_inferior().pid != 0


def go():
    """Until all are there, or something else stops it: what gdb says of that."""
    global ours, reached
    if ended:
        raise Wrong("the program has exited and the recorded schedule is finished; start poet debug again")
    ours, reached = True, False
    try:
        said = gdb.execute("continue" if lives() else "run", to_string=True)
    finally:
        ours = False
    return "" if reached or not lives() else said or ""


def next_event(line):
    """Of a thread, as (line, number); None: it does nothing more."""
    k = run.held(line) if run.held(line) is not None else run.done(line)
    return run.event(line, k) if k < run.count[line] else None


def show_viewers(at=None, following=()):
    """How many viewers show the trace; they go there."""
    return poet_viewers.show(os.path.dirname(run.told["script"]), run.told["file"], at, following)


def show_stop():
    """Each thread's next event, and that of the thread that was stopped for; a run that has left the order is nowhere in it."""
    if not lives() or run.left():
        return show_viewers()
    lines = [line for line in range(1, run.line_count + 1) if run.count[line]]
    following = [event for event in map(next_event, lines) if event]
    at = next_event(current) if current else run.first_of(run.next_position())
    return show_viewers(at, following)


def tell(line, said):
    tell_stop(line, said)
    if follows:
        show_stop()


def tell_stop(line, said):
    """Where it stands now; line: the thread that was to come there."""
    global current
    current, left = line, run.left()
    if not lives():
        say("the program exited: %d of %d events performed" % (run.all_done(), run.event_count))
        return
    if left:
        say("replay diverged: " + left)
    if said.strip():
        gdb.write(said)
        return
    if line and not left:
        held, found = run.held(line), select(line)
        if held is not None:
            say("%s is about to perform %s; %d of %d events performed" %
                (run.labels[line], run.say(line, held), run.all_done(), run.event_count))
        else:
            say("%s has not reached %s" % (run.labels[line], run.say(line, min(run.done(line), run.count[line] - 1))))
        if not found:
            say("it is in process %d, not attached" % run.who(line)[0])
            return
    gdb.execute("frame")


def go_to(position):
    """All that is before it in the order is done, and nothing else that is not done yet."""
    if position >= run.event_count:
        run.free()
        tell(None, go())
        return
    thread, k = run.at(position)
    if k < run.done(thread):
        raise Wrong("%s already executed" % run.ref(thread, k))
    run.aim(run.before(position), {thread})
    tell(thread, go())


def next_break():
    now = run.next_position()
    later = [p for _, positions in breaks for p in positions if p >= now and not is_held_at(p)]
    later = [p for p in later if run.at(p)[1] >= run.done(run.order[p])]
    return min(later, default=None)


def is_held_at(position):
    thread, k = run.at(position)
    return run.held(thread) == k


def on_going_on(event):
    """The user lets it run: to the next breakpoint in the order."""
    if ours or run is None:
        return
    position = next_break()
    if position is None:
        run.free()
    else:
        run.aim(run.before(position), {run.order[position]})


def on_stop(event):
    global reached
    if not isinstance(event, gdb.BreakpointEvent) or stop_at not in event.breakpoints:
        return
    reached = True
    if ours:
        return
    held = [line for line in range(1, run.line_count + 1) if run.count[line] and run.stop_at(line, 8, "<I") == 2]
    gdb.post_event(lambda: tell(held[0] if held else None, ""))


def on_exit(event):
    global ended
    if event.inferior.num == 1:
        ended = True
    run.free()
    if follows:
        show_viewers()


def leave_library():
    """Before a step: to where the call returns."""
    global ours
    if run is None or not lives():
        return
    frame, below = caller()
    if frame is None:
        return
    on_going_on(None)
    ours = True
    try:
        below.select()
        gdb.execute("finish", to_string=True)
    finally:
        ours = False


# ---- breakpoints ----
def add_break(words):
    if ":" in words and words.replace(":", "").isdigit():
        breaks.append((words, [run.position(*run.find(words))]))
        return
    parts = shlex.split(words)
    options = {}
    while len(parts) > 2 and parts[-2] in ("thread", "arrival"):
        options[parts[-2]] = parts[-1]
        parts = parts[:-2]
    if len(parts) != 1:
        raise Wrong("poet break EVENT, or poet break FILE:LINE [thread N] [arrival N]")
    thread = run.thread(options["thread"]) if "thread" in options else None
    arrival = options.get("arrival")
    if arrival is not None and not arrival.isdigit():
        raise Wrong("invalid arrival number: %s" % arrival)
    breaks.append((words, run.arrivals(parts[0], thread, int(arrival) if arrival else None)))


# ---- commands ----
class Command(gdb.Command):
    """Commands for the order of the replayed run."""

    def __init__(self, word, does, text):
        self.__doc__ = text
        self.does = does
        super().__init__("poet" + (" " + word if word else ""), gdb.COMMAND_RUNNING, prefix=not word)

    def invoke(self, words, from_tty):
        self.dont_repeat() if self.does in (do_break, do_delete) else None
        if run is None:
            raise gdb.GdbError("this run was not started by poet debug")
        try:
            self.does(words.strip())
        except Wrong as wrong:
            raise gdb.GdbError(str(wrong))


def do_where(words):
    for line in range(1, run.line_count + 1):
        if not run.count[line]:
            continue
        held, done, thread = run.held(line), run.done(line), gdb_thread(line)
        mark = "*" if thread is not None and thread == gdb.selected_thread() else " "
        if done >= run.count[line]:
            state = "finished"
        elif not run.who(line)[1]:
            state = "not created yet, first: " + run.say(line, 0)
        elif held is not None:
            state = "is about to perform " + run.say(line, held)
        elif run.waits_for(line):
            state = "waiting for %s, before %s" % (run.labels[run.waits_for(line)], run.say(line, done))
        else:
            state = "running towards " + run.say(line, done)
        number = "thread %d" % thread.num if thread is not None else ""
        say("%s %-14s %-10s %s" % (mark, run.labels[line], number, state))


def count_of(words):
    if words and not words.isdigit():
        raise Wrong("invalid number: %s" % words)
    return max(int(words or 1), 1)


def do_next(words):
    now = run.next_position()
    held = now < run.event_count and is_held_at(now)
    go_to(now + count_of(words) - (0 if held else 1))


def selected():
    """The part of the selected thread, and the how-manieth event of it comes next."""
    thread = line_of(gdb.selected_thread())
    if thread is None:
        raise Wrong("the selected thread is not in the trace")
    held = run.held(thread)
    return thread, held if held is not None else run.done(thread)


def go_with(thread, k):
    """Until it comes to its k-th event; others do no more than that needs."""
    if k >= run.count[thread]:
        raise Wrong("%s has no further recorded event" % run.labels[thread])
    run.aim(run.least_cut([(thread, k)]), {thread})
    tell(thread, go())


def do_step(words):
    thread, k = selected()
    go_with(thread, k + count_of(words) - (run.held(thread) is None))


def do_over(words):
    thread, k = selected()
    for _ in range(count_of(words)):
        k = run.over(thread, k)
    go_with(thread, k)


def do_until(words):
    go_to(run.position(*run.find(words)))


def do_to(words):
    if words.startswith("#") and words[1:].isdigit():
        position = min(int(words[1:]), run.event_count)
        run.aim(run.before(position), set())
        tell(None, go())
        return
    events = [run.find(word) for word in words.replace(",", " ").split()]
    if not events:
        raise Wrong("poet to EVENT..., or poet to #NUMBER")
    for thread, k in events:
        if k < run.done(thread):
            raise Wrong("%s already executed" % run.ref(thread, k))
    run.aim(run.least_cut(events), {thread for thread, _ in events})
    tell(events[0][0], go())


def do_continue(words):
    position = next_break()
    go_to(run.event_count if position is None else position)


def do_break(words):
    add_break(words)
    positions = breaks[-1][1]
    say("%d: %s: %d event%s, the first %s" % (len(breaks), words, len(positions), "" if len(positions) == 1 else "s",
                                             run.say(*run.at(positions[0]))))


def do_breaks(words):
    for number, (told, positions) in enumerate(breaks, 1):
        say("%d: %s (%d)" % (number, told, len(positions)))


def do_delete(words):
    if not words.isdigit() or not 1 <= int(words) <= len(breaks):
        raise Wrong("poet delete N: N must be a number listed by poet breaks")
    del breaks[int(words) - 1]


def source():
    """The new run, where its program's own server has it."""
    socket = "%s/poet-%d.sock" % (os.path.dirname(run.told["script"]), gdb.selected_inferior().pid)
    return "unix:" + socket if os.path.exists(socket) else run.told["output"]


def poet(*words):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("POET_")}
    sys.stdout.flush()
    return subprocess.run([run.told["poet"], *words], env=environment, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace").stdout


def do_view(words):
    global viewer, follows
    gdb.write(poet("show", source(), *shlex.split(words)))
    follows = True
    if show_stop() or not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")) or (viewer and viewer.poll() is None):
        return
    environment = {k: v for k, v in os.environ.items() if not k.startswith("POET_")}
    viewer = subprocess.Popen([run.told["poet"], "view", source()], env=environment, start_new_session=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def do_follow(words):
    global follows
    if words not in ("", "off"):
        raise Wrong("poet follow, or poet follow off")
    follows = not words
    if follows and not show_stop():
        say("no viewer currently shows %s" % run.told["file"])


def do_blocked(words):
    gdb.write(poet("blocked", source(), *shlex.split(words)))


COMMANDS = [
    ("", do_where, "Commands for the order of the replayed run; without a subcommand: poet where."),
    ("where", do_where, "Show for each thread the event that it is about to perform, waits for, or is running towards."),
    ("next", do_next, "poet next [N]: go to the next event in trace order, of any thread."),
    ("step", do_step, "poet step [N]: run this thread to its next event; other threads perform only what that needs."),
    ("over", do_over, "poet over [N]: like step, but over a critical section: until the thread has left it and reaches the next event."),
    ("until", do_until, "poet until EVENT: perform every event that precedes it in trace order."),
    ("to", do_to, "poet to EVENT...: go to a cut: each of these events is next, and only what they need was performed.\n"
     "poet to #N: perform the first N events in trace order."),
    ("continue", do_continue, "Go to the next breakpoint in trace order, or to the end."),
    ("break", do_break, "poet break EVENT; poet break FILE:LINE [thread N] [arrival N]: stop before the events at this call site."),
    ("breaks", do_breaks, "List the breakpoints."),
    ("delete", do_delete, "poet delete N: delete breakpoint N."),
    ("view", do_view, "poet view [OPTION...]: print the diagram of the new run (as poet show), and open a viewer that follows."),
    ("follow", do_follow, "poet follow [off]: make open viewers of the trace go to each stop; or stop that."),
    ("blocked", do_blocked, "Show the blocked threads of the new run (as poet blocked)."),
]


def set_stop():
    global stop_at
    stop_at = gdb.Breakpoint("poet_stop_reached", internal=True)
    stop_at.silent = True


def on_file(event):
    if stop_at is None and LIBRARY in os.path.basename(event.new_objfile.filename or ""):
        set_stop()


def begin():
    for name, value in (("debuginfod enabled", "off"), ("breakpoint pending", "on")):
        try:
            gdb.execute("set " + name + " " + value, to_string=True)
        except gdb.error:
            pass
    for word in ("step", "next"):
        gdb.execute("define hook-%s\npython leave_library()\nend" % word)
    for words in run.told["breaks"]:
        try:
            add_break(words)
        except Wrong as wrong:
            say("poet break %s: %s" % (words, wrong))
    try:
        gdb.execute("info address poet_stop_reached", to_string=True)
        set_stop()
    except gdb.error:  # it comes with the library
        gdb.events.new_objfile.connect(on_file)
    gdb.events.cont.connect(on_going_on)
    gdb.events.stop.connect(on_stop)
    gdb.events.exited.connect(on_exit)


for one in COMMANDS:
    Command(*one)
if run is not None:
    begin()
    try:
        go_to(run.position(*run.find(run.told["event"])) if run.told["event"] else 0)
    except Wrong as failed:
        say("poet debug: %s" % failed)
