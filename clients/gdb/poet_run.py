"""The replay schedule (wire/replay_schedule.h) as gdb reads and writes it, and cuts of it."""
import bisect
import json
import mmap
import struct

LINE_BYTES, EVENT_BYTES, STOP_BYTES, NAME_BYTES = 64, 32, 64, 64
HEAD_STATE, HEAD_END, HEAD_DEBUGGED, HEAD_STOP = 128, 144, 256, 260  # in struct schedule_head
NOT_AWAITED, DONE, HELD = 0, 1, 2  # enum schedule_awaited
STOP_REACHED, STOP_LEFT = 1, 2  # enum schedule_breakpoint_mode
# enum schedule_end_type
END_OTHER_EVENT, END_NO_WAKER, END_TIMEOUT, END_FOREIGN_THREAD, END_INPUT, END_RECEIVED = range(6)


class CommandError(Exception):
    """A command cannot be carried out; the text is the reason."""


class Run:
    """The replayed run.

    The number of its line identifies a thread; a thread and the index k, from 0, an event of it.
    """

    def __init__(self, path):
        with open(path, "rb") as f:
            self.settings = json.loads(f.readline())
            self.site_indices = memoryview(f.read()).cast("I")
        with open(self.settings["script"], "r+b") as f:
            self.map = mmap.mmap(f.fileno(), 0)
        (magic, version, self.line_count, self.type_count, _, self.event_count, self.lines_offset, self.events_offset,
         self.types_offset, self.stops_offset, self.order_offset, _) = struct.unpack_from("<QIIIIQQQQQQQ", self.map)
        if magic != 0x74706972636F7070 or version != 1:
            raise CommandError("the schedule file is of another version of Poet")
        all_bytes = memoryview(self.map)
        self.events = all_bytes[self.events_offset:self.events_offset + self.event_count * EVENT_BYTES].cast("I")
        self.order = all_bytes[self.order_offset:self.order_offset + 4 * self.event_count].cast("I").tolist()
        self.labels = self.settings["labels"]
        self.first, self.count = [0], [0]
        for line in range(1, self.line_count + 1):
            first, count = struct.unpack_from("<QQ", self.map, self.lines_offset + line * LINE_BYTES)
            self.first.append(first)
            self.count.append(count)
        self._positions = self._by_line = None
        self.done_positions = 0  # all events at lower positions are done
        self.done_before = [0] * (self.line_count + 1)  # events of each thread at lower positions

    # ---- events ----
    def event_text(self, thread, k):
        return "%d:%d" % self.event_id(thread, k)

    def event_id(self, thread, k):
        """Returns (line, number)."""
        i = self.first[thread] + k
        return self.events[8 * i], self.events[8 * i + 1]

    def event_id_at(self, position):
        """Returns the event at a position as (line, number); None after the last one."""
        return self.event_id(*self.event_at(position)) if position < self.event_count else None

    def object_of(self, thread, k):
        i = self.first[thread] + k
        return self.events[8 * i + 2]

    def type(self, thread, k):
        i = self.first[thread] + k
        number = self.events[8 * i + 6] & 0xFFFF
        offset = self.types_offset + number * NAME_BYTES
        return self.map[offset:offset + NAME_BYTES].split(b"\0")[0].decode() if number < self.type_count else "?"

    def site(self, thread, k):
        return self.settings["sites"][self.site_indices[self.first[thread] + k]]

    def line(self, thread, k):
        return self.events[8 * (self.first[thread] + k)]

    def index_after(self, thread, k):
        """Returns the index after event k, or after the return of a call to another line."""
        home, n, i = self.line(thread, k), self.count[thread], k
        while i < n and self.line(thread, i) == home and self.site(thread, i) == self.site(thread, k):
            i += 1
        if not self.is_same_call(thread, i, k):
            return k + 1
        # the two events of a sync pair come in either order
        i += 1 + (self.is_same_call(thread, i + 1, k) and self.line(thread, i + 1) == home)
        while i < n and self.line(thread, i) != home:
            i += 1
        return i + 1 + (self.is_same_call(thread, i + 1, i) and self.line(thread, i + 1) != home)

    def is_same_call(self, thread, i, k):
        return i < self.count[thread] and self.site(thread, i) == self.site(thread, k)

    def describe(self, thread, k):
        line = self.events[8 * (self.first[thread] + k)]
        object_line = self.object_of(thread, k) or (line if line != thread else 0)
        words = self.type(thread, k) + (" on " + self.labels[object_line] if object_line else "")
        site = self.site(thread, k)
        return "%s (%s%s)" % (words, self.event_text(thread, k), ", " + site if site else "")

    def by_line(self):
        """Returns the indices, in the file, of the events of each line, sorted by number."""
        if self._by_line is None:
            self._by_line = {}
            lines, numbers = self.events[0::8].tolist(), self.events[1::8].tolist()
            for line, number, i in sorted(zip(lines, numbers, range(self.event_count))):
                self._by_line.setdefault(line, []).append(i)
        return self._by_line

    def thread_event(self, i):
        """Returns the event with index i in the file as (thread, index in the thread)."""
        low = bisect.bisect_right(self.first, i, 1) - 1
        while not self.first[low] <= i < self.first[low] + self.count[low]:
            low -= 1
        return low, i - self.first[low]

    def find_event(self, word):
        """Parses LINE:NUMBER; returns (thread, index)."""
        try:
            line, number = (int(n) for n in word.split(":"))
        except ValueError:
            raise CommandError("invalid event %s (expected LINE:NUMBER, as in 2:17)" % word) from None
        events = self.by_line().get(line, [])
        if not 1 <= number <= len(events):
            raise CommandError("no event %s in this run" % word)
        return self.thread_event(events[number - 1])

    def position(self, thread, k):
        if self._positions is None:
            self._positions = [[] for _ in range(self.line_count + 1)]
            for position, acting in enumerate(self.order):
                self._positions[acting].append(position)
        return self._positions[thread][k]

    def find_thread(self, word):
        """Finds a thread by the number of its line, or by its label, with or without the letter."""
        for line in range(1, self.line_count + 1):
            if self.count[line] and (word == str(line) or word in (self.labels[line], self.labels[line][2:])):
                return line
        raise CommandError("no thread %s in this run" % word)

    def arrivals(self, site, thread=None, nth=None):
        """Returns the positions of the first event of each call from a call site.

        An event type that occurs again begins another call.
        """
        found = []
        for line in [thread] if thread else range(1, self.line_count + 1):
            seen, times = set(), 0
            for k in range(self.count[line]):
                if not self.is_site(self.site(line, k), site):
                    seen = set()
                    continue
                kind = self.type(line, k)
                if not seen or kind in seen:
                    seen, times = set(), times + 1
                    if nth in (None, times):
                        found.append(self.position(line, k))
                seen.add(kind)
        if not found:
            raise CommandError("no event at this call site" if nth is None else "no thread reaches this call site so often")
        return sorted(found)

    @staticmethod
    def is_site(site, wanted):
        return bool(site) and (site == wanted or site.endswith("/" + wanted))

    # ---- progress of the threads ----
    def line_field(self, line, offset, form):
        return struct.unpack_from(form, self.map, self.lines_offset + line * LINE_BYTES + offset)[0]

    def stop_field(self, line, offset, form):
        return struct.unpack_from(form, self.map, self.stops_offset + line * STOP_BYTES + offset)[0]

    def held(self, thread):
        """Returns the index of the event before which the thread is held, or None."""
        before = self.stop_field(thread, 24, "<Q")
        return before - 1 if before else None

    def done(self, thread):
        held = self.held(thread)
        return max(self.line_field(thread, 40, "<Q"), held or 0)

    def process_and_thread(self, thread):
        """Returns PID and TID of the thread that executes the schedule; 0: none yet."""
        return self.stop_field(thread, 12, "<I"), self.stop_field(thread, 16, "<I")

    def waits_for(self, thread):
        return self.line_field(thread, 48, "<I")

    def next_position(self):
        """Returns the position of the first event that is not done."""
        while self.done_positions < self.event_count:
            thread = self.order[self.done_positions]
            if self.done_before[thread] >= self.done(thread):
                break
            self.done_before[thread] += 1
            self.done_positions += 1
        return self.done_positions

    def event_at(self, position):
        """Returns the event at a position of the order as (thread, index in the thread)."""
        thread = self.order[position]
        return thread, self.order[:position].count(thread)

    def all_done(self):
        return sum(self.done(line) for line in range(1, self.line_count + 1))

    # ---- cuts, and breakpoints of the threads ----
    # A cut is a list, by line, of the number of events of each thread that are done.
    def cut_before(self, position):
        counts = [0] * (self.line_count + 1)
        for thread in self.order[:position]:
            counts[thread] += 1
        return counts

    def predecessors(self, i):
        """Yields the indices, in the file, of the events that must be done before event i."""
        line, number, object_line, ticket, after_line, after_number = self.events[8 * i:8 * i + 6]
        if number > 1:
            yield self.by_line()[line][number - 2]
        if after_line in self.by_line():
            yield self.by_line()[after_line][after_number - 1]
        if ticket > 1:
            yield self.by_ticket()[object_line, ticket - 1]

    def by_ticket(self):
        if not hasattr(self, "_tickets"):
            objects, tickets = self.events[2::8].tolist(), self.events[3::8].tolist()
            self._tickets = {(a, t): i for i, (a, t) in enumerate(zip(objects, tickets)) if t}
        return self._tickets

    def least_cut(self, events):
        """Returns the least consistent cut after which each (thread, index) can be next."""
        counts, visited = [0] * (self.line_count + 1), [0] * (self.line_count + 1)
        for thread, k in events:
            counts[thread] = max(counts[thread], k)
        todo = set(thread for thread, _ in events)
        for thread, k in events:  # the cut contains the predecessors of the events themselves, too
            for i in self.predecessors(self.first[thread] + k):
                other, n = self.thread_event(i)
                counts[other] = max(counts[other], n + (other != thread or n < k))
                todo.add(other)
        while todo:
            thread = todo.pop()
            while visited[thread] < counts[thread]:
                for i in self.predecessors(self.first[thread] + visited[thread]):
                    other, k = self.thread_event(i)
                    if counts[other] <= k:
                        counts[other] = k + 1
                        todo.add(other)
                visited[thread] += 1
        for thread, k in events:
            if counts[thread] > k:
                raise CommandError("no consistent cut: %s happened before another event of it" % self.event_text(thread, k))
        return counts

    def set_stops(self, counts, wanted):
        """Lets each thread perform its events up to a cut.

        gdb is notified once all are done and the wanted threads have reached their next events.
        """
        for line in range(1, self.line_count + 1):
            if not self.count[line]:
                continue
            # schedule_line.at, unlike done(), counts no event of a record that is not complete
            done = self.done(line)
            awaited = HELD if line in wanted else DONE if counts[line] > self.line_field(line, 40, "<Q") else NOT_AWAITED
            struct.pack_into("<QI", self.map, self.stops_offset + line * STOP_BYTES, max(counts[line], done) + 1, awaited)
            if awaited == DONE:  # the thread stores it again if it is still held
                struct.pack_into("<Q", self.map, self.stops_offset + line * STOP_BYTES + 24, 0)
        struct.pack_into("<I", self.map, HEAD_STOP, STOP_REACHED)

    def clear_stops(self):
        for line in range(1, self.line_count + 1):
            struct.pack_into("<QI", self.map, self.stops_offset + line * STOP_BYTES, 0, 0)
        struct.pack_into("<I", self.map, HEAD_STOP, STOP_LEFT)

    def detach(self):
        struct.pack_into("<I", self.map, HEAD_DEBUGGED, 0)

    def divergence(self):
        """Returns the text of how the replay diverged from the schedule; None if it did not."""
        if struct.unpack_from("<I", self.map, HEAD_STATE)[0] == 0:
            return None
        reason, thread, k, line, number, by = struct.unpack_from("<IIQIII", self.map, HEAD_END)
        performed = self.map[HEAD_END + 28:HEAD_END + 92].split(b"\0")[0].decode()
        name = lambda n: self.labels[n] if 0 < n < len(self.labels) else "another line"
        expected = self.describe(thread, k) if k < self.count[thread] else "no further event"
        if reason == END_OTHER_EVENT:
            return "%s performed %s on %s, recorded was %s" % (name(thread), performed, name(line), expected)
        if reason == END_FOREIGN_THREAD:
            return "%s reached %s as number %d on %s: a thread that is not in the trace was there first" % (
                name(thread), expected, number, name(line))
        if reason == END_INPUT:
            return "%s called %s (%d), which is not the recorded call, before %s" % (name(thread), performed, by, expected)
        if reason == END_RECEIVED:
            return "%s received event %d of %s, which is not the recorded one, for %s" % (name(thread), number, name(line), expected)
        other = name(by) if by else "an unknown thread"
        return "%s is waiting for event %d on %s before %s; %s should perform it%s" % (
            name(thread), number, name(line), expected, other,
            " but has not reached it" if reason == END_TIMEOUT else ", but is blocked, too")
