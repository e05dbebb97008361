#!/bin/bash
# poet find: the matches of patterns in a run of known order, in all formats, and errors with their columns.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >two.c <<'C'
#include <pthread.h>
static pthread_mutex_t ma = PTHREAD_MUTEX_INITIALIZER, mb = PTHREAD_MUTEX_INITIALIZER;
static void *alpha(void *p)
{
    pthread_mutex_lock(&ma); /* line 5 */
    pthread_mutex_unlock(&ma);
    return p;
}
static void *beta(void *p)
{
    pthread_mutex_lock(&mb); /* line 11 */
    pthread_mutex_unlock(&mb);
    return p;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, alpha, 0);
    pthread_create(&b, 0, beta, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
C
check "the program is compiled" poetcc -trace -g two.c -o two
POET_OUTPUT=two.poet ./two
check "the trace is finished" order_ends two.poet

# matches NUMBER PATTERN [OPTION...]
matches() {
    number=$1 pattern=$2
    shift 2
    is "$pattern${*:+ ($*)}" "$(poet find --count "$@" two.poet "$pattern" 2>&1)" "$number"
}
matches 2 'acquire'
matches 4 'c: create; j: joined; c -> j'
matches 2 'c: create; j: joined; c -> j' --first
matches 0 'c: create; j: joined; j -> c'
matches 1 'a: acquire(object=M:ma); b: acquire(object=M:mb); a || b'
matches 1 'a: acquire; b: acquire; a || b; a.object = M:ma'
matches 2 'a: acquire; b: acquire; a || b; a.object != b.object'
matches 0 'a: acquire; b: acquire; a || b; a.object = b.object'
matches 2 'lock = acquired'
matches 2 'l: lock; a: acquired; l = a; l.object = a.line'
matches 2 'acquire ; lock'
matches 2 'acquire next lock -> unlock'
matches 2 'l: lock; u: unlock; l -> u; l.thread = u.thread'
matches 2 'l: lock|unlock; u: lock|unlock; l -> u; l.thread = u.thread'
# The lock of beta is not before the join of alpha, and that of alpha is not after the creation of beta.
matches 1 'c: create; j: joined; c -> j; l: lock; !l between c j'
matches 4 'c: create; j: joined; c ..60s j'
matches 0 'c: create; j: joined; j ..60s c'
matches 4 'c: create; j: joined; c -> ..60s j'
matches 1 'acquire(place=two.c:5)'
matches 2 'acquire(place=two.c)'
matches 1 'acquire(place=beta)'
matches 1 'acquire(place ~ /beta|gamma/)'
matches 1 'acquire(place != two.c:5)'
matches 1 'acquire(thread=T:alpha)'
matches 2 'acquire(thread ~ /alpha|beta/)'
matches 0 'acquire(kind = spin)'
matches 2 'acquire(kind = mutex)'
matches 2 'acquire(time < 60s)'
matches 0 'acquire(time >= 60s)'
matches 0 'acquire(text ~ /./)'
matches 2 'acquire(process = two)'
matches 4 'x: *(line ~ /^M:/)'
matches 0 'spin: timeout'

# ---- formats ----
poet find two.poet 'c: create; j: joined; c -> j; c.line = j.object' --json >found.json
expect found.json <<'JQ'
columns | columns => match name type event thread object location time_ns uncertain position
matches | outer_rows.match => 1 2
names | rows.name => c j c j
types | rows.type => create joined create joined
threads | inner_rows.thread => T:main T:main
objects | inner_rows.object => T:alpha T:beta
total | total.match => 2
JQ
is "CSV" "$(poet find two.poet 'acquire(thread=T:alpha)' --csv --columns match,name,type,thread,object | tr -d '\r' | tr '\n' ' ')" \
    "match,name,type,thread,object 1,acquire,acquire,T:alpha,M:ma "
like "text" "$(poet find two.poet 'acquire(thread=T:alpha)')" \
    '^    1  acquire +acquire +[0-9]+:[0-9]+ +T:alpha +M:ma +alpha \(two.c:5\)'
like "--limit: a note" "$(poet find two.poet 'c: create; j: joined; c -> j' --limit 3)" 'limit reached'
echo 'c: create   # a comment
j: joined
c -> j' >pattern
is "a file" "$(poet find -f pattern --count two.poet)" 4

# ---- exit status ----
poet find two.poet acquire >/dev/null
is "exit status of matches" $? 0
poet find two.poet 'timeout' >/dev/null
is "exit status without matches" $? 1
# fails COLUMN WORDS PATTERN
fails() {
    said=$(poet find two.poet "$3" 2>&1)
    is "$3: exit status" $? 2
    like "$3: column $1" "$said" "pattern: column $1: .*$2"
}
fails 14 'expected an event' 'a: lock; a ->'
fails 10 'type "lok"' 'a: lock; lok -> a'
fails 1 'type "aquire"; did you mean "acquire"' 'aquire'
fails 3 'expected the type' 'a:'
fails 10 'defined twice' 'a: lock; a: unlock'
fails 6 'expected object, thread' 'lock(color=red)'
fails 16 'no trace line' 'acquire(object=M:mz)'
fails 14 'not a time' 'acquire(time<5)'
fails 14 'regular expression' 'acquire(text~/(/)'
fails 14 'no relation to itself|itself' 'a: lock; a -> a'
fails 12 'compared|no order' 'acquire(type<x)'
fails 1 'no event' ''
poet find two.poet nosuchtype 2>/dev/null
is "unknown type: exit status" $? 2
poet find 2>/dev/null
is "no pattern: exit status" $? 2
poet find nosuch.poet lock 2>/dev/null
is "no source: exit status" $? 2
done_testing
