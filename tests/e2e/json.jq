# Definitions for jq filters of the end-to-end tests (json and expect of lib.sh). The input is the array of all
# JSON lines of a command: of a table its head, {"row": ..., "depth": ...} for each row, and its end {"total": ...}.
def rows: .[].row // empty;
def total: .[].total // empty;
# rows of the functions whose name begins with these words: "work" is also "work (prog.c:7)"
def row($function): rows | select((.function // "") == $function or ((.function // "") | startswith($function + " ")));
# rows at the top of a tree, or of a table with groups; and those below them
def outer_rows: .[] | select(.depth == 0).row;
def inner_rows: .[] | select(.depth > 0) | .row // empty;
# the first word of a text: the name of a function without its place
def first_word: . // "" | split(" ")[0] // "";
# some values as one text, - for null: cells(.function, .calls)
def cells(f; $separator): [f | if . == null then "-" else tostring end] | join($separator);
def cells(f): cells(f; " ");
# the name of each row's function and some of its values: by_function(.calls)
def by_function(f): rows | cells((.function | first_word), f);
def sum(f): reduce f as $x (0; . + $x);
# the lines of one of several tables
def table($name): [foreach .[] as $line (null; $line.table // .; select(. == $name) | $line)];
# rows of a metric of `poet usage` or `poet metrics`; of any rows, those of a thread
def metric($name): rows | select(.metric == $name);
def of($thread): select(.thread == $thread);
def of_thread($thread): rows | of($thread);
# of a row of `poet states`: the time in all states
def time_in_states: .created_ns + .runnable_ns + .running_ns + .blocked_ns + .other_off_cpu_ns + .exited_ns;
# ns as ms, with six digits
def ms: . / 1e6 |
    if . == 0 then . else pow(10; 5 - (fabs | log10 | floor)) as $digits | (. * $digits | round) / $digits end;
def columns: .[0].columns[].name;
# whether a number is in a closed range; if not, what it is
def within($least; $most): if . >= $least and . <= $most then "within" else "\(.) is not \($least) .. \($most)" end;
