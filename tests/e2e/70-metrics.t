#!/bin/bash
# A program's own metrics: by metric and by thread, live, killed, in a child, too many, switched off and on;
# and one thread without measured calls for a while.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >own.c <<'END'
#include <poet.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static poet_meter_t hits, level, took;
static void *count(void *p)
{
    pthread_setname_np(pthread_self(), (char[]){'a' + (long)p - 7, 0});
    for (int i = 0; i < 1000; i++)
        poet_add(hits, i % 3);
    poet_set(level, 100);
    poet_set(level, (long)p);
    return 0;
}
int main(int argc, char **argv)
{
    pthread_t t[3];
    static const int64_t values[] = {5, 1000, 3, 70, 70, 2000000, 9};
    hits = poet_meter("hits", "hits", POET_COUNT);
    level = poet_meter("level", NULL, POET_GAUGE);
    took = poet_meter("took", "ns", POET_DISTRIBUTION);
    int64_t *length = poet_watch("queue length", "items");
    *length = 1;
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], 0, count, (void *)(7 + i));
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    for (int i = 0; i < 7; i++)
        poet_observe(took, values[i]);
    poet_add(level, 3); /* main's own value */
    poet_add(took, 1), poet_set(hits, 1), poet_observe(level, 1), poet_add(0, 1), poet_add(4711, 1), poet_set(~0u, 1);
    int same = hits == poet_meter("hits", "", POET_COUNT) && length == poet_watch("queue length", "");
    poet_meter("never", "x", POET_COUNT);
    for (; argc > 1; argc--, argv++) {
        if (!strcmp(argv[1], "ramp"))
            for (*length = 2; *length < 50; ++*length)
                usleep(20000);
        if (!strcmp(argv[1], "fork")) {
            if (!fork()) {
                *length = 1000;
                poet_add(hits, 10000);
                _exit(0);
            }
            wait(0);
        }
        if (!strcmp(argv[1], "many"))
            for (int i = 0; i < 250; i++) {
                char name[20];
                sprintf(name, "many %d", i);
                poet_observe(poet_meter(name, "", POET_DISTRIBUTION), i);
            }
        if (!strcmp(argv[1], "wait")) {
            puts(same ? "ready" : "not the same");
            fflush(stdout);
            for (int c; (c = getchar()) != EOF;)
                if (c == '+')
                    poet_add(hits, 100), puts("done"), fflush(stdout);
        }
        if (!strcmp(argv[1], "kill"))
            kill(getpid(), SIGKILL);
    }
    return !same;
}
END
check "own.c compiles with -trace" poetcc -trace -g -D_GNU_SOURCE -Wall -Wextra -Werror own.c -o own
[ -x own ] || exit 1
# record NAME ARG...: records into NAME.poet, its tables in NAME.json and NAME.threads
record() {
    name=$1
    shift
    (POET_OUTPUT=$name.poet ./own "$@") 2>"$name.err"
    status=$?
    until_true finished "$name.poet"
    poet metrics --json "$name.poet" >"$name.json"
    poet metrics --json --by thread "$name.poet" >"$name.threads"
}
as_it_should() { # NAME
    expect "$1.json" <<E
$1: a counter of three threads has 3000 updates | metric("hits") | .count, .total => 3000 2997
E
    expect "$1.threads" <<E
$1: a counter has 1000 updates per thread | metric("hits").count => 1000 1000 1000
E
    is "$1: a gauge has the last value of each thread" "$(json '("T:a", "T:b", "T:c", "T:main") as $thread |
        metric("level") | of($thread).last' "$1.threads" | paste -sd" ")" "7 8 9 3"
    is "$1: a gauge has minimum, maximum and mean of each thread" "$(json '(metric("level") | of("T:a") | .min, .max),
        (metric("level") | of("T:b").mean)' "$1.threads" | paste -sd" ")" "7 100 54"
    expect "$1.json" <<E
$1: a gauge of several threads has no last value | metric("level").last => null
$1: a histogram of seven values | metric("took") | .count, .total, .min, .max, .last => 7 2001157 3 2000000 9
$1: a histogram's median and 99th percentile | metric("took") | .p50, .p99 => 128 2000000
E
}

