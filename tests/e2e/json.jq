# Definitions for jq filters of the end-to-end tests (json and expect of lib.sh). The input is the array of all
# JSON lines of a command: of a table its head, {"row": ..., "depth": ...} for each row, and its end {"total": ...}.
def rows: .[].row // empty;
def total: .[].total // empty;
# rows of the functions whose name begins with these words: "work" is also "work (prog.c:7)"
def row($function): rows | select((.function // "") == $function or ((.function // "") | startswith($function + " ")));
def sum(f): reduce f as $x (0; . + $x);
def columns: .[0].columns[].name;
# whether a number is in a closed range; if not, what it is
def within($least; $most): if . >= $least and . <= $most then "within" else "\(.) is not \($least) .. \($most)" end;
