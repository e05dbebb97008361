"""gdb commands for the order of a replayed run. `poet debug` starts gdb with this file."""
import os
import shlex
import subprocess
import sys

import gdb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import poet_viewers  # noqa: E402
from poet_run import CommandError, Run  # noqa: E402

LIBRARY = "libpoet"
ADAPTER = "/share/poet/ucpp/"
run = Run(os.environ["POET_DEBUG"]) if os.environ.get("POET_DEBUG") else None
breaks = []  # (text of the command, positions)
stop_breakpoint = None  # gdb's breakpoint at poet_stop_reached()
stop_was_reached = False  # the program reached it during the last continue_program()
continued_by_poet = False  # the program was continued by a command below, not by the user
has_exited = False  # the program exited
current = None  # the thread for which the program was stopped last
viewer = None
viewers_follow = False  # open viewers of the trace go to each stop


def say(text):
    gdb.write(text + "\n")


# ---- threads and frames ----
def gdb_thread(line):
    """Returns gdb's thread that executes the schedule of a line, or None."""
    process, number = run.process_and_thread(line)
    for inferior in gdb.inferiors():
        for thread in inferior.threads():
            if number and thread.ptid[0] == process and thread.ptid[1] == number:
                return thread
    return None


def line_of(thread):
    """Returns the line of a gdb thread, or None; of tasks that share it the one that is held there."""
    lines = [line for line in range(1, run.line_count + 1) if run.count[line] and thread and
             run.process_and_thread(line) == (thread.ptid[0], thread.ptid[1])]
    return max(lines, key=lambda line: (line == current, run.held(line) is not None), default=None)


def is_library(frame):
    source = frame.find_sal().symtab  # the adapter for uC++ is part of the program
    if source is not None and ADAPTER in source.fullname():
        return True
    return LIBRARY in os.path.basename(gdb.solib_name(frame.pc()) or "")


def libpoet_caller():
    """Returns the frame of the selected thread that called libpoet, and the frame that it called.

    (None, None) if the thread is not in a call of libpoet.
    """
    frame, callee = gdb.newest_frame(), None
    for _ in range(40):
        if frame is None or (callee is not None and not is_library(frame)):
            break
        callee = frame if is_library(frame) else None
        frame = frame.older()
    return (frame, callee) if frame is not None and callee is not None else (None, None)


def select(line):
    thread = gdb_thread(line)
    if thread is None:
        return False
    thread.switch()
    frame, _ = libpoet_caller()
    if frame is not None:
        frame.select()
    return True


# ---- continuing and stopping ----
def is_running():
    return gdb.selected_inferior().pid != 0


def continue_program():
    """Runs the program until all awaited threads have arrived, or gdb stops it for another reason.

    Returns gdb's output in the latter case, else an empty string.
    """
    global continued_by_poet, stop_was_reached
    if has_exited:
        raise CommandError("the program has exited and the recorded schedule is finished; start poet debug again")
    continued_by_poet, stop_was_reached = True, False
    try:
        output = gdb.execute("continue" if is_running() else "run", to_string=True)
    finally:
        continued_by_poet = False
    return "" if stop_was_reached or not is_running() else output or ""


def next_event(line):
    """Returns the next event of a thread as (line, number); None after its last one."""
    k = run.held(line) if run.held(line) is not None else run.done(line)
    return run.event_id(line, k) if k < run.count[line] else None


def show_viewers(at=None, following=()):
    """Makes open viewers of the trace go to an event; returns their number."""
    return poet_viewers.show(os.path.dirname(run.settings["script"]), run.settings["file"], at, following)


def show_stop():
    """Shows in viewers each thread's next event, at that of the thread that was waited for.

    Shows no event if the program has exited or the replay diverged. Returns the number of viewers.
    """
    if not is_running() or run.divergence():
        return show_viewers()
    lines = [line for line in range(1, run.line_count + 1) if run.count[line]]
    following = [event for event in map(next_event, lines) if event]
    at = next_event(current) if current else run.event_id_at(run.next_position())
    return show_viewers(at, following)


def report_stop(line, output):
    print_stop(line, output)
    if viewers_follow:
        show_stop()


def print_kept_thread():
    """Prints which held task of a runtime keeps its worker thread from another task, if one does."""
    lines = [line for line in range(1, run.line_count + 1) if run.count[line] and run.process_and_thread(line)[1]]
    for task in lines:
        others = [line for line in lines if run.held(line) is None and run.done(line) < run.count[line] and
                  run.process_and_thread(line) == run.process_and_thread(task)]
        if run.held(task) is not None and others:
            say("%s is held before %s and keeps its worker thread, which %s needs.\n"
                "poet debug needs a worker thread for each task (uC++: -multi, uDefaultProcessors())." %
                (run.labels[task], run.describe(task, run.held(task)), run.labels[others[0]]))
            return


