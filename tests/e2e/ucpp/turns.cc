// Tasks whose turns at a monitor, a lock and a semaphore depend on time slices.
#include <cstdio>
#include <uSemaphore.h>
unsigned int uDefaultPreemption() { return 1; }
static volatile long sink;
_Monitor book {
    char text[200];
    int length;

  public:
    book() : length(0) {}
    void write(char c) { text[length++] = c; }
    const char *read()
    {
        text[length] = 0;
        return text;
    }
};
static uOwnerLock lock;
static uSemaphore free_places(3);
static int failed;
_Task writer {
    book &b;
    char name;
    void main()
    {
        for (int i = 0; i < 20; i++) {
            for (int k = 0; k < 200000 + 37000 * (name % 4); k++)
                sink = k;
            b.write(name);
            free_places.P();
            lock.acquire();
            b.write(name + 'A' - 'a');
            lock.release();
            free_places.V();
            if (lock.tryacquire())
                lock.release();
            else
                failed++;
        }
    }

  public:
    writer(book &b, char name) : b(b), name(name) {}
};
int main()
{
    book b;
    {
        writer a(b, 'a'), c(b, 'c'), d(b, 'd'), e(b, 'e');
    }
    printf("%s %d\n", b.read(), failed);
}
