#!/bin/bash
# poet source: run time, wait time and caused wait time of each source line; as text, JSON, CSV, PDF, and in the viewer.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 C_INCLUDE_PATH="$root/tests/e2e" # asleep.h
mkdir "a dir"
cat >"a dir/Wärte zwei.c" <<'C'
#define _GNU_SOURCE
#include "asleep.h"
#include <stdint.h>
#define NI __attribute__((no_instrument_function))
static struct sleeper the_fast_one;
static pthread_barrier_t both;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;
static int64_t in_extra, at_extra, at_barrier[2];
NI static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}
NI static void rest(int ms)
{
    struct timespec t = {0, ms * 1000000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}
NI static void nap(int ms)
{
    int64_t from = now();
    rest(ms);
    in_extra += now() - from;
}
static void common(int ms)
{
    rest(ms);
}
static void extra(int ms) { nap(ms); } /* EXTRA */
static void *run(void *p)
{
    int slow = p != NULL;
    pthread_setname_np(pthread_self(), slow ? "slow" : "fast");
    common(slow ? 30 : 20);
    if (slow)
        until_asleep(&the_fast_one, 1); /* at the barrier */
    else
        about_to_wait(&the_fast_one);
    int64_t from = now();
    if (slow)
        extra(40); /* FIRST */
    at_extra += slow ? now() - from : 0;
    from = now();
    pthread_barrier_wait(&both); /* BARRIER */
    at_barrier[slow] = now() - from;
    common(10);
    if (slow)
        until_asleep(&the_fast_one, 2); /* at the condition variable */
    from = now();
    if (slow)
        extra(25); /* SECOND */
    at_extra += slow ? now() - from : 0;
    pthread_mutex_lock(&m);
    if (slow) {
        ready = 1;
        pthread_cond_signal(&c);
        rest(5);
    }
    if (!slow)
        about_to_wait(&the_fast_one);
    while (!ready)
        pthread_cond_wait(&c, &m); /* CONDITION */
    pthread_mutex_unlock(&m);
    return p;
}
int main(void)
{
    pthread_t a, b;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&a, NULL, run, &m);
    pthread_create(&b, NULL, run, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%lld %lld %lld\n", (long long)in_extra, (long long)at_extra, (long long)(at_barrier[0] + at_barrier[1]));
}
C
source="$work/a dir/Wärte zwei.c"
poetcc -profile -g -pthread "$source" -o measured
poetcc -trace -g -pthread "$source" -o plain
read -r in_extra at_extra at_barrier < <(POET_OUTPUT=measured.poet ./measured)
POET_OUTPUT=plain.poet ./plain >/dev/null
until_true finished measured.poet
until_true finished plain.poet

line() { grep -n -- "/\* $1 \*/" "$source" | cut -d: -f1; }
between() { # between NAME VALUE LEAST MOST
    if [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then ok "$1"; else not_ok "$1" "got: $2, not $3 to $4"; fi
}
status() { "$@" >/dev/null 2>err; echo $?; }

# ---- sums over all lines equal those of the other tables ----
for run in measured plain; do
    poet source $run.poet --json >files.json
    poet source $run.poet "Wärte zwei.c" --json >lines.json
    poet source $run.poet "(unknown)" --json >rest.json 2>/dev/null || : >rest.json
    poet waits $run.poet --json >waits.json
    poet path $run.poet --json >path.json
    for figure in waited_ns caused_wait_ns; do
        is "$run: $figure of all files is that of all waits" "$(json total.$figure files.json)" "$(json total.waited_ns waits.json)"
    done
    is "$run: time on the path is the path's length" "$(json total.path_ns files.json)" "$(json total.length_ns path.json)"
    for figure in waited_ns caused_wait_ns path_ns ran_ns; do
        is "$run: $figure: known and unknown lines add up" \
            "$(($(json "sum(rows.$figure)" lines.json) + $(json "sum(rows.$figure)" rest.json)))" "$(json total.$figure files.json)"
    done
done
poet source measured.poet --json >files.json
poet source measured.poet "Wärte zwei.c" --all --json >lines.json
poet source measured.poet "(unknown)" --json >rest.json
poet calls measured.poet --json >calls.json
is "self time of all lines is that of all functions" "$(json total.self_ns files.json)" "$(json total.self_ns calls.json)"
is "self time of single lines adds up to that of all functions" \
    "$(($(json 'sum(rows.self_ns)' lines.json) + $(json 'sum(rows.self_ns)' rest.json)))" "$(json total.self_ns calls.json)"
is "calls of all lines are those of all functions" "$(json total.calls files.json)" "$(json total.calls calls.json)"
poet source plain.poet --json >plain.json
is "without a profile the number of calls is unknown" "$(json total.calls plain.json)" null
like "without a profile a note explains it" "$(poet source plain.poet)" "no function profile: compile with poetcc -profile"

# ---- against the program's own clock ----
at() { json "sum(rows | select(.line == $(line "$1") and .last == null).$2)" lines.json; }
between "the self time of extra() is what the program measured" "$(at EXTRA self_ns)" "$in_extra" "$at_extra"
is "extra() has no wait time" "$(at EXTRA waited_ns)" 0
is "extra() was called once from each of two lines" "$(at FIRST calls) $(at SECOND calls)" "1 1"
between "the total time of the calling lines is what the program measured" "$(($(at FIRST total_ns) + $(at SECOND total_ns)))" "$in_extra" "$at_extra"
is "the called time of the calling lines is the self time of extra()" "$(($(at FIRST called_ns) + $(at SECOND called_ns)))" "$(at EXTRA self_ns)"
between "the self time of a call that waits is at its line" "$(at BARRIER self_ns)" 1000000 "$at_barrier"
between "the wait time at the barrier is at most the time of the call" "$(at BARRIER waited_ns)" 1000000 "$at_barrier"
is "the wait time at the barrier is that of poet waits" "$(at BARRIER waited_ns)" \
    "$(poet waits measured.poet --by site --json |
        json "sum(rows | select(.location // \"\" | test(\"^run [(].*:$(line BARRIER)[)]\")).waited_ns)")"

poet source measured.poet "Wärte zwei.c" --threads fast --json >fast.json
poet waits measured.poet --threads fast --tree --json >charged.json
made=$(json "sum(rows | select(.line == $(line EXTRA)).caused_wait_ns)" fast.json)
is "the caused wait time of extra() is that of poet waits" "$made" \
    "$(json "sum(rows | select(.segment // \"\" |
        test(\"^extra [(][^)]*:$(line EXTRA)[)]( < .*)?$\")).attributed_ns)" charged.json)"
between "the caused wait time of extra() is at most its run time" "$made" 1000000 "$at_extra"

# ---- the same figures in each format ----
poet source measured.poet "Wärte zwei.c" >lines.txt
poet source measured.poet "Wärte zwei.c" --csv >lines.csv
poet source measured.poet "Wärte zwei.c" --json >lines.json
sum_of_csv() { # sum_of_csv COLUMN FILE
    python3 -c 'import csv, sys
column, file = sys.argv[1:]
print(sum(int(row[column] or 0) for row in csv.DictReader(open(file, newline="", encoding="utf-8"))))' "$@"
}
for figure in self_ns waited_ns caused_wait_ns path_ns calls; do
    is "source --csv: $figure equals that of JSON" "$(sum_of_csv $figure lines.csv)" "$(json "sum(rows.$figure)" lines.json)"
done
is "source as text has the same lines" "$(sed '1,2d;/^note: /d' lines.txt | grep -c 'EXTRA\|FIRST\|SECOND\|BARRIER\|CONDITION')" 5
# self_ms NAME: its self time in lines.json, as text has it
self_ms() {
    printf '%.3f' "$(json "first(rows | select(.line == $(line "$1") and .self_ns)).self_ns" lines.json)e-6"
}
like "source as text has the figures" "$(grep EXTRA lines.txt)" "$(self_ms EXTRA)"
poet source measured.poet "Wärte zwei.c" -o lines.pdf
poet source measured.poet "Wärte zwei.c" -o again.pdf
check "source as PDF has the same bytes each time" cmp lines.pdf again.pdf
pdftotext -layout lines.pdf - >lines.pdf.txt
is "source as PDF has the rows of the text" "$(grep -E 'EXTRA|BARRIER|FIRST' lines.pdf.txt | tr -s ' ' | sed 's/^ //')" \
    "$(grep -E 'EXTRA|BARRIER|FIRST' lines.txt | tr -s ' ' | sed 's/^ //')"
for form in svg png txt; do check "source -o writes $form" poet source measured.poet "Wärte zwei.c" -o lines.$form; done
is "source -o writes the printed text to a file" "$(cat lines.txt)" "$(poet source measured.poet "Wärte zwei.c")"

# ---- selection of lines ----
is "source of one function" "$(poet source measured.poet "Wärte zwei.c" extra --context 0 --json | json '[rows] | length')" 1
like "source --all has all lines of a file" "$(poet source measured.poet "Wärte zwei.c" --all --csv | wc -l)" "^($(wc -l <"$source")|[0-9]{2,3})$"
is "source --context 0 has no line without a figure" "$(poet source measured.poet "Wärte zwei.c" --context 0 --json >bare.json
    json '[rows | select(.share == null)] | length' bare.json)" 0
is "source --top 2 has the two heaviest lines" "$(poet source measured.poet "Wärte zwei.c" --context 0 --top 2 --json |
    json '[rows] | length')" 2
is "source --sort --top has the first file" "$(poet source measured.poet --sort calls --top 1 --csv --columns file | tr -d '\r' | sed 1d)" "$source"
is "source accepts the end of a file's path" "$(poet source measured.poet "a dir/Wärte zwei.c" --json)" "$(poet source measured.poet "$source" --json)"
is "source of an unknown file exits with 2" "$(status poet source measured.poet nowhere.c)" 2
like "source of an unknown file lists the files of the run" "$(cat err)" "no events or samples of this run are in it; source files: .*Wärte zwei.c"
is "source of an unknown function exits with 2" "$(status poet source measured.poet "Wärte zwei.c" absent)" 2
is "source --sort of lines exits with 2" "$(status poet source measured.poet "Wärte zwei.c" --sort calls)" 2
is "source --sort with an unknown column exits with 2" "$(status poet source measured.poet --sort nothing)" 2
is "source with too many operands exits with 2" "$(status poet source measured.poet a b c)" 2
poet source measured.poet --from 1ms --json >part.json
is "source --from: calls are unknown in a part of the run" "$(json total.calls part.json)" null
like "source --from: a note explains it" "$(poet source measured.poet --from 1ms)" "calls are sums over each thread's lifetime and are omitted for a part of the run"

is "bash completes the files of a run" "$(bash -c 'eval "$(poet --completion bash)"; COMP_LINE="poet source measured.poet W"
    COMP_POINT=${#COMP_LINE}; _poet; printf "%s" "${COMPREPLY[@]}"')" 'Wärte\ zwei.c'

# ---- inlined functions, and C++ ----
cat >lock.h <<'C'
#include <mutex>
struct box {
    std::mutex m;
    long n = 0;
    inline void add(long k)
    {
        std::lock_guard<std::mutex> hold(m);
        n += k;
    }
};
C
cat >inlined.cc <<'C'
#include "lock.h"
#include <thread>
box shared;
template <class T> __attribute__((noinline)) void work(T k)
{
    shared.add(k); /* INLINED */
}
int main()
{
    std::thread a([] { for (int i = 0; i < 20; i++) work(1); });
    std::thread b([] { for (int i = 0; i < 20; i++) work(2L); });
    a.join();
    b.join();
}
C
poetcc++ -trace -O2 -g inlined.cc -o inlined -pthread
POET_OUTPUT=inlined.poet ./inlined
until_true finished inlined.poet
poet source inlined.poet inlined.cc --json >inlined.json
at=$(grep -n INLINED inlined.cc | cut -d: -f1)
like "an inlined lock is at the line of its outermost call" \
    "$(json "[rows | select(.line == $at and .ran_ns).function] | sort | join(\" \")" inlined.json)" '^void work<int>.* void work<long>'
is "an inlined lock is not at the line of its header" "$(status poet source inlined.poet lock.h)" 2
is "time around a loop without a line has its own row" \
    "$(json '[rows | select(.text == "(from here to here again)")] | length > 1' inlined.json)" true

is "source of all instances of a template" \
    "$(poet source inlined.poet inlined.cc work --json | json 'sum(rows.ran_ns) > 0')" true

# ---- modified and missing sources ----
touch -d '+1 day' "$source"
like "a source file modified after the run is noted" "$(poet source measured.poet)" "modified after the run"
like "a source file modified after the run is noted at its lines" "$(poet source measured.poet "Wärte zwei.c" extra)" "was modified after the run"
mkdir -p elsewhere/deep
mv "$source" "elsewhere/deep/Wärte zwei.c"
poet source measured.poet "Wärte zwei.c" --json >gone.json
like "a missing source file is noted" "$(json '.[-1].notes[]' gone.json)" "Wärte zwei.c: not found"
is "figures of a missing source file remain" \
    "$(json 'sum(rows.self_ns)' gone.json)" "$(json 'sum(rows.self_ns)' bare.json)"
is "source --path maps a directory" "$(poet source measured.poet "Wärte zwei.c" --path "$work/a dir=$work/elsewhere/deep" --context 0 | grep -c BARRIER)" 1
is "source --path matches whole directory names only" "$(poet source measured.poet "Wärte zwei.c" --path "$work/a d=$work/elsewhere/deep" --context 0 | grep -c BARRIER)" 0
is "source --path accepts a directory alone" "$(poet source measured.poet "Wärte zwei.c" --path "$work/elsewhere/deep" --context 0 | grep -c BARRIER)" 1
mkfifo "$source"
like "source does not open a FIFO" "$(timeout 20 poet source measured.poet "Wärte zwei.c" extra)" "no regular file: not read"
rm "$source"
truncate -s 1G "$source"
like "source does not read a file of 1 GB" "$(ulimit -v 900000; poet source measured.poet "Wärte zwei.c" extra)" "larger than 8 MiB: not read"
rm "$source"
printf 'no line\0of it\033[2J\n\377\n' >"$source"
is "source prints no control characters of a file" "$(poet source measured.poet "Wärte zwei.c" --all | grep -c "$(printf '\033')")" 0
rm "$source"
mv "elsewhere/deep/Wärte zwei.c" "$source"

# ---- in the viewer ----
. "$root/tests/e2e/display.sh"
cat >editor <<'E'
#!/bin/sh
echo "$@" >>edited
E
chmod +x editor
poet source measured.poet "Wärte zwei.c" --all --json >lines.json
row=$(json "[rows | .line == $(line BARRIER) and .waited_ns != null] | index(true)" lines.json)
events=$(poet dump --json measured.poet | grep "\"site\":\"[^\"]*:$(line BARRIER)\"" |
    sed 's/.*"event":"\([0-9:]*\)".*/\1/' | sort -u | tr '\n' ' ')
there=$(poet dump --json measured.poet | grep "\"site\":\"[^\"]*:$(line CONDITION)\"" | sed 's/.*"event":"\([0-9:]*\)".*/\1/' | head -n 1)
cat >script <<E
action start
action show-source
state table table
action select-row $row
state highlights marks
action activate-row
await edited
state table selected
action show-states
action select $there
action show-source
state table revealed
action save page.pdf tab
quit
E
VISUAL="$work/editor" timeout 100 poet view measured.poet --script script >log 2>&1
is "the tab of source lines has the lines of the file" "$(tail -n +2 table | cut -f4 | grep -c 'EXTRA\|FIRST\|SECOND\|BARRIER\|CONDITION')" 5
is "the tab of source lines has the figures of poet source" "$(grep EXTRA table | cut -f6)" "$(self_ms EXTRA)"
is "selecting a line marks its events" \
    "$(sed 's/^events //;s/ lines.*//' marks | tr ' ' '\n' | sort -u | tr '\n' ' ')" "$events"
like "selecting a line marks its threads" "$(cat marks)" " lines [0-9]+ [0-9]+$"
is "Enter opens the editor at the line" "$(cat edited)" "+$(line BARRIER) $source"
like "the line remains selected after Enter" "$(grep '^\*' selected)" "BARRIER"
like "a selected event selects its source line" "$(grep '^\*' revealed)" "CONDITION"

poet source measured.poet "Wärte zwei.c" --all -o whole.pdf
is "the tab is saved with the figures of poet source" "$(pdftotext -layout page.pdf - | grep -E 'EXTRA|BARRIER|FIRST|CONDITION' | tr -s ' ')" \
    "$(pdftotext -layout whole.pdf - | grep -E 'EXTRA|BARRIER|FIRST|CONDITION' | tr -s ' ')"

# ---- accessibility (AT-SPI) ----
launcher=/usr/libexec/at-spi-bus-launcher
if [ ! -x $launcher ] || ! /usr/bin/python3 -c 'import gi; gi.require_version("Atspi", "2.0")' 2>/dev/null; then
    skip "AT-SPI is not available"
    done_testing
    exit
fi
export PYTHONPATH=$root/tests/e2e PYTHONDONTWRITEBYTECODE=1
cat >reader.py <<'P'
from atspi import until

print("table", until(lambda a: a.get_name() == "Source" and a.get_role_name() in ("table", "tree table")))
print("text", until(lambda a: "CONDITION" in (a.get_name() or "")))
print("files", until(lambda a: a.get_name() == "Files by share of time"))
print("find", until(lambda a: a.get_name() == "Find in this file (Ctrl+F)"))
P
export launcher
printf 'action show-source\naction select %s\n' "$there" >script
timeout 100 dbus-run-session -- bash -c 'export GTK_A11Y=atspi
    $launcher --launch-immediately &
    until dbus-send --session --print-reply --dest=org.a11y.Bus /org/a11y/bus org.a11y.Bus.GetAddress; do sleep 0.05; done >/dev/null 2>&1
    poet view measured.poet --script script & viewer=$!
    /usr/bin/python3 -uW ignore reader.py; kill $viewer %1' >said 2>log
for part in table text files find; do is "AT-SPI: $part" "$(grep "^$part " said)" "$part True"; done
done_testing
