"""Records the synchronization of the threads and asyncio tasks of a Python program.

    poet record python3 -m poet PROGRAM.py [ARGUMENT...]

or `import poet` in the program, before the code to be traced.  Locks, condition variables, events,
semaphores, barriers and queues that the program itself creates have names and lines; those of its
libraries and of the interpreter are omitted.  Each event has its source line.  Without `poet record`
the module changes nothing.  config/python.conf describes the events, docs/python.md explains them.
"""
import collections
import collections.abc
import ctypes
import itertools
import linecache
import os
import re
import sys
import sysconfig
import threading
import time

# ---- libpoet, which `poet record` has loaded before the program (poet.h) ----

_SEND, _RECEIVE, _AFTER, _CLOSES = 0x10, 0x20, 0x800, 2  # POET_SEND, ...
_MAX_KEYS = 4096  # of one record


class _EventId(ctypes.Structure):
    _fields_ = [("line", ctypes.c_uint32), ("number", ctypes.c_uint64)]


class _Record(ctypes.Structure):
    _fields_ = [("line", ctypes.c_uint32), ("about", ctypes.c_uint32), ("type", ctypes.c_uint16),
                ("flags", ctypes.c_uint), ("site", ctypes.c_void_p), ("high", ctypes.c_uint64),
                ("low", ctypes.POINTER(ctypes.c_uint64)), ("keys", ctypes.c_size_t),
                ("count", ctypes.c_uint32), ("other", ctypes.c_uint32), ("other_type", ctypes.c_uint16),
                ("asked", ctypes.c_uint32), ("got", ctypes.c_uint32), ("began", ctypes.c_uint64)]


def _library():
    """Returns libpoet with the types of its functions, or None if the program is not recorded."""
    lib = ctypes.PyDLL(None)  # calls keep the GIL, since none of them blocks
    text, number = ctypes.c_char_p, ctypes.c_uint32
    try:
        lib.poet_record.argtypes, lib.poet_record.restype = [ctypes.POINTER(_Record)], _EventId
        lib.poet_annotate.argtypes, lib.poet_annotate.restype = [_EventId, text], None
        lib.poet_line.argtypes = [text, text, ctypes.c_void_p, ctypes.c_uint]
        lib.poet_task.argtypes = [text, text, ctypes.c_void_p]
        lib.poet_line.restype = lib.poet_task.restype = number
        lib.poet_line_name.argtypes = [number, text]
        lib.poet_type.argtypes, lib.poet_type.restype = [text, ctypes.c_void_p], ctypes.c_uint16
        lib.poet_task_switch.argtypes = lib.poet_task_release.argtypes = [number]
        lib.poet_set_name.argtypes = lib.poet_environment.argtypes = lib.poet_untraced.argtypes = [text]
        return lib if lib.poet_recorded() else None
    except AttributeError:
        return None


_lib = None
_types = {}
# Of the calling thread: `task`, the line of the task that it runs; `last`, its last event; `cause`,
# the event that scheduled the running callback; `seen` and `known`, order that is recorded already.
_local = threading.local()
_numbers = itertools.count(1)
_key_high = 0  # the upper 64 bits of the keys of this process


def _renew_key_high():
    global _key_high
    _key_high = int.from_bytes(os.urandom(8), "little")


def _encoded(text):
    return text.encode("utf-8", "replace").replace(b"\0", b"?")


def _report(kind, about=0, flags=0, high=0, lows=(), text=None):
    code = _types.get(kind)
    if code is None:
        code = _types[kind] = _lib.poet_type(kind.encode(), None)
    record = _Record(about=about, type=code, flags=flags, high=high, keys=len(lows))
    if lows:
        record.low = (ctypes.c_uint64 * len(lows))(*lows)
    event = _lib.poet_record(ctypes.byref(record))
    annotation = _place() if text is None else text
    if annotation and event.line:
        _lib.poet_annotate(event, b"%s", _encoded(annotation))
    _local.last = (event.line, event.number) if event.line else None
    return _local.last


def _event(kind, about=0, text=None):
    return _report(kind, about, text=text)


def _send(kind, about=0, flags=0, text=None):
    """Records an event that happened before each event that receives its key; returns the key."""
    key = (_key_high, next(_numbers))
    _report(kind, about, _SEND | flags, key[0], (key[1],), text)
    return key


