/* Meira's figure 4 by tasks that accept each other's calls; they yield until their work is over. */
#include "real.h"
#include "ucpp.h"

#define CALL 1u
static struct object rank0, rank1, rank2;

static void toil(const char *name, double ms)
{
    int64_t from = now(), until = from + (int64_t)(ms * 1e6);
    while (now() < until) {
        clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, 50000}, 0);
        yield();
    }
    tell("work", name, from);
    late_ns += now() - until;
}
static void call(struct object *whom)
{
    struct object *from = enter(whom, CALL);
    leave(whom, from);
}
static void main0(void *x)
{
    (void)x;
    toil("A1", 50);
    call(&rank1);
    toil("A2", 30);
    WAIT("p0", accept_call(&rank0, CALL));
}
static void main1(void *x)
{
    (void)x;
    toil("B1", 20);
    WAIT("p1", accept_call(&rank1, CALL));
    toil("B3", 40);
    call(&rank2);
}
static void main2(void *x)
{
    (void)x;
    toil("C1", 25);
    WAIT("p2", accept_call(&rank2, CALL));
    toil("C3", 35);
    call(&rank0);
}
void uc_main(void)
{
    task_make(&rank0, "p0", main0, NULL);
    task_make(&rank1, "p1", main1, NULL);
    task_make(&rank2, "p2", main2, NULL);
    object_delete(&rank0);
    object_delete(&rank1);
    object_delete(&rank2);
    report(stdout);
}
