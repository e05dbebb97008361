#!/bin/bash
# The tables of µProfiler made by programs of real µC++, with its numbers: calls and processor times of functions in
# tasks and coroutines (against the thread's own clock), tasks by creation, states, heap blocks.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 XDG_CACHE_HOME=$PWD/cache
if ! command -v u++ >/dev/null; then
    skip "u++ (µC++ 7) is not installed"
    done_testing
    exit
fi

cat >spin.h <<'C'
#include <time.h>
unsigned int uDefaultPreemption() { return 0; } /* the clock of a thread is that of one task at a time */
#define UNMEASURED __attribute__((no_instrument_function)) static inline
UNMEASURED long ran()
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}
UNMEASURED void spin(double ms, long *used)
{
    long begin = ran();
    while (ran() < begin + (long)(ms * 1e6)) { }
    __atomic_fetch_add(used, ran() - begin, __ATOMIC_RELAXED);
}
#define CALLED __attribute__((noinline)) void
/* A function has at least the CPU time that it used by spin(), and at most that from before its call until after it,
 * without what its callees have from their first to their last statement: what calls take is in between. */
static long last_body;
struct body {
    long begin;
    __attribute__((no_instrument_function, always_inline)) body() : begin(ran()) {}
    __attribute__((no_instrument_function, always_inline)) ~body() { last_body = ran() - begin; }
};
#define OF_TASK 2000000L /* what its begin and end, its switches and calls of libpoet take */
#define CALL(most, call) { long begin = ran(); call; __atomic_fetch_add(&most, ran() - begin, __ATOMIC_RELAXED); }
#define CALL_WITHIN(caller, most, call) { CALL(most, call) caller -= last_body; }
C
cat >stairs.cc <<'C'
#include "spin.h"
#include <cstdio>
static long used[6], most[6];
CALLED fifth() { body b; spin(.1, &used[5]); }
CALLED fourth() { body b; spin(1, &used[4]); }
CALLED third() { body b; spin(1, &used[3]); for (int i = 0; i < 10; i++) CALL_WITHIN(most[3], most[5], fifth()) }
CALLED second() { body b; spin(.1, &used[2]); for (int i = 0; i < 10; i++) CALL_WITHIN(most[2], most[4], fourth()) }
CALLED first() { body b; spin(1, &used[1]); for (int i = 0; i < 10; i++) CALL_WITHIN(most[1], most[3], third()) }
_Task Stairs {
    void main()
    {
        long begin = ran();
        spin(1, &used[0]);
        for (int i = 0; i < 10; i++) {
            CALL_WITHIN(most[0], most[1], first())
            CALL_WITHIN(most[0], most[2], second())
        }
        most[0] += ran() - begin;
    }
};
int main()
{
    { Stairs s; }
    printf("Stairs::main %ld %ld first %ld %ld second %ld %ld third %ld %ld fourth %ld %ld fifth %ld %ld\n", used[0], most[0] + OF_TASK,
           used[1], most[1], used[2], most[2], used[3], most[3], used[4], most[4], used[5], most[5]);
}
C
cat >strands.cc <<'C'
#include "spin.h"
#include <cstdio>
enum { WORKERS = 10, ROUNDS = 5 };
static long used[4], most[4];
CALLED dig() { spin(.75, &used[0]); }
CALLED sew() { spin(.5, &used[1]); }
_Cormonitor Fred {
    void main() { for (;;) { spin(2, &used[2]); suspend(); } }
  public:
    void next() { CALL(most[2], resume()) CALL(most[0], dig()) }
};
_Cormonitor Mary {
    void main() { for (;;) { spin(1, &used[3]); suspend(); } }
  public:
    void go() { CALL(most[3], resume()) CALL(most[1], sew()) }
};
_Task Worker {
    Fred &f;
    Mary &m;
    void main() { for (int i = 0; i < ROUNDS; i++) { f.next(); m.go(); } }
  public:
    Worker(Fred &f, Mary &m) : f(f), m(m) {}
};
int main()
{
    Fred f;
    Mary m;
    Worker *workers[WORKERS];
    for (auto &w : workers) w = new Worker(f, m);
    for (auto &w : workers) delete w;
    printf("dig %ld %ld sew %ld %ld Fred::main %ld %ld Mary::main %ld %ld\n", used[0], most[0], used[1], most[1], used[2],
           most[2], used[3], most[3]);
}
C
cat >bathroom.cc <<'C'
#include "spin.h"
#include <cstdio>
enum { USERS = 5, USES = 5 };
static long used, most, other;
CALLED use() { spin(2, &used); }
_Monitor Bathroom {
    uCondition men, women;
    int inside_men, inside_women;
  public:
    Bathroom() : inside_men(0), inside_women(0) {}
    void enter(bool man)
    {
        while (man ? inside_women : inside_men) (man ? men : women).wait();
        man ? inside_men++ : inside_women++;
    }
    void leave(bool man)
    {
        if (!--(man ? inside_men : inside_women))
            while (!(man ? women : men).empty()) (man ? women : men).signal();
    }
};
_Task User {
    Bathroom &b;
    bool man;
    void main()
    {
        for (int i = 0; i < USES; i++) { b.enter(man); CALL(most, use()) yield(); b.leave(man); spin(1, &other); yield(); }
    }
  public:
    User(Bathroom &b, bool man) : b(b), man(man) { setName(man ? "Man" : "Woman"); }
};
int main()
{
    Bathroom b;
    User *users[USERS];
    for (int i = 0; i < USERS; i++) users[i] = new User(b, i % 2);
    for (auto &u : users) delete u;
    printf("use %ld %ld User::main %ld %ld\n", used, most, other, other + OF_TASK);
}
C
cat >blocks.cc <<'C'
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
static void tell(const char *task, const void *block, size_t bytes)
{
    fprintf(stderr, "T:%s %zu %zu %p\n", task, bytes, malloc_usable_size((void *)block), block);
}
struct Female { char *name; char text[136]; };
struct Male { char *name; int age; };
static char *named(const char *name)
{
    char *text = new char[strlen(name) + 1];
    tell("Kept", text, strlen(name) + 1);
    return strcpy(text, name);
}
template <typename T> static T *made(const char *task)
{
    T *one = new T;
    tell(task, one, sizeof *one);
    return one;
}
_Task Lost { void main() { made<char>("Lost"), made<int>("Lost"), made<float>("Lost"), made<double>("Lost"); } };
_Task Kept { void main() { made<Female>("Kept")->name = named("Alice"); made<Male>("Kept")->name = named("Bob"); } };
int main()
{
    Lost *l = new Lost;
    Kept *k = new Kept;
    delete l;
    delete k;
}
C

