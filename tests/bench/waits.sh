# Read by bench.sh: why it waited: from a file with that many events, a tenth of them waits, end to end.
contend() { # into waits.poet, once
    [ -s waits.poet ] && return
    poetcc -trace -O2 "$here/contend.c" -o contend
    POET_MAX_STALL_MS=20000 POET_KEEP=100G POET_SERVER= POET_OUTPUT=waits.poet ./contend 16 8 "$(scaled 10000000)"
    until_ordered waits.poet
}

# timed COMMAND...: its seconds, those of a processor, and the most memory, in MB: its own or of the server it started
timed() {
    perl -MTime::HiRes=time -e '
        my $begin = time; my $pid = fork // die; my ($most, %cpu) = 0;
        if (!$pid) { open STDOUT, ">timed.out"; exec @ARGV; die }
        until (waitpid($pid, 1)) {
            for my $p ($pid, split " ", qx(cat /proc/$pid/task/*/children 2>/dev/null)) {
                open my $f, "<", "/proc/$p/status" or next;
                if (open my $t, "<", "/proc/$p/schedstat") { <$t> =~ /^(\d+)/ and $cpu{$p} = $1 }
                /^VmHWM:\s+(\d+)/ && $1 > $most and $most = $1 for <$f>;
            }
            select undef, undef, undef, 0.005;
        }
        my $cpu = 0; $cpu += $_ for values %cpu;
        printf "%.2f s, cpu %.2f, %.0f MB\n", time - $begin, $cpu / 1e9, $most / 1000' "$@"
}

# Why threads waited: of that many events a tenth are waits; then of a hundredth more, from memory.
part_waits() {
    local events=$(scaled 10000000)
    contend
    rm -f waits.poet-results
    row "poet waits: $(calc %.1e "$(figure waits.poet events)") events" "$(timed poet waits waits.poet)" "wanted: 3 s, 1 GB"
    row "  waits of them" "$(sed -n 's/.*; \([0-9]*\) waits in .*/\1/p' timed.out)" ""
    "$B/tests/waiting" "$events" >waiting.out
    of() { sed -n "s/^$1 //p" waiting.out | sed -n "${2:-1}p"; }
    row "explained: $(of waits) waits of $(calc %.0e "$events") intervals" "$(of first) s, $(calc '%.0f MB' "$(of bytes) / 1e6")" \
        "$(of first_explained) s without groups"
    row "  a hundredth more" "$(calc '%.0f ms' "$(of further) * 1000")" "wanted: 100 ms"
}

# Which share of each pixel 60 threads were in which state, of that many events (SIZE=10: 10^8; what their threads did may take an eighth of the memory: 32 GB).
part_strips() {
    poetcc -trace -O2 "$here/contend.c" -o contend
    POET_MAX_STALL_MS=10000 POET_KEEP=100G POET_SERVER= POET_OUTPUT=strips.poet ./contend 64 8 "$(scaled 10000000)"
    until_ordered strips.poet
    "$B/tests/look" strips.poet living >look.out
    of() { sed -n "s/^states of threads, $1: //p" look.out; }
    row "states of threads, first look: $(calc %.1e "$(figure strips.poet events)") events" "$(of 'first look')" ""
    row "  $(of rows) rows x 1920 pixels, of all" "$(of 'strip of all')" "wanted: 50 ms"
    row "  after a zoom" "$(of 'strip after a zoom')" "wanted: 50 ms"
    rm -f strips.poet-results
    row "  poet states --chart transitions -o x.pdf" "$(timed poet states strips.poet --chart transitions -o x.pdf)" ""
    rm -f strips.poet strips.poet-results
}

# The same of a program that keeps running: what each further hundred thousand events cost.
part_growing() {
    local more=$(scaled 100000)
    poetcc -trace -O2 "$here/contend.c" -o contend
    serve
    mkfifo grow
    exec 3<>grow # open at both ends from the start: it need not wait for a writer
    POET_MAX_STALL_MS=20000 POET_KEEP=100G ./contend 16 8 "$(scaled 10000000)" "$more" <grow 3>&- &
    started="$started $!"
    until [ "$(figure unix:run/poet.sock events 2>/dev/null)" ]; do sleep 0.05; done
    "$B/tests/look" unix:run/poet.sock growing "$more" 2>look.out >&3
    exec 3>&-
    row "poet waits of a run that grows, $(calc %.0e "$more") more" "$(sed -n 's/^waits of a run that grows: //p' look.out)" "wanted: 100 ms"
    rm -f grow
}

part_path() {
    contend
    rm -f waits.poet-results
    row "poet path" "$(timed poet path waits.poet)" "wanted: 1 s after it was learnt"
    row "poet path --what-if, all of it" "$(timed poet path waits.poet --what-if lock=0.5)" "wanted: 0.5 s, 1 s after that"
}

# Analyses of a file: computed at first, then saved beside it; each by a command of its own.
part_saved() {
    local table
    contend
    for table in states waits path calls report; do
        rm -f waits.poet-results
        row "poet $table, the first time" "$(timed poet $table waits.poet)" "wanted: 1 s"
        row "  again" "$(timed poet $table waits.poet)" "wanted: 0.1 s"
    done
    rm -f waits.poet-results
}

part_why() {
    local event
    contend
    rm -f waits.poet-results
    event=$(poet waits waits.poet --by wait --top 1 --json | sed -n 's/.*"depth":0.*"event":"\([0-9:]*\)".*/\1/p' | head -n 1)
    row "poet waits --why, from the file on" "$(timed poet waits waits.poet --why "$event")" ""
    "$B/tests/look" waits.poet why "$event" >look.out
    row "  asked again, as a viewer does" "$(sed -n 's/^why a wait: //p' look.out)" "wanted: p50 50 ms"
}
