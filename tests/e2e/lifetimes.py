# Compares the answers about the notes of lifetimes.c with the clocks that they bear:  lifetimes.py TRACE PAIRS SEED
# Prints wrong answers (at most ten), how many there were of each, and how many were wrong.  There is no more order
# than the clocks say, and no less.
import json, random, subprocess, sys

trace, pairs = sys.argv[1], int(sys.argv[2])
random.seed(int(sys.argv[3]))
clocks = {}
dump = subprocess.Popen(["poet", "dump", "--json", trace], stdout=subprocess.PIPE, text=True)
for line in dump.stdout:
    if '"clock ' in line:
        event = json.loads(line)
        words = event["annotations"][0].split()
        clocks[event["event"]] = (int(words[1]), [int(w) for w in words[2:]])
events = list(clocks)
asked = [(random.choice(events), random.choice(events)) for _ in range(pairs)]
# half of them are near each other, where an order is soonest a wrong one
for i in range(0, pairs, 2):
    at = random.randrange(len(events))
    asked[i] = (events[at], events[max(0, at - random.randrange(60))])
answers = subprocess.run(["poet", "order", trace, "-"], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         check=True, input="".join("%s %s\n" % p for p in asked)).stdout.split()
assert len(answers) == pairs
wrong, counts = 0, {}
for (a, b), got in zip(asked, answers):
    (i, x), (k, y) = clocks[a], clocks[b]
    want = "same" if a == b else "before" if x[i] <= y[i] else "after" if y[k] <= x[k] else "concurrent"
    counts[got] = counts.get(got, 0) + 1
    if got not in (want, "unknown"):
        wrong += 1
        if wrong <= 10:
            print("wrong: %s %s: %s, not %s" % (a, b, got, want))
print(" ".join("%s %d" % c for c in sorted(counts.items())))
print("wrong", wrong)
