/* A dating service, scheduled from outside: a task that accepts calls, and inside each member the
 * caller whose partner is not there yet accepts that partner.
 *
 *     poetcc -trace -g accepting.c ucpp.c -o accepting && ./accepting && poet show latest */
#include "ucpp.h"

#include <stdio.h>

enum { GIRL = 1, BOY = 2, PAIRS = 3 };

static struct object service;
static int phone[2]; /* of who is here: girl, boy; 0: none */

static int call(int sex, int number)
{
    struct object *from = enter(&service, sex ? BOY : GIRL);
    int partner = phone[!sex];
    phone[sex] = number;
    if (!partner) {
        accept_call(&service, sex ? GIRL : BOY);
        partner = phone[!sex];
        phone[0] = phone[1] = 0;
    }
    leave(&service, from);
    return partner;
}

static void serve(void *unused)
{
    (void)unused;
    while (accept_call(&service, GIRL | BOY | DESTRUCTOR) != DESTRUCTOR)
        ;
}

static int dates;
static void girl(void *number) { dates += call(0, *(int *)number) != 0; }
static void boy(void *number) { dates += call(1, *(int *)number) != 0; }

void uc_main(void)
{
    struct object girls[PAIRS], boys[PAIRS];
    int numbers[PAIRS] = {101, 102, 103};
    dates = 0;
    task_make(&service, "DatingService", serve, NULL);
    for (int i = 0; i < PAIRS; i++) {
        task_make(&girls[i], "Girl", girl, &numbers[i]);
        task_make(&boys[i], "Boy", boy, &numbers[i]);
    }
    for (int i = 0; i < PAIRS; i++) {
        object_delete(&girls[i]);
        object_delete(&boys[i]);
    }
    object_delete(&service);
    if (dates != 2 * PAIRS)
        fprintf(stderr, "accepting: %d dates\n", dates);
}
