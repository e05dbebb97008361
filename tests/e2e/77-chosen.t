#!/bin/bash
# Selection of measured functions: poetcc -only when compiling, POET_PROFILE_EXCLUDE and POET_PROFILE_INCLUDE at start.
. "$(dirname "$0")/lib.sh"
measured() { python3 "$root/tests/e2e/regions.py" "$@" 2>program.err >out; }
paths() { awk '$2 ~ /^\/./ { print $2 ":" $3 }' out | xargs; }

cat >calls.cc <<'C'
#include <csetjmp>
volatile long sink;
#define NI __attribute__((noinline))
static jmp_buf back;
namespace ns {
NI void leaf() { sink++; }
struct A {
    NI A() { leaf(); }
    NI void work(int n) { leaf(); if (n) work(n - 1); }
};
}
static NI void inner() { ns::leaf(); }
NI void mid() { inner(); inner(); }
NI void recur(int n) { mid(); if (n) recur(n - 1); mid(); }
NI void jump() { mid(); longjmp(back, 1); }
int main()
{
    ns::A a;
    a.work(2);
    recur(3);
    if (!setjmp(back)) jump();
    mid();
    return 0;
}
C
poetcc++ -profile -g -O1 -no-pie calls.cc -o calls
export POET_MEASURE=calls=real
POET_PROFILE_EXCLUDE='recur, jump,ns::A::A' measured ./calls
is 'POET_PROFILE_EXCLUDE: an excluded function and its callees are missing' "$(paths)" \
    '/main:1 /main/ns::A::work:1 /main/ns::A::work/ns::leaf:3 /main/ns::A::work/ns::A::work*:2 /main/mid:1 /main/mid/inner:2 /main/mid/inner/ns::leaf:2'
is 'POET_PROFILE_EXCLUDE: no return is unmatched' "$(awk '$2 == "numbers" { print $5 + 0 }' out)" 0
is 'POET_PROFILE_EXCLUDE: the time of an excluded call is that of its caller'\''s' \
    "$(awk '$2 == "/main" { total = $6; own = $7 + $8 } $2 ~ /^\/main\/[^\/]*$/ { below += $6 } END { print (own + below <= total + 1 && own + below + 1 >= total) }' out)" 1
POET_PROFILE_INCLUDE='ns::A::*,inner' measured ./calls
is 'POET_PROFILE_INCLUDE: included functions under any caller are measured' "$(paths)" '/ns::A::A:1 /ns::A::work:1 /ns::A::work/ns::A::work*:2 /inner:20'
is 'the cost of a call is measured' "$(awk '$2 == "rates" { print ($3 > 0) }' out)" 1
POET_PROFILE_INCLUDE='m?in,ns::leaf' POET_PROFILE_EXCLUDE='_ZN2ns1A*' measured ./calls
is 'POET_PROFILE_INCLUDE and POET_PROFILE_EXCLUDE combined, with symbol names' "$(paths)" '/main:1 /main/ns::leaf:20'
POET_MEASURE=calls=counts POET_PROFILE_EXCLUDE=mid measured ./calls
is 'calls=counts: excluded functions are missing' "$(paths | tr ' ' '\n' | grep -c mid)" 0
printf '# what was suggested\ninner # often\nsrc/x.c\n' >list
POET_PROFILE_EXCLUDE=@list,@gone measured ./calls
is 'POET_PROFILE_EXCLUDE=@FILE: the list is read' "$(paths | tr ' ' '\n' | grep -c inner)" 0
is 'POET_PROFILE_EXCLUDE: each error of a list is reported once' "$(grep -c POET_PROFILE_EXCLUDE program.err)" 2
like 'POET_PROFILE_EXCLUDE: an error of a list has its line' "$(cat program.err)" 'POET_PROFILE_EXCLUDE: list:3: src/x.c: a file, '
like 'POET_PROFILE_EXCLUDE: a list that cannot be read is reported' "$(cat program.err)" '@gone: No such file'
like 'poet record does not start the program with an invalid list' "$(POET_PROFILE_INCLUDE=@list poet record -- ./calls 2>&1; echo "=$?")" \
    'poet record: POET_PROFILE_INCLUDE: list:3: src/x.c: a file, '

# ---- when compiling ----
mkdir -p src inc
cat >src/a.c <<'C'
#include "h.h"
__attribute__((noinline)) void a(void) { h(); }
int main(void) { a(); b(); return 0; }
C
printf 'void b(void);\n__attribute__((noinline)) static void h(void) { b(); }\n' >inc/h.h
printf 'volatile int s;\nvoid b(void) { s++; }\n' >b.c
only() { poetcc -profile "-only=$1" -Iinc -O1 -no-pie src/a.c b.c -o "$work/only" && measured ./only && paths; }
is 'poetcc -only measures functions of the named files' "$(only src/)" '/main:1 /main/a:1'
is 'poetcc -only of a header' "$(only h.h)" '/h:1'
is 'poetcc -only of several files' "$(only b.c,inc/)" '/h:1 /h/b:1 /b:1'
poetcc -profile -only=src/ -MD -MF deps -Iinc -c src/a.c -o a.o
check 'poetcc -only writes the dependency file' grep -q '^a.o: src/a.c' deps
is 'poetcc -only with -ignore leaves functions out' \
    "$(poetcc -profile -only=src/ -ignore=main -Iinc -O1 -no-pie src/a.c b.c -o only && measured ./only && paths)" '/a:1'
wrong() { poetcc -profile "$@" -c b.c 2>&1; echo "=$?"; }
rm -f b.o
like 'poetcc -only=FUNCTION is refused with a suggestion' "$(wrong -only=main)" 'POET_PROFILE_INCLUDE=main'
like 'poetcc -only with a pattern is refused' "$(wrong '-only=s*/')" 's\*/: invalid; expected a part of a file name'
printf 'good\nbad name\n' >names
like 'poetcc -ignore: an error of a list has its line' "$(wrong -ignore=@names)" 'names:2: bad name'
like 'poetcc -only with an empty list is refused' "$(wrong -only=)" 'missing'
check 'poetcc with an invalid list compiles nothing' test ! -e b.o
done_testing
