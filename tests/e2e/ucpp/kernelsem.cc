// Semaphores of the kernel, which are no monitors: P, V, TryP, and a P with a timeout.
#include <uSemaphore.h>

static uSemaphore full(0), empty(2);
static int sum;

_Task producer {
    void main()
    {
        for (int i = 1; i <= 6; i++) {
            empty.P();
            sum += i;
            full.V();
        }
    }
};

int main()
{
    {
        producer p;
        for (int i = 0; i < 6; i++) {
            full.P();
            empty.V();
        }
    }
    bool passed = full.TryP() || full.P(uDuration(0, 1000000));
    return passed || sum != 21;
}
