#!/bin/bash
# The function in which each state of a task began, also without an event: a task that yields, or the time slice of which
# ends, is runnable and then runs in the function that did so, if calls are measured; else that is unknown.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 XDG_CACHE_HOME=$PWD/cache

cat >stages.c <<'C'
#include "ucpp.h"
static void first(void) { yield(); }
static void second(void) { yield(); }
static void stages(void *unused)
{
    first();
    second();
    yield();
    (void)unused;
}
void uc_main(void)
{
    struct object tasks[2];
    for (int i = 0; i < 2; i++)
        task_make(&tasks[i], "stages", stages, NULL);
    for (int i = 0; i < 2; i++)
        object_delete(&tasks[i]);
}
C
# functions TRACE NAME: where the runnable and running states of tasks began, each once, but for the first of each task
functions() {
    poet states --list --json --threads "$2" "$1" |
        json '[.[].row? | select(.state? == "runnable" or .state? == "running")] | group_by(.thread)[][1:][] |
            .location // "unknown"' | sed 's/ (.*//' | awk '!seen[$0]++' | paste -sd' '
}
poetcc -trace -c -g -I "$root/examples/ucpp" "$root/examples/ucpp/ucpp.c" -o ucpp.o || exit 1
poetcc -profile -g -I "$root/examples/ucpp" stages.c ucpp.o -o stages || exit 1
poet record -m calls -o stages.poet ./stages
until_true finished stages.poet
is "a task that yields: the functions that did" "$(functions stages.poet T:stages)" "first second stages"
check "the trace is consistent" poet check stages.poet
poetcc -trace -g -I "$root/examples/ucpp" stages.c ucpp.o -o plain || exit 1
poet record -o plain.poet ./plain
until_true finished plain.poet
is "unknown if calls are not measured" "$(functions plain.poet T:stages)" "unknown"

# ---- the end of a time slice, in real µC++ ----
cat >slices.cc <<'C'
#include <ctime>
unsigned int uDefaultPreemption() { return 1; }
static volatile int switched; /* how often the other task ran */
static void spin(int id)
{
    for (int last = 0, seen = 0; seen < 3;) {
        if (switched != id) {
            switched = id;
            seen += last++ > 0;
        }
    }
}
_Task spinner {
    int id;
    void main() { spin(id); }
  public:
    spinner(int id) : id(id) {}
};
int main() { spinner a(1), b(2); }
C
if command -v u++ >/dev/null; then
    CXX=u++ poetcc++ -profile -quiet slices.cc -o slices || exit 1
    poet record -m calls -o slices.poet ./slices
    until_true finished slices.poet
    like "a time slice ends in the function that ran" "$(functions slices.poet T:spinner)" "(^| )spin( |$)"
else
    skip "u++ (µC++ 7) is not installed"
fi
done_testing
