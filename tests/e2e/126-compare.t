#!/bin/bash
# poet compare: reports where two runs of a program diverge, in text and as a diagram of both.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >parts.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void use(pthread_mutex_t *m)
{
    pthread_mutex_lock(m);
    pthread_mutex_unlock(m);
}
static void *work(void *x)
{
    for (int i = 0; i < atoi(x); i++)
        use(&a);
    if (getenv("OTHER"))
        use(&b);
    use(&a);
    return x;
}
int main(int c, char **v)
{
    pthread_t t;
    for (int i = 1; i < c; i++) {
        pthread_create(&t, 0, work, v[i]);
        pthread_join(t, 0);
    }
    return 0;
}
END
poetcc -trace -g parts.c -o parts
record() { # record FILE COMMAND...
    rm -f "$1"
    env POET_OUTPUT="$1" timeout 60 "${@:2}"
    until_true finished "$1"
}
record one.poet ./parts 3
record same.poet ./parts 3
record other.poet env OTHER=1 ./parts 3
record more.poet ./parts 3 1

# ---- text ----
is "equal runs: poet compare says that there is no divergence" "$(poet compare one.poet same.poet; echo $?)" "no divergence: $(figure one.poet events) matching events
0"
poet compare one.poet other.poet >said
is "diverging runs: the exit status is 1" $? 1
is "diverging runs: the diverging event of each run is named" "$(tail -n +2 said)" "one.poet: 2:12 T:work performed acquire on M:a, parts.c:7
other.poet: 2:12 T:work performed acquire on M:b, parts.c:7"
like "diverging runs: the number of matching events is named" "$(head -n 1 said)" "^the runs diverge after [0-9]{2} matching events$"
poet compare one.poet more.poet >said
is "a run that continues after the end of the other: the end and the extra event are named" "$? $(tail -n +2 said | sed 's/ on .*//; s/: [0-9:]* T/: T/')" "1 one.poet: T:main performed exit
more.poet: T:main performed create"
is "option -q: no output, exit status 1" "$(poet compare -q one.poet more.poet; echo $?)" 1
is "a missing file: exit status 2" "$(poet compare one.poet none.poet 2>/dev/null; echo $?)" 2
is "a missing operand: exit status 2" "$(poet compare one.poet 2>/dev/null; echo $?)" 2
like "an unsupported picture type: the error names the supported ones" "$(poet compare -p x.html one.poet more.poet 2>&1)" "picture x.html: the name must end in .pdf, .svg, .png or .txt"
is "equal runs: no picture is written" "$(poet compare -p same.pdf one.poet same.poet 2>&1 >/dev/null; ls same.pdf 2>/dev/null)" "poet compare: no divergence; same.pdf not written"

# ---- diagram ----
poet compare -p both.txt one.poet other.poet >/dev/null
is "the diagram has rows of both runs" "$(grep -c '^T:work ' both.txt) $(grep -c '^first: one.poet\|^second: other.poet' both.txt)" "2 2"
{ IFS= read -r first; IFS= read -r second; } < <(grep '^T:work ' both.txt)
same=0
while [ $same -lt ${#first} ] && [ "${first:same:1}" = "${second:same:1}" ]; do same=$((same + 1)); done
check "the rows of both runs are equal up to the divergence" [ "$same" -gt 60 ]
like "the diagram names the diverging event" "$(cat both.txt)" "T:work performed acquire on M:b, parts.c:7"
for format in pdf svg png; do poet compare -q -p both.$format one.poet other.poet; done
like "PDF: the title names both runs" "$(pdftotext -layout both.pdf -)" "parts, first and second"
is "SVG: the diverging event is named" "$(grep -c 'T:work performed acquire on M:b' both.svg)" 1
like "PNG: the file has the PNG signature" "$(head -c 4 both.png | tail -c 3)" PNG
is "an unwritable picture: exit status 2" "$(poet compare -q -p nowhere/both.svg one.poet other.poet 2>/dev/null; echo $?)" 2
done_testing
