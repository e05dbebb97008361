"""Do pictures of a trace show what its events say?  Each is held against a graph of the order that is built here from `poet
dump` alone; what is wrong is printed, a line each, with the command that drew it, and the status is 1.

    pictures.py files TRACE SEED COUNT    random windows, rows, clusters and folds, by order and by time, upright and in bands,
                                          as web page, SVG, PDF on pages, and text
    pictures.py answers TRACE BROWSER.PY  what a web page answers about any two events, and where it puts them, in a browser
    pictures.py script TRACE SEED COUNT [timed]
                                          prints a script of random changes of view for poet view, with COUNT scenes, each
                                          once more after a step back and on; timed: all of them by time
    pictures.py scenes TRACE COUNT        the scenes that poet view wrote: scene0, again0, ..."""
import json
import os
import random
import re
import subprocess
import sys
import zlib

SYNC, ASYNC, GROUP, STUB, CROSSING, VIA, ORDER = range(7)  # kinds of arrows


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def listed(o):
    return o if isinstance(o, list) else [] if o is None else [o]


class Run:
    """The order: points, which are sets of events, what comes directly before each, and all that does, as bits."""

    def __init__(self, trace):
        self.events, self.lines, self.log = {}, {}, []
        for o in map(json.loads, output("poet", "dump", trace, "--json").stdout.splitlines()):
            if "event" in o:
                o["line"], o["number"] = o["event"].rsplit(":", 1)
                self.events[o["event"]] = o
                self.log.append(o["event"])
            elif "line" in o:
                self.lines[str(o["line"])] = o
        self.ordered = [e for e in self.log if self.events[e]["state"] == "ordered"]
        self.at = {e: i for i, e in enumerate(self.log)}
        self.point = {e: e for e in self.log}
        self.find_points()
        self.find_edges()
        self.find_past()
        drawn = {"once", "barrier"}  # in no picture, unless they are named
        self.drawn = [int(l) for l, o in self.lines.items() if not o["hidden"] and o["kind"] not in drawn]

    def head(self, e):
        while self.point[e] != e:
            e = self.point[e]
        return e

    def find_points(self):
        groups = {}
        for e in self.ordered:
            o, partners = self.events[e], listed(self.events[e]["partner"])
            if o["relation"] == "sync" and partners and partners[0] in self.events:
                self.point[self.head(partners[0])] = self.head(e)
            elif o["relation"] == "group" and o["group"] is not None:
                self.point[self.head(e)] = self.head(groups.setdefault(o["group"], e))
        self.point = {e: self.head(e) for e in self.log}
        self.members = {}
        for e in self.ordered:
            self.members.setdefault(self.point[e], []).append(e)

    def causes(self, e):
        """Events that an event directly comes after."""
        o = self.events[e]
        before = f"{o['line']}:{int(o['number']) - 1}"
        if not self.lines[o["line"]]["shared"]:
            on = [x for x in self.on_line[o["line"]] if self.at[x] < self.at[e]]
            if on:
                before = on[-1]
                yield before
        yield from o["order_after"]
        if o["relation"] == "async":
            yield from (p for p in listed(o["partner"]) if p in self.events and self.at[p] < self.at[e])
        opener = self.lines[o["line"]]["opened_by"]
        if opener and self.on_line[o["line"]][0] == e:
            yield opener

    def find_edges(self):
        self.on_line = {}
        for e in self.ordered:
            self.on_line.setdefault(self.events[e]["line"], []).append(e)
        self.before = {p: set() for p in self.members}
        self.pairs = []  # (send, receive)
        for e in self.ordered:
            for c in self.causes(e):
                if c in self.events and self.point[c] != self.point[e]:
                    self.before[self.point[e]].add(self.point[c])
            if self.events[e]["relation"] == "async":
                self.pairs += [(p, e) for p in listed(self.events[e]["partner"]) if self.at.get(p, 1 << 60) < self.at[e]]

    def find_past(self):
        self.bit = {p: i for i, p in enumerate(self.members)}
        self.past = {}
        for p in self.members:
            self.look(p)
        self.clock = {p: max(self.events[e]["time_ns"] for e in m) for p, m in self.members.items()}

    def look(self, first):
        todo = [first]
        while todo:
            p = todo[-1]
            missing = [c for c in self.before[p] if c not in self.past]
            if missing:
                todo += missing
                continue
            todo.pop()
            bits = 0
            for c in self.before[p]:
                bits |= self.past[c] | 1 << self.bit[c]
            self.past[p] = bits

    def is_before(self, a, b):
        return bool(self.past[self.point[b]] >> self.bit[self.point[a]] & 1)

    def repaired(self, drawn):
        """When each point of drawn events is: not before what is drawn and before it."""
        points = {self.point[e] for e in drawn}
        order = {self.bit[p]: p for p in points}
        when = {}
        for p in points:
            before = self.past[p]
            when[p] = max([self.clock[p]] + [self.clock[q] for i, q in order.items() if before >> i & 1])
        return when