# compiled PROGRAM OPTION...
compiled() {
    CXX=u++ poetcc++ -profile -quiet "${@:2}" "$1.cc" -o "$1" 2>err || cat err
}
# recorded PROGRAM METRICS: its output is in PROGRAM.out
recorded() {
    rm -f "$1.poet"
    timeout 120 poet record -m "$2" -o "$1.poet" -- "./$1" >"$1.out" 2>"$1.err" || cat "$1.err"
    until_true finished "$1.poet"
}
# took PROGRAM: functions whose CPU time is not within 2 % of what they read
took() {
    xargs -n 3 <"$1.out" | while read -r function used most; do
        json 'row("'"$function"'").cpu_ns | select(. < .98 * '"$used"' or . > 1.02 * '"$most"')
            | "'"$function"' \(.) of '"$used"' to '"$most"'"' "$1.json"
    done
}
calls() { json "cells($(printf 'row("%s").calls,' "${@:2}" | sed 's/,$//'))" "$1.json"; }

for kernel in "-nomulti -debug" "-multi -nodebug -O1"; do
    options=$kernel
    case $kernel in -multi*) echo 'unsigned int uDefaultProcessors() { return 4; }' ;; *) echo ;; esac >processors.cc
    for program in stairs strands bathroom; do
        # shellcheck disable=SC2086
        compiled $program $options -O1 processors.cc
        recorded $program calls,states
        poet calls $program.poet --json >$program.json
        check "$kernel, $program: poet check accepts the trace" poet check $program.poet
        is "$kernel, $program: each function has the CPU time that it read" "$(took $program 2>&1)" ""
    done
    is "$kernel: calls of functions that call each other" \
        "$(calls stairs Stairs::main first second third fourth fifth)" "1 10 10 100 100 1000"
    is "$kernel: each resume of a coroutine is a call of its main" \
        "$(calls strands Fred::main Mary::main Fred::next Mary::go dig sew)" "50 50 50 50 50 50"
    is "$kernel: and the shortest one takes what its main does between two suspends, also when it is deleted" \
        "$(json 'row("Fred::main").cpu_min_ns | within(1.96e6; 2.2e6)' strands.json)" within
    is "$kernel: five calls of each coroutine per task" "$(
        poet calls strands.poet --by thread --json | json '[inner_rows | cells((.function | first_word), .calls) |
            select(test("^(Fred|Mary)::main [1-9]"))] | group_by(.) | map("\(.[0]) x \(length)") | join(", ")')" \
        "Fred::main 5 x 10, Mary::main 5 x 10"
    is "$kernel: calls of a monitor's members" "$(calls bathroom use Bathroom::enter Bathroom::leave)" "25 25 25"

    # Tasks, by their creation.
    is "$kernel: tasks by creation" "$(poet states bathroom.poet --tasks --json | json '[rows.created] | map(tostring) | join(" ")')" \
        "1 2 3 4 5 6"
    is "$kernel: the creation tree" "$(poet states bathroom.poet --created --json | json '[.[] | select(.row) | "\(.depth) \(.row.thread)"] | join(", ")')" \
        "0 T:main, 1 T:Woman, 1 T:Man, 1 T:Woman#2, 1 T:Man#2, 1 T:Woman#3"
    poet states bathroom.poet --json >states.json
    is "$kernel: the states of each task add up to its lifetime" \
        "$(json '[rows | select(.thread) | time_in_states - .lifetime_ns] | unique | join(" ")' states.json)" 0
    # A processor of µC++ may itself be without a CPU, so that running is at least the CPU time.
    is "$kernel: no task has more CPU time in functions than running time" "$(
        { json '.[] | select(.row.thread) | "\(.row.thread) \(.row.running_ns)"' states.json
          poet calls bathroom.poet --by thread --json | json '.[] | select(.depth == 0) | "\(.row.function) \(.row.cpu_ns)"'
        } | awk '{ if (!($1 in running)) running[$1] = $2; else if ($2 > 1.002 * running[$1] + 1e5) print $1, $2, running[$1] }')" ""
    # (Main can leave its processor before it has called a function.)
    is "$kernel: each state of a task has its place in the program" \
        "$(poet states bathroom.poet --list --json | json '[rows | select(.location == null and .thread != "T:main")] | length')" 0
