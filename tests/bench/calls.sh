# Read by bench.sh: what it costs to measure the calls of a program.

# beside_calls NAME COMMAND...: into peers, what a call takes there
beside_calls() { peers="$peers${peers:+, }$(median "${@:2}" "$few") $1"; }

# Those that time each call, or write it down: into timing and writing.
peers_of_calls() {
    local peers= few=$(scaled 20000) hooks
    if command -v uftrace >/dev/null; then
        with_uftrace() { uftrace record -d "$work/uftrace" ./calls-gprof "$1" 2>/dev/null; rm -rf "$work/uftrace"; }
        beside_calls "ns uftrace (32 bytes a call)" with_uftrace
    else
        lacks uftrace
    fi
    writing=$peers
    if command -v valgrind >/dev/null; then
        with_callgrind() { valgrind --tool=callgrind --callgrind-out-file=/dev/null ./calls-plain "$1" 2>/dev/null; }
        beside_calls callgrind with_callgrind
    else
        lacks valgrind
    fi
    timing=$peers peers=$writing
    hooks=$(ls /usr/lib/*/liblttng-ust-cyg-profile.so 2>/dev/null | head -n 1) || true
    if command -v lttng-sessiond >/dev/null && [ -n "$hooks" ] && lttng_session 'lttng_ust_cyg_profile:*'; then
        with_lttng() { LD_PRELOAD=$hooks ./calls-hooks "$1"; }
        beside_calls "LTTng's cyg-profile" with_lttng
        lttng destroy >/dev/null 2>&1 || true
    else
        lacks "LTTng's cyg-profile (lttng-tools, liblttng-ust-dev)"
    fi
    writing=$peers
}

# What measuring is said to cost, beside what it costs: runs with and without it in turn, and of each figure the least.
costs_of_calls() {
    local rounds=$1 runs=7
    [ "$SIZE" = 1 ] || runs=1
    poetcc -profile -O1 "$here/costs.c" -o costs
    cc -O1 "$here/costs.c" -o costs-plain
    for _ in $(seq $runs); do
        ./costs-plain "$rounds" | sed 's/^/plain /'
        POET_MEASURE=calls POET_OUTPUT=costs.poet ./costs "$rounds" | sed 's/^/measured /'
        until_ordered costs.poet
        poet calls costs.poet --json | perl -MJSON::PP -ne 'my $r = decode_json($_)->{row} or next;
            my $f = ref $r->{function} ? $r->{function}{name} : $r->{function}; $f =~ s/ .*//; print "cpu $f ", $r->{cpu_ns} - $r->{overhead_ns}, "\n"; $all += $r->{overhead_ns};
            END { print "said all $all\n" }'
    done >costs.all
    perl -ane 'my ($what, $of, $ns) = @F; $least{$what}{$of} = $ns if !defined $least{$what}{$of} || $ns < $least{$what}{$of};
        END { my $costs = 0;
            for (qw(nothing some more)) { $costs += $least{measured}{$_} - $least{plain}{$_};
                printf "  a function of %.1f ns, unmeasured, is said|%.1f ns a call|%.1f ns with measuring\n",
                    map { $_ / '"$rounds"' } $least{plain}{$_}, $least{cpu}{$_}, $least{measured}{$_} }
            printf "calls: measuring is said to cost|%.1f ns a call|it costs %.1f\n", map { $_ / 3 / '"$rounds"' } $least{said}{all}, $costs }' costs.all |
        while IFS='|' read -r what is beside; do row "$what" "$is" "$beside"; done
}

part_calls() {
    local rounds sorted plain level wanted timing writing
    rounds=$(scaled 200000) sorted=$(scaled 200000)
    poetcc -O2 "$here/calls.c" -o calls-plain
    cc -O2 -finstrument-functions "$here/calls.c" -o calls-hooks
    cc -O2 -pg "$here/calls.c" -o calls-gprof
    poetcc -profile -O2 "$here/calls.c" -o calls-measured
    serve
    plain=$(median ./calls-plain "$rounds")
    wanted="$(median ./calls-hooks "$rounds") ns glibc's empty hooks, $plain plain"
    row "calls: nothing wanted" "$(POET_MEASURE=none median ./calls-measured "$rounds") ns a call" "$wanted"
    row "calls: no server to be had" "$(POET_SERVER=none median ./calls-measured "$rounds") ns a call"
    peers_of_calls
    for level in counts real cpu every; do
        case $level in
        counts) wanted="$(median ./calls-gprof "$rounds") ns gprof" ;;
        real) wanted=$timing ;;
        every) wanted=$writing ;;
        *) wanted= ;;
        esac
        row "calls: $level" "$(POET_MEASURE=calls=$level median ./calls-measured "$rounds") ns a call" "$wanted"
    done
    for level in counts cpu; do
        wanted="$(median ./calls-plain "$sorted" sort) ms plain"
        [ $level != counts ] || wanted="$wanted, $(median ./calls-gprof "$sorted" sort) gprof"
        row "calls: sort of $sorted, comparison measured, $level" \
            "$(POET_MEASURE=calls=$level median ./calls-measured "$sorted" sort) ms" "$wanted"
    done
    costs_of_calls "$(scaled 1000000)"
}

