#!/bin/bash
# poet report: the lock, its holder and the code; deadlocks and hangs; late threads at a barrier; comparison and formats.
. "$(dirname "$0")/lib.sh"

export C_INCLUDE_PATH="$root/tests/e2e" # asleep.h
program() { cat >"$1.c"; poetcc -trace -g "$1.c" -o "$1" || not_ok "$1.c compiles with -trace"; }
traced() { POET_OUTPUT=$1.poet "./$@" 2>/dev/null; until_true finished "$1.poet"; }

program convoy <<'C'
#include "asleep.h"
static pthread_mutex_t cache = PTHREAD_MUTEX_INITIALIZER;
static void come(long number), hold(long number, int round);
static void *worker(void *a)
{
    for (int i = (come((long)a), 0); i < 4; i++) {
        pthread_mutex_lock(&cache);
        hold((long)a, i);
        pthread_mutex_unlock(&cache);
    }
    return a;
}
static struct sleeper sleepers[20];
static atomic_int held;
static int n;
static void come(long number) /* while the first thread holds the lock, which waits for all others */
{
    if (number)
        until_set(&held, 1), about_to_wait(&sleepers[number]);
}
static void hold(long number, int round)
{
    held = 1;
    for (int i = 1; i < n && !number && !round; i++)
        until_asleep(&sleepers[i], 1);
    nanosleep(&(struct timespec){0, 20000000}, 0);
}
int main(int argc, char **argv)
{
    pthread_t t[20];
    n = argc > 1 && argv ? 20 : 4;
    for (long i = 0; i < n; i++) pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < n; i++) pthread_join(t[i], 0);
}
C
traced convoy
poet report --all convoy.poet >convoy.txt
is "report: the title names the run once" "$(head -n 1 convoy.txt) $(grep -c '^convoy:' convoy.txt)" "Run report: convoy 0"
like "report: the second line has the program" "$(sed -n 2p convoy.txt)" "/convoy$"
like "report: the third line has date, duration and completeness" "$(sed -n 3p convoy.txt)" \
    "^20[0-9-]+ [0-9:]+ UTC, duration [0-9.]+ m?s; 5 threads, [0-9]+ events \(none lost\)"
like "report: the contended lock with waker, code and event" "$(sed -n '/^Key findings/,/^$/p' convoy.txt)" \
    "lock contention \([0-9]+ threads\) +T:worker[#0-9]* +M:cache +T:worker[#0-9]* .* worker \(convoy.c:7\) +worker \(convoy.c:9\) +[0-9]+:[0-9]+$"
like "report: the lock's holder with its critical section" "$(cat convoy.txt)" "convoy.c:7 → convoy.c:9 \(worker\) +T:worker[#0-9]* +direct"
like "report: the what-if gain of the largest segment" "$(sed -n '/^Critical path/,$p' convoy.txt)" \
    "convoy.c:7 → convoy.c:9 \(worker\) +[0-9.]+ +[0-9.]+ % +0.000 +[0-9.]+$"
poet report convoy.poet --json >convoy.json
is "report --json: the order of the tables" "$(json '.[].table // empty' convoy.json | tr '\n' ' ')" \
    "run hangs asleep violations findings memory waiting_at_exit states waits calls path "
expect convoy.json <<'E'
report --json: one row about the run | table("run") | [rows] | (.[0] | .run, .threads, .lost), length => convoy 5 0 1
E
is "report: the run is not shorter than its critical path" \
    "$(json '(table("run") | rows.duration_ns) < (table("path") | total.length_ns)' convoy.json)" false
is "report: two segments of the path have a what-if gain" \
    "$(json 'table("path") | [rows | select(.whatif_gain_ns != null)] | length' convoy.json)" 2
is "report: a wait has at most three causes and a rest" "$(json 'table("waits") |
    [foreach rows as $row (0; if $row.attributed_ns != null then . + 1 else 0 end)] | max' convoy.json)" 4
