"""Texts of sent.py, sorted, with lines numbered by kind and name: python3 numbered.py <TEXT

The server numbers lines as they come, from the queues of several tasks: only the order of lines of one kind and name,
which one task declares, is that of the program."""
import sys

rows = [text.split() for text in sys.stdin]
lines = sorted((row for row in rows if row[0] == "line"), key=lambda row: (row[2], row[4:], int(row[1])))
number = {row[1]: str(i + 1) for i, row in enumerate(lines)}


def event(word):
    line, _, index = word.partition(":")
    return number.get(line, line) + ":" + index if index else word


# which words of a row are lines, and which are events
LINES = {"line": (1,), "event": (1, 2, 5), "pair": (1, 2, 5), "text": ()}
EVENTS = {"line": (), "event": (3, 6), "pair": (3, 6), "text": (1,)}
for row in rows:
    for i in LINES[row[0]]:
        row[i] = number.get(row[i], row[i])
    for i in EVENTS[row[0]]:
        row[i] = event(row[i])
    if row[0] == "pair" and int(row[2]) > int(row[5]):
        row[2:5], row[5:8] = row[5:8], row[2:5]
print(*sorted(" ".join(row) for row in rows), sep="\n")