# so_many_contexts EACH: a program on standard output, in which each of EACH functions calls all of EACH others, and so on, five deep
so_many_contexts() {
    perl -e 'my $n = shift; print "static volatile long sink;\n"; for my $level (reverse 0 .. 4) { for my $i (1 .. $n) {
        print "__attribute__((noinline)) static void f${level}_$i(void) { sink++; ",
            $level < 4 ? map({ "f" . ($level + 1) . "_$_(); " } 1 .. $n) : "", "}\n" } }
        print "int main(void) { ", map({ "f0_$_(); " } 1 .. $n), "}\n"' "$1"
}

# Tables of the calls of a program that has ten to the fifth ways to call.
part_contexts() {
    so_many_contexts "$(calc %.0f "$SIZE < 1 ? 3 : 10")" >contexts.c
    poetcc -profile -O1 contexts.c -o contexts
    POET_OUTPUT=contexts.poet ./contexts
    until_ordered contexts.poet
    of() { sed -n "s/^table of calls$1: //p" look.out; }
    "$B/tests/look" contexts.poet table calls >look.out
    "$B/tests/look" contexts.poet table calls tree >>look.out
    row "contexts: poet calls, from the file on" "$(timed poet calls contexts.poet)" "$(poet calls contexts.poet | sed -n 's/.*, \([0-9]* calls\), .*/\1/p')"
    row "  asked again, as a viewer does" "$(of '')" "goal 50 ms"
    row "  asked again, the tree: $(sed -n 's/^rows of the tree: //p' look.out) rows" "$(of ', tree')" ""
    if command -v uftrace >/dev/null; then
        cc -O1 -pg contexts.c -o contexts-gprof
        uftrace record -d contexts.uftrace ./contexts-gprof 2>/dev/null
        row "  beside it" "$(timed uftrace report -d contexts.uftrace)" "uftrace report of as many calls"
    else
        lacks uftrace
    fi
    if command -v callgrind_annotate >/dev/null; then
        poet calls contexts.poet -f callgrind -o contexts.callgrind
        row "" "$(timed callgrind_annotate contexts.callgrind)" "callgrind_annotate, of what poet calls -f callgrind wrote"
    fi
}

# Events that bear the calls that they lie in, and what their thread had of a processor.
part_context() {
    local n bare level
    n=$(scaled 800000)
    poetcc -trace -O2 "$here/bench.c" -o traced
    poetcc -profile -O2 "$here/bench.c" -o traced-calls
    serve
    bare=$(POET_MEASURE=none median ./traced 1 "$n")
    row "context: an event of the order alone" "$(calc %.1f "$bare / 5") ns an event" "lock and unlock, 1 thread, uncontended"
    row "context: and when it ran" "$(calc '%+.1f ns' "($(POET_MEASURE=states median ./traced 1 "$n") - $bare) / 5") an event" "goal 1 ns"
    for level in counts cpu; do
        row "context: and in which calls, $level" \
            "$(calc '%+.1f ns' "($(POET_MEASURE=calls=$level median ./traced-calls 1 "$n") - $bare) / 5") an event" "goal 1 ns"
    done
}
