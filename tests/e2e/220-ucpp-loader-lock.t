#!/bin/bash
# The adapter for µC++ waits for no lock of the dynamic linker: a task that has lost its processor while it held one
# would keep it, and tasks of other processors come to the adapter with spin locks that it needs. Here a library's
# constructor, for which the linker holds its lock, waits until tasks on another processor have recorded events of
# each kind.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 XDG_CACHE_HOME=$PWD/cache
if ! command -v u++ >/dev/null; then
    skip "u++ (µC++ 7) is not installed"
    done_testing
    exit
fi

cat >holds.c <<'C'
#include <unistd.h>
extern volatile int held, recorded;
__attribute__((constructor)) static void hold(void)
{
    held = 1;
    while (!recorded)
        usleep(1000);
}
C
gcc -shared -fPIC holds.c -o holds.so

cat >loads.cc <<'C'
#include <cstdio>
#include <dlfcn.h>
#include <uRWLock.h>
#include <uSemaphore.h>
unsigned int uDefaultPreemption() { return 0; } /* no task but `loader` is on its processor */
unsigned int uDefaultProcessors() { return 2; }
extern "C" {
volatile int held, recorded;
}
_Task loader {
    void main()
    {
        if (!dlopen("./holds.so", RTLD_NOW))
            fprintf(stderr, "%s\n", dlerror());
    }
};
_Monitor box {
    uCondition filled;
    int items;

  public:
    box() : items(0) {}
    void put()
    {
        items++;
        filled.signal();
    }
    void get()
    {
        if (!items)
            filled.wait();
        items--;
    }
};
_Coroutine numbers {
    int last;
    void main()
    {
        for (last = 1;; last++)
            suspend();
    }

  public:
    int next()
    {
        resume();
        return last;
    }
};
static uRWLock shared; /* tasks wait in its queue, which has a spin lock */
static uOwnerLock owned;
static uSemaphore passed(0);
_Task reader {
    box &b;
    void main()
    {
        b.get();
        shared.rdacquire();
        shared.rdrelease();
        owned.acquire();
        owned.release();
        passed.V();
    }

  public:
    reader(box & b) : b(b) {}
    void call() {}
};
int main()
{
    loader first;
    while (!held)
        uBaseTask::yield();
    {
        box b;
        numbers n;
        shared.wracquire();
        owned.acquire();
        reader other(b);
        uBaseTask::yield(10);
        b.put();
        uBaseTask::yield(10); /* it waits for the lock now */
        shared.wrrelease();
        uBaseTask::yield(10);
        owned.release();
        passed.P();
        printf("%d\n", n.next() + n.next());
    }
    recorded = 1;
}
C
for kernel in "-multi -debug" "-multi -nodebug -O2"; do
    # shellcheck disable=SC2086
    CXX=u++ poetcc++ -trace -quiet $kernel loads.cc -o loads 2>err || cat err
    rm -f loads.poet
    is "$kernel: no event waits for the linker's lock" "$(POET_OUTPUT=loads.poet timeout 60 ./loads 2>err; echo $?)" "3
0"
    until_true finished loads.poet
    check "$kernel: poet check accepts the trace" poet check loads.poet
    is "$kernel: with waits in the queue of the inlined lock" \
        "$(poet dump loads.poet | awk '$3 ~ /^lock_(wait|signal|ready)$/ { print $3 }' | sort | xargs)" "lock_ready lock_signal lock_wait"
done
done_testing
