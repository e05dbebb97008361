#!/bin/bash
# The viewer shows what the commands print, and every change of the view can be undone.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/display.sh"
cat >work.c <<'C'
#include <poet.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
static pthread_mutex_t m[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static sem_t s;
static void *work(void *a)
{
    unsigned r = 17 + (unsigned)(long)a;
    for (int i = 0; i < 60; i++) {
        r = r * 1103515245 + 12345;
        int k = r >> 16 & 3;
        if (k == 3) { sem_post(&s); sem_wait(&s); continue; }
        pthread_mutex_lock(&m[k]);
        if (i % 7 == 0) poet_text("step %d of %ld", i, (long)a);
        pthread_mutex_unlock(&m[k]);
        if (i % 10 == 0) usleep(200);
    }
    return a;
}
int main(void)
{
    pthread_t t[4];
    sem_init(&s, 0, 1);
    for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return 0;
}
C
poetcc -trace -g work.c -o work
start_server -o work.poet -q
./work
until_true finished work.poet
stop_server
script() { timeout 600 poet view work.poet --script script >log 2>&1 || { cat log; return 1; }; }

# ---- order: random events, each with a second one ----
poet dump work.poet --json | sed -n 's/^{"event":"\([0-9:]*\)".*"state":"ordered".*/\1/p' >events
n=$(wc -l <events)
awk -v n="$n" 'BEGIN { srand(7); for (i = 0; i < 200; i++) print 1 + int(rand() * n), 1 + int(rand() * n) }' |
    awk 'NR == FNR { at[NR] = $0; next } $1 != $2 { print at[$1], at[$2] }' events - >pairs
{ echo 'action time 0; action end'; while read -r a b; do printf 'action go %s\naction select %s second\nstate selection told\n' "$a" "$b"; done <pairs; } >script
echo quit >>script
check "200 pairs of events are selected" script
awk '{ print $2, $4, $14 }' told | sed 's/ 0$/ before/; s/ 1$/ after/; s/ 2$/ concurrent/; s/ 3$/ same/' >got
paste -d' ' pairs <(poet order work.poet - <pairs) >want
is "the relation of two selected events is that of poet order" "$(diff got want | head -n 5)" ""
# Causal chains: each event happens before the next one, or is simultaneous with it.
awk '{ for (i = 1; $i != "chain"; i++); for (i++; i < NF && $i != "colours" && $(i + 1) != "colours"; i++) print $i, $(i + 1) }' told >links
check "the causal chains have more than 300 links" test "$(wc -l <links)" -gt 300
is "each link of a causal chain is an order of poet order" "$(poet order work.poet - <links | sort | uniq -c | grep -Ev 'before|same')" ""
is "a causal chain leads from one selected event to the other" "$(awk '$14 < 2 {
    for (i = 1; $i != "chain"; i++); a = $(i + 1); for (; i <= NF && $i != "colours"; i++); b = $(i - 1)
    if ($14 == 0 ? a != $2 || b != $4 : a != $4 || b != $2) print }' told | wc -l)" 0
# Colors of visible marks relative to some selections; 1 before, 2 after, 3 concurrent, 4 same.
awk 'NR % 10 == 0 { at = $2; for (i = 1; $i != "colours"; i++); for (i++; i <= NF; i++) { split($i, p, "="); print p[1], at, p[2] } }' told >colours
check "more than 1000 marks are colored" test "$(wc -l <colours)" -gt 1000
is "the color of a mark is its relation by poet order" "$(paste -d' ' <(cut -d' ' -f3 colours) <(cut -d' ' -f1,2 colours | poet order work.poet -) | sort -u | tr '\n' ' ')" \
    "1 before 2 after 3 concurrent 4 same "
# Counts of events before, after and concurrent, against poet order.
sed -n 5p told | awk '{ print $6, $8, $10, $12 }' >got
at=$(sed -n 5p told | awk '{ print $2 }')
sed "s/\$/ $at/" events | poet order work.poet - | sort | uniq -c |
    awk '{ c[$2] = $1 } END { print c["before"] + 0, c["after"] + 0, c["concurrent"] + 0, c["same"] + 0 }' >want
is "counts of related events are those of poet order" "$(cat got)" "$(cat want)"

# ---- search ----
printf 'action time 0; action end\naction find step 14\nstate selection found\naction find sem_post\nstate selection found\naction find work.c:17\nstate selection found\naction find nothing such\nstate selection found\nquit\n' >script
check "four searches run" script
hits() { sed -n "$1p" found | sed 's/.*hits \([0-9]*\) .*/\1/'; }
is "search by text finds the events of poet dump" "$(hits 1)" "$(poet dump work.poet | grep -c 'step 14')"
is "search by event type finds the events of poet dump" "$(hits 2)" "$(poet dump work.poet --json | grep -c '"event":"[0-9:]*","type":"sem_post"')"
is "search by call site finds the events of poet dump" "$(hits 3)" "$(poet dump work.poet --json | grep -c '"site":"work.c:17"')"
is "search without a match finds none" "$(hits 4)" 0

