#!/bin/bash
# A tree of calls as an icicle: in a file, in letters, in the viewer; all shapes say the same; parts of a run.
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
check "it compiles" cc -g -pie -fPIE called.c -o called
check "a program tells of its calls" /usr/bin/python3 "$root/tests/e2e/region.py" "$work/called" end
run=$(ls traces/called-*.poet)

# ---- files ----
for form in pdf svg png; do check "$form" poet calls --tree "$run" -o "tree.$form"; done
for form in pdf svg png; do
    poet calls --tree "$run" -o "again.$form"
    check "the same bytes again: $form" cmp "tree.$form" "again.$form"
done
pdftotext -layout tree.pdf - >tree.txt
# NAME: what the box of that name says that it took
in_picture() { perl -ne "print \$1 and exit if /(?:^|\\s)\\Q$1\\E (?:\\(\\S+\\))? *([\\d.]+) ms/" tree.txt; }
cell() { poet calls --tree "$run" --csv --columns scope,total | tr -d '\r' | perl -ne "print \$1 / 1e6 and exit if /^\\Q$1\\E \\(.*?,(\\d+)/"; }
is "the root is the lives of all threads" "$(grep -o 'lives of all threads *[0-9.]* ms' tree.txt | tr -s ' ')" "lives of all threads 140.000 ms"
is "a box says what the table says" "$(for name in main g; do printf '%g ' "$(in_picture $name)"; done)" "$(for name in main g; do printf '%g ' "$(cell $name)"; done)"
like "what colours stand for" "$(tr -s ' ' <tree.txt)" "called\.c waiting, or in a call of the system"
like "the table's own notes" "$(tr -s ' \n' ' ' <tree.txt)" "total 140.000 ms in 2 threads, unaccounted 20.000 ms"
like "SVG has text" "$(cat tree.svg)" ">main \(called.c:6\)  90.000 ms<"
check "grey" poet calls --tree "$run" -o grey.png --grey
is "no colour in grey" "$(pdftoppm -v >/dev/null 2>&1; poet calls --tree "$run" -o grey.pdf --grey && pdftoppm -r 40 grey.pdf grey &&
    perl -0777 -ne 's/^P6\s+\d+\s+\d+\s+\d+\s//; my $n = 0; while (/(.)(.)(.)/gs) { $n++ if $1 ne $2 || $2 ne $3 } print $n' grey-1.ppm)" 0
is "with columns it is the table" "$(poet calls --tree "$run" --columns scope,calls -o table.pdf && pdftotext -layout table.pdf - | grep -c '^ *[a-z].*[0-9]$')" \
    "$(poet calls --tree "$run" --columns scope,calls | grep -c '^ *[a-z].*[0-9]$')"

# ---- by what ----
widths() { poet calls --chart icicle "$run" "$@" | sed -n 2p | tr -s ' |' ' '; }
total() { poet calls --json "$run" | tail -n 1 | perl -MJSON::PP -ne 'print decode_json($_)->{total}{'"$1"'}'; }
is "as wide as total" "$(widths)" " lives of all threads 140.000 ms "
is "as wide as calls" "$(widths --width-of calls)" " all $(total calls) "
is "as wide as self" "$(widths --width-of self)" " all $(printf '%.3f' "$(total self_ns)e-6") ms "
is "as wide as cpu" "$(widths --width-of cpu_ns)" " all $(printf '%.3f' "$(total cpu_ns)e-6") ms "
like "no such column" "$(poet calls --tree --width-of totl "$run" -o x.pdf 2>&1)" '--width-of: there is no column "totl": did you mean "total"'
is "is misuse" "$(status poet calls --tree --width-of totl "$run" -o x.pdf)" 2
is "a share is no size" "$(status poet calls --tree --width-of self_share "$run" -o x.pdf)" 1
is "no such chart" "$(status poet calls --chart pie "$run")" 2
is "no such form" "$(status poet calls --chart icicle "$run" -o x.csv)" 2
is "in letters into a file" "$(poet calls --chart icicle "$run" -o letters.txt && cmp letters.txt <(poet calls --chart icicle "$run"))" ""

# ---- waits ----
compile stages -pthread && ./stages >/dev/null 2>&1
stages=$(ls -t traces/stages-*.poet | head -n 1)
until_true finished "$stages"
like "nothing measured is nothing to be drawn" "$(poet calls --tree "$stages" -o x.pdf 2>&1)" "nothing to be drawn: no thread measured its calls"
check "waits are a tree, too" poet waits --tree "$stages" -o waits.pdf
like "with what they are charged to" "$(pdftotext -layout waits.pdf -)" "T:packer"
is "as wide as all that was waited" "$(pdftotext -layout waits.pdf - | grep -oE '^all +[0-9.]+ ms' | tr -s ' ')" \
    "all $(poet waits --json "$stages" | tail -n 1 | perl -MJSON::PP -ne 'printf "%.3f", decode_json($_)->{total}{waited_ns} / 1e6') ms"

done_testing
