#!/bin/bash
# Figures over time: as curves in files and letters, in the drawer; what short programs and far ones say at their ends.
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
check "it compiles" poetcc -trace -g uses.c -o uses

# figure FILE METER COLUMN: of the whole process
figure_of() { FILE=$1 perl -MJSON::PP -e 'open my $f, "<", $ENV{FILE} or die; my ($meter, $column) = @ARGV;
    for (map { decode_json $_ } <$f>) { my $r = $_->{row} or next;
        print $r->{$column} // "null" if $r->{metric} eq $meter && !defined $r->{thread} }' "$2" "$3"; }
# What its end adds is at most a hundredth, or the little that any end takes.
near() { perl -e 'my ($got, $said, $least) = @ARGV; exit !($got >= $said && $got - $said <= 0.01 * $said + $least)' "$@"; }
same() { # NAME FILE
    cpu=$(($(figure_of "$2" cpu_user total) + $(figure_of "$2" cpu_system total)))
    check "$1: processor time" near $cpu "$(sed -n s/cpu=//p said)" 10000000
    check "$1: the most memory" near "$(figure_of "$2" peak_resident last)" "$(sed -n s/peak_resident=//p said)" 262144
    check "$1: page faults" near "$(figure_of "$2" minor_faults total)" "$(sed -n s/minor_faults=//p said)" 60
    check "$1: switches" near "$(figure_of "$2" voluntary_switches total)" "$(sed -n s/voluntary_switches=//p said)" 10
    for meter in cpu_user peak_resident minor_faults voluntary_switches; do
        is "$1: $meter is exact" "$(figure_of "$2" $meter source)" "getrusage() at exit"
    done
}

# ---- as the program says it itself, last ----
if [ -x /usr/bin/time ]; then
    POET_OUTPUT=uses.poet /usr/bin/time -v -o time.txt ./uses >said
    until_true finished uses.poet
    poet usage --json --by thread uses.poet >usage.json
    kib=$(sed -n 's/.*Maximum resident set size (kbytes): //p' time.txt)
    close_by() { perl -e 'exit !(abs($ARGV[0] - $ARGV[1]) <= 0.01 * $ARGV[1])' "$@"; }
    check "time(1) says the same of memory" close_by "$(figure_of usage.json peak_resident last)" $((kib * 1024))
    faults=$(sed -n 's/.*Minor.*page faults: //p' time.txt)
    check "and of page faults" close_by "$(figure_of usage.json minor_faults total)" "$faults"
else
    POET_OUTPUT=uses.poet ./uses >said
    until_true finished uses.poet
    poet usage --json --by thread uses.poet >usage.json
    skip "there is no time(1)"
fi
same "its trace" usage.json
check "a hundred sleeps are in it" [ "$(figure_of usage.json voluntary_switches total)" -ge 100 ]
check "the million bytes, too" [ "$(figure_of usage.json written total)" -ge 1000000 ]

# ---- however short it is ----
printf 'int main(void) { return 0; }\n' >short.c
poetcc -trace short.c -o short
exact=0
for i in 1 2 3 4 5; do
    POET_OUTPUT=short$i.poet ./short
    until_true finished short$i.poet
    poet usage --json short$i.poet >short.json
    [ "$(figure_of short.json peak_resident source)" = "getrusage() at exit" ] && exact=$((exact + 1))
done
is "who ends at once has said it, each time" $exact 5

# ---- from far away ----
port=$(free_port)
if poet server --to poet://127.0.0.1:1 2>&1 | grep -q "built without"; then skip "this Poet was built without GnuTLS and zstd"
else
    poet key >key.txt
    start_server -o far/ -q -l "poet://127.0.0.1:$port" -l "unix:$XDG_RUNTIME_DIR/poet.sock"
    POET_SERVER=127.0.0.1:$port ./uses >said
    until_true finished latest
    poet usage --json --by thread latest >far.json
    same "by an agent" far.json
    stop_server
fi

# ---- as curves ----
poet usage uses.poet --chart curves -o curves.txt
check "in letters" grep -q '^resident, from 0 [KM]iB to [0-9]* [KM]iB$' curves.txt
like "rates are told as such" "$(cat curves.txt)" '^written, from 0 .*iB/s to '
like "what is all 0 is said to be" "$(tail -n 1 curves.txt)" "^note: .*always 0: "
like "of threads, too" "$(poet usage uses.poet --chart curves --by thread)" '^T:spin +[^ ]'
is "of one alone" "$(poet usage uses.poet --chart curves --threads spin | grep -c '^T:main')" 0
like "of a part" "$(poet usage uses.poet --chart curves --from 100ms --to 300ms)" '^from 100 ms to 300 ms$'
for form in pdf svg png; do
    check "as $form" poet usage uses.poet --chart curves --by thread -o curves.$form
    check "something is there" test -s curves.$form
done
poet usage uses.poet --chart curves --grey -w 84mm -o again.pdf
poet usage uses.poet --chart curves --grey -w 84mm -o grey.pdf
check "the same gives the same" cmp again.pdf grey.pdf
words=$(pdftotext -layout grey.pdf -)
like "rulers have units" "$words" "resident +MiB"
like "processor time is in processors" "$words" "cpu_user +processors"
like "what is not known is not drawn, and that is said" "$(poet memory uses.poet --chart curves 2>&1; echo $?)" "record -m memory"
is "another chart is refused" "$(poet usage uses.poet --chart pie >/dev/null 2>&1; echo $?)" 2
is "an empty range, too" "$(poet usage uses.poet --chart curves --from 2s --to 1s >/dev/null 2>&1; echo $?)" 2

# ---- what a program counts itself ----
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
like "a meter that nobody counted says why it is 0" "$(poet metrics none.poet)" "note: .*metrics are 0.*poet record -m metrics"
lacks() { ! grep -q "$2" <<<"$1"; }
curves=$(poet metrics counts.poet --chart curves)
like "a count that was told at the end alone has a rate, of its thread" "$curves" "hits, from 0 requests/s to [1-9][0-9]* requests/s
T:work +[^ ]"
check "it is not said to be 0" lacks "$curves" "all of it: .*hits"
curves=$(poet usage counts.poet --chart curves)
check "what was told once is not said to be 0" lacks "$curves" "always 0: [^;]*voluntary_switches"
like "but to be told once" "$curves" "sampled only once: .*voluntary_switches"

# ---- in the drawer ----
cat >script <<'END'
drawer resources
table resources
curve first
row 0
curve second
state told
drawer memory
state told
drawer meters
state told
drawer resources
time 6
curve timed
quit
END
timeout 100 poet view uses.poet --script script >log 2>&1
is "the page is poet usage" "$(tail -n +2 resources | wc -l)" "$(grep -c '"row"' usage.json)"
like "it begins with memory" "$(cat first)" "^curve resident of uses\[[0-9]+\] most [67][0-9.]* MiB known [1-9][0-9]* told [1-9]"
like "a row has its curve" "$(cat second)" "^curve cpu_user of uses.* processors known [1-9]"
is "pages are there in their order" "$(sed 's/.* drawer \([a-z]*\).*/\1/' told | tr '\n' ' ')" "resources memory meters "
like "placed by time it is there, too" "$(cat timed)" "^curve cpu_user of "
places() { sed 's/.*from x //' "$1"; }
check "on the axis of the picture" [ "$(places second)" != "$(places timed)" ]
quiet() { ! grep -q 'CRITICAL\|WARNING' log; }
check "nothing was complained of" quiet
done_testing