# ---- steps in the recorded order ----
for along in order time; do
    rm -f steps
    {
        [ $along = order ] && echo 'action time 0; action end' || echo 'action time 7'
        echo 'action start'
        echo 'action go 1:1'
        for _ in $(seq 120); do echo 'action recorded-on'; echo 'state selection steps'; done
        echo quit
    } >script
    check "120 steps in the recorded order, drawn by $along" script
    awk 'NR == FNR { at[$1] = NR; next } $2 != "none" { if (last && (at[$2] <= last || at[$2] > last + 2)) print $2; last = at[$2] }' \
        events steps >astray
    is "drawn by $along, each step selects the next synchronization point of the dump" "$(cat astray)" ""
done
is "each of 120 steps selects another event" "$(awk '{ print $2 }' steps | sort -u | wc -l)" 120

# ---- export from the viewer ----
printf '%s\n' 'action time 0; action end' 'action go 5:20' 'action hide-line 3' 'action move-line 6 2' 'action zoom 1.2 300 100' 'action save-view a.view' 'action save a.pdf seen' \
    'action save a.svg seen' 'action time 5' 'action save-view b.view' 'action save b.png seen' 'action save c.pdf whole' quit >script
check "the viewer exports diagrams" script
poet export work.poet --view a.view -o a2.pdf && poet export work.poet --view a.view -o a2.svg &&
    poet export work.poet --view b.view -o b2.png
check "the exported PDF equals that of poet export --view" cmp a.pdf a2.pdf
check "the exported SVG equals that of poet export --view" cmp a.svg a2.svg
check "the exported PNG by time equals that of poet export --view" cmp b.png b2.png
check "the exported SVG marks the selected event" grep -q 'stroke:rgb(90%,62%,0%)' a.svg
like "the whole run is exported as PDF" "$(pdfinfo c.pdf)" "Pages: +[1-9]"

# ---- saving the trace: also from a remote server, and while it grows ----
cat >ssh.sh <<'S'
#!/bin/bash
shift 2 # the arguments are those of ssh: ssh -- HOST COMMAND
exec bash -c "$*"
S
chmod +x ssh.sh
printf 'action save-trace copy.poet\nquit\n' >script
check "the viewer saves a remote trace through ssh" env POET_SSH="$work/ssh.sh" timeout 300 poet view "ssh:here:$work/work.poet" --script script
check "the trace saved through ssh equals the original" cmp work.poet copy.poet
like "poet stat reads a remote trace through ssh" "$(POET_SSH="$work/ssh.sh" poet stat "ssh:here:$work/work.poet")" "run +work"
cat >broken.sh <<'S'
#!/bin/bash
printf 'poet server: work.poet: it is ' >&2
sleep 0.2 # the two pieces are read one after the other
echo 'not there' >&2
exit 1
S
chmod +x broken.sh
is "an error of the remote server that arrives in two pieces is printed whole" \
    "$(POET_SSH="$work/broken.sh" poet stat "ssh:here:$work/work.poet" 2>&1)" "poet stat: work.poet: it is not there"

# ---- undo and redo ----
lines=$(poet dump work.poet --json | grep -c '"line":[0-9]')
awk -v n="$n" -v lines="$lines" 'BEGIN {
    srand(11); print "action time 0; action end\nstate scene begin"
    for (i = 1; i <= 1000; i++) {
        k = int(rand() * 16)
        if (k == 0) print "action pan", int(rand() * 600) - 300, 0
        else if (k == 1) print "action zoom", 0.7 + rand() * 0.7, 300 + int(rand() * 300), 100
        else if (k == 2) print "action go", int(rand() * n)
        else if (k == 3) print "action page-left"
        else if (k == 4) print "action page-right"
        else if (k == 5) print "action hide-line", 1 + int(rand() * lines)
        else if (k == 6) print "action show-all"
        else if (k == 7) {
            line = 1 + int(rand() * lines)
            for (slides = int(rand() * 5) - 2; slides > 0; slides--) print "action line-left", line
            for (; slides < 0; slides++) print "action line-right", line
        }
        else if (k == 8) print "action fold"
        else if (k == 9) print "action time", rand() < 0.5 ? 0 : 3 + rand() * 3
        else if (k == 10) print "action move-line", 1 + int(rand() * lines), 1 + int(rand() * lines)
        else if (k == 11) print "action cluster-name"
        else if (k == 12) print "action start"
        else if (k == 13) print "action end"
        else if (k == 14) print "action event-on"
        else print "action least-crossing"
        if (i % 40 == 0) printf "state scene at%d\naction undo\naction redo\nstate scene again%d\n", i, i
    }
    print "state scene end"
    for (i = 0; i < 1100; i++) print "action undo"
    print "action redo\naction redo\nstate scene begin2" # the first two changes leave the overview
    for (i = 0; i < 1100; i++) print "action redo"
    print "state scene end2\nquit"
}' >script
check "1000 changes of the view, undone and redone" script
check "undo of 1000 changes restores the first scene" cmp begin begin2
check "redo of 1000 changes restores the last scene" cmp end end2
different=0
for at in at*; do cmp -s "$at" "again${at#at}" || different=$((different + 1)); done
is "undo and redo of one change restores the scene, at 25 places" "$different" 0
check "the first and the last scene differ" test -n "$(cmp begin end 2>&1)"
is "the viewer logs no message during undo and redo" "$(grep -Ec 'CRITICAL|WARNING' log)" 0

