#!/bin/bash
# What programs of real µC++ sent, kept as text and sent again: events of all kinds of ucpp.conf, where there is no
# u++. (215-real-ucpp.t and 262-ucpp-ownership.t make these texts: POET_TEST_KEEP=DIRECTORY.)
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
texts=$root/tests/e2e/ucpp
poetcc -trace -g -Wall -Wextra -Werror "$texts/send.c" -o send || exit 1
for text in "$texts"/*.sent; do
    program=$(basename "$text" .sent)
    POET_OUTPUT=$program.poet ./send <"$text" || not_ok "$program: is sent"
    until_true finished "$program.poet"
    check "$program: poet check accepts the trace" poet check "$program.poet"
    is "$program: the trace has these events in this order" \
        "$(poet dump --json "$program.poet" | python3 "$texts/sent.py" | python3 "$texts/numbered.py")" \
        "$(python3 "$texts/numbered.py" <"$text")"
done
for program in semaphores accepting waiting coroutines fibonacci inside; do
    like "$program: its lines are those of the reference" \
        "$(poet dump --json "$program.poet" | python3 "$root/tests/e2e/ucpp.py" "$program" 2>&1)" "^1 runs"
done
is "a changed text is noticed" "$(sed 's/ ready / signal /' "$texts/waiting.sent" | POET_OUTPUT=changed.poet ./send
    until_true finished changed.poet
    poet dump --json changed.poet | python3 "$root/tests/e2e/ucpp.py" waiting >/dev/null && echo accepted)" ""

# ---- what libpoet-process records on a task's line is in no rule of ucpp.conf ----
cat >piped.c <<'C'
#include <poet.h>
#include <unistd.h>
POET_RUNTIME("ucpp");
static poet_line_t self;
static void mark(const char *type) { poet_event(self, poet_type(type, NULL), 0, 0); }
int main(int argc, char **argv)
{
    int ends[2];
    char got[1];
    (void)argv;
    self = poet_task("task", "main", NULL);
    poet_task_switch(self);
    mark("create");
    mark("start");
    if (pipe(ends) != 0 || write(ends[1], "x", 1) != 1)
        return 1;
    mark(argc > 1 ? "signal" : "sleep");
    if (argc == 1 && read(ends[0], got, 1) != 1)
        return 1;
    mark("awake");
    mark("end");
    poet_task_switch(0);
    return 0;
}
C
poetcc -trace -processes -g -Wall -Wextra -Werror piped.c -o piped || exit 1
for right in piped wrong; do
    # shellcheck disable=SC2046
    POET_OUTPUT=$right.poet ./piped $([ $right = piped ] || echo wrong) || not_ok "$right: the program ends with 0"
    until_true finished $right.poet
done
check "a read in between is accepted" poet check piped.poet
like "it is between events that a rule is about" "$(poet dump piped.poet | awk '{ print $3 }' | xargs)" "sleep read awake"
is "what breaks the rule is not accepted" "$(poet check wrong.poet | grep -o '[a-z_]* must not follow [a-z]*')" \
    "awake must not follow signal"

# ---- a line without a name has that of the class in whose constructor it was opened ----
cat >built.cc <<'C'
#include <poet.h>
POET_RUNTIME("ucpp");
__attribute__((noinline)) poet_line_t open_here(const void *object)
{
    poet_line_t line = poet_line_at("monitor", nullptr, object, 0, (char *)__builtin_return_address(0) - 1);
    poet_event(line, poet_type("create", nullptr), 0, 0);
    return line;
}
template <typename T> struct buffer {
    poet_line_t line;
    T item;
    buffer() : line(open_here(this)) {}
};
namespace outer {
struct gate {
    buffer<long> inside;
    poet_line_t line;
    gate() : line(open_here(this)) {}
};
struct far_gate {
    poet_line_t line;
    __attribute__((noinline)) far_gate() { line = open_here(this); }
};
}
static char plain;
int main()
{
    poet_line_t self = poet_task("task", "main", nullptr);
    poet_task_switch(self);
    poet_event(self, poet_type("create", nullptr), 0, 0);
    buffer<int> b;
    outer::gate g;
    outer::far_gate f;
    buffer<outer::far_gate *> p;
    return open_here(&plain) == 0 || !b.line || !g.line || !f.line || !p.line;
}
C
for level in -O0 -O2; do
    poetcc++ -trace -g $level built.cc -o built || exit 1
    POET_OUTPUT=built$level.poet ./built || not_ok "$level: the program ends with 0"
    until_true finished "built$level.poet"
    is "lines are named by constructors, $level" \
        "$(poet dump --json "built$level.poet" | json '.[] | select(.kind? == "monitor") | .name' | paste -sd' ')" \
        "buffer<int> buffer<long> gate far_gate buffer<outer::far_gate*> monitor"
done
# ---- the call of an inlined member is at its caller's line, what it does inside at its own ----
cat >kernel.cc <<'C'
#include <poet.h>
#include "kernel.h"
POET_RUNTIME("ucpp");
poet_line_t self;
void mark(const char *type, char *returns)
{
    poet_record_t r = {};
    r.line = self;
    r.type = poet_type(type, nullptr);
    r.site = returns - 1;
    poet_record(&r);
}
namespace UPP {
uSerialMember::uSerialMember(int n) { mark(n ? "signal" : "note", HERE); }
uSerialMember::~uSerialMember() { mark("note", HERE); }
}
C
cat >kernel.h <<'C'
#include <poet.h>
extern poet_line_t self;
void mark(const char *type, char *returns);
#define HERE (char *)__builtin_return_address(0)
namespace UPP {
struct uSerialMember {
    uSerialMember(int n);
    ~uSerialMember();
};
}
C
cat >members.cc <<'C'
#include "kernel.h"
__attribute__((noinline)) static void inside() { mark("sleep", HERE); mark("awake", HERE); }
struct buffer {
    inline __attribute__((always_inline)) int put(int n)
    {
        UPP::uSerialMember member(n);
        inside();
        return n;
    }
};
int main(int argc, char **)
{
    buffer b;
    self = poet_task("task", "main", nullptr);
    poet_task_switch(self);
    mark("create", HERE);
    mark("start", HERE);
    int sum = b.put(argc);
    sum += b.put(argc + 1);
    return sum != 3;
}
C
poetcc++ -trace -g -O2 members.cc kernel.cc -o members || exit 1
POET_OUTPUT=members.poet ./members || not_ok "the program with inlined members ends with 0"
until_true finished members.poet
is "an inlined member is called at its caller's line; other calls are in the member" \
    "$(poet dump members.poet | awk '/ (signal|sleep) / { print $3, $NF }' | paste -sd' ')" \
    "signal members.cc:18 sleep members.cc:7 signal members.cc:19 sleep members.cc:7"
done_testing
