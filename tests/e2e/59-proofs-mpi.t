#!/bin/bash
# Ranks that wait for who sends late, for who is late to receive, and for nobody: as they measured it themselves.
. "$(dirname "$0")/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_mpi_yield_when_idle=1 POET_QUIET=1
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
    is "$mpi: $1" "$(measured "$2" "$3" "$4" 2>&1)" "as measured"
    check "$mpi: $1: sound" sound "$2.poet"
    is "$mpi: $1: all but a hundredth is explained" "$(poet waits --json "$2.poet" | perl -MJSON::PP -ne '
        $t = decode_json($_)->{total} or next; print $t->{unattributed_ns} if $t->{unattributed_ns} > 0.01 * $t->{waited_ns}')" ""
}
# of WHAT FUNCTION TYPE: for each wait of that type there, the longest first: whether it is a guess whom it waited for, and for whom
of() {
    FUNCTION=$2 TYPE=$3 perl -MJSON::PP -ne '$o = decode_json($_); $r = $o->{row} or next;
        print $r->{ambiguous} ? "guessed " : defined $r->{unblocked_at} ? "known " : "nobody "
            if !$o->{depth} && $r->{type} eq $ENV{TYPE} && $r->{location} =~ /^$ENV{FUNCTION} /' "$1.json"
}
for mpi in openmpi mpich; do
    if ! command -v mpicc.$mpi >/dev/null; then
        skip "$mpi is not here"
        continue
    fi
    CC=mpicc.$mpi poetcc -trace -g "$root/tests/e2e/real-mpi.c" -o real-$mpi 2>cc.log || { cat cc.log; exit 1; }
    as_measured "three in a row, each of whom waits for the one before" ring 3 figure
    as_measured "late to receive, late to send" late 2 late
    is "$mpi: that the receiver was late no order says; two sends waited for nobody" "$(of late late send)" "guessed nobody nobody "
    is "$mpi: so it is where it waits for one that it began" "$(of late late wait)" "guessed "
    is "$mpi: who sent is known" "$(of late late recv | cut -d' ' -f1)" known
    as_measured "a large message, asked for before" early 2 early
    is "$mpi: waits for nobody" "$(of early early send)" "nobody "
    is "$mpi: who asked waits for it" "$(of early early wait)" "known "
done
done_testing
