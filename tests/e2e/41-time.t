#!/bin/bash
# Diagrams placed by time, and the overview: times in the diagram agree with those of the dump.
. "$(dirname "$0")/lib.sh"

# Reads a dump (JSON) and a diagram as text whose rows are named with the numbers of their lines. The k-th mark of a
# row is the k-th event in the diagram; the last argument gives the number of the first one, by line
# ("2:17 3:4"; 1 otherwise). Prints in how many places the diagram and the times disagree.
cat >truth.pl <<'E2'
use utf8;
binmode STDOUT, ":utf8";
my ($dump, $picture, $column_ns, $ends) = @ARGV;
my (%times, %marks, @ticks, @all);
open my $d, "<:utf8", $dump or die;
while (<$d>) {
    push @{$times{$1}}, $2 if /^\{"event":"(\d+):\d+".*"time_ns":(-?\d+)/;
}
open my $p, "<:utf8", $picture or die;
my %unit = (ns => 1, "µs" => 1e3, ms => 1e6, s => 1e9);
while (<$p>) {
    if (/^ *\|-?\d/) {
        while (/\|(-?[\d.e+]+) (ns|µs|ms|s)\b/g) { push @ticks, [$-[0], $1 * $unit{$2}] }
    } elsif (/^\S.*?#(\d+) /) {
        my ($line, $text) = ($1, $_);
        while ($text =~ /[○⊘●□■]/g) { push @{$marks{$line}}, $-[0] }
    }
}
my ($wrong, $seen) = (0, 0);
for my $line (keys %marks) {
    my @t = @{$times{$line}};
    splice @t, 0, @t - @{$marks{$line}} if $ends eq "end";
    $wrong++ if $ends eq "whole" && @t != @{$marks{$line}};
    for my $i (0 .. $#{$marks{$line}}) { push @all, [$marks{$line}[$i], $t[$i]]; $seen++ }
}
@all = sort { $a->[1] <=> $b->[1] || $a->[0] <=> $b->[0] } @all; # events of one call have the same time
my $most = -1;
for (@all) { $wrong++ if $_->[0] < $most; $most = $_->[0] if $_->[0] > $most }
my $last = -1e18;
for my $tick (@ticks) {
    my ($x, $at) = @$tick;
    $wrong++ if $at < 0 || $at <= $last;
    $last = $at;
    for (@all) {
        $wrong++ if $_->[0] > $x && $_->[1] < $at - $column_ns * 0.51;
        $wrong++ if $_->[0] < $x && $_->[1] > $at + $column_ns * 0.51;
    }
}
print "$wrong wrong, ", ($seen > 10 ? "events" : "$seen events"), ", ", (@ticks ? "ticks" : "no ticks"), "\n";
E2
# true_picture NAME COLUMN_NS WHICH EXPORT_OPTION...
true_picture() {
    name=$1 ns=$2 which=$3
    shift 3
    if ! said=$(poet export run.poet --labels id --no-legend -o picture.txt "$@" 2>&1); then
        not_ok "$name" "$said"
        return
    fi
    is "$name" "$(perl truth.pl dump.json picture.txt "$ns" "$which")" "0 wrong, events, ticks"
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
middle=$(perl -ne 'push @e, $1 if /^\{"event":"(\d+:\d+)"/; END { print $e[@e / 2] }' dump.json)

for us in 1 10 100 1000 100000 10000000; do
    true_picture "the whole run, $us us a column: times grow to the right, the ruler is correct" \
        ${us}000 whole --time=$us --all
done
true_picture "the whole run without a scale: times grow to the right" $((duration / 60)) whole --time
for us in 1 100 10000; do
    true_picture "the end of the run, $us us a column: times grow to the right" ${us}000 end --time=$us --last 60
done
# The number of events in the last tenth of the time.
last=$(perl -ne 'push @t, $1 if /^\{"event":"\d.*"time_ns":(-?\d+)/; END {
    my ($from, $to) = (sort { $a <=> $b } @t)[0, -1];
    $n++ while $n < 15 && $t[-1 - $n] > $to - ($to - $from) / 10; print $n }' dump.json)
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
# A file opens at its end; scene-N has the events in view, in the order of the diagram.
printf '%s\n' 'action time 5' 'action save-scene s1' 'action page-left' 'action save-scene s2' 'action page-left' 'action save-scene s3' 'action start' 'action save-scene s4' \
    'action time 4' 'action save-scene s5' 'action page-right' 'action save-scene s6' 'action go 50%' 'action save-scene s7' 'action time 7' 'action save-scene s8' quit >script
check "the viewer shows a file by time" script
cat >seen.pl <<'P'
my (%at, $wrong, $seen);
open my $d, "<", "dump.json" or die;
while (<$d>) { $at{$1} = $2 if /^\{"event":"(\d+:\d+)".*"time_ns":(-?\d+)/ }
for my $file (@ARGV) {
    my (@x);
    open my $f, "<", $file or die "$file";
    while (<$f>) { push @x, [$2, $at{$1}] if /^mark (\d+:\d+) row \d+ column (\d+) / }
    @x = sort { $a->[1] <=> $b->[1] || $a->[0] <=> $b->[0] } @x;
    my $most = -1;
    for (@x) { $wrong++ if $_->[0] < $most; $most = $_->[0]; $seen++ }
}
print $wrong + 0, " wrong, ", $seen > 60 ? "many" : $seen, " events\n";
P
is "the viewer by time: times grow to the right of the anchor and shrink to its left" "$(perl seen.pl s1 s2 s3 s4 s5 s6 s7 s8)" "0 wrong, many events"

printf '%s\n' 'action fit' 'state overview-bands b1' 'action time 4' 'state overview-bands b2' 'action zoom 3 600 100' 'state overview-bands b3' 'action zoom-into 0.5' 'action save-scene near' \
    'action zoom 0.1 500 100' 'state overview-bands b4' quit >script
rm -f b?
check "the viewer shows the overview of a file" script
like "the overview by order: the ruler counts events" "$(cat b1)" '^tick 0\.[0-9]+ [0-9]+$'
like "the overview by time: the ruler has times" "$(cat b2)" '^tick 0\.[0-9]+ [0-9.]+ (µs|ms|s)$'
# The share of its time that a thread waits, from the events of the dump.
cat >waits.pl <<'P'
my (%name, %from, %waited, $first, $last);
open my $d, "<", "dump.json" or die;
while (<$d>) {
    $name{$1} = $2 if /^\{"line":(\d+),.*"name":"([^"]*)"/;
    next unless /^\{"event":"(\d+):\d+","type":"([^"]*)","time_ns":(\d+),.*"thread":(\d+)/;
    my ($type, $t, $who) = ($2, $3, $4);
    $first = $t if !defined $first || $t < $first;
    $last = $t if $t > $last;
    if ($type eq "wait" || $type eq "acquire" || $type eq "join") { $from{$who} //= $t }
    elsif (defined $from{$who} && ($type eq "wake" || $type eq "lock" || $type eq "joined")) {
        $waited{$who} += $t - $from{$who};
        delete $from{$who};
    }
}
my (%said, $wrong);
open my $b, "<", "b2" or die;
while (<$b>) { $said{$1} = $4 if /^row (\d+) ([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+) T:/ }
for my $who (keys %said) {
    my $share = $waited{$who} / ($last - $first + 1);
    push @wrong, "$who: $said{$who}, not $share" if abs($said{$who} - $share) > 0.02;
}
print scalar(keys %said), " threads, ", @wrong ? join("; ", @wrong) : "right", "\n";
P
is "the overview: state bands show how long each thread waited" "$(perl waits.pl)" "4 threads, right"
range() { sed -n 's/^strips by [a-z]*, \(-*[0-9]*\) to \([0-9]*\),.*/\1 \2/p' "$1"; }
set -- $(range b2) $(range b3)
check "the overview: zooming in shows a part" test "$3" -ge "$1" -a "$4" -le "$2" -a $(($4 - $3)) -lt $((($2 - $1) / 2))
is "the overview: entering a part shows marks" "$(grep -c '^mark' near | grep -vx 0 >/dev/null && echo yes)" yes
check "the overview is restored after entering a part" test -n "$(range b4)"
printf '%s\n' 'action time 5' 'action shift-line 1 3' 'state status' quit >script
script
like "by time the viewer refuses to scroll a single line" "$(cat script.log)" 'Lines cannot be slid on the time scale'
done_testing
