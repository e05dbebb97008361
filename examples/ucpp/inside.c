/* A task that calls its own mutex member from inside, and a coroutine that resumes itself, which
 * changes nothing and records no event.
 *
 *     poetcc -trace -g inside.c ucpp.c -o inside && ./inside && poet show latest */
#include "ucpp.h"

enum { MEM = 1 };

static struct object fred, mary;
static int calls;

static void mem(void)
{
    struct object *from = enter(&fred, MEM);
    calls++;
    leave(&fred, from);
}

static void fred_main(void *unused)
{
    (void)unused;
    mem();
    mem();
    accept_call(&fred, MEM);
}

static void mary_main(void *unused)
{
    (void)unused;
    resume(&mary);
}

void uc_main(void)
{
    task_make(&fred, "fred", fred_main, NULL);
    coroutine_make(&mary, "mary", mary_main, NULL);
    resume(&mary);
    mem();
    object_delete(&mary);
    object_delete(&fred);
}
