"""Compares each cell of each table of `poet query` and of `poet export -f sqlite` with `--json` of the command
that the list of tables names for it. Prints "TABLES tables, CELLS cells", and a line for each difference.

    query-cells.py SOURCE DATABASE [also-query]
"""
import json
import re
import sqlite3
import subprocess
import sys

source, database, also_query = sys.argv[1], sys.argv[2], len(sys.argv) > 3
LISTS = {"blocked": "blocked", "asleep": "asleep", "deadlocks": "cycles", "diagnoses": "diagnoses", "findings": "findings"}
outputs = {}
cells = 0


def poet(*words):
    done = subprocess.run(["poet", *words], stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


def lines(command):
    if command not in outputs:
        text = poet(*command.split(), *([] if "--format" in command else ["--json"]), source)
        outputs[command] = [json.loads(line) for line in text.splitlines()]
    return outputs[command]


def listed():
    """Tables that this trace has: (name, what it is, command)."""
    tables = []
    for line in poet("query", source).splitlines():
        found = re.fullmatch(r"(\w+): (.*) \(poet (.*) --json\)", line)
        if found:
            tables.append((found[1], found[2], found[3]))
    return tables


def flat(item):
    row = {}
    for key, value in item.items():
        if isinstance(value, dict) and set(value) == {"line", "label"}:
            row[key], row[key + "_line"] = value["label"], value["line"]
        else:
            row[key] = value
    return row


def table_rows(command, name):
    """Rows of one table of the output of a command, as objects with the columns of SQL."""
    rows, parents, number, inside = [], {}, 0, False
    for line in lines(command):
        if "table" in line:
            number, inside = 0, line["table"] == name or not command.startswith("report")
        if not inside or "row" not in line:
            continue
        number += 1
        parents[line["depth"]] = number
        row = dict(line["row"])
        row["row_number"], row["row_parent"] = number, parents.get(line["depth"] - 1)
        for key in "depth", "event", "lines", "context":
            row["row_" + key] = line[key]
        rows.append(row)
    return rows


def expected(name, about, command, both):
    if name == "events":
        return [line for line in lines("dump") if "event" in line]
    if name == "lines":
        return [line for line in lines("dump") if "letter" in line]
    if name == "findings":
        return lines("report --format json")[0]["findings"]
    if name == "deadlocks":
        return [dict(flat(step), cycle=i + 1) for i, cycle in enumerate(lines("blocked")[0]["cycles"]) for step in cycle]
    if name in LISTS:
        return [flat(item) for item in lines("blocked")[0][LISTS[name]]]
    rows = table_rows(command, name)
    inner = "row_parent" in about
    return rows if command not in both else [row for row in rows if (row["row_depth"] > 0) == inner]


def same(wanted, got):
    if isinstance(wanted, (list, dict)):
        return isinstance(got, str) and json.loads(got) == wanted
    if isinstance(wanted, bool):
        return got == int(wanted)
    return wanted == got and isinstance(wanted, str) == isinstance(got, str)


def compare(name, wanted, got):
    global cells
    if len(wanted) != len(got):
        print(f"{name}: {len(got)} rows, not {len(wanted)}")
    for number, (row, other) in enumerate(zip(wanted, got)):
        for key, value in row.items():
            cells += 1
            if key not in other.keys():
                print(f"{name}: no column {key}")
            elif not same(value, other[key]):
                print(f"{name}: row {number + 1}: {key}: {other[key]!r}, not {value!r}")


tables = listed()
both = {command for name, about, command in tables if "row_parent" in about}
saved = sqlite3.connect(database)
saved.row_factory = sqlite3.Row
for name, about, command in tables:
    wanted = expected(name, about, command, both)
    compare(name, wanted, saved.execute(f"select * from {name}").fetchall())
    if also_query:
        answer = [json.loads(line) for line in poet("query", "--json", source, f"select * from {name}").splitlines()]
        compare(name, wanted, [line["row"] for line in answer if "row" in line])
print(f"{len(tables)} tables, {cells} cells")
