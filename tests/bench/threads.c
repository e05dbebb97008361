/* threads THREADS MUTEXES EVENTS [PAUSE]: threads that lock random mutexes, as fast as possible
 * or, with a pause after every PAUSE pairs, at about a million events per second. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
static pthread_mutex_t *m;
static int threads, mutexes, pause;
static long pairs;
static void *work(void *a)
{
    unsigned r = (unsigned)(long)a * 7919 + 1;
    struct timespec t = {0, 900000};
    for (long i = 0; i < pairs; i++) {
        r = r * 1103515245 + 12345;
        int k = (int)((r >> 8) % (unsigned)mutexes);
        pthread_mutex_lock(&m[k]);
        pthread_mutex_unlock(&m[k]);
        if (pause && i % pause == 0)
            nanosleep(&t, NULL);
    }
    return a;
}
int main(int argc, char **argv)
{
    threads = atoi(argv[1]);
    mutexes = atoi(argv[2]);
    pairs = atol(argv[3]) / 5 / threads;
    pause = argc > 4 ? atoi(argv[4]) : 0;
    m = calloc((size_t)mutexes, sizeof *m);
    pthread_t *t = calloc((size_t)threads, sizeof *t);
    for (int i = 0; i < mutexes; i++)
        pthread_mutex_init(&m[i], NULL);
    for (long i = 0; i < threads; i++)
        pthread_create(&t[i], NULL, work, (void *)i);
    for (int i = 0; i < threads; i++)
        pthread_join(t[i], NULL);
    return argc == 0;
}
