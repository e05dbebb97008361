# Compares answers about the notes of vclock.c with the clocks that they bear:  vclock.py TRACE PAIRS SEED
# Prints wrong answers (at most ten) and how many there were of each.  A post of a semaphore is before each later
# `taken`, whichever post that one took: more order than clocks have is not a mistake, less is.
import json, random, subprocess, sys

trace, pairs = sys.argv[1], int(sys.argv[2])
random.seed(int(sys.argv[3]))
clocks = {}
dump = subprocess.Popen(["poet", "dump", "--json", trace], stdout=subprocess.PIPE, text=True)
for line in dump.stdout:
    if '"clock ' not in line:
        continue
    event = json.loads(line)
    words = event["annotations"][0].split()
    if event["state"] == "ordered":
        clocks[event["event"]] = (int(words[1]), [int(w) for w in words[2:]])
events = list(clocks)
asked = [(random.choice(events), random.choice(events)) for _ in range(pairs)]
answers = subprocess.run(["poet", "order", trace, "-"], text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=True,
                         input="".join("%s %s\n" % p for p in asked)).stdout.split()
wrong, counts = 0, {}
for (a, b), got in zip(asked, answers):
    (i, x), (k, y) = clocks[a], clocks[b]
    want = "same" if a == b else "before" if x[i] <= y[i] else "after" if y[k] <= x[k] else "concurrent"
    counts[got] = counts.get(got, 0) + 1
    if got not in (want, "unknown") and (want != "concurrent" or got == "same"):
        wrong += 1
        if wrong <= 10:
            print("wrong: %s %s: %s, not %s" % (a, b, got, want))
assert len(answers) == pairs
print(" ".join("%s %d" % c for c in sorted(counts.items())))
print("wrong", wrong)
