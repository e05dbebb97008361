#!/bin/bash
# Call trees as icicles: in files, as text and in the viewer, with the same figures; ranges of a run.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
status() { "$@" >/dev/null 2>&1; echo $?; }
start_server -o traces/ -q

cat >called.c <<'END'
const char part_of_k[] = "sorting; all";
void f(void) {}
void g(void) {}
void k(void) {}
void r(void) {}
int main(void) { f(); g(); k(); r(); }
END
check "called.c compiles" cc -g -pie -fPIE called.c -o called
check "a client sends its function profile" /usr/bin/python3 "$root/tests/e2e/region.py" "$work/called" end
run=$(ls traces/called-*.poet)

# ---- files ----
for form in pdf svg png; do check "calls --tree -o writes $form" poet calls --tree "$run" -o "tree.$form"; done
for form in pdf svg png; do
    poet calls --tree "$run" -o "again.$form"
    check "calls --tree -o writes the same bytes of $form each time" cmp "tree.$form" "again.$form"
done
pdftotext -layout tree.pdf - >tree.txt
# in_picture NAME: the time in the box of that name
in_picture() { grep -oE "(^|[[:space:]])$1 (\([^ ]+\))? *[0-9.]+ ms" tree.txt | sed 's/ ms$//; s/.* //; q'; }
cell() {
    poet calls --tree "$run" --csv --columns function,total | tr -d '\r' |
        awk -F, -v name="$1 (" 'index($0, name) == 1 { print $2 / 1e6; exit }'
}
is "the root box is the lifetimes of all threads" "$(grep -o 'lifetimes of all threads *[0-9.]* ms' tree.txt | tr -s ' ')" "lifetimes of all threads 140.000 ms"
is "a box has the figure of the table" "$(for name in main g; do printf '%g ' "$(in_picture $name)"; done)" "$(for name in main g; do printf '%g ' "$(cell $name)"; done)"
like "the legend explains the colors" "$(tr -s ' ' <tree.txt)" "called\.c waiting or in a system call"
like "the icicle has the notes of the table" "$(tr -s ' \n' ' ' <tree.txt)" "total 140.000 ms in 2 threads, 20.000 ms .* outside functions"
like "the icicle as SVG has its words as text" "$(cat tree.svg)" ">main \(called.c:6\)  90.000 ms<"
check "--grayscale writes a PNG" poet calls --tree "$run" -o grey.png --grayscale
is "--grayscale uses no color" "$(pdftoppm -v >/dev/null 2>&1; poet calls --tree "$run" -o grey.pdf --grayscale && pdftoppm -r 40 grey.pdf grey &&
    tail -n +4 grey-1.ppm | od -An -v -w3 -tu1 | awk '$1 != $2 || $2 != $3 { n++ } END { if (NR) print n + 0 }')" 0
is "--columns writes the table instead" "$(poet calls --tree "$run" --columns function,calls -o table.pdf && pdftotext -layout table.pdf - | grep -c '^ *[a-z].*[0-9]$')" \
    "$(poet calls --tree "$run" --columns function,calls | grep -c '^ *[a-z].*[0-9]$')"

# ---- the call graph ----
check "calls --chart tree writes a call graph" poet calls --chart tree "$run" -o graph.pdf
check "calls --chart tree writes the same bytes each time" sh -c 'poet calls --chart tree "$1" -o graph2.pdf && cmp graph.pdf graph2.pdf' sh "$run"
pdftotext -layout graph.pdf - | tr -s ' \n' '\n' >graph.txt
words() { pdftotext graph.pdf - | tr -s '\n' ' '; }
like "the call graph has the figures of the table" "$(words)" "total 90.000 ms, self 10.000 ms"
is "the call graph's arrows have the counts of poet calls --graph" "$(pdftotext graph.pdf - | grep -xE '[0-9]+' | sort -n | paste -sd' ')" \
    "$(poet calls --graph --json "$run" | json '[.[] | select(.depth > 0).row.calls] | sort[]' | paste -sd' ')"
like "the call graph marks recursion cycles" "$(words)" "cycle 1"
is "calls --chart tree without -o exits with 2" "$(status poet calls --chart tree "$run")" 2