# ---- servers that stall, exit, or send malformed data ----
start_server -o again.poet -q
./work
until_true finished again.poet
gone_relay() { ! kill -0 $relay 2>/dev/null; }
for how in stall cut garble; do
    for bytes in 3000 60000; do
        rm -f relay.sock
        python3 "$root/tests/e2e/relay.py" "$work/relay.sock" "$XDG_RUNTIME_DIR/poet.sock" $how $bytes & relay=$!
        pids="$pids $relay"
        until_true test -S relay.sock
        printf 'action time 0; action end\naction go 20%%\naction go 70%%\naction page-left\naction fit\naction undo\n' >script
        poet view "unix:$work/relay.sock" --script script >log 2>&1 & viewer=$!
        pids="$pids $viewer"
        until_true shown "."
        [ $how != cut ] || until_true gone_relay
        xdotool key --window "$(window .)" Home Page_Down plus Left asterisk ctrl+z
        check "$how after $bytes bytes: the viewer runs on" kill -0 $viewer
        gone() { ! kill -0 $viewer 2>/dev/null; }
        leave() { gone || { focused .; xdotool key ctrl+q; }; }
        check "$how after $bytes bytes: the viewer can be closed" again leave -- gone
        is "$how after $bytes bytes: the viewer logs no CRITICAL message" "$(grep -c CRITICAL log)" 0
        is_child $relay && kill $relay
    done
done

# ---- an event that is gone to while an earlier scroll is still taken into account ----
endpoint=unix:$XDG_RUNTIME_DIR/poet.sock
rm -f visible selected
printf 'action time 0; action end\naction go 5:20\nstate positions visible\nstate selection selected\nquit\n' >script
timeout 300 poet view "$endpoint" --script script >log 2>&1
sed -n 's/.* colours //p' selected | tr ' ' '\n' | sed 's/=.*//' | grep ^5: | sort >loaded
beyond=$(awk '$1 == "event" { print $2 }' visible | sort | comm -23 loaded - | sort -t: -k2n | tail -n 1)
check "events beyond the visible part are loaded" test -n "$beyond"
rm -f selected gone
printf 'action time 0; action end\naction go 5:20\nstate selection there\nawait stopped\naction pan 1 0; action go %s; state selection gone\nstate selection selected\nquit\n' "$beyond" >script
timeout 300 poet view "$endpoint" --script script >log 2>&1 & viewer=$!
pids="$pids $viewer"
until_true test -s there
stop_process "$server"
touch stopped
until_true test -s gone
sleep 1 # longer than a selection is kept that was scrolled out of view; nothing tells that it has passed
kill -CONT "$server"
wait $viewer
is "an event that is gone to stays selected" "$(awk '{ print $2 }' selected)" "$beyond"
stop_server

# ---- an order that lags behind the received events ----
export POET_TEST_ORDER_PAUSE=$work/pause
rm -f log
start_server -o behind.poet -q
endpoint=unix:$XDG_RUNTIME_DIR/poet.sock
touch pause
./work
behind() { [ "$(figure "$endpoint" ordering_lag_ns)" -gt "$1" ]; }
until_true behind 1
printf 'await late\nstate status\nawait later\nfinished\nstate status\nquit\n' >script
timeout 400 poet view "$endpoint" --script script >log 2>&1 & viewer=$!
pids="$pids $viewer"
until_true shown .
until_true behind 4000000000
touch late
until_true grep -q ^said log
like "the status line shows how far the order lags behind" "$(sed -n 1p log)" '^said: (.* — )?ordered up to [0-9]+\.[0-9] s ago$'
rm pause
touch later
wait $viewer
[ "$(grep -c ^said log)" = 2 ] && ! sed -n 2p log | grep -q ordered && ok "the status line shows no lag once the order has caught up" ||
    not_ok "the status line shows no lag once the order has caught up" "$(cat log)"
stop_server
done_testing
