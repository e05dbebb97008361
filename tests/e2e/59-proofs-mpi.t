#!/bin/bash
# MPI ranks that wait for a late sender, for a late receiver, and for no rank: wait times are those that they measured.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export OMPI_MCA_mpi_yield_when_idle=1 POET_QUIET=1
start_server -o traces/ -q

# measured WHAT RANKS LIKE
measured() {
    rm -rf "$1.poet" traces/*
    timeout 60 mpirun.$mpi -n "$2" ./real-$mpi "$1" && until_true finished latest && ln traces/*.poet "$1.poet" &&
        cat rank.[0-9].txt >"$1.txt" && poet waits --by wait --tree --json "$1.poet" >"$1.json" &&
        python3 "$root/tests/e2e/real.py" "$3" "$1.txt" "$1.json"
    rm -f rank.[0-9].txt
}
as_measured() { # NAME WHAT RANKS LIKE
    is "$mpi: $1: wait times are as measured" "$(measured "$2" "$3" "$4" 2>&1)" "as measured"
    check "$mpi: $1: the trace is sound" sound "$2.poet"
    is "$mpi: $1: less than a hundredth of the wait time is unattributed" "$(poet waits --json "$2.poet" |
        json 'total | select(.unattributed_ns > 0.01 * .waited_ns) | .unattributed_ns' 2>&1)" ""
}
# of WHAT FUNCTION TYPE: for each wait of that type, the longest first: whether its partner is guessed, and its waker
of() {
    json 'outer_rows | select(.type == "'$3'" and (.location | first_word) == "'$2'")
        | if .ambiguous > 0 then "guessed" elif .unblocked_at then "known" else "none" end' "$1.json" | tr '\n' ' '
}
for mpi in openmpi mpich; do
    if ! command -v mpicc.$mpi >/dev/null; then
        skip "$mpi is not installed"
        continue
    fi
    CC=mpicc.$mpi poetcc -trace -g "$root/tests/e2e/real-mpi.c" -o real-$mpi 2>cc.log || { cat cc.log; exit 1; }
    as_measured "three in a row: each waits for the one before" ring 3 figure
    as_measured "late to receive, late to send" late 2 late
    is "$mpi: late receiver: the partner of one send is guessed, two sends waited for no rank" \
        "$(of late late send | tr ' ' '\n' | sort | xargs)" "guessed none none"
    is "$mpi: late receiver: the partner of a nonblocking send's wait is guessed" "$(of late late wait)" "guessed "
    is "$mpi: late sender: the partner of a receive is known" "$(of late late recv | cut -d' ' -f1)" known
    as_measured "a large message, asked for before" early 2 early
    is "$mpi: early receiver: a send waits for no rank" "$(of early early send)" "none "
    is "$mpi: early receiver: the receive waits for the sender" "$(of early early wait)" "known "
done
done_testing