# ---- widths ----
widths() { poet calls --chart icicle "$run" "$@" | sed -n 2p | tr -s ' |' ' '; }
poet calls --json "$run" >calls.json
is "--width-of: the default width is total" "$(widths)" " lifetimes of all threads 140.000 ms "
is "--width-of calls: the width is calls" "$(widths --width-of calls)" " all $(json total.calls calls.json) "
is "--width-of self: the width is self" "$(widths --width-of self)" \
    " all $(printf '%.3f' "$(json total.self_ns calls.json)e-6") ms "
is "--width-of cpu_ns: the width is CPU time" "$(widths --width-of cpu_ns)" \
    " all $(printf '%.3f' "$(json total.cpu_ns calls.json)e-6") ms "
like "--width-of: an unknown column gets a suggestion" "$(poet calls --tree --width-of totl "$run" -o x.pdf 2>&1)" '--width-of: unknown column "totl"; did you mean "total"'
is "--width-of: an unknown column exits with 2" "$(status poet calls --tree --width-of totl "$run" -o x.pdf)" 2
is "--width-of: a share is refused" "$(status poet calls --tree --width-of self_share "$run" -o x.pdf)" 1
is "calls: an unknown chart exits with 2" "$(status poet calls --chart pie "$run")" 2
is "calls --chart icicle as CSV exits with 2" "$(status poet calls --chart icicle "$run" -o x.csv)" 2
is "calls --chart icicle -o writes the printed text to a file" "$(poet calls --chart icicle "$run" -o letters.txt && cmp letters.txt <(poet calls --chart icicle "$run"))" ""

# ---- parts of a run ----
cat >phases.c <<'C'
#include <pthread.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
volatile long sum;
__attribute__((noinline)) void leaf(void) { for (int i = 0; i < 100000; i++) sum++; }
__attribute__((noinline)) void early(double end) { while (now() < end) leaf(); }
__attribute__((noinline)) void late(double end) { while (now() < end) leaf(); }
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void sign(void) { pthread_mutex_lock(&m); sum++; pthread_mutex_unlock(&m); }
int main(void) { double begin = now(); sign(); early(begin + 4.4); sign(); late(begin + 5.6); sign(); return 0; }
C
poetcc -profile -ignore=now,sign -g -no-pie -O1 phases.c -o phases -pthread
POET_OUTPUT=phases.poet ./phases
until_true finished phases.poet
notes() { json '.[-1].notes[]' "$1"; }
poet calls --json phases.poet >whole.json
poet calls --json --to 500ms phases.poet >begin.json
like "--from: the note has the times of the sums" "$(notes begin.json)" \
    "covers 0\.[0-9]+ s to [0-9.]+ s: profile snapshots are about 1 s apart, .*not interpolated"
signs() { poet dump --json phases.poet | grep '"type":"lock"' | grep -o '"event":"1:[0-9]*"' | cut -d'"' -f4 | sed -n "$1p"; }
# The first time after the start at which sums were saved, in ms.
at=$(notes begin.json | sed -n 's/.* to \([0-9.]*\) s: profile.*/\1/p')
around() { awk "BEGIN { printf \"%.3f\", $at + $1 }"; }
poet calls --json --to "$(around -0.002)s" phases.poet >before.json
poet calls --json --from "$(around 0.002)s" phases.poet >after.json
is "--to: the part ends where sums were saved" "$(notes before.json | grep -o 'to [0-9.]* s:')" "to $at s:"
is "--from: the part starts where sums were saved" "$(notes after.json | grep -o 'covers [0-9.]* s')" "covers $at s"
sums() { # sums FUNCTION COLUMN FILE...
    cat "${@:3}" | json "sum(row(\"$1\").$2)"
}
for column in calls concurrent self_ns total_ns; do
    is "both parts add up to the whole: $column" "$(for f in leaf early late main; do sums $f $column before.json after.json; done)" \
        "$(for f in leaf early late main; do sums $f $column whole.json; done)"
done
# Whether a call that was open at that time ran since it resumed is known later: then it is in neither part.
is "CPU time of both parts is at most the whole" "$(for f in leaf early late main; do
    [ "$(sums $f cpu_ns before.json after.json)" -le "$(sums $f cpu_ns whole.json)" ] || echo $f; done)" ""
