"""The script of a repeated run (wire/replay_schedule.h), as the debugger reads and writes it; and which cuts of it there are."""
import bisect
import json
import mmap
import struct

LINE_BYTES, EVENT_BYTES, STOP_BYTES, NAME_BYTES = 64, 32, 64, 64
AT_STATE, AT_END, AT_DEBUGGED, AT_STOP = 128, 144, 256, 260
NOT_AWAITED, DONE, HELD = 0, 1, 2
STOP_THERE, STOP_LEFT = 1, 2
OTHER, NOBODY, IMPATIENT = 0, 1, 2


class Wrong(Exception):
    """What is asked for cannot be; the text says why."""


class Run:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.told = json.loads(f.readline())
            self.site_of = memoryview(f.read()).cast("I")
        with open(self.told["script"], "r+b") as f:
            self.map = mmap.mmap(f.fileno(), 0)
        (magic, version, self.line_count, self.type_count, _, self.event_count, self.lines_at, self.events_at,
         self.types_at, self.stops_at, self.order_at, _) = struct.unpack_from("<QIIIIQQQQQQQ", self.map)
        if magic != 0x74706972636F7070 or version != 1:
            raise Wrong("the schedule file is of another version of Poet")
        all_bytes = memoryview(self.map)
        self.events = all_bytes[self.events_at:self.events_at + self.event_count * EVENT_BYTES].cast("I")
        self.order = all_bytes[self.order_at:self.order_at + 4 * self.event_count].cast("I").tolist()
        self.labels = self.told["labels"]
        self.first, self.count = [0], [0]
        for line in range(1, self.line_count + 1):
            first, count = struct.unpack_from("<QQ", self.map, self.lines_at + line * LINE_BYTES)
            self.first.append(first)
            self.count.append(count)
        self._positions = self._by_line = None
        self.front = 0  # all before it is done
        self.passed = [0] * (self.line_count + 1)  # how many of each thread are before that

    # ---- events ----
    def ref(self, thread, k):
        return "%d:%d" % self.event(thread, k)

    def event(self, thread, k):
        """(line, number)"""
        i = self.first[thread] + k
        return self.events[8 * i], self.events[8 * i + 1]

    def first_of(self, position):
        """The event at a position, as (line, number); None: there is no more."""
        return self.event(*self.at(position)) if position < self.event_count else None

    def about(self, thread, k):
        i = self.first[thread] + k
        return self.events[8 * i + 2]

    def type(self, thread, k):
        i = self.first[thread] + k
        number = self.events[8 * i + 6] & 0xFFFF
        at = self.types_at + number * NAME_BYTES
        return self.map[at:at + NAME_BYTES].split(b"\0")[0].decode() if number < self.type_count else "?"

    def site(self, thread, k):
        return self.told["sites"][self.site_of[self.first[thread] + k]]

    def line(self, thread, k):
        return self.events[8 * (self.first[thread] + k)]

    def over(self, thread, k):
        """Its event behind the k-th; of a call that leads to another line, what follows when it is back from there."""
        here, n, i = self.line(thread, k), self.count[thread], k
        while i < n and self.line(thread, i) == here and self.site(thread, i) == self.site(thread, k):
            i += 1
        if not self.is_same_call(thread, i, k):
            return k + 1
        i += 1 + (self.is_same_call(thread, i + 1, k) and self.line(thread, i + 1) == here)  # halves lie either way round
        while i < n and self.line(thread, i) != here:
            i += 1
        return i + 1 + (self.is_same_call(thread, i + 1, i) and self.line(thread, i + 1) != here)

    def is_same_call(self, thread, i, k):
        return i < self.count[thread] and self.site(thread, i) == self.site(thread, k)

    def say(self, thread, k):
        line = self.events[8 * (self.first[thread] + k)]
        about = self.about(thread, k) or (line if line != thread else 0)
        words = self.type(thread, k) + (" on " + self.labels[about] if about else "")
        site = self.site(thread, k)
        return "%s (%s%s)" % (words, self.ref(thread, k), ", " + site if site else "")

    def by_line(self):
        """Of each line its events, as indices, by their numbers."""
        if self._by_line is None:
            self._by_line = {}
            lines, numbers = self.events[0::8].tolist(), self.events[1::8].tolist()
            for line, number, i in sorted(zip(lines, numbers, range(self.event_count))):
                self._by_line.setdefault(line, []).append(i)
        return self._by_line

    def owner(self, i):
        """The thread of an event, and the how-manieth of it."""
        low = bisect.bisect_right(self.first, i, 1) - 1
        while not self.first[low] <= i < self.first[low] + self.count[low]:
            low -= 1
        return low, i - self.first[low]

    def find(self, word):
        """LINE:NUMBER"""
        try:
            line, number = (int(n) for n in word.split(":"))
        except ValueError:
            raise Wrong("invalid event %s (expected LINE:NUMBER, as in 2:17)" % word) from None
        events = self.by_line().get(line, [])
        if not 1 <= number <= len(events):
            raise Wrong("no event %s in this run" % word)
        return self.owner(events[number - 1])

    def position(self, thread, k):
        if self._positions is None:
            self._positions = [[] for _ in range(self.line_count + 1)]
            for at, who in enumerate(self.order):
                self._positions[who].append(at)
        return self._positions[thread][k]

    def thread(self, word):
        """A thread by its line, or as it is called."""
        for line in range(1, self.line_count + 1):
            if self.count[line] and (word == str(line) or word in (self.labels[line], self.labels[line][2:])):
                return line
        raise Wrong("no thread %s in this run" % word)

    def arrivals(self, site, thread=None, nth=None):
        """The events of calls that a place made, the first of each, as positions; a call is over when a type comes again."""
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
            raise Wrong("no event at this call site" if nth is None else "no thread reaches this call site so often")
        return sorted(found)

    @staticmethod
    def is_site(site, wanted):
        return bool(site) and (site == wanted or site.endswith("/" + wanted))

    # ---- where the threads are ----
    def line_at(self, line, what, form):
        return struct.unpack_from(form, self.map, self.lines_at + line * LINE_BYTES + what)[0]

    def stop_at(self, line, what, form):
        return struct.unpack_from(form, self.map, self.stops_at + line * STOP_BYTES + what)[0]

    def held(self, thread):
        """The event that it is held before; None: it is not held."""
        at = self.stop_at(thread, 24, "<Q")
        return at - 1 if at else None

    def done(self, thread):
        held = self.held(thread)
        return max(self.line_at(thread, 40, "<Q"), held or 0)

    def who(self, thread):
        """The process and the thread that play it."""
        return self.stop_at(thread, 12, "<I"), self.stop_at(thread, 16, "<I")

    def waits_for(self, thread):
        return self.line_at(thread, 48, "<I")

    def next_position(self):
        """Of what is not done the first."""
        while self.front < self.event_count:
            who = self.order[self.front]
            if self.passed[who] >= self.done(who):
                break
            self.passed[who] += 1
            self.front += 1
        return self.front

    def at(self, position):
        """The thread of a position, and the how-manieth event of it."""
        who = self.order[position]
        return who, self.order[:position].count(who)

    def all_done(self):
        return sum(self.done(line) for line in range(1, self.line_count + 1))

    # ---- where they are to be ----
    def before(self, position):
        counts = [0] * (self.line_count + 1)
        for who in self.order[:position]:
            counts[who] += 1
        return counts

    def needs(self, i):
        """What must be done before an event can be, as events."""
        line, number, about, ticket, after_line, after_number = self.events[8 * i:8 * i + 6]
        if number > 1:
            yield self.by_line()[line][number - 2]
        if after_line in self.by_line():
            yield self.by_line()[after_line][after_number - 1]
        if ticket > 1:
            yield self.tickets()[about, ticket - 1]

    def tickets(self):
        if not hasattr(self, "_tickets"):
            abouts, tickets = self.events[2::8].tolist(), self.events[3::8].tolist()
            self._tickets = {(a, t): i for i, (a, t) in enumerate(zip(abouts, tickets)) if t}
        return self._tickets

    def least_cut(self, events):
        """How much of each thread must be done so that each of these (thread, index) can come next."""
        counts, seen = [0] * (self.line_count + 1), [0] * (self.line_count + 1)
        for thread, k in events:
            counts[thread] = max(counts[thread], k)
        todo = set(thread for thread, _ in events)
        for thread, k in events:  # it can be made, too
            for i in self.needs(self.first[thread] + k):
                who, n = self.owner(i)
                counts[who] = max(counts[who], n + (who != thread or n < k))
                todo.add(who)
        while todo:
            thread = todo.pop()
            while seen[thread] < counts[thread]:
                for i in self.needs(self.first[thread] + seen[thread]):
                    who, k = self.owner(i)
                    if counts[who] <= k:
                        counts[who] = k + 1
                        todo.add(who)
                seen[thread] += 1
        for thread, k in events:
            if counts[thread] > k:
                raise Wrong("no consistent cut: %s happened before another event of it" % self.ref(thread, k))
        return counts

    def aim(self, counts, wanted):
        """Threads go on until so many of their events are done; those of wanted come to the next one, too."""
        for line in range(1, self.line_count + 1):
            if not self.count[line]:
                continue
            done = self.done(line)  # who is held amid a record has done nothing of it
            awaited = HELD if line in wanted else DONE if counts[line] > self.line_at(line, 40, "<Q") else NOT_AWAITED
            struct.pack_into("<QI", self.map, self.stops_at + line * STOP_BYTES, max(counts[line], done) + 1, awaited)
            if awaited == DONE:  # it says again where it is held, if it is
                struct.pack_into("<Q", self.map, self.stops_at + line * STOP_BYTES + 24, 0)
        struct.pack_into("<I", self.map, AT_STOP, STOP_THERE)

    def free(self):
        for line in range(1, self.line_count + 1):
            struct.pack_into("<QI", self.map, self.stops_at + line * STOP_BYTES, 0, 0)
        struct.pack_into("<I", self.map, AT_STOP, STOP_LEFT)

    def leave(self):
        struct.pack_into("<I", self.map, AT_DEBUGGED, 0)

    def left(self):
        """Why the run left the order; None: it did not."""
        if struct.unpack_from("<I", self.map, AT_STATE)[0] == 0:
            return None
        why, thread, k, line, number, by = struct.unpack_from("<IIQIII", self.map, AT_END)
        did = self.map[AT_END + 28:AT_END + 92].split(b"\0")[0].decode()
        name = lambda n: self.labels[n] if 0 < n < len(self.labels) else "another line"
        was = self.say(thread, k) if k < self.count[thread] else "no further event"
        if why == OTHER:
            return "%s performed %s on %s, recorded was %s" % (name(thread), did, name(line), was)
        return "%s is waiting for event %d on %s before %s, which cannot occur" % (name(thread), number, name(line), was)
