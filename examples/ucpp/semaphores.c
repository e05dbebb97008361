/* Producer and consumer with two semaphores, each of them a monitor: a bounded buffer of five.
 *
 *     poetcc -trace -g semaphores.c ucpp.c -o semaphores && ./semaphores && poet show latest */
#include "ucpp.h"

enum { P = 1, V = 2 };

struct semaphore {
    struct object o;
    struct condition free;
    int count;
};

static void make(struct semaphore *s, const char *name, int count)
{
    monitor_make(&s->o, name);
    condition_make(&s->free, &s->o);
    s->count = count;
}

static void p(struct semaphore *s)
{
    struct object *from = enter(&s->o, P);
    if (s->count-- == 0)
        condition_wait(&s->free);
    leave(&s->o, from);
}

static void v(struct semaphore *s)
{
    struct object *from = enter(&s->o, V);
    s->count++;
    condition_signal(&s->free);
    leave(&s->o, from);
}

#define SIZE 5
#define ITEMS 1

static struct semaphore full, empty;
static int buffer[SIZE];

static void produce(void *unused)
{
    (void)unused;
    for (int i = 0; i < ITEMS; i++) {
        p(&empty);
        buffer[i % SIZE] = i;
        v(&full);
    }
}

static void consume(void *sum)
{
    for (int i = 0; i < ITEMS; i++) {
        p(&full);
        *(int *)sum += buffer[i % SIZE];
        v(&empty);
    }
}

void uc_main(void)
{
    struct object prod, cons;
    int sum = 0;
    make(&full, "full", 0);
    make(&empty, "empty", SIZE);
    task_make(&cons, "cons", consume, &sum);
    task_make(&prod, "prod", produce, NULL);
    object_delete(&prod);
    object_delete(&cons);
    object_delete(&empty.o);
    object_delete(&full.o);
}