is "a function without a call in the part has no row" "$(grep -c '"function":"late ' before.json)" 0
is "minimum and maximum are unknown in a part" "$(sums leaf min_ns after.json)" 0
is "a range after the end has no profile" "$(poet calls phases.poet --from 90s | grep -c 'no thread with a function profile existed in this range')" 1
is "--tree --from as PDF covers the range" "$(poet calls --tree --from "$(around 0.002)s" phases.poet -o part.pdf && pdftotext -layout part.pdf - | tr -s ' \n' ' ' | grep -o "covers $at s")" "covers $at s"
like "a run with final sums only refuses a range" "$(poet calls "$run" --from 1ms 2>&1)" "only the final profile of this run was saved: it cannot be restricted to a range"
like "--past-of is refused" "$(poet calls phases.poet --past-of 1:1 2>&1)" "is unknown for the causal past of an event"

# ---- long names ----
long=$(printf 'word_%.0s' $(seq 140))last
printf '__attribute__((noinline)) void %s(void) { for (volatile long i = 0; i < 60000000; i++); }\nint main(void) { %s(); return 0; }\n' "$long" "$long" >long.c
poetcc -profile -g -no-pie -O1 long.c -o long
POET_OUTPUT=long.poet ./long
until_true finished long.poet
is "a long name is complete in CSV" "$(poet calls --csv --columns function long.poet | grep -c "^$long (long.c:1)")" 1
poet calls --tree long.poet -o long.pdf -w 84mm
like "a long name is cut in its middle in a PDF" "$(pdftotext long.pdf -)" "^word_word_.*….*last$"

# ---- waits ----
compile stages -pthread && ./stages >/dev/null 2>&1
stages=$(ls -t traces/stages-*.poet | head -n 1)
until_true finished "$stages"
like "calls --tree without a profile has nothing to draw" "$(poet calls --tree "$stages" -o x.pdf 2>&1)" "nothing to draw: no function profile"
check "waits --tree writes a PDF" poet waits --tree "$stages" -o waits.pdf
like "waits --tree has the attribution" "$(pdftotext -layout waits.pdf -)" "T:packer"
is "waits --tree: the width is all wait time" "$(pdftotext -layout waits.pdf - | grep -oE '^all +[0-9.]+ ms' | tr -s ' ')" \
    "all $(printf '%.3f' "$(poet waits --json "$stages" | json total.waited_ns)e-6") ms"

