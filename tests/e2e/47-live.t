#!/bin/bash
# State bands of the overview agree with poet states; poet waits of a growing run agrees with its file; what-if answers under --keep.
. "$(dirname "$0")/lib.sh"
make -s -C "$root" B="$B" "$B/tests/look" || exit 1
poetcc -trace -O2 "$root/tests/bench/contend.c" -o contend || exit 1
POET_SERVER= POET_OUTPUT=run.poet ./contend 8 2 40000
until_true finished run.poet

"$B/tests/look" run.poet living >look.out
poet states run.poet --json >states.out
# Of each line the time in each state, in ms: of the state bands, where blocked is divided into classes, and of the table.
sed -n 's/^line \([0-9]*\):/\1/p' look.out |
    awk '{ printf "%s %s %s %s %.6f %s %s\n", $1, $2, $3, $4, $5 + $6 + $7 + $8, $9, $10 }' >bands
json '.[] | select(.depth == 0 and (.lines | length) == 1) | .lines[0] as $line | .row |
    [$line, .created_ns, .runnable_ns, .running_ns, .blocked_ns, .exited_ns, .other_off_cpu_ns] |
    map(. // 0) | join(" ")' states.out >states
compare() { # prints what differs by more than the bands, which have 255 shades in a pixel, can show
    awk 'BEGIN { split("created runnable running blocked exited off-CPU", state) }
        NR == FNR { for (i = 1; i <= 6; i++) { band[$1, i] = $(i + 1); lifetime[$1] += $(i + 1) }
                    run = lifetime[$1] > run ? lifetime[$1] : run }
        NR != FNR {
            for (i = 1; i <= 6; i++) {
                ms = $(i + 1) / 1e6
                difference = ms > band[$1, i] ? ms - band[$1, i] : band[$1, i] - ms
                if (difference > 0.01 * run + 0.05)
                    wrong = wrong "line " $1 ": " state[i] " " ms " ms, in the bands " band[$1, i] "\n"
            }
            seen++
        }
        END { print wrong == "" ? "alike" : wrong; if (seen <= 5) print "few threads" }' bands states
}
is "the pixels of a thread's state band add up to the figures of poet states" "$(compare)" alike

poet path run.poet --json >path.out
length=$(sed -n 's/.*"length_ns":\([0-9][0-9]*\).*/\1/p' path.out)
poet path run.poet --what-if lock=1 --json >same.out
is "what-if without a change: the run takes as long" "$(sed -n 's/.*"if_ns":\([0-9][0-9]*\).*/\1/p' same.out)" "$length"
is "what-if without a change: the rows are the same" "$(grep '"row"' same.out)" "$(grep '"row"' path.out)"

cat >two.c <<'C'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *a)
{
    for (int i = 0; i < 3000; i++) {
        pthread_mutex_lock(&m);
        for (volatile int k = 0; k < 300; k++)
            ;
        pthread_mutex_unlock(&m);
    }
    return a;
}
int main(void)
{
    for (int round = 0; round < 3; round++) {
        pthread_t t[3];
        for (int i = 0; i < 3; i++)
            pthread_create(&t[i], NULL, work, NULL);
        for (int i = 0; i < 3; i++)
            pthread_join(t[i], NULL);
        puts("round");
        fflush(stdout);
        getchar();
    }
    return 0;
}
C
poetcc -trace -O2 two.c -o two || exit 1
start_server -q -o runs/
live=unix:$XDG_RUNTIME_DIR/poet.sock # ("latest" may be the trace in the current directory)
mkfifo in
./two <in >rounds & pids="$pids $!"
exec 3>in
waits() { poet waits "$live" --json | grep '"total"' | sed 's/.*"count":\([0-9]*\).*/\1/'; }
came() { [ "$(grep -c round rounds)" -ge "$round" ] && [ "$(figure "$live" events)" -ge $((45000 * round)) ]; }
for round in 1 2 3; do
    check "round $round has arrived" until_true came
    waits >>waited # each call continues from the previous one
    echo >&3
done
exec 3>&-
until_true finished "$live"
poet waits "$live" --json | grep -v '"table"' >grown.out
poet waits "$(ls runs/*.poet)" --json | grep -v '"table"' >fresh.out
is "poet waits of a live run ends with the answer of its file" "$(cat grown.out)" "$(cat fresh.out)"
check "poet waits was called while the run grew" test "$(sort -nu waited | wc -l)" -ge 1
done_testing