class Rows:
    """Which lines a picture shows, and which events of them."""

    def __init__(self, run, lines, clusters):
        self.run = run
        self.rows = [[l] for l in lines] if lines else []
        for c in clusters:
            self.rows = [r for r in self.rows if r[0] not in c[1:]]
            if [c[0]] in self.rows:
                self.rows[self.rows.index([c[0]])] = c
            else:
                self.rows.append(c)
        if not lines:
            inside = {l for c in clusters for l in c}
            self.rows += [[l] for l in run.drawn if l not in inside and str(l) in run.on_line]
        self.row_of = {str(l): i for i, r in enumerate(self.rows) for l in r}
        self.events = {e for e in run.ordered if self.draws(e)}
        self.pending = {e for e in run.log if run.events[e]["state"] == "pending" and run.events[e]["line"] in self.row_of}

    def row(self, e):
        return self.row_of.get(self.run.events[e]["line"])

    def draws(self, e):
        row = self.row(e)
        if row is None:
            return False
        if len(self.rows[row]) == 1 or self.run.events[e]["annotations"]:
            return True
        o = self.run.events[e]
        tied = list(o["order_after"]) + self.run.members[self.run.point[e]] + [p for p in listed(o["partner"])]
        opener = self.run.lines[o["line"]]["opened_by"]
        if opener and self.run.on_line[o["line"]][0] == e:
            tied.append(opener)
        return any(self.row(t) != row for t in tied if t in self.run.events)


class Wrong(Exception):
    pass


def wrong(*what):
    raise Wrong(" ".join(map(str, what)))


# ---- what a picture shows: {event: (row, x)} ----

def check_events(run, rows, marks, whole, folded):
    shown = {e for e in marks if run.events[e]["state"] == "ordered"}
    for e, (row, _) in marks.items():
        if row != rows.row(e):
            wrong(e, "is in row", row, "not", rows.row(e))
    if shown - rows.events:
        wrong("not to be drawn:", *sorted(shown - rows.events)[:4])
    if whole and not folded and shown != rows.events:
        wrong("not drawn:", *sorted(rows.events - shown)[:4])
    if whole and set(marks) - shown != rows.pending:
        wrong("pending, not drawn:", *sorted(rows.pending - set(marks))[:4])
    return shown


def check_places(run, shown, marks):
    """What comes before stands strictly left, a point in one column, and no two in one place."""
    points, places = {}, {}
    for e in shown:
        row, x = marks[e]
        points.setdefault(run.point[e], []).append((x, e))
        if (row, x) in places and run.point[places[row, x]] != run.point[e]:
            wrong(e, "stands on", places[row, x])
        places[row, x] = e
    for p, m in points.items():
        rows_of = [marks[e][0] for _, e in m]
        if len(set(rows_of)) == len(rows_of) and max(m)[0] - min(m)[0] > 0.01:
            wrong("one point, not one column:", *m)
    spans = [(run.bit[p], run.past[p], min(m), max(m)) for p, m in points.items()]
    for bit, _, _, right in spans:
        for _, past, left, _ in spans:
            if past >> bit & 1 and not right[0] < left[0]:
                wrong(right[1], "is before", left[1], "and not left of it:", right[0], left[0])


def check_window(run, rows, shown):
    """By order: nothing that lies between two that are drawn is left out."""
    inside = {run.point[e] for e in shown}
    bits = sum(1 << run.bit[p] for p in inside)
    after_some = {p for p in run.members if run.past[p] & bits}
    before_some = 0
    for p in inside:
        before_some |= run.past[p]
    for e in rows.events - shown:
        if run.point[e] in after_some and before_some >> run.bit[run.point[e]] & 1:
            wrong(e, "is between events that are drawn")


