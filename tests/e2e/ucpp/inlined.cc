// Locks of which only the queue is seen.
#include <uAdaptiveLock.h>
#include <uRWLock.h>

static uRWLock lock;
static uAdaptiveLock<> adaptive;

_Task reader {
    void main()
    {
        lock.rdacquire();
        lock.rdrelease();
        adaptive.acquire();
        adaptive.release();
    }
};

int main()
{
    lock.wracquire();
    adaptive.acquire();
    reader a, b;
    uBaseTask::yield(5);
    lock.wrrelease();
    uBaseTask::yield(5);
    adaptive.release();
}
