#!/bin/bash
# Replay of programs that use threads to compress or sort: output and events are those of the recorded run, with
# locks inside the program or inside a library.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
awk 'BEGIN { srand(1); for (i = 0; i < 100000; i++) print int(rand() * 1000000000) }' >numbers
# again NAME COMMAND...: records twice and replays each trace twice
again() {
    command -v "$1" >/dev/null || { skip "$1 is not installed"; return; }
    for i in 1 2; do
        rm -f run.poet
        poet record $libraries -o run.poet -- "$@" >first 2>first.err
        is "$1: recording $i exits with status 0" $? 0
        until_true finished run.poet
        for j in 1 2; do
            rm -f again.poet
            timeout 60 poet replay run.poet -o again.poet >second 2>said
            is "$1: replay $j exits with status 0, with the same output and without divergence" "$? $(cmp first second) $(tail -n 1 said | grep -o 'no divergence')" "0  no divergence"
            until_true finished again.poet
            if grep -q "additional records\?" said; then # a thread that the end of the program interrupted
                ok "$1: replay $j has each recorded event"
            else
                like "$1: replay $j has the same events" "$(python3 "$root/tests/e2e/same.py" run.poet again.poet 2>&1 | tail -n 1)" "^the same: [0-9]{3,} events"
            fi
        done
    done
    check "$1: the trace passes poet check" sound run.poet
}
libraries=
again pigz -p 4 -b 128 -c numbers
again lbzip2 -n 4 -c numbers
again sort --parallel=4 -S 1M -n numbers
libraries=--libraries
again zstd -T4 -B512K -c numbers
again xz -T4 --block-size=256KiB -c numbers
done_testing