def check_times(run, rows, shown):
    """By time: all that is drawn lies between two times, and nothing else does."""
    when = run.repaired(rows.events)
    inside = [when[run.point[e]] for e in shown]
    for e in rows.events - shown:
        if inside and min(inside) <= when[run.point[e]] <= max(inside):
            wrong(e, "lies between the times of the window")
    return when


# ---- web page ----

class Page:
    def __init__(self, file):
        with open(file) as f:
            self.data = d = json.loads(re.search(r'id="data">(.*?)</script>', f.read(), re.S).group(1))
        last, x, self.columns, self.ids = {}, 0, [], []
        for line, more in zip(d["lines_of"], d["num"]):
            last[line] = last.get(line, 0) + more
            self.ids.append(f"{line}:{last[line]}")
        for more in d["cols"]:
            x += more
            self.columns.append(x)
        few = lambda name, i: d[name].get(str(i), 0)
        self.x = [self.columns[c] / 10 + few("slot", i) * d["slot_pt"] for i, c in enumerate(d["col"])]
        self.marks = {e: (d["row"][i], self.x[i]) for i, e in enumerate(self.ids)}
        self.folded = bool(d["fold"])
        self.names = 2 + max((len(r["n"]) for r in d["rows"]), default=0)  # columns of the text before its marks
        time, self.times = 0, {}
        for i, more in enumerate(d["time"]):
            time += more
            self.times[self.ids[i]] = time + few("moved", i)
        self.links = [[l[0], self.end(l[2]), self.end(l[3])] for l in d["links"]]
        self.crossings = [tuple(d["ends"][-1 - e][1] for e in l[2:4]) for l in d["links"] if l[0] == CROSSING]
        self.when = None  # repaired times, where it is placed by time

    def end(self, e):
        """An event, or None: an edge, a stub."""
        return self.ids[e] if e >= 0 else None


def check_labels(run, rows, page):
    for row, lines in zip(page.data["rows"], rows.rows):
        if row["l"] != lines[0]:
            wrong("a row is that of", row["l"], "not", lines[0])
    if len(page.data["rows"]) != len(rows.rows):
        wrong(len(page.data["rows"]), "rows, not", len(rows.rows))


def wanted_arrows(run, rows, shown):
    """Those between two events that are drawn, in two rows."""
    sync, sent, group = set(), set(), set()
    for p in {run.point[e] for e in shown}:
        members = sorted((rows.row(e), e) for e in run.members[p] if e in shown)
        pairs = {(a[1], b[1]) for a, b in zip(members, members[1:]) if a[0] != b[0]}
        (group if run.events[run.members[p][0]]["relation"] == "group" else sync).update(pairs)
    for a, b in run.pairs:
        if a in shown and b in shown and rows.row(a) != rows.row(b):
            sent.add((a, b))
    return sync, sent, group


def check_arrows(run, rows, shown, page):
    either = lambda kind: [tuple(sorted(l[1:])) for l in page.links if l[0] == kind and None not in l[1:]]
    sync, sent, group = wanted_arrows(run, rows, shown)
    for kind, wanted in ((SYNC, sync), (GROUP, group)):
        got = either(kind)
        if len(set(got)) != len(got):
            wrong("drawn twice:", *sorted(g for g in set(got) if got.count(g) > 1)[:3])
        wanted = {tuple(sorted(w)) for w in wanted}
        if kind == SYNC and set(got) != wanted:
            wrong("of pairs:", sorted(wanted - set(got))[:3], "are not drawn,", sorted(set(got) - wanted)[:3], "are not")
        if kind == GROUP and {run.point[e] for w in wanted for e in w} != {run.point[e] for w in got for e in w}:
            wrong("groups are not tied:", wanted, got)
        if kind == GROUP and any(run.point[a] != run.point[b] for a, b in got):
            wrong("tied, and not of one group:", got)
    messages = [tuple(l[1:]) for l in page.links if l[0] == ASYNC]
    whole = [m for m in messages if None not in m and rows.row(m[0]) != rows.row(m[1])]
    if sorted(whole) != sorted(sent):
        wrong("messages:", sorted(sent - set(whole))[:3], "are not drawn,", sorted(set(whole) - sent)[:3], "are not")
    for a, b in messages:
        if a is None and not any(r == b and s not in shown for s, r in run.pairs):
            wrong("an arrow comes to", b, "from the edge")
        if b is None and not any(s == a and r not in shown for s, r in run.pairs):
            wrong("an arrow goes from", a, "to the edge")
    for kind, a, b in page.links:
        if kind in (VIA, ORDER) and None not in (a, b) and not run.is_before(a, b):
            wrong(f"an arrow from {a} to {b}, which is not after it")
    check_order_arrows(run, rows, shown, page)
    check_passing(run, rows, shown, page)