# ---- the viewer's tab: the same figures ----
cat >work.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
volatile long sum;
__attribute__((noinline)) void locked(void) { pthread_mutex_lock(&m); sum++; pthread_mutex_unlock(&m); }
__attribute__((noinline)) void work(int n) { for (int i = 0; i < n; i++) locked(); sum++; }
__attribute__((noinline)) void idle(void) { for (long i = 0; i < 60000000; i++) sum++; locked(); sum++; }
__attribute__((noinline)) void *body(void *p) { work(3); sum++; return p; }
int main(void)
{
    pthread_t t;
    idle();
    work(2);
    pthread_create(&t, 0, body, 0);
    pthread_join(t, 0);
}
C
poetcc -profile -g -no-pie -O1 work.c -o work
POET_OUTPUT=work.poet ./work
until_true finished work.poet
poet dump --json work.poet >dump.json
made_in() { # made_in FUNCTION...: the events made in all these functions, whatever was called in between
    json '("'"$*"'" / " ") as $functions | .[] | select(.calls) | .calls as $calls |
        select($functions | all((. + " ") as $function | $calls | any(startswith($function)))).event' dump.json
}
events() { # events all|first FUNCTION...: these events, or only the first one
    if [ "$1" = first ]; then made_in "${@:2}" | head -n 1; else made_in "${@:2}" | sort | paste -sd' '; fi
}
poet calls --csv work.poet | tr -d '\r' >flat.csv
poet calls --tree --csv work.poet | tr -d '\r' >tree.csv
row_of() { awk -v f="$2 (" 'index($0, f) == 1 { print NR - 2; exit }' "$1"; }
poet calls --graph --json work.poet >graph.json
json '.[] | select(.row) | "\(.depth)\t\(.row.function)"' graph.json >graph-rows.tab
. "$root/tests/e2e/display.sh"
cat >script <<S
action show-calls
state table flat.tab
action select-row $(row_of flat.csv idle)
state highlights marks.txt
action select-row $(row_of flat.csv work)
state highlights marks.txt
action calls-shape tree
state table tree.tab
action select-row $(row_of tree.csv work)
state highlights marks.txt
action calls-shape flat
action select $(events first locked idle)
state table event.tab
action calls-shape tree
action select $(events first locked body)
state table event-tree.tab
action calls-shape icicle
action select $(events first locked idle)
state table event-boxes.tab
action calls-shape tree
action calls-filter IDLE
state table filtered.tab
action save filtered.svg tab
action calls-shape icicle
state table boxes.tab
action calls-shape graph
state table graph.tab
action select-row $(awk -F'\t' '$1 == 0 && $2 ~ /^idle / { print NR - 1; exit }' graph-rows.tab)
state highlights marks.txt
action save graph.svg tab
action calls-shape icicle
action calls-filter main
action save boxes.svg tab
action select-row $(row_of tree.csv main)
action activate-row
state highlights marks.txt
state table inside.tab
action save inside.pdf tab
action calls-by-thread
state table threads.tab
action calls-by-thread
quit
S
poet view --script script work.poet >view.out 2>&1
# Two selected events are a range.
cat >script <<S
action show-calls
action select $(signs 2)
action select $(signs 3) second
state table between.tab
action select 0:0
state table whole.tab
quit
S
poet view --script script phases.poet >>view.out 2>&1
# Figures as text, from CSV.
said() { # said FILE COLUMN...: as the pane shows them
    awk -F, -v columns="${*:2}" '
        function shown(name, value) {
            if (value == "") return name == "flags" ? "" : "-"
            if (name ~ /_ns$/) return sprintf("%.3f", value / 1e6)
            if (name ~ /_share$/) return sprintf("%.1f %%", 100 * value)
            return value
        }
        NR == 1 { for (i = 1; i <= NF; i++) place[$i] = i; n = split(columns, names, " "); next }
        { for (i = 1; i <= n; i++) printf "%s%s", shown(names[i], $place[names[i]]), i < n ? "\t" : "\n" }' "$1"
}
seen() { sed 1d "$1" | sed 's/^\**[0-9]*\t//'; }
columns=$(head -n 1 flat.tab | tr '\t' ' ')
is "the tab of calls has the columns of poet calls" "$columns" " function calls concurrent self_ns self_share total_ns total_share cpu_ns self_mean_ns mean_ns min_ns max_ns"
is "the tab of calls as a list has the figures of poet calls" "$(seen flat.tab)" "$(said flat.csv $columns)"
is "the tab of calls as a tree has the figures of poet calls --tree" "$(seen tree.tab)" \
    "$(said tree.csv $(head -n 1 tree.tab | tr '\t' ' '))"
is "the tab of calls as a tree has the depths of poet calls --tree" "$(sed 1d tree.tab | tr -d '*' | cut -f1 | paste -sd' ')" \
    "$(poet calls --tree --json work.poet | json '.[] | select(.row).depth' | paste -sd' ')"
mark() { sed -n "$1p" marks.txt | sed 's/^events //; s/ *lines.*//' | tr ' ' '\n' | sort | paste -sd' '; }
is "a selected function highlights its events" "$(mark 1)" "$(events all idle)"
is "another selected function highlights its events" "$(mark 2)" "$(events all work)"
is "a selected node of the tree highlights events below its callers only" "$(mark 3)" "$(events all work $(awk -F, -v n="$(($(row_of tree.csv work) + 2))" 'NR == n { print $2 }' tree.csv | cut -d' ' -f1))"
is "a selected node of the graph highlights its events" "$(mark 4)" "$(events all idle)"
is "the graph has the arrows of poet calls --graph" "$(grep ^arrow graph.tab | cut -f2- | sort)" \
    "$(json '.[] | select(.depth > 0).row | "\(.caller)\t\(.function)\t\(.calls)"' graph.json | sort)"
