"""Prints a table as the analysis pane of the viewer shows it: pane-table.py COLUMNS <CSV

COLUMNS are separated by commas. A column may be "this|that": that, where this is empty. The first column of the output
is 1 for a row below another one."""
import csv
import sys

columns = [column.split("|") for column in sys.argv[1].split(",")]


def shown(column, value, depth):
    if value == "":
        return "" if depth else "-"
    if column.endswith("_ns"):
        return f"{float(value) / 1e6:.3f}"
    return f"{100 * float(value):.1f} %" if column == "share" else value


for row in csv.DictReader(sys.stdin):
    depth = int(row[columns[0][0]] == "")
    cells = [next((name for name in names if row[name] != ""), names[0]) for names in columns]
    print(depth, *(shown(name, row[name], depth) for name in cells), sep="\t")
