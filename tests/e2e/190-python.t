#!/bin/sh
# Python programs: what the interpreter does for itself is left out, and what threads and tasks do with each other is recorded.
. "$(dirname "$0")/lib.sh"
export POET_KEEP=1 POET_QUIET=1
python=
for candidate in /usr/bin/python3 $(command -v python3); do # (no script that looks for a Python)
    "$candidate" -c 'import sys, ctypes; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && python=$candidate && break
done
case $(readelf -h "${python:-/}" 2>/dev/null) in
*ELF*) ;;
*)
    skip "no Python 3.10 with ctypes is installed"
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

is "recorded without the module it prints what it prints" \
    "$(env -u POET_QUIET poet record -o bare.poet -- "$python" work.py 2>said)" a
is "nothing of the interpreter's lock is in the trace" "$(poet dump bare.poet | grep -c '_PyRuntime\|M:python')" 0
if "$python" -c 'import sysconfig, sys; sys.exit(bool(sysconfig.get_config_var("Py_ENABLE_SHARED")) and "libpython" in open("/proc/self/maps").read())'; then
    like "and that is said" "$(poet stat bare.poet)" "Python locks, unless the program imports poet"
    like "also at the start" "$(cat said)" "its internal locks are not traced"
    poet record -i 'python3*' -o all.poet -- "$python" work.py >/dev/null
    like "unless they are asked for" "$(poet dump all.poet)" " M:_PyRuntime"
else
    skip "the interpreter is a library here"
fi

is "without poet record the module changes nothing" "$(PYTHONPATH=$B/share/poet/python "$python" -m poet work.py)" a
is "recorded with it the same comes" "$(poet record -o work.poet -- "$python" -m poet work.py)" a
check "the trace is sound" sound work.poet
put=$(event work.poet queue_put) get=$(event work.poet queue_get)
is "an item is put before it is got" "$(order work.poet "$put" "$get")" before
is "the lock is released before it is acquired again" \
    "$(order work.poet "$(event work.poet lock_release main)" "$(event work.poet lock_acquired worker)")" before
is "an event is set before it is seen" "$(order work.poet "$(event work.poet event_set)" "$(event work.poet event_seen)")" before
is "the thread ends before it is joined" "$(order work.poet "$(event work.poet thread_end)" "$(event work.poet thread_joined)")" before
like "objects have their names, events their source lines" "$(poet dump work.poet)" 'queue_put .*object Q:jobs.*"work\.py:17 \(<module>\)"'

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
is "tasks of asyncio" "$(poet record -o tasks.poet -- "$python" -m poet tasks.py)" 1
check "the trace is sound" sound tasks.poet
is "each task has a line" "$(poet dump tasks.poet | awk '$3 == "task_run" { print $4 }' | sort | tr '\n' ' ')" "T:consume() T:main() T:produce() "
is "what wakes a task is before it" "$(order tasks.poet "$(event tasks.poet queue_put)" "$(event tasks.poet queue_get)")" before
is "a task ends before it is known" "$(order tasks.poet "$(event tasks.poet task_end 'produce')" "$(event tasks.poet task_result 'main.*:15')")" before
is "tasks are concurrent where nothing orders them" \
    "$(order tasks.poet "$(event tasks.poet task_run consume)" "$(event tasks.poet task_run produce)")" concurrent
is "the example" "$(poet record -o echo.poet -- "$python" -m poet "$root/examples/python/echo.py" | sort | tr '\n' ' ')" \
    "BYE FROM ONE BYE FROM TWO HELLO FROM ONE HELLO FROM TWO "
check "its trace is sound" sound echo.poet
done_testing