record plain ramp
is "plain: the program ends normally" $status 0
check "plain: the trace is sound" sound plain.poet
as_it_should plain
expect plain.json <<'E'
metrics: a metric without an update has a row | metric("never").count => 0
metrics: a shared cell is sampled up to its end | metric("queue length").last => 50
metrics: a shared cell is sampled more than once | metric("queue length").count > 2 => true
E
is "metrics: the mean of a shared cell is between its minimum and maximum" \
    "$(json 'metric("queue length").mean | 1 < . and . < 50' plain.json)" true
like "metrics as text has a histogram" "$(poet metrics plain.poet)" "^took +- +2.001 ms +7 +0.286 ms +2.000 ms +0.000128 ms +2.000 ms"
like "metrics: percentiles are explained" "$(poet metrics plain.poet)" "note: p50, p90, p99 are upper bounds"
like "metrics --from: sums since thread start are noted" "$(poet metrics --from 1ns plain.poet)" "note: metrics that threads count themselves are sums since thread start"
poet metrics plain.poet -o plain.pdf
like "metrics as PDF has the metrics" "$(pdftotext -layout plain.pdf -)" "queue length +- +50 items"
cat >rate.conf <<'END'
metrics = ( { name = "hits"; from_program = true; }, { name = "queue length"; from_program = true; },
           { name = "rate"; formula = "hits / (hits + 'queue length')"; } );
END
poet metrics --json -m rate.conf plain.poet >rate.json
is "metrics: a formula of a program's own metrics" "$(json 'metric("rate").total' rate.json | cut -c 1-7)" 0.98359

record killed kill
is "killed: the program was killed by SIGKILL" $status 137
as_it_should killed
record child fork
expect child.json <<'E'
a child process has its own counters | metric("hits").total => 12997
a child process has its own cells | [metric("queue length").last] | sort[] => 1 1000
E
record many many
is "too many metrics: the program ends normally" $status 0
(unset POET_QUIET; POET_OUTPUT=said.poet ./own many 2>said.err)
is "too many metrics: one message" "$(grep -c "too many metrics" said.err)" 1
is "too many metrics: the first ones are counted" "$(json 'metric("many 3").last' many.json)" 3

is "untraced: the program ends normally" "$(POET_SERVER=none ./own ramp many; echo $?)" 0
POET_MEASURE=none record none
is "POET_MEASURE=none: metrics are not counted" "$(json 'metric("hits").count' none.json)" 0
cat >own.cc <<'END'
#include <poet.h>
int main() { static poet_meter_t m = poet_meter("objects", "", POET_COUNT); poet_add(m, 2); return *poet_watch("x", nullptr) != 0; }
END
check "poet.h metrics compile in C++" poetcc++ -trace -Wall -Wextra -Werror own.cc -o cc
POET_OUTPUT=cc.poet ./cc
is "metrics of a C++ program are counted" "$(poet metrics --json cc.poet | json 'metric("objects").total')" 2

# ---- live; switched off and on ----
start_server -o traces/ -q
mkfifo to from
./own wait <to >from &
pids="$pids $!"
exec 5>to 6<from
read -r word <&6
is "live: the program runs" "$word" ready
live() { poet metrics --json latest | json 'metric("hits").total'; }
is "live: metrics has the updates so far" "$(live)" 2997
step() { echo + >&5; read -r word <&6; }
step
is "live: metrics has a hundred more updates" "$(live)" 3097
check "poet measure metrics=off is accepted" poet measure latest metrics=off
step
is "metrics=off: no further update is counted" "$(live)" 3097
check "poet measure metrics=on is accepted" poet measure latest metrics=on
step
is "metrics=on: further updates are counted" "$(live)" 3197
exec 5>&-
until_true finished latest
poet metrics --json latest >live.json
stop_server
poet metrics --json traces/own*.poet >file.json
check "metrics of the file equal those of the server" cmp live.json file.json

