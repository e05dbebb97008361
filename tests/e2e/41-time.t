#!/bin/bash
# Diagrams placed by time, and the overview: times in the diagram agree with those of the dump.
. "$(dirname "$0")/lib.sh"

by_time() { python3 "$root/tests/e2e/by-time.py" "$@"; }
# true_picture NAME COLUMN_NS WHICH EXPORT_OPTION...
true_picture() {
    name=$1 ns=$2 which=$3
    shift 3
    if ! said=$(poet export run.poet --labels id --no-legend -o picture.txt "$@" 2>&1); then
        not_ok "$name" "$said"
        return
    fi
    is "$name" "$(by_time diagram dump.json picture.txt "$ns" "$which")" "0 wrong, events, ticks"
}

# Threads that use a mutex and a condition variable, with pauses in between: bursts and silence.
cat >bursts.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static int count, idle;
static void *work(void *arg)
{
    (void)arg;
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 12; i++) {
            pthread_mutex_lock(&lock);
            idle++;
            while (count == 0)
                pthread_cond_wait(&more, &lock);
            idle--;
            count--;
            pthread_mutex_unlock(&lock);
        }
        usleep(3000);
    }
    return NULL;
}
int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 144; i++) {
        if (i % 48 == 47) { /* when the queue is empty, and a thread waits for more */
            usleep(20000);
            for (int waits = 0; !waits; usleep(1000)) {
                pthread_mutex_lock(&lock);
                waits = idle && !count;
                pthread_mutex_unlock(&lock);
            }
        }
        pthread_mutex_lock(&lock);
        count++;
        pthread_cond_signal(&more);
        pthread_mutex_unlock(&lock);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
C
poetcc -trace -g bursts.c -o bursts -lpthread
check "a program in bursts runs" ./bursts
mv "$(trace_of bursts)" run.poet
until_true finished run.poet
poet dump run.poet --json >dump.json
duration=$(figure run.poet duration_ns)
sed -n 's/^{"event":"\([0-9]*:[0-9]*\)".*/\1/p' dump.json >events
middle=$(sed -n $(($(wc -l <events) / 2 + 1))p events)

for us in 1 10 100 1000 100000 10000000; do
    true_picture "the whole run, $us us a column: times grow to the right, the ruler is correct" \
        ${us}000 whole --time=$us --all
done
true_picture "the whole run without a scale: times grow to the right" $((duration / 60)) whole --time
for us in 1 100 10000; do
    true_picture "the end of the run, $us us a column: times grow to the right" ${us}000 end --time=$us --last 60
done
# The number of events in the last tenth of the time.
last=$(sed -n 's/^{"event":"[0-9].*"time_ns":\(-*[0-9]*\).*/\1/p' dump.json | awk '
    { time[NR] = $1 }
    NR == 1 || $1 < from { from = $1 }
    NR == 1 || $1 > to { to = $1 }
    END {
        while (n < 15 && time[NR - n] > to - (to - from) / 10) n++
        print n
    }')
poet export run.poet --time=100 --last "$last" -o last.txt --no-legend
poet export run.poet --time=100 --all -o all.txt --no-legend
[ "$(wc -c <last.txt)" -lt $(($(wc -c <all.txt) / 3)) ] && ok "--last limits a diagram placed by time" ||
    not_ok "--last limits a diagram placed by time" "$(wc last.txt all.txt)"
check "--around exports a diagram placed by time" poet export run.poet --time=100 --around "$middle" -o around.txt
check "--from exports a diagram placed by time" poet export run.poet --time=100 --from "$middle" --all -o from.txt
like "--from --all exports less than the whole run" "$(wc -l <from.txt) $(($(wc -c <from.txt) < $(wc -c <all.txt)))" ' 1$'
for ending in svg pdf png; do
    check "--time without a scale exports $ending" poet export run.poet --time --last 200 -o time.$ending
done

# Too many events for a mark each, and no scale given: state bands are drawn.
cat >much.c <<'C'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg)
{
    for (int i = 0; i < 20000; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
C
poetcc -trace -g much.c -o much -lpthread && ./much 2>/dev/null
until_true finished "$(trace_of much)"
for ending in pdf svg png; do
    check "a long run without a scale exports $ending" poet export "$(trace_of much)" --time -o much.$ending
done
pdftotext much.pdf much.words # text without its order, since a diagram is not running text
is "a long run without a scale has state bands" "$(grep -oE '^(T:main|running|blocked)' much.words | sort -u | tr '\n' ' ')" "T:main blocked running "
poet export "$(trace_of much)" --time -o again.pdf 2>/dev/null
check "a long run without a scale exports the same bytes each time" cmp much.pdf again.pdf
poet export "$(trace_of much)" --time --last 30 -o part.pdf 2>said
is "a part of a long run has marks" "$(cat said)" ""

# ---- Perfetto: slices that its importer would drop ----
cat >nests.py <<'P'
import collections, json, sys
trace = json.load(open(sys.argv[1], encoding="utf-8"))["traceEvents"]
dump = [json.loads(l) for l in open(sys.argv[2], encoding="utf-8")]
events = sorted(e["event"] for e in dump if "event" in e and not e["event"].startswith("h"))
wrong = []
stacks, slices, last = collections.defaultdict(list), collections.defaultdict(list), {}
names, instants, flows = {}, [], collections.defaultdict(list)
for e in trace:
    track = (e["pid"], e["tid"])
    if e["ph"] == "M":
        names.setdefault(track, {})[e["name"]] = e["args"]
    elif e["ph"] in "BEi":
        if e["ts"] < last.get(track, 0):
            wrong.append("time goes back on a track")
        last[track] = e["ts"]
        if e["ph"] == "B":
            stacks[track].append((e["name"], e["ts"]))
        elif e["ph"] == "E":
            if not stacks[track]:
                wrong.append("an end without a begin")
            else:
                name, begin = stacks[track].pop()
                slices[track].append((begin, e["ts"], name))
        else:
            instants.append(e["args"]["event"])
            if not stacks[track]:
                wrong.append("an instant outside all slices")
    elif e["ph"] in "sf":
        flows[e["id"]].append((e["ph"], e["ts"], track))
    else:
        wrong.append("phase " + e["ph"])
wrong += ["a slice that never ends" for s in stacks.values() if s]
for track, found in slices.items():  # all pairs, whatever the stacks are
    for a, b, _ in found:
        for c, d, _ in found:
            if a < c < b < d:
                wrong.append("slices that overlap")
    if not {"process_name", "thread_name"} <= set(names.get(track, {})):
        wrong.append("a track without names")
for ends in flows.values():
    if [k for k, _, _ in ends] != ["s", "f"] or ends[0][1] > ends[1][1]:
        wrong.append("a flow that does not begin before it ends")
    for _, ts, track in ends:
        if not any(a <= ts < b for a, b, _ in slices[track]):
            wrong.append("a flow outside all slices")
if sorted(instants) != events:
    wrong.append("other events than in the dump")
said = {n.split(":")[0].split(" ")[0] for found in slices.values() for _, _, n in found}
print(sorted(set(wrong)), "flows" if flows else "no flows", sorted(said & {"running", "blocked", "in"}))
P
check "export --format chrome of a program in bursts" poet export run.poet --format chrome -o run.chrome
is "Perfetto: slices nest, all events exist, flows start and end in slices" \
   "$(python3 nests.py run.chrome dump.json)" "[] flows ['blocked', 'in', 'running']"
like "Perfetto: a wait for a condition variable has a duration" \
     "$(grep -o '"ph":"B","name":"blocked: [^"]*' run.chrome | sort | uniq -c)" '"blocked: CV:more'
like "Perfetto: the process has its name" "$(grep -m 1 process_name run.chrome)" '"args":\{"name":"bursts"\}'
compile deadlock -lpthread
./deadlock >/dev/null 2>&1 &
hanging=$!
pids="$pids $hanging"
hangs() { poet blocked "$(trace_of deadlock)" --json | grep -q '"cycles":\[\['; }
until_true hangs
kill -KILL $hanging
wait $hanging 2>/dev/null
until_true finished "$(trace_of deadlock)"
poet dump deadlock.[0-9]*.poet --json >deadlock.json
poet export deadlock.[0-9]*.poet --format chrome -o deadlock.chrome
like "Perfetto: a blocked thread waits until the end" "$(python3 nests.py deadlock.chrome deadlock.json)" "^\[\] .*'blocked'"

# ---- the viewer: by time, and the overview ----
. "$root/tests/e2e/display.sh"
script() { timeout 300 poet view run.poet --script script >script.log 2>&1; }
# From the end of the run on; sN has the events in view, in the order of the diagram.
printf '%s\n' 'action time 0; action end' 'action time 5' 'state scene s1' 'action page-left' 'state scene s2' 'action page-left' 'state scene s3' 'action start' 'state scene s4' \
    'action time 4' 'state scene s5' 'action page-right' 'state scene s6' 'action go 50%' 'state scene s7' 'action time 7' 'state scene s8' quit >script
check "the viewer shows a file by time" script
is "the viewer by time: times grow to the right of the anchor and shrink to its left" \
    "$(by_time scenes dump.json s1 s2 s3 s4 s5 s6 s7 s8)" "0 wrong, many events"

printf '%s\n' 'action time 0; action end' 'action fit' 'state overview-bands b1' 'action time 4' 'state overview-bands b2' 'action zoom 3 600 100' 'state overview-bands b3' 'action zoom-into 0.5' 'state scene near' \
    'action zoom 0.1 500 100' 'state overview-bands b4' quit >script
rm -f b?
check "the viewer shows the overview of a file" script
like "the overview by order: the ruler counts events" "$(cat b1)" '^tick 0\.[0-9]+ [0-9]+$'
like "the overview by time: the ruler has times" "$(cat b2)" '^tick 0\.[0-9]+ [0-9.]+ (µs|ms|s)$'
is "the overview: state bands show how long each thread waited" \
    "$(by_time waits dump.json b2)" "4 threads, right"
range() { sed -n 's/^strips by [a-z]*, \(-*[0-9]*\) to \([0-9]*\),.*/\1 \2/p' "$1"; }
set -- $(range b2) $(range b3)
check "the overview: zooming in shows a part" test "$3" -ge "$1" -a "$4" -le "$2" -a $(($4 - $3)) -lt $((($2 - $1) / 2))
is "the overview: entering a part shows marks" "$(grep -c '^mark' near | grep -vx 0 >/dev/null && echo yes)" yes
check "the overview is restored after entering a part" test -n "$(range b4)"
printf '%s\n' 'action time 0; action end' 'action time 5' 'action line-left 1' 'state status' quit >script
script
like "by time the viewer refuses to scroll a single line" "$(cat script.log)" 'Lines cannot be slid on the time scale'
done_testing