check "report -o writes a PDF" poet report convoy.poet -o convoy.pdf
like "report as PDF has the size A4" "$(pdfinfo convoy.pdf)" "Page size: +595[.0-9]* x 841[.0-9]* pts \(A4\)"
is "report as PDF is one page" "$(pdfinfo convoy.pdf | awk '/^Pages/ { print $2 }')" 1
cp convoy.pdf first.pdf
TZ=Pacific/Auckland poet report convoy.poet -o convoy.pdf
check "report as PDF has the same bytes in another time zone" cmp convoy.pdf first.pdf

POET_OUTPUT=many.poet ./convoy many 2>/dev/null
until_true finished many.poet
poet report many.poet --json >many.json
expect many.json <<'E'
report of many threads: twelve rows, and one for the rest | table("states") | [rows] | length, .[12].thread => 13 9 others
report of many threads: rows add up to the total | table("states") | sum(rows.blocked_ns) - total.blocked_ns => 0
E
poet report many.poet -o many.pdf
is "report of many threads as PDF is one page" "$(pdfinfo many.pdf | awk '/^Pages/ { print $2 }')" 1

program dead <<'C'
#include "asleep.h"
static struct sleeper sleepers[2];
static pthread_mutex_t accounts = PTHREAD_MUTEX_INITIALIZER, journal = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static void *teller(void *a) { pthread_mutex_lock(&accounts); pthread_barrier_wait(&both); about_to_wait(a); pthread_mutex_lock(&journal); return a; }
static void *auditor(void *a) { pthread_mutex_lock(&journal); pthread_barrier_wait(&both); about_to_wait(a); pthread_mutex_lock(&accounts); return a; }
int main(void)
{
    pthread_t t[2];
    pthread_barrier_init(&both, 0, 2);
    pthread_create(&t[0], 0, teller, &sleepers[0]);
    pthread_create(&t[1], 0, auditor, &sleepers[1]);
    for (int i = 0; i < 2; i++) until_asleep(&sleepers[i], 1);
    usleep(300000);
    _exit(0);
}
C
traced dead
poet report --all dead.poet >dead.txt
like "report: a deadlock is the first finding" "$(sed -n 5,8p dead.txt)" "^deadlock +T:teller +M:journal +T:auditor +auditor \(dead.c:6\) +[0-9.]+ +teller \(dead.c:5\) +[0-9]+:[0-9]+$"
like "report: the deadlock's other thread is the second row" "$(sed -n 5,8p dead.txt)" "^deadlock +T:auditor +M:accounts +T:teller "
like "report: unfinished waits are counted" "$(cat dead.txt)" "2 waits had not ended"

program lost <<'C'
#include "asleep.h"
#include <signal.h>
static struct sleeper sleeper;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static void *producer(void *a) { pthread_cond_signal(&ready); return a; }
static void *consumer(void *a) { pthread_mutex_lock(&m); about_to_wait(&sleeper); pthread_cond_wait(&ready, &m); return a; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, producer, 0);
    pthread_join(t, 0);
    pthread_create(&t, 0, consumer, 0);
    until_asleep(&sleeper, 1);
    usleep(300000);
    raise(SIGKILL);
    return 0;
}
C
traced lost
poet report --all lost.poet >lost.txt
like "report: a lost wake-up with the signal that no thread received" "$(sed -n '/^Deadlocks and hangs/,/^$/p' lost.txt)" "last signal of CV:ready: event .*, no thread was woken; it happened before the wait"
like "report: the thread that never resumes, with its code" "$(sed -n '/^Deadlocks and hangs/,/^$/p' lost.txt)" "never resumes +T:consumer +CV:ready .*consumer \(lost.c:7\)"
is "report: a run that ended normally has no hang" "$(grep -c 'Deadlocks and hangs' convoy.txt)" 0

