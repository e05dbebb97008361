# Functions of the end-to-end tests: a private directory with private sockets, checks that print TAP,
# servers, conditions.  Each test has its own environment, and is cleaned up at its end.
root=$(cd "$(dirname "$0")/../.." && pwd)
B=${B:-$root/build}
work=$(mktemp -d "${TMPDIR:-/tmp}/poet-e2e.XXXXXX")
mkdir -m 700 "$work/run"
export XDG_RUNTIME_DIR="$work/run" XDG_STATE_HOME="$work/state" HOME="$work" LC_ALL=C.UTF-8 PAGER=
export PATH="$B/bin:$PATH"
unset POET_SERVER POET_RUN POET_QUIET POET_CONFIG POET_KEEP XDG_CONFIG_HOME SOURCE_DATE_EPOCH
# Long, so that a loaded machine loses no events; tests of this limit set their own.
export POET_MAX_STALL_MS=10000
# Reports that servers prepare would take CPUs from the tests.
export POET_PREPARE_REPORT=0
# Open MPI, as root and with more ranks than CPUs.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_base_warn_component_unused=0
cd "$work" || exit 1

# own_processes [NAME]: prints the PIDs of processes that this test started, or of those named NAME. All
# inherit the test's directory in their environment, also servers of libpoet and ranks of MPI.
own_processes() {
    for environ in $(grep -lzF "=$work" /proc/[0-9]*/environ 2>/dev/null); do
        own=${environ#/proc/}
        own=${own%/environ}
        [ -e "/proc/$own" ] || continue # (grep itself)
        [ -z "$1" ] || [ "$(cat "/proc/$own/comm" 2>/dev/null)" = "$1" ] && echo "$own"
    done
}
# end_own_processes [NAME]: kills them.
end_own_processes() { kill -KILL $(own_processes "$1") 2>/dev/null; }

# is_child PID: the PID of a child that has exited may be that of another test's process by now.
is_child() { grep -qx "PPid:[^0-9]*$$" "/proc/$1/status" 2>/dev/null; }

finish() {
    for pid in $pids; do is_child "$pid" && kill -KILL "$pid" 2>/dev/null; done
    end_own_processes
    cd / && rm -rf "$work"
}
pids=
trap finish EXIT

count=0
ok() { count=$((count + 1)); echo "ok $count - $1"; }
not_ok() {
    count=$((count + 1))
    echo "not ok $count - $1"
    shift
    for line in "$@"; do echo "$line" | sed 's/^/# /'; done
}
# check NAME COMMAND...: passes if the command succeeds
check() {
    name=$1
    shift
    if output=$("$@" 2>&1); then ok "$name"; else not_ok "$name" "command: $*" "$output"; fi
}
# is NAME GOT WANTED
is() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "got:    $2" "wanted: $3"; fi; }
# like NAME TEXT PATTERN (grep -E)
like() {
    if printf '%s\n' "$2" | grep -Eq -- "$3"; then ok "$1"; else not_ok "$1" "got:    $2" "wanted: $3"; fi
}
skip() { count=$((count + 1)); echo "ok $count # SKIP $1"; }
done_testing() { echo "1..$count"; }

# until_true COMMAND...: waits until the command succeeds, at most a minute. What does not come at once is asked for
# at growing intervals, so that the processes that ask take no CPU from those that are waited for.
until_true() {
    local deadline=$((EPOCHSECONDS + 60)) pause_ms=20 pause
    while [ "$EPOCHSECONDS" -le "$deadline" ]; do
        "$@" >/dev/null 2>&1 && return 0
        printf -v pause 0.%03d "$pause_ms"
        sleep "$pause"
        pause_ms=$((pause_ms < 200 ? pause_ms * 5 / 4 : 250))
    done
    echo "# never came true: $*"
    return 1
}

# until_done FIGURE COMMAND...: as until_true, but fails only if what FIGURE prints has not changed for a minute
until_done() {
    progress=$1
    shift
    progressed=
    until until_true "$@"; do
        [ "$($progress)" = "$progressed" ] && return 1
        progressed=$($progress)
    done
}

clang_has_openmp() { command -v clang >/dev/null && echo 'int main(void) { return 0; }' | clang -fopenmp -x c - -o with-openmp 2>/dev/null; }

# free_port: prints a TCP port that is free now
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# start_server ARG...: starts a server in the background; waits until it responds
start_server() {
    poet server "$@" 2>server.log &
    server=$!
    pids="$pids $server"
    until_true poet runs
}
stop_server() { kill "$server" && wait "$server" 2>/dev/null; }

# stop_process PID: stops a process. The thread that takes the signal stops the others only once it has a CPU;
# until then, they keep running.
stop_process() { kill -STOP "$1" && until_true is_stopped "$1"; }
is_stopped() { ! sed 's/.*) //' "/proc/$1/task"/*/stat | grep -qv '^T'; }

# json FILTER [FILE]: prints the results of a jq filter on the array of all JSON lines (definitions: json.jq), one a line
json() { jq -rsc -L "$root/tests/e2e" "include \"json\"; $1" ${2:+"$2"}; }
# expect FILE: checks results of filters, each on a line of the standard input: NAME | FILTER => VALUE. Several results
# are separated by spaces.
expect() {
    local line filter
    while IFS= read -r line; do
        filter=${line#* | }
        is "${line%% | *}" "$(json "${filter% => *}" "$1" 2>&1 | paste -sd' ')" "${line##* => }"
    done
}

# figure SOURCE NAME...: prints these statistics of poet stat, separated by spaces, without a newline
figure() {
    local statistics name separator=
    statistics=$(poet stat --json "$1")
    shift
    for name; do
        [[ $statistics =~ \"$name\":\"?([^\",}]*) ]] && printf %s "$separator${BASH_REMATCH[1]}"
        separator=' '
    done
}
# complete SOURCE: no event of it is lost, pending or inconsistent
complete() { [ "$(figure "$1" lost pending inconsistent)" = "0 0 0" ]; }
finished() { [ "$(figure "$1" finished)" = true ]; }
# trace_of PROGRAM: prints the name of the trace that the program created here
trace_of() { ls "$1".[0-9]*.poet 2>/dev/null | head -n 1; }
# order_ends SOURCE: waits until the run is finished; fails if no event was ordered for a minute
order_ends() { until_done "figure $1 events" finished "$1"; }
# sound SOURCE: checks that the trace is finished and violates no rule
sound() {
    order_ends "$1" && poet check "$1" && complete "$1"
}
compile() { # compile NAME [ARG...]: compiles an example with -trace
    name=$1
    shift
    poetcc -trace -g "$root/examples/$name.c" -o "$name" "$@"
}
