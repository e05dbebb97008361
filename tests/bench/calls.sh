# Read by bench.sh: what it costs to measure the calls of a program.
part_calls() {
    local rounds sorted plain level wanted
    rounds=$(scaled 200000) sorted=$(scaled 200000)
    poetcc -O2 "$here/calls.c" -o calls-plain
    cc -O2 -finstrument-functions "$here/calls.c" -o calls-hooks
    poetcc -profile -O2 "$here/calls.c" -o calls-measured
    serve
    plain=$(median ./calls-plain "$rounds")
    wanted="$(median ./calls-hooks "$rounds") ns glibc's empty hooks, $plain plain"
    row "calls: nothing wanted" "$(POET_METERS=none median ./calls-measured "$rounds") ns a call" "$wanted"
    row "calls: no server to be had" "$(POET_SERVER=none median ./calls-measured "$rounds") ns a call"
    for level in counts real cpu; do
        wanted=
        [ $level != counts ] || ! cc -O2 -pg "$here/calls.c" -o calls-gprof 2>/dev/null ||
            wanted="$(median ./calls-gprof "$rounds") ns gprof"
        if [ $level = real ] && command -v uftrace >/dev/null; then
            with_uftrace() { uftrace record -d "$work/uftrace" "$@" 2>/dev/null; rm -rf "$work/uftrace"; }
            cc -O2 -pg "$here/calls.c" -o calls-gprof
            wanted="$(median with_uftrace ./calls-gprof "$(scaled 20000)") ns uftrace, with 32 bytes a call"
        fi
        row "calls: $level" "$(POET_METERS=calls=$level median ./calls-measured "$rounds") ns a call" "$wanted"
    done
    for level in counts cpu; do
        row "calls: sort of $sorted, comparison measured, $level" \
            "$(POET_METERS=calls=$level median ./calls-measured "$sorted" sort) ms" \
            "$(median ./calls-plain "$sorted" sort) ms plain"
    done
}