def print_stop(line, output):
    """Prints where the program stopped. line: the thread that was to arrive there, or None."""
    global current
    current, divergence = line, run.divergence()
    if not is_running():
        say("the program exited: %d of %d events performed" % (run.all_done(), run.event_count))
        return
    if divergence:
        say("replay diverged: " + divergence)
    if output.strip():
        gdb.write(output)
        return
    if line and not divergence:
        held, found = run.held(line), select(line)
        if held is not None:
            say("%s is about to perform %s; %d of %d events performed" %
                (run.labels[line], run.describe(line, held), run.all_done(), run.event_count))
        else:
            say("%s has not reached %s" % (run.labels[line], run.describe(line, min(run.done(line), run.count[line] - 1))))
            print_kept_thread()
        if not found:
            say("it is in process %d, not attached" % run.process_and_thread(line)[0])
            return
    gdb.execute("frame")


def go_to(position):
    """Performs the events at lower positions that are not done yet, and no others."""
    if position >= run.event_count:
        run.clear_stops()
        report_stop(None, continue_program())
        return
    thread, k = run.event_at(position)
    if k < run.done(thread):
        raise CommandError("%s already executed" % run.event_text(thread, k))
    run.set_stops(run.cut_before(position), {thread})
    report_stop(thread, continue_program())


def next_break():
    """Returns the position of the next breakpoint at which no thread is held now, or None."""
    now = run.next_position()
    later = [p for _, positions in breaks for p in positions if p >= now and not is_held_at(p)]
    later = [p for p in later if run.event_at(p)[1] >= run.done(run.order[p])]
    return min(later, default=None)


def is_held_at(position):
    thread, k = run.event_at(position)
    return run.held(thread) == k


def on_continue(event):
    """The user continues the program: lets it run to the next breakpoint in the order."""
    if continued_by_poet or run is None:
        return
    position = next_break()
    if position is None:
        run.clear_stops()
    else:
        run.set_stops(run.cut_before(position), {run.order[position]})


def on_stop(event):
    global stop_was_reached
    if not isinstance(event, gdb.BreakpointEvent) or stop_breakpoint not in event.breakpoints:
        return
    stop_was_reached = True
    if continued_by_poet:
        return
    held = [line for line in range(1, run.line_count + 1) if run.count[line] and run.stop_field(line, 8, "<I") == 2]
    gdb.post_event(lambda: report_stop(held[0] if held else None, ""))


def on_exit(event):
    global has_exited
    if event.inferior.num == 1:
        has_exited = True
    run.clear_stops()
    if viewers_follow:
        show_viewers()


def leave_library():
    """Finishes a call of libpoet; gdb runs this before the user's step and next."""
    global continued_by_poet
    if run is None or not is_running():
        return
    frame, callee = libpoet_caller()
    if frame is None:
        return
    on_continue(None)
    continued_by_poet = True
    try:
        callee.select()
        gdb.execute("finish", to_string=True)
    finally:
        continued_by_poet = False


# ---- breakpoints ----
def add_break(words):
    if ":" in words and words.replace(":", "").isdigit():
        breaks.append((words, [run.position(*run.find_event(words))]))
        return
    parts = shlex.split(words)
    options = {}
    while len(parts) > 2 and parts[-2] in ("thread", "arrival"):
        options[parts[-2]] = parts[-1]
        parts = parts[:-2]
    if len(parts) != 1:
        raise CommandError("poet break EVENT, or poet break FILE:LINE [thread N] [arrival N]")
    thread = run.find_thread(options["thread"]) if "thread" in options else None
    arrival = options.get("arrival")
    if arrival is not None and not arrival.isdigit():
        raise CommandError("invalid arrival number: %s" % arrival)
    breaks.append((words, run.arrivals(parts[0], thread, int(arrival) if arrival else None)))


# ---- commands ----
class Command(gdb.Command):
    """Commands for the order of the replayed run."""

    def __init__(self, word, function, text):
        self.__doc__ = text
        self.function = function
        super().__init__("poet" + (" " + word if word else ""), gdb.COMMAND_RUNNING, prefix=not word)

    def invoke(self, words, from_tty):
        self.dont_repeat() if self.function in (do_break, do_delete) else None
        if run is None:
            raise gdb.GdbError("this run was not started by poet debug")
        try:
            self.function(words.strip())
        except CommandError as error:
            raise gdb.GdbError(str(error))


def do_where(words):
    selected = line_of(gdb.selected_thread())
    for line in range(1, run.line_count + 1):
        if not run.count[line]:
            continue
        held, done, thread = run.held(line), run.done(line), gdb_thread(line)
        mark = "*" if line == selected else " "
        if done >= run.count[line]:
            state = "finished"
        elif not run.process_and_thread(line)[1]:
            state = "not created yet, first: " + run.describe(line, 0)
        elif held is not None:
            state = "is about to perform " + run.describe(line, held)
        elif run.waits_for(line):
            state = "waiting for %s, before %s" % (run.labels[run.waits_for(line)], run.describe(line, done))
        else:
            state = "running towards " + run.describe(line, done)
        number = "thread %d" % thread.num if thread is not None else ""
        say("%s %-14s %-10s %s" % (mark, run.labels[line], number, state))


def count_of(words):
    if words and not words.isdigit():
        raise CommandError("invalid number: %s" % words)
    return max(int(words or 1), 1)


def do_next(words):
    now = run.next_position()
    held = now < run.event_count and is_held_at(now)
    go_to(now + count_of(words) - (0 if held else 1))


