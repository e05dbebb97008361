"""Is a what-if answer what follows from the times that a program measured itself?
python3 whatif.py MEASURED WORK FACTOR LENGTH_NS IF_NS

The program is the pipeline of real.c: each thread works, waits for the one before it, and works.  Its length is computed
from the measured works, as they are and with WORK scaled; the answer must differ from LENGTH_NS by as much, within what
the hand-overs took, and what the threads were late."""
import sys

works, waits, late = {}, {}, {}
for kind, name, begin, end in (line.split() for line in open(sys.argv[1]) if line.count(" ") == 3):
    {"work": works, "wait": waits, "late": late}[kind][name] = int(begin), int(end)
scaled, factor, length, answer = sys.argv[2], float(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])


def length_with(factor):
    ns = {name: (end - begin) * (factor if name == scaled else 1) for name, (begin, end) in works.items()}
    a_sent = ns["A1"]
    b_sent = max(ns["B1"], a_sent) + ns["B3"]
    c_sent = max(ns["C1"], b_sent) + ns["C3"]
    return max(a_sent + ns["A2"], c_sent)


# from the end of what a wait was for to the end of the wait; and how far apart the threads began
handed = [waits[waiter][1] - works[work][1] for waiter, work in (("p1", "A1"), ("p2", "B3"), ("p0", "C3"))]
begins = [works[name][0] for name in ("A1", "B1", "C1")]
most = sum(handed) + max(begins) - min(begins) + late["all"][1] + 1_000_000
shorter, should = length - answer, length_with(1) - length_with(factor)
print("as measured" if abs(shorter - should) <= most else
      f"{shorter / 1e6:.3f} ms less, not {should / 1e6:.3f} (within {most / 1e6:.3f})")
