#!/bin/bash
# Metrics over time: curves in files, as text and in the viewer; final figures of short and remote programs.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
. "$root/tests/e2e/display.sh"

cat >uses.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}
static void *spin(void *seconds)
{
    while (cpu() < *(double *)seconds)
        ;
    return 0;
}
int main(void)
{
    pthread_t thread;
    double seconds = 0.5;
    struct timespec little = {0, 5000000};
    struct rusage u;
    char *memory = malloc(64 << 20);
    int out = open("out", O_WRONLY | O_CREAT, 0600);
    memset(memory, 1, 64 << 20);
    if (write(out, memory, 1000000) != 1000000)
        return 1;
    pthread_create(&thread, 0, spin, &seconds);
    for (int i = 0; i < 100; i++)
        nanosleep(&little, 0);
    pthread_join(thread, 0);
    getrusage(RUSAGE_SELF, &u);
    printf("peak_resident=%ld\nminor_faults=%ld\nvoluntary_switches=%ld\ncpu=%lld\n", u.ru_maxrss * 1024,
           u.ru_minflt, u.ru_nvcsw,
           (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000ll +
               (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000ll);
    return 0;
}
END
check "uses.c compiles with -trace" poetcc -trace -g uses.c -o uses

# figure FILE METER COLUMN: of the whole process
figure_of() { json "rows | select(.metric == \"$2\" and .thread == null).$3" "$1"; }
# The program's end adds at most a hundredth, or the little that any end takes.
near() { [ "$1" -ge "$2" ] && [ $((100 * ($1 - $2))) -le $(($2 + 100 * $3)) ]; } # near GOT SAID LEAST
same() { # NAME FILE
    cpu=$(($(figure_of "$2" cpu_user total) + $(figure_of "$2" cpu_system total)))
    check "$1: CPU time is what the program read" near $cpu "$(sed -n s/cpu=//p said)" 30000000
    check "$1: peak memory is what the program read" near "$(figure_of "$2" peak_resident last)" "$(sed -n s/peak_resident=//p said)" 262144
    check "$1: page faults are what the program read" near "$(figure_of "$2" minor_faults total)" "$(sed -n s/minor_faults=//p said)" 60
    check "$1: context switches are what the program read" near "$(figure_of "$2" voluntary_switches total)" "$(sed -n s/voluntary_switches=//p said)" 10
    for meter in cpu_user peak_resident minor_faults voluntary_switches; do
        is "$1: $meter has the source getrusage() at exit" "$(figure_of "$2" $meter source)" "getrusage() at exit"
    done
}

# ---- final figures are those that the program reads itself ----
if [ -x /usr/bin/time ]; then
    POET_OUTPUT=uses.poet /usr/bin/time -v -o time.txt ./uses >said
    until_true finished uses.poet
    poet usage --json --by thread uses.poet >usage.json
    kib=$(sed -n 's/.*Maximum resident set size (kbytes): //p' time.txt)
    close_by() { [ $((100 * ($1 > $2 ? $1 - $2 : $2 - $1))) -le "$2" ]; }
    check "time(1) reports the same peak memory" close_by "$(figure_of usage.json peak_resident last)" $((kib * 1024))
    faults=$(sed -n 's/.*Minor.*page faults: //p' time.txt)
    check "time(1) reports the same page faults" close_by "$(figure_of usage.json minor_faults total)" "$faults"
else
    POET_OUTPUT=uses.poet ./uses >said
    until_true finished uses.poet
    poet usage --json --by thread uses.poet >usage.json
    skip "time(1) is not installed"
fi
same "trace on this host" usage.json
check "usage: a hundred sleeps are voluntary switches" [ "$(figure_of usage.json voluntary_switches total)" -ge 100 ]
check "usage: a million bytes were written" [ "$(figure_of usage.json written total)" -ge 1000000 ]

# ---- short programs ----
printf 'int main(void) { return 0; }\n' >short.c
poetcc -trace short.c -o short
exact=0
for i in 1 2 3 4 5; do
    POET_OUTPUT=short$i.poet ./short
    until_true finished short$i.poet
    poet usage --json short$i.poet >short.json
    [ "$(figure_of short.json peak_resident source)" = "getrusage() at exit" ] && exact=$((exact + 1))
done
is "usage of a program that exits at once is exact each time" $exact 5

# ---- remote programs ----
port=$(free_port)
if poet server --to poet://127.0.0.1:1 2>&1 | grep -q "built without"; then skip "this Poet was built without GnuTLS and zstd"
else
    poet key >key.txt
    start_server -o far/ -q -l "poet://127.0.0.1:$port" -l "unix:$XDG_RUNTIME_DIR/poet.sock"
    POET_SERVER=127.0.0.1:$port ./uses >said
    until_true finished latest
    poet usage --json --by thread latest >far.json
    same "trace through an agent" far.json
    stop_server
fi

# ---- as curves ----
poet usage uses.poet --chart curves -o curves.txt
check "usage --chart curves as text has a curve of memory" grep -q '^resident, from 0 [KM]iB to [0-9]* [KM]iB$' curves.txt
like "usage --chart curves: rates have their unit" "$(cat curves.txt)" '^written, from 0 .*iB/s to '
like "usage --chart curves: metrics that are always 0 are noted" "$(tail -n 1 curves.txt)" "^note: .*always 0: "
like "usage --chart curves --by thread has threads" "$(poet usage uses.poet --chart curves --by thread)" '^T:spin +[^ ]'
is "usage --chart curves --threads has the selected thread only" "$(poet usage uses.poet --chart curves --threads spin | grep -c '^T:main')" 0
like "usage --chart curves --from --to has the range" "$(poet usage uses.poet --chart curves --from 100ms --to 300ms)" '^from 100 ms to 300 ms$'
for form in pdf svg png; do
    check "usage --chart curves -o writes $form" poet usage uses.poet --chart curves --by thread -o curves.$form
    check "usage --chart curves: the file of $form is not empty" test -s curves.$form
done
poet usage uses.poet --chart curves --grayscale -w 84mm -o again.pdf
poet usage uses.poet --chart curves --grayscale -w 84mm -o grey.pdf
check "usage --chart curves writes the same bytes each time" cmp again.pdf grey.pdf
words=$(pdftotext -layout grey.pdf -)
like "curves have an axis with a unit" "$words" "resident +MiB"
like "CPU time is drawn in CPUs" "$words" "cpu_user +processors"
like "memory --chart curves without data is refused with a suggestion" "$(poet memory uses.poet --chart curves 2>&1; echo $?)" "record -m memory"
is "usage: an unknown chart exits with 2" "$(poet usage uses.poet --chart pie >/dev/null 2>&1; echo $?)" 2
is "usage --chart curves of an empty range exits with 2" "$(poet usage uses.poet --chart curves --from 2s --to 1s >/dev/null 2>&1; echo $?)" 2

# ---- a program's own metrics ----
cat >counts.c <<'END'
#include <poet.h>
#include <pthread.h>
#include <time.h>
static void *work(void *meter)
{
    struct timespec little = {0, 2000000};
    for (int i = 0; i < 50; i++) {
        poet_add(*(poet_meter_t *)meter, 1);
        nanosleep(&little, 0);
    }
    return 0;
}
int main(void)
{
    poet_meter_t hits = poet_meter("hits", "requests", POET_COUNT);
    pthread_t thread;
    pthread_create(&thread, 0, work, &hits);
    return pthread_join(thread, 0);
}
END
poetcc -trace -g counts.c -o counts
POET_OUTPUT=counts.poet ./counts
until_true finished counts.poet
POET_OUTPUT=none.poet POET_MEASURE=usage ./counts
until_true finished none.poet
like "metrics without an update: the reason for 0 is noted" "$(poet metrics none.poet)" "note: .*metrics are 0.*poet record -m metrics"
lacks() { ! grep -q "$2" <<<"$1"; }
curves=$(poet metrics counts.poet --chart curves)
like "a counter that is reported at the end only has a rate per thread" "$curves" "hits, from 0 requests/s to [1-9][0-9]* requests/s
T:work +[^ ]"
check "a counter with a rate is not noted as always 0" lacks "$curves" "all of it: .*hits"
curves=$(poet usage counts.poet --chart curves)
check "a metric sampled once is not noted as always 0" lacks "$curves" "always 0: [^;]*voluntary_switches"
like "a metric sampled once is noted as such" "$curves" "sampled only once: .*voluntary_switches"

# ---- in the viewer ----
cat >script <<'END'
action show-resources
state table resources
state curve first
action select-row 0
state curve second
state selection told
action show-memory
state selection told
action show-meters
state selection told
action show-resources
action time 6
state curve timed
quit
END
timeout 100 poet view uses.poet --script script >log 2>&1
is "the tab of resources has the rows of poet usage" "$(tail -n +2 resources | wc -l)" "$(grep -c '"row"' usage.json)"
like "the tab of resources starts with the curve of memory" "$(cat first)" "^curve resident of uses\[[0-9]+\] most [67][0-9.]* MiB known [1-9][0-9]* told [1-9]"
like "a selected row shows its curve" "$(cat second)" "^curve cpu_user of uses.* processors known [1-9]"
is "tabs are in their order" "$(sed 's/.* drawer \([a-z]*\).*/\1/' told | tr '\n' ' ')" "resources memory meters "
like "placed by time the curve is shown" "$(cat timed)" "^curve cpu_user of "
places() { sed 's/.*from x //' "$1"; }
check "placed by time the curve has the diagram's axis" [ "$(places second)" != "$(places timed)" ]
quiet() { ! grep -q 'CRITICAL\|WARNING' log; }
check "the viewer logs no message" quiet
done_testing