program late <<'C'
#include "asleep.h"
static pthread_barrier_t step;
static void come(long number, int round);
static void *solver(void *a)
{
    for (int i = 0; i < 3; i++) {
        come((long)a, i);
        pthread_barrier_wait(&step);
    }
    return 0;
}
static struct sleeper sleepers[3];
static void come(long number, int round) /* the late thread comes 40 ms after the others wait */
{
    for (int i = 0; i < 3 && number == 1; i += 2)
        until_asleep(&sleepers[i], round + 1);
    if (number == 1)
        nanosleep(&(struct timespec){0, 40000000}, 0);
    about_to_wait(&sleepers[number]);
}
int main(void)
{
    pthread_t t[3];
    pthread_barrier_init(&step, 0, 3);
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, solver, (void *)i);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
}
C
traced late
like "report: the late thread at a barrier" "$(poet report --all late.poet)" \
    "late at barriers: other threads wait for it there, likely load imbalance +T:solver#2 +B:step +T:solver#2 .*solver \(late.c:8\)"

# ---- one page of 80 columns and 40 lines ----
for run in convoy many dead lost late; do
    poet report $run.poet >page.txt
    is "$run: the page fits 80 columns and 40 lines" "$(wc -lL <page.txt | awk '$1 > 40 || $2 > 80')" ""
done
# figures: times, shares and bars become N
figures() { sed -E 's/ *[0-9.]+ (s|ms|µs|ns)\b/ N/g; s/[0-9.]+ %/N/g; s/\|[#=. -]{32}\|/|N|/; s/ +$//'; }
# (On a busy machine its threads are runnable for a moment that is seen, too.)
is "dead: the diagnosis" "$(poet report dead.poet | sed -n '/^Diagnosis/,/thread time/p' | figures | sed '/thread time/s/, run[a-z]* N//g' | sort)" "$(sort <<'E'
Diagnosis                                           more: poet blocked dead.poet
  DEADLOCK: 2 threads wait for each other
    T:teller waits for M:journal at teller (dead.c:5), held by T:auditor,
    acquired at auditor (dead.c:6)
    T:auditor waits for M:accounts at auditor (dead.c:6), held by T:teller,
    acquired at teller (dead.c:5)
  thread time: blocked N, off-CPU N
E
)"
is "dead: a bar for each thread" "$(poet report dead.poet | sed -n '/^Where the time went/,/^$/p' | figures | sort)" "$(sort <<'E'
Where the time went                                  more: poet states dead.poet
  T:main    |N| off-CPU N of N
  T:teller  |N| blocked N of N
  T:auditor |N| blocked N of N
             # running  - runnable (no CPU)  = blocked  . off-CPU

E
)"
is "convoy: the sections, and what they leave out" "$(poet report convoy.poet | grep -oE '^[A-Z][^:]*[a-z)]  .*poet [a-z]+' | tr -s ' ' | sed -E 's/[0-9]+ more/more/')" \
    "Diagnosis more: poet blocked
Key findings (estimated gain) more: poet report
Where the time went more: poet states
Longest waits and their causes more: poet waits
Critical path (time, share, what-if gain) more: poet path"
like "many: the page says how many threads it leaves out" "$(poet report many.poet)" "^Where the time went +14 more: poet states many.poet$"
is "convoy: findings are ordered by their estimated gain" "$(poet report convoy.poet | sed -n '/^Key findings/,/^$/p' | sed -nE 's/^ +([0-9.]+) ms .*/\1/p' | sort -grc && echo ordered)" ordered
is "report --json: the gain of a finding is at most the duration of the run" "$(poet report convoy.poet --json |
    json '(table("run") | rows.duration_ns) as $run | table("findings") | rows | select((.gain_ns // 0) > $run)')" ""
check "report -o writes a web page" poet report convoy.poet -o page.html
is "report -o page.html: the text of the page" "$(sed -n '/<pre id="report">/,/<\/pre>/p' page.html | sed 's/.*<pre id="report">//; s/<\/pre>.*//; s/&#34;/"/g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g')" \
    "$(poet report convoy.poet)"
