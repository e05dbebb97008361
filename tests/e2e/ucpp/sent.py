"""What a program of uC++ sent, as text for send.c: poet dump --json FILE | python3 sent.py

    line LINE KIND SHARED NAME
    event THREAD LINE EVENT TYPE ABOUT AFTER     ABOUT: a line, or 0; AFTER: an event, or -
    pair THREAD LINE EVENT TYPE LINE EVENT TYPE
    text EVENT WORDS                             which rule a violation breaks
"""
import json
import sys

lines, types, paired = {}, {}, set()
facts = [json.loads(text) for text in sys.stdin]
for fact in facts:
    if "event" in fact:
        types[fact["event"]] = fact["type"]
    elif "line" in fact and not fact["hidden"]:
        lines[fact["line"]] = fact


def announce(line):
    fact = lines.pop(line, None)
    if fact:
        print("line", line, fact["kind"].replace(" ", "-"), int(fact["shared"]), fact["name"])


for fact in facts:
    event = fact.get("event")
    if not event or event in paired or event.startswith("h"):
        continue
    line = int(event.split(":")[0])
    announce(line)
    if fact["object"]:
        announce(fact["object"])
    if fact["relation"] == "sync":
        other = fact["partner"]
        paired.add(other)
        announce(int(other.split(":")[0]))
        ends = sorted((event, other), key=lambda e: [int(n) for n in e.split(":")])
        print("pair", fact["thread"], *(word for e in ends for word in (e.split(":")[0], e, types[e])))
    else:
        after = fact["partner"] if fact["relation"] == "order" else None
        after = after or (fact["order_after"][0] if fact["relation"] == "order" and fact["order_after"] else "-")
        print("event", fact["thread"], line, event, fact["type"], fact["object"] or 0, after)
        if fact["type"] == "violation":
            print("text", event, *fact["annotations"])
