# Read by bench.sh: the viewer under Xvfb, drawing in software, and pictures.
trace() { # trace THREADS MUTEXES EVENTS: into view.poet
    [ -x threads ] || poetcc -trace -O2 "$here/threads.c" -o threads
    rm -f view.poet
    POET_MAX_STALL_MS=10000 POET_KEEP=100G POET_SERVER= POET_OUTPUT=view.poet ./threads "$1" "$2" "$(scaled "$3")"
    until_ordered view.poet
}

display() { # a screen for the viewer; false: none to be had
    if ! [ -x "$B/libexec/poet/poet-view" ] || ! command -v Xvfb >/dev/null; then
        lacks "the viewer's figures (libgtk-4-dev, xvfb)"
        return 1
    fi
    rm -f display
    Xvfb -noreset -displayfd 3 -screen 0 1920x1080x24 3>display >/dev/null 2>&1 &
    started="$started $!"
    for _ in $(seq 1200); do [ -s display ] && break; sleep 0.05; done
    export DISPLAY=":$(cat display)" GDK_BACKEND=x11 GSK_RENDERER=cairo GTK_A11Y=none XDG_CONFIG_HOME="$work/.config"
    mkdir -p .config/poet
    printf '[view]\nwidth=1900\nheight=1040\npanel=false\n' >.config/poet/view.conf
}

# view SOURCE NAME: runs the script of standard input from the end of the run, in marks; a row for each figure that it prints
view() {
    { echo 'action time 0; action end'; cat; } >script
    poet view "$1" --script script 2>view.log | while IFS=: read -r what value; do
        row "$2: $what" "${value# }"
    done
}

part_next() {
    display || return 0
    trace 100 9900 5000000
    printf '%s\n' 'action go 10%' 'action zoom 0.6 900 300' "measure key event-on $(calc %.0f "$SIZE < 1 ? 3 : 100")" quit | view view.poet next >next.out
    row "next event in the viewer, 10^4 lines" "$(sed -n 's/.*first frame, event-on *//p' next.out)" "from the key to the first frame that shows it"
    row "" "$(sed -n 's/.*picture, event-on *//p' next.out)" "from the key to the exact picture"
}

# The drawer open, a key held down: how long frames take of which each shows another place.
part_frames() {
    local n=$(calc %.0f "$SIZE < 1 ? 20 : 600")
    display || return 0
    trace 30 30 2000000
    for page in states waits path; do
        printf '%s\n' 'action go 30%' 'action zoom 0.6 900 300' "action show-$page" "measure glide right $n left" quit | view view.poet "drawer at $page"
    done
    printf '%s\n' 'action go 30%' 'action time 4' 'action show-states' "measure glide right $n left" quit | view view.poet "states by time"
    printf '%s\n' 'action go 30%' 'action zoom 0.6 900 300' 'action show-waits' 'action critical-path' 'action tint-waits' "measure glide right $n left" \
        quit | view view.poet "waits, path, tints"
    printf '%s\n' 'action fit' 'action zoom 3 900 300' 'action show-states' "measure glide right $n left" quit | view view.poet "zoomed out"
    row "wanted of frames" "p99 16 ms" "the frame clock's turn, not the display"
}

part_viewer() {
    local lines few=$([ "$SIZE" = 1 ] && echo 1 || echo 20)
    display || return 0
    for lines in "30 30 100000" "30 30 10000000" "500 500 5000000" "100 9900 10000000"; do
        set -- $lines
        trace "$1" "$2" "$3"
        printf '%s\n' 'action go 50%' 'action zoom 0.6 900 300' "measure frames full $((100 / few))" "measure frames scroll $((300 / few))" "measure key right $((200 / few))" \
            "measure key page-right $((40 / few))" "measure key event-on $((40 / few))" 'measure memory' quit | view view.poet "$(($1 + $2)) lines"
    done
    trace 30 30 10000000
    echo quit >script
    local begin=$(now)
    poet view view.poet --script script 2>/dev/null
    row "60 lines: from start to picture and end" "$(calc '%.2f s' "$(now) - $begin")"
}

part_follow() {
    display || return 0
    serve
    [ -x threads ] || poetcc -trace -O2 "$here/threads.c" -o threads
    ./threads 8 8 "$(scaled 6000000)" 25 &
    started="$started $!"
    until [ "$(poet runs | wc -l)" -gt 0 ]; do sleep 0.05; done
    printf '%s\n' "measure main-loop $(calc %.0f "$SIZE < 1 ? 1 : 3")" 'measure memory' quit | view "unix:$work/run/poet.sock" "following 1 M/s"
}

# The shorter run is drawn at once: arrows that cross all pages cost most there.
part_pdf() {
    local begin seconds n wanted
    for wanted in 100000 10000; do
        trace 30 30 "$wanted"
        n=$(figure view.poet events)
        begin=$(now)
        poet export view.poet --all --no-fold -o view.pdf
        seconds=$(calc %.6f "$(now) - $begin")
        row "PDF of $(figure view.poet lines) lines, $n events" "$(calc '%.0f events/s' "$n / $seconds")" "$(calc '%.1f bytes an event' "$(on_disk view.pdf) / $n")"
    done
}

# A log with vector clocks to a picture.
part_log() {
    local begin n
    n=$(scaled 30000)
    perl -e 'srand 3; my (@c, @in); for my $i (1 .. shift) { my $h = int rand 20; $c[$h][$h]++; my $t = "local";
        if (@{$in[$h] || []} && rand() < 0.6) { my $m = shift @{$in[$h]}; for (0 .. 19) { $c[$h][$_] = $m->[$_] if ($m->[$_] || 0) > ($c[$h][$_] || 0) } $t = "receive" }
        elsif (rand() < 0.6) { push @{$in[int rand 20]}, [@{$c[$h]}]; $t = "send" }
        print "$t\nhost$h {", join(", ", map { "\"host$_\": $c[$h][$_]" } grep { $c[$h][$_] } 0 .. 19), "}\n" }' "$n" >big.log
    begin=$(now)
    poet import shiviz big.log -o big.poet 2>import.log
    poet export big.poet -o big.png --all --width "$(scaled 3000)mm" 2>export.log
    row "log: $n events with clocks to a picture (PNG)" "$(calc '%.2f s' "$(now) - $begin")"
}
