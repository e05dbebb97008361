/* Threads synchronize at random and keep vector clocks (Fidge 1988, Mattern 1989): each event is a
 * text with the clock, so Poet's order of two texts can be compared with their clocks.
 *   vclock THREADS ROUNDS SEED [MEETINGS, of 4096 rounds [MUTEXES]] */
#include <poet.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 8
#define MUTEXES_MOST 4096

struct clock {
    unsigned long at[MOST];
};

static int threads, rounds, seed, meetings, mutex_count;
static struct clock of_mutex[MUTEXES_MOST], met[MOST], handed[MOST][4096];
static pthread_mutex_t *mutexes;
static sem_t hand[MOST]; /* from a thread to the next one */
static pthread_barrier_t barrier;

static void join(struct clock *a, const struct clock *b)
{
    for (int i = 0; i < MOST; i++)
        a->at[i] = b->at[i] > a->at[i] ? b->at[i] : a->at[i];
}

static void note(struct clock *c, int me)
{
    char text[200];
    int n = snprintf(text, sizeof text, "clock %d", me);
    c->at[me]++;
    for (int i = 0; i < threads; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %lu", c->at[i]);
    poet_text("%s", text);
}

static void visit(struct clock *c, int me, unsigned which)
{
    pthread_mutex_lock(&mutexes[which]);
    join(c, &of_mutex[which]);
    note(c, me);
    of_mutex[which] = *c;
    pthread_mutex_unlock(&mutexes[which]);
}

static void meet_all(struct clock *c, int me)
{
    met[me] = *c;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < threads; i++)
        join(c, &met[i]);
    pthread_barrier_wait(&barrier);
}

static void *work(void *number)
{
    int me = (int)(long)number, from = (me + threads - 1) % threads;
    unsigned random = (unsigned)(seed * 100 + me), sent = 0, taken = 0;
    struct clock c = {{0}};
    for (int i = 0; i < rounds; i++) {
        random = random * 1664525u + 1013904223u;
        unsigned what = random >> 20;
        note(&c, me);
        if (what < (unsigned)meetings)
            visit(&c, me, (random >> 8) % (unsigned)mutex_count);
        else if (what < (unsigned)meetings * 5 / 4 && sent < 4096) {
            handed[me][sent++] = c;
            sem_post(&hand[me]);
        } else if (what < (unsigned)meetings * 2 && sem_trywait(&hand[from]) == 0)
            join(&c, &handed[from][taken++]);
        if (i % 5000 == 4999)
            meet_all(&c, me);
    }
    note(&c, me);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t ids[MOST];
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    threads = argc > 1 ? atoi(argv[1]) : 4;
    rounds = argc > 2 ? atoi(argv[2]) : 1000;
    seed = argc > 3 ? atoi(argv[3]) : 1;
    meetings = argc > 4 ? atoi(argv[4]) : 100;
    mutex_count = argc > 5 ? atoi(argv[5]) : 5;
    mutexes = calloc(MUTEXES_MOST, sizeof *mutexes);
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (int i = 0; i < 5; i++)
        pthread_mutex_init(&mutexes[i], NULL);
    for (int i = 5; i < MUTEXES_MOST; i++)
        mutexes[i] = fresh; /* which has its line once a thread locks it */
    for (int i = 0; i < threads; i++)
        sem_init(&hand[i], 0, 0);
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, work, (void *)(long)i);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    return 0;
}
