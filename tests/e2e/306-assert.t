#!/bin/bash
# poet check --assert: assertions that a run meets and violates, in all formats and exit statuses; none is violated for
# lack of knowledge.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >once.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *p)
{
    pthread_mutex_lock(&m); /* line 5 */
    pthread_mutex_unlock(&m);
#ifdef KEEP
    pthread_mutex_lock(&n); /* line 8 */
#endif
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    pthread_mutex_lock(&m); /* line 17 */
    pthread_mutex_unlock(&m);
    return 0;
}
C
check "compiled" poetcc -trace -g once.c -o once
check "compiled" poetcc -trace -g -DKEEP once.c -o keep
for program in once keep; do
    POET_OUTPUT=$program.poet ./$program
    check "$program: the trace is finished" order_ends $program.poet
done
cat >rules <<'A'
# Every lock is released by the thread that holds it.
always released {
    a: acquired
    r: released
    a -> ..60s r; a.line = r.line; a.thread = r.thread
}
never "unordered" { l: lock; k: lock; l || k } # a name in quotes is none
A
poet check --assert rules once.poet >said 2>&1
is "a name in quotes: exit status" $? 2
like "a name in quotes: its line" "$(cat said)" '^rules:7: expected a pattern in braces'
sed -i 's/"unordered"/unordered/' rules
echo 'at most 2 { create }' >>rules

poet check --assert rules once.poet >said
is "no violation: exit status" $? 0
is "no violation" "$(cat said)" "once.poet: assertion released: OK
once.poet: assertion unordered: OK
once.poet: assertion line-8: OK"
poet check --assert rules keep.poet >said
is "a violation: exit status" $? 1
like "a violation" "$(cat said)" '^keep.poet: assertion released: 1 event "a" in no match'
like "its event" "$(cat said)" '^    a: acquired [0-9]+:1 of T:work about M:n at keep|^    a: acquired [0-9]+:1 of T:work about M:n at once.c:8'
poet check --assert rules keep.poet --json >found.json
expect found.json <<'JQ'
names | .[].assertion => released unordered line-8
ok | .[].ok => false true true
violations | .[].violations => 1 0 0
objects | .[].matches[][].object => M:n
places | .[].matches[][].location => once.c:8
JQ
poet check --assert rules keep.poet --fail-on assertion >/dev/null 2>&1
is "--fail-on: exit status" $? 1
poet check --assert rules once.poet --fail-on all >/dev/null 2>&1
is "--fail-on without violation: exit status" $? 0
like "gcc" "$(poet check --assert rules keep.poet --format gcc)" 'once.c:8: error: released: 1 event "a" in no match \[assertion [0-9a-f]{16}\]'
poet check --assert rules keep.poet --findings keep.sarif >/dev/null
is "SARIF" "$(jq -r '.runs[0].results[] | "\(.ruleId) \(.locations[0].physicalLocation.region.startLine)"' keep.sarif)" "assertion 8"
echo 'at most 1 few { lock(object=M:m) }' >few
poet check --assert few once.poet >said
is "at most: exit status" $? 1
like "at most" "$(cat said)" 'assertion few: 2 matches, but there must be at most 1'
echo 'never { j: joined; l: lock; j -> l; !x between j l; x: lock }' >never
poet check --assert never once.poet >said
is "never: exit status" $? 1
like "never: both events" "$(paste -sd' ' said)" 'j: joined .* at once.c:16 +l: lock .* about M:m at once.c:17'

# ---- poet record --assert ----
poet record -o recorded.poet --assert rules ./once >said 2>&1
is "record: no violation: exit status" $? 0
is "record: no violation: no text" "$(grep assertion said)" ""
poet record -o recorded.poet --assert rules ./keep >said 2>&1
is "record: a violation: exit status" $? 1
like "record: a violation" "$(cat said)" 'assertion released: 1 event "a" in no match'
poet record -o recorded.poet --assert rules --error-exitcode 7 --findings found.json ./keep >said 2>&1
is "record: --error-exitcode" $? 7
is "record: --findings" "$(jq -r '.[]?, .findings[]? | select(.kind? == "assertion") | .kind' found.json 2>/dev/null | head -n 1)" assertion
poet record -o recorded.poet --assert missing ./once >said 2>&1
is "record: no file of assertions: exit status" $? 2
poet record -o recorded.poet --assert rules sh -c './once; exit 5' >said 2>&1
is "record: the program's own status" $? 5

# ---- assertions of a target description, which is part of the trace: poet check alone ----
mkdir conf
cp "$root"/config/*.conf conf
cat >>conf/pthread.conf <<'C'
assertions = ( { name = "few-locks"; at_most = 20; pattern = "lock"; },
    { name = "unlocked"; always = "a: acquired; r: released; a -> r; a.line = r.line"; } );
C
check "the description is valid" poet check conf/pthread.conf
for program in once keep; do
    POET_CONFIG=$PWD/conf POET_OUTPUT=own-$program.poet ./$program
    check "$program: the trace is finished" order_ends own-$program.poet
done
check "a description's assertions hold" poet check own-once.poet
poet check own-keep.poet >said
is "a description's assertion is violated: exit status" $? 1
like "a description's assertion is violated" "$(cat said)" 'own-keep.poet: assertion unlocked: 1 event "a" in no match'
is "the others are not" "$(grep -c 'assertion' said)" 1
is "as JSON" "$(poet check own-keep.poet --json | jq -r .assertion)" unlocked

# ---- errors ----
fails() { # fails TEXT MESSAGE
    printf '%b' "$1" >wrong
    poet check --assert wrong once.poet >said 2>&1
    is "$1: exit status" $? 2
    like "$1: message" "$(cat said)" "$2"
}
fails '' 'wrong:1: no assertion'
fails 'sometimes { lock }' 'wrong:1: expected never, always or at most'
fails 'never {\nlock\n-> }' 'wrong:3: pattern: column 1: expected an event'
fails 'never {\n lock -> nothing;\n  lock -> }' 'wrong:3: pattern: column 11: expected an event'
fails 'never x' 'wrong:1: expected a pattern in braces'
fails 'never { lock' 'wrong:1: missing }'
fails 'at most few { lock }' 'wrong:1: expected a number'
fails 'never { nosuch }' 'has the type "nosuch"'
poet check --assert missing once.poet 2>/dev/null
is "no file: exit status" $? 2
done_testing