like "report -o page.html has the diagram" "$(sed -n '/id="data"/,$p' page.html)" '"M:cache"'
is "report -o page.html loads nothing" "$(grep -cE "(src|href)=\"|@import|default-src [^']" page.html)" 0
program open <<'C'
#include "asleep.h"
#include <signal.h>
static struct sleeper sleeper;
static void *worker(void *a) { until_asleep(&sleeper, 1); raise(SIGKILL); return a; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    about_to_wait(&sleeper);
    pthread_join(t, 0);
}
C
traced open
is "open: the diagnosis has the wait that had not ended" "$(poet report open.poet | sed -n '/^Diagnosis/,/waits for/p' | figures)" "$(cat <<'E'
Diagnosis                                           more: poet blocked open.poet
  no deadlock was found; 1 thread blocked at the end of the trace may resume:
    T:main waits for T:worker at main (open.c:10) for N
E
)"
program long <<'C'
#include "asleep.h"
int main(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 12000; i++) pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
}
C
traced long
check "report -o writes a web page of a long run" poet report long.poet -o long.html
is "long: the page says that the diagram is its end" "$(grep -c '^The diagram shows the end of the run; all of it: poet view' long.html)" 1
drawn() { sed -n '/id="data"/,$p' "$1" | sed -n 's/^"row":\[\(.*\)\],$/\1/p' | tr ',' '\n' | grep -c .; } # events
ids=($(poet dump convoy.poet --json | json '[.[] | .event // empty] | .[10], .[30]'))
poet report convoy.poet --from "${ids[0]}" --to "${ids[1]}" -o part.html
is "report --from --to -o part.html: the diagram is of the range" "$(drawn part.html)" \
    "$(poet export convoy.poet --from "${ids[0]}" --to "${ids[1]}" -o shown.html && drawn shown.html)"
check "it has fewer events than the run" test "$(drawn part.html)" -lt "$(drawn page.html)"
poet report long.poet --from 2:10 -o long.html
is "long: of a range that is too long the page has the end" \
    "$(grep -c '^The diagram shows the end of the range; all of it: poet view' long.html)" 1
poet report convoy.poet -o page.docx >/dev/null 2>&1
is "report: an unknown file suffix exits with 2" $? 2

# ---- charts and diagrams of tables ----
poet states convoy.poet --chart transitions -o chart.svg
like "a chart as SVG has its words as text" "$(cat chart.svg)" "<text.*M:|<text.*T:worker"
like "a table as SVG has its words as text" "$(poet waits convoy.poet -o waits.svg; cat waits.svg)" "<text[^>]*>[^<]*M:cache"
cp chart.svg first.svg
TZ=Pacific/Auckland poet states convoy.poet --chart transitions -o chart.svg
check "a chart has the same bytes in another time zone" cmp chart.svg first.svg
like "a chart has its start time in UTC" "$(cat chart.svg)" "begins 20[-0-9]+ [0-9:.]+ UTC"
poet path convoy.poet --chart gantt -o path.pdf
like "path --chart as PDF has the critical path" "$(pdftotext -layout path.pdf -)" "critical path"
is "path --chart as text: each holder of the lock is on the path" "$(poet path convoy.poet --chart transitions | grep -c '^T:worker.*@')" 4
check "path --chart --grayscale writes a PNG" poet path convoy.poet --chart transitions --grayscale -o path.png
poet waits convoy.poet --chart bars -o bars.svg
like "waits --chart bars has the locks" "$(cat bars.svg)" "M:cache"
like "waits --chart bars explains its colors" "$(cat bars.svg)" "contention, communication"
check "waits --chart bars --grayscale writes a PNG" poet waits convoy.poet --chart bars --grayscale -o bars.png
poet waits convoy.poet --chart bars >/dev/null 2>&1
is "waits --chart bars as text is refused" $? 2
poet report convoy.poet --chart gantt >/dev/null 2>&1
is "report --chart is refused" $? 2
poet states convoy.poet --follow -o no.pdf >/dev/null 2>&1
is "--follow with -o is refused" "$? $(ls no.pdf 2>/dev/null)" "2 "
poet states convoy.poet --follow --chart gantt >/dev/null 2>&1
is "--follow with --chart is refused" $? 2

