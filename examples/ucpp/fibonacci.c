/* Two generators of Fibonacci numbers, coroutines that one task at a time may enter; four workers
 * take one number from each.
 *
 *     poetcc -trace -g fibonacci.c ucpp.c -o fibonacci && ./fibonacci && poet show latest */
#include "ucpp.h"

enum { NEXT = 1, WORKERS = 4 };

struct fibonacci {
    struct object o;
    int number;
};

static struct fibonacci f1, f2;

static void generate(void *p)
{
    struct fibonacci *f = p;
    for (int a = 0, b = 1;;) {
        f->number = a;
        suspend();
        int c = a + b;
        a = b;
        b = c;
    }
}

static int next(struct fibonacci *f)
{
    struct object *from = enter(&f->o, NEXT);
    resume(&f->o);
    int number = f->number;
    leave(&f->o, from);
    return number;
}

static void work(void *sum)
{
    *(int *)sum += next(&f1);
    *(int *)sum += next(&f2);
}

void uc_main(void)
{
    struct object workers[WORKERS];
    int sum = 0;
    coroutine_monitor_make(&f1.o, "f1", generate, &f1);
    coroutine_monitor_make(&f2.o, "f2", generate, &f2);
    for (int i = 0; i < WORKERS; i++)
        task_make(&workers[i], "Worker", work, &sum);
    for (int i = 0; i < WORKERS; i++)
        object_delete(&workers[i]);
    object_delete(&f2.o);
    object_delete(&f1.o);
}