like "the graph is saved as shown" "$(cat graph.svg)" ">idle \(work.c:6\)<"
is "a selected box highlights its events" "$(mark 5)" "$(events all main)"
is "the filter keeps matching functions with callers and callees" "$(seen filtered.tab | cut -f1 | cut -d' ' -f1 | paste -sd' ')" "main idle locked"
like "the filtered graph is saved as shown" "$(cat filtered.svg)" ">idle \(work.c:6\)<"
is "the filtered graph is saved without hidden functions" "$(grep -c '>body ' filtered.svg)" 0
poet calls --tree --csv --columns function,total work.poet >totals.csv
total() { awk -F, -v f="$1 (" 'index($0, f) == 1 { printf "%.3f ms", $2 / 1e6; exit }' totals.csv; }
is "a box has the figure of its row" "$(awk -F'\t' '$1 == 1 && $3 ~ /^main / { print $4 }' boxes.tab)" "$(total main)"
is "the search dims boxes that do not match" "$(grep -c 'back$' boxes.tab)" "$(grep -cv 'idle\|smaller' boxes.tab)"
is "entering a box shows it at full width" "$(awk -F'\t' '$1 ~ /^\*/ { print $1, $2, $3 }' inside.tab)" "*1 1000 main (work.c:9)"
like "an entered box is saved with its ancestors" "$(pdftotext -layout inside.pdf -)" "lifetimes of all threads"
like "boxes by thread have one per thread" "$(awk -F'\t' '$1 ~ /^\**1$/ { print $3 }' threads.tab | paste -sd' ')" "T:main"
is "a selected event selects its function" "$(grep '^\*' event.tab | cut -f2)" "locked (work.c:4)"
is "a selected event selects its path in the tree" "$(grep -n -B2 '^\*' event-tree.tab | cut -f2 | cut -d' ' -f1 | paste -sd' ')" "body work locked"
is "a selected event selects its box" "$(grep '^\*' event-boxes.tab | cut -f3)" "main (work.c:9) > idle (work.c:6) > locked (work.c:4)"
poet calls --csv --from "$(signs 2)" --to "$(signs 3)" phases.poet | tr -d '\r' >between.csv
poet calls --csv phases.poet | tr -d '\r' >phases.csv
is "the range between two selected events has the figures of poet calls --from --to" "$(seen between.tab)" "$(said between.csv $columns)"
is "the range between two selected events is less than the whole" "$(grep -c early between.tab; cmp -s between.tab whole.tab || echo differs)" "$(grep -c early between.csv; echo differs)"
is "without selected events the figures are those of the whole run" "$(seen whole.tab)" "$(said phases.csv $columns)"
# Keyboard and mouse in the boxes.
{
    printf '%s\n' 'action show-calls' 'action calls-shape icicle' 'state table ready'
    for i in $(seq 300); do printf 'await look%d\nstate table seen%d\n' $i $i; done
    echo quit
} >script
poet view --script script work.poet >>view.out 2>&1 &
pids="$pids $!"
until_true test -s ready
focus "^work"
looks=0
# seen_at_last NAME AWK WANTED: what the boxes are once the viewer has handled the keys
seen_at_last() {
    for _ in $(seq 60); do
        looks=$((looks + 1))
        >look$looks
        until_true test -s seen$looks
        got=$(awk -F'\t' "$2" seen$looks)
        [ "$got" = "$3" ] && break
        sleep 0.5
    done
    is "$1" "$got" "$3"
}
xdotool key Down Down Right Left Down
seen_at_last "arrows go from box to box" '/^\*/ { print $3 }' "main (work.c:9) > idle (work.c:6)"
xdotool key Up Return
seen_at_last "Enter shows the selected box at full width" '$2 == 1000 && $1 ~ /^\*/ { print $1, $3 }' "*1 main (work.c:9)"
xdotool key BackSpace
seen_at_last "Backspace shows the parent box" '$2 == 1000 { print $3 }' "lifetimes of all threads"
is "the viewer logs no CRITICAL or WARNING message" "$(grep -i 'critical\|warning' view.out)" ""

done_testing