def check_passing(run, rows, shown, page):
    """Messages from left of the window to right of it: of each pair of rows, where it is known what lies where."""
    if page.when and shown:
        inside = [page.when[run.point[e]] for e in shown]
        side = lambda e: (page.when[run.point[e]] > max(inside)) - (page.when[run.point[e]] < min(inside))
    else:
        number = lambda e: int(run.events[e]["number"])
        on = {}
        for e in shown:
            on.setdefault(run.events[e]["line"], []).append(number(e))
        def side(e):
            seen = on.get(run.events[e]["line"])
            known = seen and not run.lines[run.events[e]["line"]]["shared"]
            return (number(e) > max(seen)) - (number(e) < min(seen)) if known else None
    sides = [(rows.row(s), rows.row(r), side(s), side(r)) for s, r in run.pairs if {s, r} <= rows.events - shown]
    may = {(a, b) for a, b, s, r in sides if a != b and s in (None, -1) and r in (None, 1)}
    must = {(a, b) for a, b, s, r in sides if a != b and s == -1 and r == 1}
    got = set(page.crossings)
    if not must <= got or not got <= may:
        wrong("messages pass by:", sorted(must - got)[:3], "are not drawn,", sorted(got - may)[:3], "are not")


DOTTED = {"start", "create", "joined", "wake"}


def check_order_arrows(run, rows, shown, page):
    got = {tuple(l[1:]) for l in page.links if l[0] == ORDER}
    for e in shown:
        for c in run.events[e]["order_after"]:
            if c in shown and run.events[e]["type"] in DOTTED and run.events[c]["thread"] != run.events[e]["thread"]:
                if run.events[e]["relation"] == "order" and (c, e) not in got:
                    wrong("no dotted arrow from", c, "to", e)


def check_answers(run, page):
    """The order by which the page itself answers: the causes that it receives."""
    d, n = page.data, len(page.ids)
    causes, at = [], 0
    for count in d["cause_count"]:
        causes.append(d["causes"][at:at + count])
        at += count
    past = [0] * n
    for i in range(n):
        p = d["point"][i]
        if d["chain"][i] < 0:
            continue
        if p != i:
            past[i] = past[p]
            continue
        for c in causes[i]:
            past[i] |= past[d["point"][c]] | 1 << d["point"][c]
    for i, b in enumerate(page.ids):
        for k, a in enumerate(page.ids):
            if d["chain"][i] < 0 or d["chain"][k] < 0:
                continue
            if (d["point"][i] == d["point"][k]) != (run.point[a] == run.point[b]):
                wrong("the page says otherwise of", a, "and", b, "being one point")
            if bool(past[i] >> d["point"][k] & 1) != run.is_before(a, b):
                wrong("the page says otherwise of", a, "being before", b)
            later = page.times[a] - page.times[b]
            if run.is_before(a, b) and later > 0 or run.point[a] == run.point[b] and later:
                wrong("the page's times of", a, "and", b, "contradict the order")


def check_page_times(run, page, shown, when):
    """By time the page has the repaired times, all moved alike."""
    if shown:
        some = min(shown)
        for e in shown:
            if page.times[e] - page.times[some] != when[run.point[e]] - when[run.point[some]]:
                wrong("the page says", page.times[e] - page.times[some], "ns from", some, "to", e, "and it is",
                      when[run.point[e]] - when[run.point[some]])


# ---- SVG ----

