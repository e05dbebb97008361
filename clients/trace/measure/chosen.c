/* What is measured may be chosen by others when the program has begun: by a file that the server reads, or by a person. */
#define _GNU_SOURCE
#include "clients/trace/measure/chosen.h"

#include "clients/trace/core/link.h"
#include "clients/trace/core/say.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/measure/metername.h"
#include "clients/trace/measure/region.h"
#include "wire/meter.h"
#include "wire/told.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *file; /* NULL: there is none, or it cannot be had */
static bool taken_up;
static char path[PATH_MAX]; /* where stacks may be small */

void chosen_announce(void)
{
    struct wanted_besides besides = wanted_besides();
    if (besides.rate)
        meter_tell(besides.rate, METER_NONE, "rate", "");
    if (besides.file && !taken_up) {
        file = besides.file;
        taken_up = true;
    }
    if (!file)
        return;
    bool whole = realpath(file, path) != NULL;
    if (!whole)
        say_once("POET_METERS: @%.200s: %s", file, strerror(errno));
    else if (strlen(path) >= TOLD_LABEL_BYTES)
        say_once("POET_METERS: @%.80s...: the path is too long", path);
    else
        meter_tell(0, METER_NONE, "file", path);
    if (!whole || strlen(path) >= TOLD_LABEL_BYTES)
        file = NULL;
}

#define FILE_MS 2000u
#define ASK_MS 60000u

/* What the server writes into the head of the thread's queue. */
static uint32_t await(const struct thread *t, unsigned most_ms)
{
    uint32_t wanted = 0;
    for (unsigned ms = 0; ms < most_ms && !(wanted & (WANTED_CHOSEN | WANTED_BROKEN)); ms += 2) {
        nanosleep(&(struct timespec){0, 2000000}, NULL);
        wanted = atomic_load(&t->queue->wanted);
    }
    return wanted;
}

void chosen_await(void)
{
    const struct thread *t = thread_self();
    bool asks = wanted_besides().asks;
    if ((!file && !asks) || !t || !t->queue || server_sends || !server_meters)
        return;
    if (asks)
        say("waits, at most %u s, until somebody chooses what is measured: the viewer, or poet meters --set",
            ASK_MS / 1000);
    uint32_t wanted = await(t, asks ? ASK_MS : FILE_MS);
    if (!(wanted & WANTED_CHOSEN) && asks)
        say("nobody chose what is measured: the program begins");
    else if (wanted & WANTED_BROKEN)
        say_once("POET_METERS: @%.200s: nothing of it is taken: poet check says what is wrong with it",
            file);
    else if (!(wanted & WANTED_CHOSEN))
        say_once("POET_METERS: @%.200s: the server has not read it yet: the program begins", file);
}
