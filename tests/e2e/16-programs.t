#!/bin/bash
# Installed multithreaded programs under poet record: results are those of an untraced run, the traces are sound.
. "$(dirname "$0")/lib.sh"
seq 1 300000 | shuf --random-source=<(yes) >numbers
head -c 1500000 numbers >text
start_server -o p/ -q

# try NAME COMMAND...: output, messages and exit status are the same with and without poet record
try() {
    what=$1
    shift
    command -v "$1" >/dev/null || { skip "$1 is not installed"; return; }
    "$@" >want 2>want.err </dev/null
    status=$?
    poet record $how -- "$@" >got 2>got.err </dev/null
    is "$what: the exit status is that of an untraced run" $? $status
    check "$what: the output is that of an untraced run" cmp got want
    # Poet prints a notice for some versions of Python.
    is "$what: the messages are those of an untraced run" "$(grep -v '^poet: Python interpreter: ' got.err)" "$(cat want.err)"
    check "$what: the trace is sound" sound latest
    is "$what: the trace has several threads" "$([ "$(poet dump latest --json | grep -c '"kind":"thread"')" -gt 1 ] && echo yes)" yes
}
how=
try sort sort --parallel=4 -n numbers
try pigz pigz -n -p 4 -c text
try zstd zstd -q -T4 -c text
try lbzip2 lbzip2 -n 4 -c text
try pbzip2 pbzip2 -q -p4 -c text
how=--libraries
try xz xz -T4 -c --block-size=200000 text
try python3 python3 -c '
import threading
lock, sum = threading.Lock(), [0]
def work(n):
    for i in range(100):
        with lock: sum[0] += n
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
print(sum[0])'

# An allocator that uses mutexes itself, and is preloaded.
jemalloc=$(ls /usr/lib/*/libjemalloc.so.2 2>/dev/null | head -n 1)
if [ -n "$jemalloc" ]; then
    export LD_PRELOAD=$jemalloc
    how=--libraries
    try "sort with jemalloc" sort --parallel=4 -n numbers
    unset LD_PRELOAD
else
    skip "jemalloc is not installed"
fi

if command -v valgrind >/dev/null; then
    compile deadlock
    compile philosophers
    is "valgrind reports no error in a traced program" "$(valgrind -q --error-exitcode=9 ./philosophers 2>&1 >/dev/null; echo $?)" 0
else
    skip "valgrind is not installed"
fi

# memcached with four threads: two hundred values stored and fetched.
if command -v memcached >/dev/null && command -v nc >/dev/null; then
    poet record -- memcached -u "$(id -un)" -s "$work/cache" -t 4 2>cache.err & cache=$!
    pids="$pids $cache"
    listens() { grep -q " 00010000 .* $work/cache\$" /proc/net/unix; } # the socket file exists before the server listens
    until_true listens
    for i in $(seq 200); do printf 'set k%d 0 0 3\r\nabc\r\nget k%d\r\n' "$i" "$i"; done >asked
    echo quit >>asked
    is "memcached answers 200 requests" "$(nc -U cache <asked | grep -c '^abc')" 200
    kill -TERM $cache
    wait $cache
    is "memcached exits with 0" $? 0
    check "memcached: the trace is sound" sound latest
else
    skip "memcached is not installed"
fi
stop_server
done_testing
