#!/bin/bash
# Python programs: internal locks of the interpreter are not traced, synchronization between threads and asyncio
# tasks is.
. "$(dirname "$0")/lib.sh"
export POET_KEEP=1 POET_QUIET=1
python=
for candidate in /usr/bin/python3 $(command -v python3); do # (only an executable, not a wrapper script)
    "$candidate" -c 'import sys, ctypes; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && python=$candidate && break
done
case $(readelf -h "${python:-/}" 2>/dev/null) in
*ELF*) ;;
*)
    skip "Python 3.10 or later with ctypes is not installed"
    done_testing
    exit
    ;;
esac

cat >work.py <<'P'
import queue, threading

jobs = queue.Queue()
results = []
gate = threading.Lock()
full = threading.Event()

def work():
    item = jobs.get()
    with gate:
        results.append(item)
    full.set()

gate.acquire()
worker = threading.Thread(target=work, name="worker")
worker.start()
jobs.put("a")
gate.release()
full.wait()
worker.join()
print(*results)
P
# event TRACE TYPE [LINE]: the event of that type, as LINE:NUMBER
event() { poet dump "$1" | awk -v type="$2" -v line="${3:-.}" '$3 == type && $0 ~ line { print $1; exit }'; }
order() { poet order "$1" "$2" "$3" | head -n 1; }

is "without the poet module: the output is the same" \
    "$(env -u POET_QUIET poet record -o bare.poet -- "$python" work.py 2>said)" a
is "without the poet module: locks of the interpreter are not traced" "$(poet dump bare.poet | grep -c '_PyRuntime\|M:python')" 0
if "$python" -c 'import sysconfig, sys; sys.exit(bool(sysconfig.get_config_var("Py_ENABLE_SHARED")) and "libpython" in open("/proc/self/maps").read())'; then
    like "poet stat says that Python locks are not traced" "$(poet stat bare.poet)" "Python locks, unless the program imports poet"
    like "poet record says that internal locks are not traced" "$(cat said)" "its internal locks are not traced"
    poet record -i 'python3*' -o all.poet -- "$python" work.py >/dev/null
    like "option for internal locks: locks of the interpreter are traced" "$(poet dump all.poet)" " M:_PyRuntime"
else
    skip "the interpreter is a shared library"
fi

is "poet module without poet record: the output is the same" "$(PYTHONPATH=$B/share/poet/python "$python" -m poet work.py)" a
is "poet module with poet record: the output is the same" "$(poet record -o work.poet -- "$python" -m poet work.py)" a
check "threads: the trace passes poet check" sound work.poet
put=$(event work.poet queue_put) get=$(event work.poet queue_get)
is "threads: a queue put happens before its get" "$(order work.poet "$put" "$get")" before
is "threads: a lock release happens before the next acquisition" \
    "$(order work.poet "$(event work.poet lock_release main)" "$(event work.poet lock_acquired worker)")" before
is "threads: setting an event happens before its wait returns" "$(order work.poet "$(event work.poet event_set)" "$(event work.poet event_seen)")" before
is "threads: the end of a thread happens before its join" "$(order work.poet "$(event work.poet thread_end)" "$(event work.poet thread_joined)")" before
like "threads: objects have names and events have source lines" "$(poet dump work.poet)" 'queue_put .*object Q:jobs.*"work\.py:17 \(<module>\)"'

cat >tasks.py <<'P'
import asyncio

async def produce(queue):
    await asyncio.sleep(0)
    await queue.put(1)

async def consume(queue):
    return await queue.get()

async def main():
    items = asyncio.Queue()
    consumer = asyncio.create_task(consume(items))
    producer = asyncio.create_task(produce(items))
    print(await consumer)
    await producer

asyncio.run(main())
P
is "asyncio: the output is the same" "$(poet record -o tasks.poet -- "$python" -m poet tasks.py)" 1
check "asyncio: the trace passes poet check" sound tasks.poet
is "asyncio: each task has a line" "$(poet dump tasks.poet | awk '$3 == "task_run" { print $4 }' | sort | tr '\n' ' ')" "T:consume() T:main() T:produce() "
is "asyncio: a queue put happens before its get" "$(order tasks.poet "$(event tasks.poet queue_put)" "$(event tasks.poet queue_get)")" before
is "asyncio: the end of a task happens before its result is used" "$(order tasks.poet "$(event tasks.poet task_end 'produce')" "$(event tasks.poet task_result 'main.*:15')")" before
is "asyncio: tasks without order are concurrent" \
    "$(order tasks.poet "$(event tasks.poet task_run consume)" "$(event tasks.poet task_run produce)")" concurrent
is "examples/python/echo.py: the output is the same" "$(poet record -o echo.poet -- "$python" -m poet "$root/examples/python/echo.py" | sort | tr '\n' ' ')" \
    "BYE FROM ONE BYE FROM TWO HELLO FROM ONE HELLO FROM TWO "
check "examples/python/echo.py: the trace passes poet check" sound echo.poet
done_testing
