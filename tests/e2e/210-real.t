#!/bin/bash
# Wait times of real programs are as long as the programs measured, and what-if answers follow from the
# measured times.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
poetcc -trace -processes -g -Wall -Wextra -Werror "$root/tests/e2e/real.c" -o real || exit 1
export POET_QUIET=1
start_server -o traces/ -q

# ran NAME COMMAND...: its output is in NAME.txt, its trace is NAME.poet
ran() {
    rm -rf "$1.poet" traces/*
    "${@:2}" >"$1.txt" && until_true finished latest && ln traces/*.poet "$1.poet"
}
# measured WHAT LIKE: runs it and compares its waits with its own measurements
measured() {
    ran "$1" "./${program:-real}" "$1" && poet waits --by wait --tree --json "$1.poet" >"$1.json" &&
        python3 "$root/tests/e2e/real.py" "$2" "$1.txt" "$1.json"
}
# as_measured NAME WHAT LIKE
as_measured() {
    is "$1: wait times are as measured" "$(measured "$2" "$3" 2>&1)" "as measured"
    check "$1: the trace is sound" sound "$2.poet"
    is "$1: less than a hundredth of the wait time is unattributed" "$(poet waits --json "$2.poet" |
        json 'total | if .unattributed_ns > 0.01 * .waited_ns then .unattributed_ns else "" end' 2>&1)" ""
}
as_measured "three threads in a row, with semaphores" semaphores figure
as_measured "three threads in a row, with condition variables" conditions figure
as_measured "three processes in a row, with pipes" pipes figure
is "states --created: the parent created the processes with pipes" "$(poet states --created pipes.poet --json | grep -o '"depth":.' | tr -dc 0-9)" 0111
as_measured "three threads in a row, with sockets" sockets figure
as_measured "a full pipe" full full
as_measured "a barrier" barrier barrier
as_measured "a lock convoy" convoy convoy
as_measured "a semaphore used as a lock" turns convoy
as_measured "a join of a thread that waits" cascade cascade
as_measured "a barrier and a condition variable" condition condition
as_measured "a writer and three readers" readers readers
as_measured "pthread_once and a timed wait" rest rest
like "the timed wait has the class timeout" "$(grep -o '"wait_class":"timeout"' rest.json)" timeout

poetcc -trace -g -I"$root/examples/ucpp" "$root/tests/e2e/real-ucpp.c" "$root/examples/ucpp/ucpp.c" -o ucpp || exit 1
program=ucpp as_measured "three tasks in a row, with accepted calls" accepted figure

# ---- what-if ----
length() { poet path --json "$@" | tail -n 1 | grep -o "\"${of:-length}_ns\":[0-9]*" | tr -dc 0-9; }
step() { # the longest segment of a thread on the path
    poet path --by piece --json semaphores.poet |
        json "[of_thread(\"T:$1\")] | max_by(.critical_path_ns).segment"
}
would_be() { # would_be THREAD FACTOR WORK: the length if the work took FACTOR times as long
    is "what-if: $3 takes $2 times as long" "$(python3 "$root/tests/e2e/whatif.py" semaphores.txt "$3" "$2" "$(length semaphores.poet)" \
        "$(of=if length --what-if "$(step "$1")=$2" semaphores.poet)")" "as measured"
}
would_be p0 0 A1
would_be p1 0.5 B3
would_be p1 0 B3
would_be p2 0 C3
done_testing
