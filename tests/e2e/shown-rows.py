"""Prints rows of a table as a grid of the viewer shows them: shown-rows.py COLUMNS <JSON

COLUMNS are separated by commas; each line has the depth of a row, and its cells."""
import json
import sys

names = sys.argv[1].split(",")
lines = [json.loads(line) for line in sys.stdin]
kinds = {column["name"]: column["kind"] for column in lines[0]["columns"]}


def shown(name, value, depth):
    if value is None:
        return "" if depth else "-"
    if kinds[name] == "ns":
        return f"{value / 1e6:.3f}"
    return f"{100 * value:.1f} %" if kinds[name] == "share" else str(value)


for line in lines:
    if "row" in line:
        depth = line["depth"]
        print(depth, *(shown(name, line["row"][name], depth) for name in names), sep="\t")
