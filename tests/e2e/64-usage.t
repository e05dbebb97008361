#!/bin/bash
# poet usage: OS metrics equal those that the program reads itself, from its trace, live, and after a kill.
. "$(dirname "$0")/lib.sh"
start_server -o traces/ -q

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
int main(int argc, char **argv)
{
    pthread_t threads[2];
    double seconds[2] = {0.3, 0.1};
    struct timespec little = {0, 100000};
    struct rusage u;
    char *memory = malloc(64 << 20);
    int out = open("out", O_WRONLY | O_CREAT, 0600);
    memset(memory, 1, 64 << 20);
    if (write(out, memory, 1000000) != 1000000)
        return 1;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, spin, &seconds[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    for (int i = 0; i < 100; i++)
        nanosleep(&little, 0);
    if (argc > 1) {
        puts("now");
        fflush(stdout);
        pause();
    }
    getrusage(RUSAGE_SELF, &u);
    printf("cpu_user=%ld cpu_system=%ld minor_faults=%ld voluntary_switches=%ld peak_resident=%ld\n",
           u.ru_utime.tv_sec * 1000000000l + u.ru_utime.tv_usec * 1000,
           u.ru_stime.tv_sec * 1000000000l + u.ru_stime.tv_usec * 1000, u.ru_minflt, u.ru_nvcsw,
           u.ru_maxrss * 1024);
    return 0;
}
END
check "uses.c compiles with -trace" poetcc -trace -g uses.c -o uses
./uses >said
check "uses: the trace is sound" sound latest
poet usage --json --by thread latest >usage.json
# of_process METER COLUMN [FILE]: a figure of the process; of_thread METER COLUMN THREAD: of a thread, of usage.json
of_process() { json "metric(\"$1\") | of(null).$2" "${3:-usage.json}"; }
of_thread() { json "metric(\"$1\") | of(\"$3\").$2" usage.json; }

# ---- the figures at exit are those that the program read a moment before ----
# near GOT READ: by at most 5 % and 20 ms (or 20 million) more
near() { [ "$1" -ge "$2" ] && [ $((100 * ($1 - $2))) -le $((5 * $2 + 100 * 20000000)) ]; }
for pair in $(cat said); do
    meter=${pair%=*}
    got=$(of_process "$meter" "$([ "$meter" = peak_resident ] && echo max || echo total)")
    check "usage: $meter is $got, the program read ${pair#*=}" near "$got" "${pair#*=}"
    is "usage: $meter has the source getrusage() at exit" "$(of_process "$meter" source)" "getrusage() at exit"
done
check "usage: a hundred sleeps are voluntary switches" [ "$(of_process voluntary_switches total)" -ge 100 ]
check "usage: a million bytes were written" [ "$(of_process written max)" = null -a "$(of_process written total)" -ge 1000000 ]
check "usage: 64 MiB were resident" [ "$(of_process resident max)" -ge 67108864 ]

# ---- threads ----
spun() { [ "$1" -ge "$2" ] && [ "$1" -lt $((2 * $2)) ]; }
both() { echo $(($(of_thread cpu_user total "$1") + $(of_thread cpu_system total "$1"))); }
check "usage --by thread: CPU time of the first thread" spun "$(both T:spin)" 290000000
check "usage --by thread: CPU time of the second thread" spun "$(both "T:spin#2")" 90000000
is "usage --threads: no other thread is listed" "$(poet usage --by thread --threads main --json latest | grep -c '"thread":"T:spin')" 0

# ---- running is distinguished from runnable and from off-CPU ----
until_true finished latest
poet states --json latest >states.json
# spent THREAD STATE: ns in states.json
spent() { json "rows | of(\"$1\").${2}_ns" states.json; }
# Between two switch records a hypervisor or interrupts may have used the CPU, too; a thread that was preempted just
# as it began to sleep was runnable for a part of that time.
close_to() { # by 3 % and 15 ms
    apart=$(($1 - $2))
    [ $((100 * ${apart#-})) -le $((3 * $2 + 100 * 15000000)) ]
}
check "states: the first thread ran as long as its CPU time" close_to "$(spent T:spin running)" "$(both T:spin)"
check "states: the second thread, too" close_to "$(spent T:spin#2 running)" "$(both "T:spin#2")"
check "states: main slept a hundred times" [ "$(spent T:main other_off_cpu)" -ge 2500000 ]
is "states add up to each lifetime" "$(json 'rows | select(time_in_states != .lifetime_ns)' states.json 2>&1)" ""
is "states --from: off-CPU time is known" "$(poet states --json --from 1ms latest | sed -n 2p | grep -c '"other_off_cpu_ns":[0-9]')" 1
is "states --source order: off-CPU time is not known" "$(poet states --json --source order latest | sed -n 2p | grep -c '"other_off_cpu_ns":null')" 1
like "states: the column running has its source" "$(head -n 1 states.json)" '"running_ns".*"source":"(samples of CPU time|context-switch records)'

# ---- formats, and the file alone ----
stop_server
run=$(ls traces/uses*.poet)
poet usage --json --by thread "$run" >again.json
check "usage of the file equals that of the server" cmp usage.json again.json
poet usage --csv "$run" >usage.csv
like "usage --csv has the metrics" "$(cat usage.csv)" "^uses\[[0-9]+\],,voluntary_switches,"
like "usage as text has the metrics" "$(poet usage "$run")" "peak_resident +[0-9.]+ MiB"
poet usage "$run" -o usage.pdf
like "usage as PDF has the metrics" "$(pdftotext -layout usage.pdf -)" "voluntary_switches"

# ---- live, and killed ----
start_server -o traces/ -q
./uses wait >now &
pids="$pids $!"
program=$!
until_true grep -q now now
seen() { poet usage --json latest >live.json && [ "$(of_process resident last live.json)" -ge 67108864 ]; }
check "usage of a live run has the metrics" until_true seen
kill -KILL $program
until_true finished latest
poet usage --json latest >killed.json
like "usage of a killed program has the last sample" "$(of_process resident max killed.json)" "^[0-9]{8,}$"
like "usage of a killed program has the source /proc" "$(of_process cpu_user source killed.json)" "/proc"

# ---- errors, and help ----
is "usage: an unknown --by exits with 2" "$(poet usage --by cat "$run" >/dev/null 2>&1; echo $?)" 2
is "usage --help mentions OS metrics" "$(poet usage --help | grep -c "OS metrics")" 1
# Bytes that are written just before the exit are counted.
cat >writes.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static void *work(void *file)
{
    static char data[10000];
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < 100; i++)
        if (write(fd, data, sizeof data) != sizeof data)
            return file;
    close(fd);
    return 0;
}
int main(void)
{
    pthread_t t;
    void *result;
    pthread_create(&t, 0, work, "written");
    pthread_join(t, &result);
    return result != 0;
}
C
cc -g writes.c -o writes -pthread
POET_QUIET=1 poet record -m usage -o writes.poet ./writes
until_true finished writes.poet
check "usage: bytes written just before the exit are counted" \
    test "$(poet usage writes.poet --json | sed -nE 's/.*"metric":"written".*"total":([0-9]+).*/\1/p')" -ge 1000000

done_testing
