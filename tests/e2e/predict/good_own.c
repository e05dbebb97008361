/* Each waits on its own condition, at one source line: a signal is enough, even if others lock. */
#include "slow.h"
struct person {
    pthread_cond_t called;
    int is_called;
    struct person *next;
};
LOCK(lock);
static struct person *waiting;
static void *comes(void *p)
{
    struct person self = {.called = PTHREAD_COND_INITIALIZER};
    late(1);
    pthread_mutex_lock(&lock);
    self.next = waiting;
    waiting = &self;
    while (!self.is_called)
        pthread_cond_wait(&self.called, &lock);
    pthread_mutex_unlock(&lock);
    pthread_cond_destroy(&self.called);
    return p;
}
static void *calls(void *p)
{
    for (int left = 3; left;) {
        pthread_mutex_lock(&lock);
        if (waiting) {
            waiting->is_called = 1;
            pthread_cond_signal(&waiting->called);
            waiting = waiting->next;
            left--;
        }
        pthread_mutex_unlock(&lock);
        late(1);
    }
    return p;
}
int main(void)
{
    RUN(comes, comes, comes, calls);
    return 0;
}