def svg_marks(file, rows, vertical):
    """{event: (row, (band, x))}, by the names of rows, which stand in each band."""
    with open(file) as f:
        text = f.read()
    circles = [(m[3], float(m[1]), float(m[2])) for m in
               re.finditer(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="[\d.]+"><title>[^<]*?\((\d+:\d+)\)', text)]
    if len({c[0] for c in circles}) != len(circles):
        wrong("an event is drawn twice")
    return circles


def check_svg(run, rows, circles, page, vertical):
    """The same marks as in the page, each row on one line of each band, and along it in the same order."""
    if {c[0] for c in circles} != set(page.marks):
        wrong("SVG and page show other events:", *sorted({c[0] for c in circles} ^ set(page.marks))[:4])
    along = {e: (y if vertical else x) for e, x, y in circles}
    across = {e: (x if vertical else y) for e, x, y in circles}
    bands = {}
    by_x = sorted(page.marks, key=lambda e: (page.marks[e][1], e))
    # A band ends where the next mark stands left of the one before it.
    band, last = 0, None
    for e in by_x:
        if last is not None and along[e] < along[last] - 0.01:
            band += 1
        bands[e], last = band, e
    lines = {}
    for e in by_x:
        line = lines.setdefault((bands[e], rows.row(e)), across[e])
        if abs(line - across[e]) > 0.02:
            wrong(e, "is not on the line of its row:", across[e], line)
    ordered = [across_of for (_, across_of) in sorted(((b, r), y) for (b, r), y in lines.items())]
    if any(a >= b for a, b in zip(ordered, ordered[1:])):
        wrong("rows are not one below the other:", ordered)
    for a, b in zip(by_x, by_x[1:]):
        same = abs(page.marks[a][1] - page.marks[b][1]) < 0.01
        if bands[a] == bands[b] and same != (abs(along[a] - along[b]) < 0.02):
            wrong(a, "and", b, "share a column in the page or in the SVG alone")
        if same and bands[a] != bands[b]:
            wrong(a, "and", b, "are in one column, and in two bands")
    return band + 1


# ---- PDF ----

SIZE, NAME = 8.2, 9  # of a mark, of the letters of a row's name


def shapes_of(path, width, size):
    """Of the pieces of a path: the middles of those that are marks, round ends without length, or squares."""
    for points in path:
        (x, y), last = points[0], points[-1]
        if len(points) == 2 and width and abs(width - size) < 0.01 and points[0] == last:
            yield x, y
        elif len(points) == 4 and max(abs(last[0] - x), abs(points[2][0] - x - size), abs(points[2][1] - y - size)) < 0.02:
            yield x + size / 2, y + size / 2


class Paper:
    """A page of a PDF: where its marks are, those apart that are clipped, and the names of rows, from above."""

    def __init__(self, text):
        names = re.search(rb"([\d.]+) 0 0 -[\d.]+ ([\d.]+) [\d.]+ Tm", text)
        self.size = float(names[1]) / NAME * SIZE if names else SIZE
        self.left = float(names[2]) if names else 0
        self.dots, self.names = set(), set()
        self.numbers, self.path, self.clip, self.width, self.stack, self.at = [], [], None, None, [], (0, 0, 1)
        for word in text.split():
            if re.fullmatch(rb"-?[\d.]+", word):
                self.numbers.append(float(word))
            else:
                self.take(word)
                self.numbers = []
        self.names = sorted(self.names)

    def take(self, word):
        numbers, path = self.numbers, self.path
        if word == b"m":
            path.append([tuple(numbers[-2:])])
        elif word == b"l" and path:
            path[-1].append(tuple(numbers[-2:]))
        elif word == b"h" and path and len(path[-1]) == 1: # a dot
            path[-1] *= 2
        elif word == b"re":
            x, y, wide, high = numbers[-4:]
            path.append([(x, y), (x + wide, y), (x + wide, y + high), (x, y + high)])
        elif word == b"W":
            self.clip = path[-1][0] + path[-1][2]
        elif word == b"w":
            self.width = numbers[-1]
        elif word == b"q":
            self.stack.append((self.clip, self.width))
        elif word == b"Q" and self.stack:
            self.clip, self.width = self.stack.pop()
        elif word in (b"S", b"f", b"f*", b"n"):
            self.paint(word)
            self.path = []
        elif word in (b"Tm", b"Td"):
            self.write(word)

    def paint(self, word):
        clip = self.clip or (-1e9, -1e9, 1e9, 1e9)
        for x, y in shapes_of(self.path, self.width if word == b"S" else None, self.size) if word != b"n" else ():
            if clip[0] <= x <= clip[2] and clip[1] <= y <= clip[3]:
                self.dots.add((x, y))

    def write(self, word):
        if word == b"Tm":
            self.at = (*self.numbers[-2:], self.numbers[-3])
        else:
            x, y, scale = self.at
            self.at = x - self.numbers[-2] * scale, y + self.numbers[-1] * scale, scale
        if abs(self.at[0] - self.left) < 0.01 and abs(self.at[2] / NAME * SIZE + self.size) < 0.01:
            self.names.add(round(self.at[1], 2))

    def columns(self, rows):
        """From band to band, column by column: which rows have marks there."""
        if len(self.names) % rows:
            wrong("a page has", len(self.names), "names of", rows, "rows")
        found, last = [], (-1, -1)
        name = lambda y: min(range(len(self.names)), key=lambda i: abs(self.names[i] - y))
        for band, x, row in sorted((name(y) // rows, x, name(y) % rows) for x, y in self.dots):
            if band != last[0] or x - last[1] > 0.3:
                found.append([])
            found[-1].append(row)
            last = band, x
        return [sorted(c) for c in found]


def pdf_pages(file):
    with open(file, "rb") as f:
        raw = f.read()
    for m in re.finditer(rb"stream\r?\n(.*?)endstream", raw, re.S):
        try:
            text = zlib.decompress(m[1])
        except zlib.error:
            continue
        if b" cm\n" in text[:60]:
            yield Paper(text)


def check_pdf(rows, file, page):
    """Each mark is on one page, and from page to page they are those of the web page, column by column."""
    got, wanted = [], {}
    for paper in pdf_pages(file):
        got += paper.columns(len(rows.rows))
    for row, x in set(page.marks.values()):
        wanted.setdefault(round(x, 2), []).append(row)
    wanted = [sorted(wanted[x]) for x in sorted(wanted)]
    if got != wanted:
        at = next((i for i, (a, b) in enumerate(zip(got, wanted)) if a != b), min(len(got), len(wanted)))
        wrong("the PDF has", len(got), "columns with marks, not", len(wanted), "and from", at, "on", got[at:at + 3], "not",
              wanted[at:at + 3])


# ---- text ----

def check_text(rows, file, page):
    """The marks of each row are as many, and in the same columns, as those of the page."""
    with open(file) as f:
        lines = f.read().split("\n")
    first = next((i for i, l in enumerate(lines) if l.strip() and not l.lstrip().startswith("|")), 0)
    columns = {}
    for row in range(len(rows.rows)):
        text = lines[first + 2 * row] if first + 2 * row < len(lines) else ""
        cells = [i for i, c in enumerate(text) if c in "○⊘●□■x!" and (i == 0 or text[i - 1] != ":") and i >= page.names]
        wanted = sorted({x for r, x in page.marks.values() if r == row})
        if len(cells) != len(wanted):
            wrong("row", row, "of the text has", len(cells), "marks, not", len(wanted))
        for cell, x in zip(cells, wanted):
            if columns.setdefault(cell, x) != x:
                wrong("a column of the text is two")


# ---- random pictures ----

def some_lines(choose, run):
    others = [int(l) for l in run.lines if l.isdigit() and int(l) not in run.drawn and choose.random() < 0.2]
    return choose.sample(run.drawn + others, k=choose.randint(2, len(run.drawn)))


def some_picture(choose, run):
    """(arguments, rows, what is known of the window)"""
    arguments, lines, clusters = [], None, []
    if choose.random() < 0.5:
        lines = some_lines(choose, run)
        arguments.append("--lines=" + ",".join(map(str, lines)))
    rest = list(lines or run.drawn)
    choose.shuffle(rest)
    while choose.random() < 0.35 and len(rest) > 3:
        c = [rest.pop() for _ in range(choose.randint(2, 3))]
        if lines:
            c.sort(key=lines.index)
        clusters.append(c)
        arguments.append("--group=" + ",".join(map(str, c)))
    rows = Rows(run, lines, clusters)
    known = sorted(rows.events, key=run.at.get)
    how, by_time = choose.choice(["whole", "whole", "from", "to", "both", "around", "last"]), choose.random() < 0.55
    a, b = (choose.choice(known), choose.choice(known)) if known else (None, None)
    if not known:
        how = "whole"
    if how in ("from", "both"):
        arguments.append("--from=" + a)
    if how == "to":
        arguments.append("--to=" + a)
    if how == "both":
        later = [e for e in known if run.is_before(a, e)]
        if later:
            arguments.append("--to=" + choose.choice(later))
    if how == "around":
        arguments.append("--around=" + a)
    if how == "last":
        arguments.append(f"--last={choose.randint(1, 60)}")
    if by_time:
        arguments.append(choose.choice(["--time", "--time=1", "--time=10", "--time=137", "--time=1000", "--time=30000"]))
    if choose.random() < 0.3:
        arguments.append("--fold")
    else:
        arguments.append("--no-fold")
    return arguments, rows, how == "whole", by_time


def some_that_matter(run):
    """Events of threads that are not drawn; members of a group in one row; pairs of which the description knows one end alone."""
    here = {o["kind"]: int(l) for l, o in run.lines.items() if l.isdigit() and l in run.on_line}
    lines = [[here[kind]] for kind in ("semaphore", "rwlock") if kind in here]
    pictures = [([f"--lines={l[0]}", "--no-fold"], Rows(run, l, []), True, False) for l in lines]
    pictures.append((["--group=1,2", "--no-fold"], Rows(run, None, [[1, 2]]), True, False))
    if "once" in here:
        lines = [here["once"], 1, 2]
        pictures.append((["--no-fold", "--lines=" + ",".join(map(str, lines))], Rows(run, lines, []), True, False))
    return pictures


def export(trace, file, arguments, refusal=None):
    """Returns whether the file was written; it may be refused with a message that matches."""
    done = output("poet", "export", trace, "-o", file, *arguments)
    if done.returncode and not (refusal and re.search(refusal, done.stderr)):
        wrong("cannot be drawn:", done.stderr.strip())
    return not done.returncode


def look_at(run, trace, choose, arguments, rows, whole, by_time):
    export(trace, "picture.html", arguments)
    page = Page("picture.html")
    if len(set(page.ids)) != len(page.ids):
        wrong("an event is drawn twice")
    check_labels(run, rows, page)
    shown = check_events(run, rows, page.marks, whole, page.folded)
    check_places(run, shown, page.marks)
    if by_time:
        page.when = check_times(run, rows, shown)
        check_page_times(run, page, shown, page.when)
    elif not page.folded:
        check_window(run, rows, shown)
    check_answers(run, page)
    if not page.folded:
        check_arrows(run, rows, shown, page)
    vertical, wrap = choose.random() < 0.3, choose.random() < 0.4
    more = ["--wrap", f"--width={choose.choice([84, 170])}mm"] if wrap and not vertical else ["--no-wrap"]
    more += ["--vertical"] * vertical
    arguments += more
    export(trace, "picture.svg", arguments)
    check_svg(run, rows, svg_marks("picture.svg", rows, vertical), page, vertical)
    if all(t["s"] for t in page.data["types"]): # a mark that is not drawn is none
        paper = f"{choose.choice([150, 210, 420])}x{60 + 10 * len(rows.rows)}mm"
        arguments[-len(more):] = ["--no-legend", "--no-title", "--paper=" + paper]
        if export(trace, "picture.pdf", arguments, r"\d+ pages: select a range"):
            check_pdf(rows, "picture.pdf", page)
        arguments[-3:] = []
        export(trace, "picture.txt", arguments)
        check_text(rows, "picture.txt", page)


def look_at_files(trace, seed, count):
    run, choose, bad = Run(trace), random.Random(int(seed)), 0
    pictures = some_that_matter(run)
    for at in range(int(count)):
        arguments, rows, whole, by_time = pictures[at] if at < len(pictures) else some_picture(choose, run)
        try:
            look_at(run, trace, choose, arguments, rows, whole, by_time)
        except Wrong as what:
            bad += 1
            print("poet export", trace, *arguments, "#", what)
    return bad


# ---- the page in a browser ----

ANSWERS = """(() => { const ids = poet.ids(); return JSON.stringify({ ids, x: ids.map(poet.x),
 answers: ids.map(a => ids.map(b => poet.relation(a, b)).join(" ")) }) })()"""


def look_at_answers(trace, browser):
    run = Run(trace)
    rows, bad = Rows(run, None, []), 0
    export(trace, "answers.html", ["--no-fold"])
    asked = ANSWERS.replace("\n", " ")
    address = "file://" + os.path.abspath("answers.html")
    done = subprocess.run(["timeout", "200", sys.executable, browser, address], capture_output=True, text=True, check=False,
                          input=f"eval {asked}\nkey t\neval {asked}\n")
    if done.returncode:
        print(done.stdout[:500], done.stderr[:500])
        return 1
    for said in map(json.loads, done.stdout.splitlines()):
        pairs = [(a, b) for a in said["ids"] for b in said["ids"]]
        told = subprocess.run(["poet", "order", trace, "-"], input="".join(f"{a} {b}\n" for a, b in pairs), capture_output=True,
                              text=True, check=False).stdout.split("\n")
        answers = [r for line in said["answers"] for r in line.split()]
        differ = [(p, t, r) for p, t, r in zip(pairs, told, answers) if t.split()[0] != r]
        if differ or len(answers) != len(pairs):
            bad += 1
            print("the page says otherwise than poet order:", differ[:3])
        try:
            marks = {e: (rows.row(e), x) for e, x in zip(said["ids"], said["x"])}
            check_places(run, check_events(run, rows, marks, True, False), marks)
        except Wrong as what:
            bad += 1
            print(what)
    return bad


# ---- the viewer ----

def slide_line(line, events):
    return "\n".join([f"action {'line-left' if events > 0 else 'line-right'} {line}"] * abs(events))


def print_script(trace, seed, count, timed=None):
    run, choose = Run(trace), random.Random(int(seed))
    scales = [3, 3.5, 4.2, 5, 5.9] if timed else [0, 3, 4.2, 5, 5.9]
    print("action time 0; action end")
    if timed:
        print(f"action time {choose.choice(scales)}")
    for at in range(int(count)):
        for _ in range(choose.randint(1, 4)):
            print(choose.choice([
                f"action go {choose.choice(run.ordered)}", f"action go {choose.randrange(len(run.log))}", "action page-left",
                "action page-right", "action fold", f"action hide-line {choose.choice(run.drawn)}", "action show-all",
                slide_line(choose.choice(run.drawn), choose.randint(-3, 3)), f"action time {choose.choice(scales)}",
                f"action move-line {choose.choice(run.drawn)} {choose.choice(run.drawn)}", "action start", "action end",
                "action least-crossing", f"action pan {choose.randint(-400, 400)} 0", f"action zoom {choose.uniform(0.7, 1.4):.2f} 400 100"]))
        print(f"state scene scene{at}\naction undo\naction redo\nstate scene again{at}")
    print("quit")


class Scene:
    """What poet view printed of what it shows."""

    def __init__(self, file):
        with open(file) as f:
            text = f.read()
        self.by_time = not re.search(r" time 0 ", text)
        self.labels = re.findall(r'^row \d+ y ([\d.]+) "(.*)"$', text, re.M)
        found = re.findall(r"^mark (\S+) row (\d+) column \d+ x ([\d.]+)", text, re.M)
        self.marks = {e: (int(row), float(x)) for e, row, x in found}
        self.twice = len(self.marks) != len(found)
        self.folded = " folded" in text or bool(re.search(r'^text .*×\d+"$', text, re.M))
        at = {(x, self.labels[row][0]): e for e, (row, x) in self.marks.items()}
        kinds = {"sync": SYNC, "async": ASYNC, "group": GROUP, "via": VIA, "order": ORDER, "crossing": CROSSING}
        links = re.findall(r"^link (\w+) (\S+),(\S+) -> ([^\s,]+),(\S+)", text, re.M)
        self.links = [[kinds[k], at.get((float(a), b)), at.get((float(c), d))] for k, a, b, c, d in links if k in kinds]
        row_at = {y: row for row, (y, _) in enumerate(self.labels)}
        self.crossings = [(row_at[b], row_at[d]) for k, a, b, c, d in links if k == "crossing"]
        self.when = None


def is_restored(at):
    with open(f"scene{at}") as before, open(f"again{at}") as again:
        return before.read() == again.read()


def look_at_scenes(trace, count):
    run, bad, seen = Run(trace), 0, 0
    letters = {}
    for number, o in run.lines.items():
        if not o["hidden"]:
            letters[f"{o['letter']}:{o['name']}"] = int(number)
    for at in range(int(count)):
        file = f"scene{at}"
        if not is_restored(at):
            bad += 1
            print(file, "# is another one after a step back and on")
        scene = Scene(file)
        if not scene.labels:
            continue
        rows = Rows(run, [letters[label] for _, label in scene.labels], [])
        try:
            look_at_scene(run, rows, scene)
            seen += len(scene.marks)
        except Wrong as what:
            bad += 1
            print(file, "#", what)
    if not seen:
        print("nothing was seen")
    return bad or not seen


def look_at_scene(run, rows, scene):
    if scene.twice:
        wrong("an event is drawn twice")
    shown = check_events(run, rows, scene.marks, False, True)
    check_places(run, shown, scene.marks)
    if scene.by_time:
        scene.when = check_times(run, rows, shown)
    elif not scene.folded:
        check_window(run, rows, shown)
    if not scene.folded:
        check_arrows(run, rows, shown, scene)


WHAT = {"files": look_at_files, "answers": look_at_answers, "script": print_script, "scenes": look_at_scenes}
sys.exit(bool(WHAT[sys.argv[1]](*sys.argv[2:])))