# ---- calls of one thread, not measured for a while ----
cat >parts.c <<'END'
#include <pthread.h>
#include <stdio.h>
static pthread_barrier_t named, begin, end;
static __attribute__((noinline)) void f(void) { __asm__ volatile(""); }
static void *work(void *p)
{
    pthread_setname_np(pthread_self(), p);
    pthread_barrier_wait(&named);
    for (int part = 0; part < 3; part++) {
        pthread_barrier_wait(&begin);
        for (int i = 0; i < 500; i++)
            f();
        pthread_barrier_wait(&end);
    }
    return p;
}
int main(void)
{
    pthread_t t[2];
    pthread_barrier_init(&named, 0, 3);
    pthread_barrier_init(&begin, 0, 3);
    pthread_barrier_init(&end, 0, 3);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, work, i ? "T2" : "T1");
    pthread_barrier_wait(&named);
    for (int part = 0; part < 3; part++) {
        puts("part");
        fflush(stdout);
        getchar();
        pthread_barrier_wait(&begin);
        pthread_barrier_wait(&end);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
}
END
poetcc -profile -D_GNU_SOURCE -g parts.c -o parts || not_ok "parts.c compiles with -profile"
start_server -o traces/ -q
mkfifo go part
./parts <go >part &
pids="$pids $!"
exec 5>go 6<part
before=none
for value in cpu off cpu; do
    read -r word <&6
    [ $value$before = cpunone ] || until_true poet measure latest "calls=$value:T2"
    before=$value
    echo >&5
done
exec 5>&-
until_true finished latest
poet calls --by thread --json latest >calls.json
# The rows of a thread's functions follow the thread's own.
calls() {
    json 'foreach rows as $row (null; if $row.function | startswith("T:") then $row.function else . end;
        select(. == "T:'"$1"'" and ($row.function | startswith("f "))) | $row.calls)' calls.json
}
is "one thread's calls are not measured for a third of them" "$(calls T1) $(calls T2)" "1500 1000"
stop_server

# ---- Kiviat charts ----
cat >star.conf <<'END'
metrics = (
    { name = "hits"; from_program = true; }, { name = "took"; from_program = true; },
    { name = "low one"; formula = "1 / 10"; better = "low"; },
    { name = "low two"; formula = "20"; unit = "%"; better = "low"; },
    { name = "high one"; formula = "hits / 4000"; better = "high"; },
    { name = "high two"; formula = "90"; unit = "%"; better = "high"; },
    { name = "no end"; formula = "hits"; better = "high"; },
    { name = "nothing said"; formula = "1 / 2"; }
);
END
poet metrics -m star.conf --chart kiviat plain.poet >star.txt
is "kiviat: axes are in the order of the file, good-when-high and good-when-low in turn" "$(sed -n 's/  *|.*: / /p' star.txt | xargs)" "high one high low one low high two high low two low"
like "kiviat as text has values and axes" "$(cat star.txt)" "^high one +\\|#{30} +\\| 0.7492 of 1, good: high"
for f in pdf svg png txt; do
    check "kiviat -o $f writes a file" poet metrics -m star.conf --chart kiviat -o "star.$f" plain.poet
done
like "kiviat as PDF has the axes" "$(pdftotext -layout star.pdf - | tr -s ' \n' ' ')" "low two"
poet metrics -m star.conf --chart kiviat -o again.pdf plain.poet
check "kiviat writes the same bytes each time" cmp star.pdf again.pdf
like "kiviat with too few formulas is refused" "$(poet metrics --chart kiviat plain.poet 2>&1)" "needs 3 formulas that are shares"
like "metrics: an unknown chart lists the valid one" "$(poet metrics --chart bars plain.poet 2>&1)" "^poet metrics: --chart bars: kiviat"
done_testing