def selected_event():
    """Returns the line of the selected thread, and the index of its next event."""
    thread = line_of(gdb.selected_thread())
    if thread is None:
        raise CommandError("the selected thread is not in the trace")
    held = run.held(thread)
    return thread, held if held is not None else run.done(thread)


def run_thread_to(thread, k):
    """Runs a thread to its event k; other threads perform only what that needs."""
    if k >= run.count[thread]:
        raise CommandError("%s has no further recorded event" % run.labels[thread])
    run.set_stops(run.least_cut([(thread, k)]), {thread})
    report_stop(thread, continue_program())


def do_step(words):
    thread, k = selected_event()
    run_thread_to(thread, k + count_of(words) - (run.held(thread) is None))


def do_over(words):
    thread, k = selected_event()
    for _ in range(count_of(words)):
        k = run.index_after(thread, k)
    run_thread_to(thread, k)


def do_until(words):
    go_to(run.position(*run.find_event(words)))


def do_to(words):
    if words.startswith("#") and words[1:].isdigit():
        position = min(int(words[1:]), run.event_count)
        run.set_stops(run.cut_before(position), set())
        report_stop(None, continue_program())
        return
    events = [run.find_event(word) for word in words.replace(",", " ").split()]
    if not events:
        raise CommandError("poet to EVENT..., or poet to #NUMBER")
    for thread, k in events:
        if k < run.done(thread):
            raise CommandError("%s already executed" % run.event_text(thread, k))
    run.set_stops(run.least_cut(events), {thread for thread, _ in events})
    report_stop(events[0][0], continue_program())


def do_continue(words):
    position = next_break()
    go_to(run.event_count if position is None else position)


def do_break(words):
    add_break(words)
    positions = breaks[-1][1]
    say("%d: %s: %d event%s, the first %s" % (len(breaks), words, len(positions), "" if len(positions) == 1 else "s",
                                             run.describe(*run.event_at(positions[0]))))


def do_breaks(words):
    for number, (text, positions) in enumerate(breaks, 1):
        say("%d: %s (%d)" % (number, text, len(positions)))


def do_delete(words):
    if not words.isdigit() or not 1 <= int(words) <= len(breaks):
        raise CommandError("poet delete N: N must be a number listed by poet breaks")
    del breaks[int(words) - 1]


def source():
    """Returns the source of the new run: its program's own server, else the trace file."""
    socket = "%s/poet-%d.sock" % (os.path.dirname(run.settings["script"]), gdb.selected_inferior().pid)
    return "unix:" + socket if os.path.exists(socket) else run.settings["output"]


def poet(*words):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("POET_")}
    sys.stdout.flush()
    return subprocess.run([run.settings["poet"], *words], env=environment, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace").stdout


def do_view(words):
    global viewer, viewers_follow
    gdb.write(poet("show", source(), *shlex.split(words)))
    viewers_follow = True
    if show_stop() or not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")) or (viewer and viewer.poll() is None):
        return
    environment = {k: v for k, v in os.environ.items() if not k.startswith("POET_")}
    viewer = subprocess.Popen([run.settings["poet"], "view", source()], env=environment, start_new_session=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def do_follow(words):
    global viewers_follow
    if words not in ("", "off"):
        raise CommandError("poet follow, or poet follow off")
    viewers_follow = not words
    if viewers_follow and not show_stop():
        say("no viewer currently shows %s" % run.settings["file"])


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


def set_stop_breakpoint():
    global stop_breakpoint
    stop_breakpoint = gdb.Breakpoint("poet_stop_reached", internal=True)
    stop_breakpoint.silent = True


def on_library_loaded(event):
    if stop_breakpoint is None and LIBRARY in os.path.basename(event.new_objfile.filename or ""):
        set_stop_breakpoint()


def begin():
    for name, value in (("debuginfod enabled", "off"), ("breakpoint pending", "on")):
        try:
            gdb.execute("set " + name + " " + value, to_string=True)
        except gdb.error:
            pass
    try:
        gdb.execute("info address _ZN9uBaseTask4wakeEv", to_string=True)
        gdb.execute("handle SIGUSR1 nostop noprint pass", to_string=True)  # uC++'s processors
    except gdb.error:
        pass
    for word in ("step", "next"):
        gdb.execute("define hook-%s\npython leave_library()\nend" % word)
    for words in run.settings["breaks"]:
        try:
            add_break(words)
        except CommandError as error:
            say("poet break %s: %s" % (words, error))
    try:
        gdb.execute("info address poet_stop_reached", to_string=True)
        set_stop_breakpoint()
    except gdb.error:  # libpoet is not loaded yet
        gdb.events.new_objfile.connect(on_library_loaded)
    gdb.events.cont.connect(on_continue)
    gdb.events.stop.connect(on_stop)
    gdb.events.exited.connect(on_exit)


for row in COMMANDS:
    Command(*row)
if run is not None:
    begin()
    try:
        go_to(run.position(*run.find_event(run.settings["event"])) if run.settings["event"] else 0)
    except CommandError as error:
        say("poet debug: %s" % error)
