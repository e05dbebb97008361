/* Producer and consumer as coroutines of one task: each element is handed over by a resume.
 *
 *     poetcc -trace -g coroutines.c ucpp.c -o coroutines && ./coroutines && poet show latest */
#include "ucpp.h"

#define ITEMS 1

static struct object prod, cons;
static int item, sum;

static void consume(void *unused)
{
    (void)unused;
    for (int i = 0; i < ITEMS; i++) {
        if (i)
            suspend();
        sum += item;
    }
}

static void produce(void *unused)
{
    (void)unused;
    for (int i = 0; i < ITEMS; i++) {
        item = i;
        resume(&cons);
    }
}

void uc_main(void)
{
    coroutine_make(&cons, "cons", consume, NULL);
    coroutine_make(&prod, "prod", produce, NULL);
    resume(&prod);
    object_delete(&prod);
    object_delete(&cons);
}
