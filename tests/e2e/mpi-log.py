"""Compares what each rank received by its own log (log.RANK: sender and serial number, a line each) with
the partners in a dump.

    poet dump --json FILE | python3 mpi-log.py DIRECTORY
"""
import json
import sys

rank_of, sends, receives, lost = {}, {}, {}, 0
for text in sys.stdin:
    fact = json.loads(text)
    if "line" in fact and fact["kind"] == "rank":
        rank_of[fact["line"]] = int(fact["name"].split()[-1])
    elif "event" in fact:
        rank = rank_of.get(int(fact["event"].split(":")[0]))
        if fact["type"] in ("send", "isend"):
            sends.setdefault(rank, []).append(fact["event"])
        elif fact["type"] == "receive":
            receives.setdefault(rank, []).append(fact["partner"])
            lost += fact["relation"] != "receive" and fact["relation"] != "async"

serial = {event: (rank, i) for rank, events in sends.items() for i, event in enumerate(events)}
count = wrong = unknown = 0
for rank, partners in sorted(receives.items()):
    logged = [tuple(map(int, line.split())) for line in open(f"{sys.argv[1]}/log.{rank}")]
    if len(logged) != len(partners):
        sys.exit(f"rank {rank}: {len(partners)} receives, {len(logged)} in its log")
    for i, (partner, want) in enumerate(zip(partners, logged)):
        count += 1
        if partner is None:
            unknown += 1
        elif serial[partner] != want:
            wrong += 1
            print(f"rank {rank}, receive {i}: got {want}, the trace says {serial[partner]}")
print(f"{count} receives, {wrong} wrong, {unknown} unknown")
sys.exit(wrong != 0)
