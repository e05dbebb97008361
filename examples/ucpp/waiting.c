/* The dating service once more, scheduled from inside: a monitor with two condition queues.
 *
 *     poetcc -trace -g waiting.c ucpp.c -o waiting && ./waiting && poet show latest */
#include "ucpp.h"

#include <stdio.h>

enum { GIRL = 1, BOY = 2, PAIRS = 3 };

static struct object service;
static struct condition waiting[2]; /* girls, boys */
static int phone[2];

static int call(int sex, int number)
{
    struct object *from = enter(&service, sex ? BOY : GIRL);
    phone[sex] = number;
    if (condition_empty(&waiting[!sex]))
        condition_wait(&waiting[sex]); /* the partner leaves a number, and signals */
    else
        condition_signal(&waiting[!sex]);
    int partner = phone[!sex];
    leave(&service, from);
    return partner;
}

static int dates;
static void girl(void *number) { dates += call(0, *(int *)number) != 0; }
static void boy(void *number) { dates += call(1, *(int *)number) != 0; }

void uc_main(void)
{
    struct object girls[PAIRS], boys[PAIRS];
    int numbers[PAIRS] = {101, 102, 103};
    dates = 0;
    monitor_make(&service, "DatingService");
    condition_make(&waiting[0], &service);
    condition_make(&waiting[1], &service);
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
        fprintf(stderr, "waiting: %d dates\n", dates);
}