# ---- comparison with another run: rows are matched by name ----
mkdir faster
sed 's/20000000/10000/' convoy.c >faster/convoy.c
(cd faster && poetcc -trace -g convoy.c -o convoy && POET_OUTPUT=../faster.poet ./convoy 2>/dev/null)
until_true finished faster.poet
poet waits faster.poet --baseline convoy.poet --json >against.json
is "waits --baseline: each place once, with its difference" "$(json '[rows | select(.type != null)] |
    (.[] | select(.waited_diff_ns == null) | "no difference at \(.location)"),
    (group_by(.type)[] | "\(.[0].type) \(length)")' against.json | paste -sd" ")" \
    "acquire 1 join 1"
expect against.json <<'E'
waits --baseline: the faster run waited less | [rows.waited_diff_ns // 0] | min < 0 => true
E
is "waits --baseline as text has no attribution rows of its own" "$(poet waits faster.poet --baseline convoy.poet | grep -c ' attributed')" 0
like "path --baseline: segments with their differences" "$(poet path faster.poet --baseline convoy.poet)" "convoy.c:7 → convoy.c:9 \(worker\) +[0-9.]+ +-[0-9.]+ +-[0-9.]+ %"

# ---- reported times add up ----
for run in convoy dead lost late many; do
    like "$run: poet check finds no error" "$(poet check $run.poet 2>&1)" "^$run.poet: [0-9]+ events: OK$"
done
is "poet check --json: no error of timing" "$(poet check convoy.poet --json | grep -c mistake)" 0
cat >endless.conf <<'CONF'
name = "endless";
line_types = ( { name = "one"; letter = "P"; title = "one"; color = "#1b4f8f"; } );
events = (
    { name = "begin"; line_types = ["one"]; shape = "square"; allowed_after_on_line = [""]; allowed_after_in_thread = [""]; },
    { name = "ask"; line_types = ["one"]; shape = "circle"; wait_class = "rendezvous"; allowed_after_in_thread = ["begin"]; },
    { name = "get"; line_types = ["one"]; shape = "circle"; allowed_after_in_thread = ["begin"]; } );
CONF
like "poet check: a wait type that nothing can end is refused" "$(poet check endless.conf 2>&1)" 'endless.conf:5: "wait_class": no type can follow on its thread'

# ---- poet record --report ----
gcc -g -pthread convoy.c -o plain
poet record --report -o plain.poet ./plain >out.txt 2>report.txt
is "record --report: a report after the program has ended" "$? $(grep -c 'Run report: plain' report.txt)" "0 1"
like "record --report: the report covers the whole run" "$(cat report.txt)" "lock contention \([0-9]+ threads\): M:cache at worker \(convoy.c:7\)"
is "record --report: the program's output is unchanged" "$(cat out.txt)" ""
check "record --report: the trace is finished" finished plain.poet
mkdir empty
(cd empty && poet record --report=page.txt ../plain 2>/dev/null)
check "record --report=FILE: the report in a file, the trace under the program's name" sh -c 'test -s empty/page.txt && ls empty/plain.[0-9]*.poet'
poet record --report=page.pdf -o three.poet sh -c 'exit 3' 2>/dev/null
is "record --report: the exit status is that of the program" $? 3
bash -c 'poet record --report -o killed.poet sh -c "kill -TERM \$\$" 2>killed.txt; echo $?' >rc.txt 2>/dev/null
is "record --report: a killed program's signal is passed on" "$(cat rc.txt) $(grep -c 'Run report' killed.txt)" "143 1"
env --default-signal=INT setsid poet record --report -o interrupted.poet sleep 60 2>interrupted.txt &
group=$!
begun() { poet report interrupted.poet 2>/dev/null | grep -q '^Run report: sleep'; }
until_true begun
kill -INT -- -"$group"
wait "$group"
is "record --report: after an interrupt there is a report" "$? $(grep -c 'Run report: sleep' interrupted.txt)" "130 1"
is "record --report: a missing program exits with 127" "$(poet record --report ./nothing >/dev/null 2>&1; echo $?)" 127
done_testing