done
is "a task that finds its objects free is created, runs, and has exited" "$(
    CXX=u++ poetcc++ -trace -quiet -nomulti -debug strands.cc -o strands 2>/dev/null
    rm -f strands.poet; POET_OUTPUT=strands.poet ./strands >/dev/null 2>&1; until_true finished strands.poet
    poet states strands.poet --by state --json | json '[rows | select(.thread | startswith("T:Worker")) | .state] | group_by(.) |
        map("\(.[0]) \(length)") | join(", ")')" "created 10, exited 10, running 10"

# ---- heap blocks, also of tasks that are made by new ----
for kernel in "-nomulti -debug" "-multi -nodebug -O1"; do
    # shellcheck disable=SC2086
    compiled blocks $kernel
    recorded blocks memory
    is "$kernel: blocks that were not freed, with task, requested and usable size, and address" \
        "$(poet memory blocks.poet --each --json | json 'rows | cells(.thread, .unfreed_bytes, .usable, .address)' | sort)" \
        "$(grep '^T:' blocks.err | sort)"
    like "$kernel: the call stack of a block" \
        "$(poet memory blocks.poet --each --json | json '.[] | select(.row.unfreed_bytes == 6) | .context | join(" ")')" \
        "^named .*Kept::main"
    # shellcheck disable=SC2086
    compiled strands $kernel
    recorded strands calls,memory
    is "$kernel: a program that makes its tasks by new is unharmed" "$(wc -w <strands.out)" 12
done
done_testing