def _receive(kind, about, keys, text=None):
    """Records an event after those that sent these keys; keys that are None are ignored."""
    keys = [key for key in keys if key]
    high = keys[-1][0] if keys else 0  # after fork(), parent and child have different ones
    lows = [low for key_high, low in keys if key_high == high][-_MAX_KEYS:]
    return _report(kind, about, _RECEIVE if lows else 0, high, lows, text)


def _after(kind, event, text=None):
    """Records an event after the given one, which may be None, without the arrow of a message."""
    if event:
        return _report(kind, 0, _AFTER, event[0], (event[1],), text)
    return _report(kind, text=text)


# ---- places and names ----

_stdlib = tuple({os.path.join(sysconfig.get_path(name), "") for name in ("stdlib", "platstdlib")})
_own_files = {}


def _is_own(file):
    """Returns whether a file is the program's: not Python's, a package's, or this one."""
    own = _own_files.get(file)
    if own is None:
        path = os.path.realpath(file)
        own = _own_files[file] = not (
            file.startswith("<frozen") or path == os.path.realpath(__file__) or
            "/site-packages/" in path or "/dist-packages/" in path or path.startswith(_stdlib))
    return own


def _frame_text(frame):
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno} ({frame.f_code.co_name})"


def _program_frame():
    """Returns the innermost frame of the program itself, or None."""
    frame = sys._getframe(1)
    while frame and not _is_own(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def _place():
    frame = _program_frame()
    return _frame_text(frame) if frame else ""


_ASSIGNMENT = re.compile(r"\s*(?:self\.|cls\.)?([A-Za-z_][\w.]*)\s*(?::[^=]*)?=[^=]")


def _statement(frame):
    """Returns the source text of the statement that a frame executes, of its line only."""
    code, source = frame.f_code, linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    if ";" not in source:
        return source
    if not hasattr(code, "co_positions"):
        return ""
    column = next(itertools.islice(code.co_positions(), frame.f_lasti // 2, None))[2] or 0
    return source[source.rfind(";", 0, column) + 1:]


def _object_name(frame):
    """Returns the name of an object created in a frame: its variable, else FILE:LINE."""
    variable = _ASSIGNMENT.match(_statement(frame))
    return variable.group(1) if variable else f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def _line_for(kind, thing):
    """Creates a line for the object in the constructor that calls this; returns 0 for a library's."""
    frame = sys._getframe(1).f_back
    while frame and frame.f_code.co_name == "__init__" and frame.f_locals.get("self") is thing:
        frame = frame.f_back
    if not frame or not _is_own(frame.f_code.co_filename):
        return 0
    return _lib.poet_line(kind, _encoded(_object_name(frame)), id(thing), 0)


def name(thing, text):
    """Sets the name of a lock, queue, ... in the trace."""
    line = getattr(thing, "_poet_line", 0)
    if line:
        _lib.poet_line_name(line, _encoded(text))
    return thing


# ---- threads ----

def _trace_threads():
    original_start, original_join = threading.Thread.start, threading.Thread.join
    original_bootstrap = threading.Thread._bootstrap_inner

    def start(self):
        self._poet_begin = _send("thread_start", text=f"{self.name} {_place()}")
        original_start(self)

    def bootstrap(self):
        _lib.poet_set_name(_encoded(self.name))
        _receive("thread_run", 0, [getattr(self, "_poet_begin", None)], text=self.name)
        try:
            original_bootstrap(self)
        finally:
            self._poet_end = _send("thread_end", text=self.name)

    def join(self, timeout=None):
        if self.is_alive() and self is not threading.current_thread():
            _event("thread_join", text=f"{self.name} {_place()}")
        original_join(self, timeout)
        ended = not self.is_alive()
        _receive("thread_joined" if ended else "thread_timeout", 0,
                 [getattr(self, "_poet_end", None)] if ended else [], text=f"{self.name} {_place()}")

    threading.Thread.start, threading.Thread.join = start, join
    threading.Thread._bootstrap_inner = bootstrap


# ---- locks ----

_OriginalLock, _OriginalRLock = threading.Lock, threading.RLock


class _Lock:
    """A lock of the program: each release happened before the next acquisition."""
    _original, _kind = _OriginalLock, b"python_lock"

    def __new__(cls, *arguments, **named):
        self = object.__new__(cls)
        line = _line_for(cls._kind, self)
        if not line:
            return cls._original()
        self._poet_line, self._lock, self._release_key, self._depth = line, cls._original(), None, 0
        return self

    def acquire(self, blocking=True, timeout=-1):
        if self._is_held_by_caller():
            got = self._lock.acquire(blocking, timeout)
            self._depth += got
            return got
        got = self._lock.acquire(False)
        if not got and blocking:
            _event("lock_request", self._poet_line)
            got = self._lock.acquire(True, timeout)
        if got:
            self._depth = 1
            _receive("lock_acquired", self._poet_line, [self._release_key])
        else:
            _event("lock_refused", self._poet_line)
        return got

    def release(self):
        if self._depth == 1 and self._may_release():
            self._depth = 0
            self._release_key = _send("lock_release", self._poet_line)
        elif self._depth > 1 and self._may_release():
            self._depth -= 1
        self._lock.release()

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *error):
        self.release()

    def locked(self):
        return self._lock.locked()

    def _is_held_by_caller(self):
        return False

    def _may_release(self):
        return True

    # ---- methods that threading.Condition calls ----
    def _is_owned(self):
        return self._lock.locked()

    def _release_save(self):
        self.release()

    def _acquire_restore(self, state):
        self.acquire()

    def _at_fork_reinit(self):
        self._lock._at_fork_reinit()
        self._depth = 0

    def __repr__(self):
        return f"<poet {self._lock!r}>"


class _RLock(_Lock):
    """A recursive lock: only its outermost acquisition and release are events."""
    _original, _kind = _OriginalRLock, b"python_lock"

    def _is_held_by_caller(self):
        return self._lock._is_owned()

    _may_release = _is_owned = _is_held_by_caller

    def locked(self):
        return self._depth > 0

    def _release_save(self):
        depth = self._depth
        if self._is_held_by_caller():
            self._depth = 0
            self._release_key = _send("lock_release", self._poet_line)
        self._lock._release_save()
        return depth

    def _acquire_restore(self, depth):
        if not self._lock.acquire(False):
            _event("lock_request", self._poet_line)
            self._lock.acquire()
        for _ in range(depth - 1):
            self._lock.acquire()
        self._depth = depth
        _receive("lock_acquired", self._poet_line, [self._release_key])


# ---- condition variables, events, semaphores, barriers ----

class _Condition(threading.Condition):
    def __init__(self, lock=None):
        self._poet_line = _line_for(b"python_condition", self)
        if self._poet_line and lock is None:
            lock = object.__new__(_RLock)
            lock._poet_line = _lib.poet_line(b"python_lock", _encoded(_object_name(sys._getframe(1)) + ".lock"),
                                             id(lock), 0)
            lock._lock, lock._release_key, lock._depth = _OriginalRLock(), None, 0
        super().__init__(lock)
        # for each waiter a list of one element: the key of the notify that woke it, or None
        self._poet_waiting = []
        original = self._release_save

        def release_save():
            state = original()
            if self._poet_line:
                _event("condition_wait", self._poet_line)
            return state
        self._release_save = release_save

    def wait(self, timeout=None):
        cell = [None]
        if self._poet_line and self._is_owned():
            self._poet_waiting.append(cell)
        try:
            woken = super().wait(timeout)
        finally:
            if cell in self._poet_waiting:
                self._poet_waiting[:] = [other for other in self._poet_waiting if other is not cell]
        if self._poet_line and woken:
            _receive("condition_woken", self._poet_line, cell)
        elif self._poet_line:
            _event("condition_timeout", self._poet_line)
        return woken

    def notify(self, n=1):
        if self._poet_line and self._is_owned():
            key = _send("condition_notify", self._poet_line)
            for cell in [cell for cell in self._poet_waiting if not cell[0]][:n]:
                cell[0] = key
        super().notify(n)


class _Event(threading.Event):
    def __init__(self):
        super().__init__()
        self._poet_line, self._poet_set = _line_for(b"python_event", self), None

    def set(self):
        if self._poet_line and not super().is_set():
            self._poet_set = _send("event_set", self._poet_line)
        super().set()

    def is_set(self):
        was_set = super().is_set()
        if was_set and self._poet_line and _local.__dict__.get("seen") != self._poet_set:
            _local.seen = self._poet_set
            _receive("event_seen", self._poet_line, [self._poet_set])
        return was_set

    def wait(self, timeout=None):
        if not self._poet_line:
            return super().wait(timeout)
        if not super().is_set():
            _event("event_wait", self._poet_line)
        was_set = super().wait(timeout)
        if was_set:
            _receive("event_seen", self._poet_line, [self._poet_set])
        else:
            _event("event_timeout", self._poet_line)
        return was_set


class _Units:
    """The units of a semaphore, a FIFO: the initial ones, then the keys of released ones."""

    def __init__(self, value):
        self.initial, self.release_keys = value, collections.deque()

    def push(self, key, n):
        self.release_keys.extend([key] * n)

    def pop(self):
        if self.initial:
            self.initial -= 1
            return None
        return self.release_keys.popleft() if self.release_keys else None


class _Semaphore(threading.Semaphore):
    def __init__(self, value=1):
        super().__init__(value)
        self._poet_line, self._poet_units = _line_for(b"python_semaphore", self), _Units(value)

    def acquire(self, blocking=True, timeout=None):
        if not self._poet_line or (not blocking and timeout is not None):
            return super().acquire(blocking, timeout)
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._cond:
            if blocking and self._value == 0:
                _event("semaphore_request", self._poet_line)
            while self._value == 0:
                remaining = None if deadline is None else deadline - time.monotonic()
                if not blocking or (remaining is not None and remaining <= 0):
                    _event("semaphore_refused", self._poet_line)
                    return False
                self._cond.wait(remaining)
            self._value -= 1
            _receive("semaphore_acquired", self._poet_line, [self._poet_units.pop()])
            return True

    __enter__ = acquire

    def release(self, n=1):
        if not self._poet_line or n < 1:
            super().release(n)
            return
        with self._cond:
            if self._value + n > getattr(self, "_initial_value", self._value + n):
                raise ValueError("Semaphore released too many times")
            self._poet_units.push(_send("semaphore_release", self._poet_line), n)
            self._value += n
            self._cond.notify(n)


class _BoundedSemaphore(_Semaphore):
    def __init__(self, value=1):
        super().__init__(value)
        self._initial_value = value


class _Barrier(threading.Barrier):
    def __init__(self, parties, action=None, timeout=None):
        super().__init__(parties, action, timeout)
        self._poet_line = _line_for(b"python_barrier", self)
        self._poet_lock, self._poet_round = _OriginalLock(), []

    def wait(self, timeout=None):
        if not self._poet_line:
            return super().wait(timeout)
        with self._poet_lock:
            arrived = self._poet_round
            arrived.append(_send("barrier_wait", self._poet_line))
            if len(arrived) >= self.parties:
                self._poet_round = []
        try:
            index = super().wait(timeout)
        except threading.BrokenBarrierError:
            with self._poet_lock:
                self._poet_round = []
            _event("barrier_broken", self._poet_line)
            raise
        _receive("barrier_passed", self._poet_line, arrived)
        return index


# ---- queues ----

class _Items:
    """Mixin of queue.Queue and asyncio.Queue that orders each put of an item before its get."""

    def _poet_init(self, line):
        self._poet_line, self._poet_keys = line, {}
        self._poet_done = collections.deque(maxlen=_MAX_KEYS)

    def _put(self, item):
        if self._poet_line:
            self._poet_keys.setdefault(id(item), collections.deque()).append(_send("queue_put", self._poet_line))
        super()._put(item)

    def _get(self):
        item = super()._get()
        keys = self._poet_keys.get(id(item)) if self._poet_line else None
        if keys:
            _receive("queue_get", self._poet_line, [keys.popleft()])
            if not keys:
                del self._poet_keys[id(item)]
        return item

    def task_done(self):
        if self._poet_line:
            self._poet_done.append(_send("queue_done", self._poet_line))
        super().task_done()


def _trace_queues(queue):
    class Queue(_Items, queue.Queue):
        def __init__(self, maxsize=0):
            super().__init__(maxsize)
            self._poet_init(_line_for(b"python_queue", self))

        def put(self, item, block=True, timeout=None):
            if self._poet_line and block and 0 < self.maxsize <= self._qsize():
                _event("queue_full", self._poet_line)
            try:
                super().put(item, block, timeout)
            except queue.Full:
                if self._poet_line:
                    _event("queue_refused", self._poet_line)
                raise

        def get(self, block=True, timeout=None):
            if self._poet_line and block and not self._qsize():
                _event("queue_empty", self._poet_line)
            try:
                return super().get(block, timeout)
            except queue.Empty:
                if self._poet_line:
                    _event("queue_refused", self._poet_line)
                raise

        def join(self):
            if self._poet_line and self.unfinished_tasks:
                _event("queue_join", self._poet_line)
            super().join()
            if self._poet_line:
                _receive("queue_joined", self._poet_line, self._poet_done)

    # Queue comes first among the bases, so that its _put and _get call those of the second one.
    class LifoQueue(Queue, queue.LifoQueue):
        pass

    class PriorityQueue(Queue, queue.PriorityQueue):
        pass

    queue.Queue, queue.LifoQueue, queue.PriorityQueue = Queue, LifoQueue, PriorityQueue


# ---- thread pools and futures ----

def _trace_futures(futures):
    Future, Pool = futures._base.Future, futures.ThreadPoolExecutor
    original_result, original_submit = Future.result, Pool.submit
    original_set, original_fail = Future.set_result, Future.set_exception

    def submit(self, function, /, *arguments, **named):
        key = _send("work_submit")

        def work(*arguments, **named):
            _receive("work_run", 0, [key])
            return function(*arguments, **named)
        return original_submit(self, work, *arguments, **named)

    def set_result(self, result):
        self._poet_set = _send("work_done")
        original_set(self, result)

    def set_exception(self, exception):
        self._poet_set = _send("work_done")
        original_fail(self, exception)

    def result(self, timeout=None):
        own = _is_own(sys._getframe(1).f_code.co_filename)
        if own and not self.done():
            _event("work_wait")
        try:
            return original_result(self, timeout)
        finally:
            if own:
                _receive("work_result", 0, [getattr(self, "_poet_set", None)])

    Future.result, Future.set_result, Future.set_exception, Pool.submit = result, set_result, set_exception, submit


# ---- asyncio ----

def _switch_task(line):
    outer = _local.__dict__.get("task", 0)
    _local.task = line
    _lib.poet_task_switch(line)
    return outer


def _suspended_at(coroutine):
    """Returns the source line of the program at which a coroutine is suspended."""
    place, awaited = "", coroutine
    while awaited is not None:
        frame = next((getattr(awaited, name) for name in ("cr_frame", "gi_frame", "ag_frame")
                      if getattr(awaited, name, None)), None)
        if frame and _is_own(frame.f_code.co_filename):
            place = _frame_text(frame)
        awaited = next((getattr(awaited, name) for name in ("cr_await", "gi_yieldfrom", "ag_await")
                        if getattr(awaited, name, None)), None)
    return place


class _Coroutine(collections.abc.Coroutine):
    """Wraps the coroutine of a task: records the start and end of each step on the task's line."""

    def __init__(self, coroutine):
        self._poet_coroutine, self._poet_end, self._poet_began = coroutine, None, False
        self._poet_name = getattr(coroutine, "__name__", "task") + "()"
        self._poet_line = _lib.poet_task(b"python_task", _encoded(self._poet_name), id(coroutine))

    def __getattr__(self, name):
        return getattr(self._poet_coroutine, name)

    def _step(self, call, *arguments):
        outer = _switch_task(self._poet_line)
        cause = _local.__dict__.get("cause")
        _local.last = getattr(self, "_poet_last", None)
        try:
            if self._poet_began:
                _after("task_resume", cause if cause and cause[0] != self._poet_line else None,
                       _suspended_at(self._poet_coroutine))
            else:
                self._poet_began = True
                _event("task_run", text=self._poet_name)
            result = call(*arguments)
        except BaseException as error:
            text = "" if isinstance(error, StopIteration) else type(error).__name__
            self._poet_end = _report("task_end", 0, _CLOSES, text=text or self._poet_name)
            raise
        else:
            _event("task_await", text=_suspended_at(self._poet_coroutine))
            return result
        finally:
            self._poet_last = _local.last
            _switch_task(outer)
            _local.last = self._poet_last  # the cause of callbacks that the task now schedules
            if self._poet_end:
                _lib.poet_task_release(self._poet_line)

    def send(self, value):
        return self._step(self._poet_coroutine.send, value)

    def throw(self, *error):
        return self._step(self._poet_coroutine.throw, *error)

    def close(self):
        return self._poet_coroutine.close()

    def __await__(self):
        return self._poet_coroutine.__await__()


def _report_result(task):
    """Records that the calling task or thread has seen the end of a task."""
    end = getattr(task.get_coro(), "_poet_end", None) if hasattr(task, "get_coro") else None
    if end:
        _after("task_result", end)


def _report_wake(cause, line):
    """Records that the loop, outside of all tasks, wakes the task of a line because of `cause`."""
    known = _local.__dict__.setdefault("known", {})
    if cause and known.get(cause[0], 0) < cause[1]:
        known[cause[0]] = cause[1]
        event = _report("loop_wakes", line, _AFTER, cause[0], (cause[1],), "")
    else:
        event = _report("loop_wakes", line, text="")
    if event:
        known[event[0]] = sys.maxsize  # the loop's own line is always ordered
    return event


def _trace_loop(asyncio):
    class Task(asyncio.tasks.Task):
        """A task with an end that happened before each await of it, even of one that does not suspend."""

        def set_name(self, name):
            super().set_name(name)
            line = getattr(self.get_coro(), "_poet_line", 0)
            if line:
                _lib.poet_line_name(line, _encoded(str(name)))

        def __await__(self):
            try:
                return (yield from super().__await__())
            finally:
                _report_result(self)

        def result(self):
            if self.done() and _is_own(sys._getframe(1).f_code.co_filename):
                _report_result(self)
            return super().result()

    class Handle(asyncio.events.Handle):
        __slots__ = ("_poet_cause",)

        def __init__(self, callback, *arguments, **named):
            super().__init__(callback, *arguments, **named)
            self._poet_cause = _local.__dict__.get("last")
            task = getattr(callback, "__self__", None)
            line = getattr(task.get_coro(), "_poet_line", 0) if isinstance(task, Task) else 0
            if line and not _local.__dict__.get("task"):
                # The task is ordered after the loop's own actions, too, such as reading data.
                self._poet_cause = _report_wake(self._poet_cause, line)

        def _run(self):
            _local.cause = _local.last = self._poet_cause
            try:
                super()._run()
            finally:
                _local.cause = _local.last = None

    class TimerHandle(asyncio.events.TimerHandle):
        __slots__ = ()

    BaseEventLoop, Gathering = asyncio.base_events.BaseEventLoop, asyncio.tasks._GatheringFuture
    original_create, original_run, original_gathered = BaseEventLoop.create_task, BaseEventLoop.run_until_complete, Gathering.__await__

    def create_task(self, coroutine, **named):
        code = getattr(coroutine, "cr_code", None)  # (libraries' tasks are the loop's actions)
        if code and _is_own(code.co_filename) and not self.get_task_factory():
            coroutine = _Coroutine(coroutine)
            if named.get("name"):
                coroutine._poet_name = str(named["name"])
                _lib.poet_line_name(coroutine._poet_line, _encoded(coroutine._poet_name))
        return original_create(self, coroutine, **named)

    def run_until_complete(self, future):
        try:
            return original_run(self, future)
        finally:
            _report_result(future)

    def gathered(self):
        try:
            return (yield from original_gathered(self))
        finally:
            for child in self._children:
                _report_result(child)

    BaseEventLoop.create_task, BaseEventLoop.run_until_complete, Gathering.__await__ = \
        create_task, run_until_complete, gathered
    if hasattr(asyncio, "TaskGroup"):
        _trace_groups(asyncio.TaskGroup)
    asyncio.tasks.Task = asyncio.Task = Task
    asyncio.events.Handle = asyncio.Handle = Handle
    asyncio.events.TimerHandle = asyncio.TimerHandle = TimerHandle


def _trace_groups(TaskGroup):
    original_create, original_exit = TaskGroup.create_task, TaskGroup.__aexit__

    def create_task(self, *arguments, **named):
        task = original_create(self, *arguments, **named)
        self.__dict__.setdefault("_poet_tasks", []).append(task)
        return task

    async def aexit(self, *error):
        try:
            return await original_exit(self, *error)
        finally:
            for task in self.__dict__.pop("_poet_tasks", []):
                _report_result(task)

    TaskGroup.create_task, TaskGroup.__aexit__ = create_task, aexit


def _trace_asyncio(asyncio):
    _trace_loop(asyncio)

    class Lock(asyncio.Lock):
        def __init__(self):
            super().__init__()
            self._poet_line, self._poet_release_key = _line_for(b"python_lock", self), None

        async def acquire(self):
            if not self._poet_line:
                return await super().acquire()
            if self.locked():
                _event("lock_request", self._poet_line)
            await super().acquire()
            _receive("lock_acquired", self._poet_line, [self._poet_release_key])
            return True

        def release(self):
            if self._poet_line and self.locked():
                self._poet_release_key = _send("lock_release", self._poet_line)
            super().release()

    class Event(asyncio.Event):
        def __init__(self):
            super().__init__()
            self._poet_line, self._poet_set = _line_for(b"python_event", self), None

        def set(self):
            if self._poet_line and not self.is_set():
                self._poet_set = _send("event_set", self._poet_line)
            super().set()

        async def wait(self):
            if self._poet_line and not self.is_set():
                _event("event_wait", self._poet_line)
            await super().wait()
            if self._poet_line:
                _receive("event_seen", self._poet_line, [self._poet_set])
            return True

    class Semaphore(asyncio.Semaphore):
        def __init__(self, value=1):
            super().__init__(value)
            self._poet_line, self._poet_units = _line_for(b"python_semaphore", self), _Units(value)

        async def acquire(self):
            if self._poet_line and self.locked():
                _event("semaphore_request", self._poet_line)
            await super().acquire()
            if self._poet_line:
                _receive("semaphore_acquired", self._poet_line, [self._poet_units.pop()])
            return True

        def release(self):
            if self._poet_line:
                self._poet_units.push(_send("semaphore_release", self._poet_line), 1)
            super().release()

    class Queue(_Items, asyncio.Queue):
        def __init__(self, maxsize=0):
            super().__init__(maxsize)
            self._poet_init(_line_for(b"python_queue", self))

        async def put(self, item):
            if self._poet_line and self.full():
                _event("queue_full", self._poet_line)
            await super().put(item)

        async def get(self):
            if self._poet_line and self.empty():
                _event("queue_empty", self._poet_line)
            return await super().get()

        async def join(self):
            if self._poet_line and self._unfinished_tasks:
                _event("queue_join", self._poet_line)
            await super().join()
            if self._poet_line:
                _receive("queue_joined", self._poet_line, self._poet_done)

    for module in asyncio.locks, asyncio:
        module.Lock, module.Event, module.Semaphore = Lock, Event, Semaphore
    for module in asyncio.queues, asyncio:
        module.Queue = Queue


# ---- import hooks ----

class _ImportHooks:
    """Traces a module once the program imports it; imports none by itself."""

    def __init__(self, hooks):
        self.hooks = hooks

    def find_spec(self, name, path=None, target=None):
        if name not in self.hooks:
            return None
        hook = self.hooks.pop(name)  # each hook runs once
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target) if finder is not self else None
            if spec and spec.loader:
                original = spec.loader.exec_module

                def exec_module(module):
                    original(module)
                    hook(module)
                spec.loader.exec_module = exec_module
                return spec
        return None


def _install():
    global _lib
    _lib = _library()
    if not _lib:
        return
    _renew_key_high()
    os.register_at_fork(after_in_child=_renew_key_high)
    _lib.poet_environment(b"python")
    _trace_threads()
    threading.Lock, threading.RLock = _Lock, _RLock
    threading.Condition, threading.Event, threading.Barrier = _Condition, _Event, _Barrier
    threading.Semaphore, threading.BoundedSemaphore = _Semaphore, _BoundedSemaphore
    hooks = {"queue": _trace_queues, "asyncio": _trace_asyncio,
             "concurrent.futures.thread": lambda module: _trace_futures(sys.modules["concurrent.futures"])}
    for module in [module for module in hooks if module in sys.modules]:
        hooks.pop(module)(sys.modules[module])
    sys.meta_path.insert(0, _ImportHooks(hooks))


def _main(arguments):
    """python3 -m poet [-m MODULE | PROGRAM.py] [ARGUMENT...]"""
    import runpy
    import types
    if not arguments or arguments[0] in ("-h", "--help"):
        print("Usage: poet record python3 -m poet [-m MODULE | PROGRAM.py] [ARGUMENT...]\n"
              "Run a Python program, and report what its threads and tasks do with each other.")
        return
    if arguments[0] == "-m" and len(arguments) > 1:
        sys.argv = arguments[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    sys.argv, path = arguments, arguments[0]
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__file__, main.__builtins__ = path, __builtins__
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec")
    exec(code, main.__dict__)


if __name__ == "__main__":
    import poet  # the instance of this module that the program imports, too
    poet._main(sys.argv[1:])
else:
    _install()
