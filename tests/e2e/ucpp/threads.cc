// uC++'s emulation of pthreads: its threads are tasks, its mutexes owner locks.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *work(void *unused)
{
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&lock);
        count++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main()
{
    pthread_t a, b;
    pthread_create(&a, nullptr, work, nullptr);
    pthread_create(&b, nullptr, work, nullptr);
    pthread_join(a, nullptr);
    pthread_join(b, nullptr);
    return count != 20;
}
