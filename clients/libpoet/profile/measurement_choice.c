/* Choice of what is measured, made outside of the program after its start: by a file that the
 * server reads, or by a user. */
#define _GNU_SOURCE
#include "clients/libpoet/profile/measurement_choice.h"

#include "clients/libpoet/core/environment.h"
#include "clients/libpoet/core/stderr_log.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/profile/region_owner.h"
#include "clients/libpoet/profile/user_metrics.h"
#include "wire/metric_messages.h"
#include "wire/program_messages.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *file; /* NULL: there is none, or it is not available */
static bool taken_up;
static char path[PATH_MAX]; /* where stacks may be small */

/* Announces the file of the metrics that are stored with the run. */
static void measurement_choice_announce_definitions(void)
{
    const char *definitions = environment_get("POET_METRICS");
    if (!definitions || !*definitions)
        return;
    if (!realpath(definitions, path))
        stderr_log_print_once("POET_METRICS: %.200s: %s", definitions, strerror(errno));
    else if (strlen(path) >= MESSAGE_LABEL_BYTES)
        stderr_log_print_once("POET_METRICS: %.80s...: the path is too long", path);
    else
        metric_name_send(0, METRIC_NONE, "definitions", path);
}

void measurement_choice_announce(void)
{
    measurement_choice_announce_definitions();
    struct measurement_options besides = measurement_wanted_options();
    if (besides.rate)
        metric_name_send(besides.rate, METRIC_NONE, "rate", "");
    if (besides.file && !taken_up) {
        file = besides.file;
        taken_up = true;
    }
    if (!file)
        return;
    bool whole = realpath(file, path) != NULL;
    if (!whole)
        stderr_log_print_once("POET_MEASURE: @%.200s: %s", file, strerror(errno));
    else if (strlen(path) >= MESSAGE_LABEL_BYTES)
        stderr_log_print_once("POET_MEASURE: @%.80s...: the path is too long", path);
    else
        metric_name_send(0, METRIC_NONE, "file", path);
    if (!whole || strlen(path) >= MESSAGE_LABEL_BYTES)
        file = NULL;
}

#define FILE_MS 2000u
#define ASK_MS 60000u

/* Returns what the server writes into the head of the thread's queue. */
static uint32_t measurement_choice_poll(const struct traced_thread *t, unsigned most_ms)
{
    uint32_t wanted = 0;
    for (unsigned ms = 0; ms < most_ms && !(wanted & (WANTED_CHOSEN | WANTED_BROKEN)); ms += 2) {
        nanosleep(&(struct timespec){0, 2000000}, NULL);
        wanted = atomic_load(&t->queue->wanted);
    }
    return wanted;
}

/* Counters of the process begin when the server has opened them; the program waits for that. */
static void measurement_choice_await_counters(const struct traced_thread *t)
{
    for (unsigned ms = 0; ms < FILE_MS; ms += 2) {
        uint32_t wanted = atomic_load(&t->queue->wanted);
        if (!(wanted & WANTED_COUNTERS) || wanted & WANTED_COUNTING)
            return;
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
}

uint32_t measurement_choice_await(void)
{
    uint32_t initial = measurement_wanted_initial();
    const struct traced_thread *t = thread_self();
    if (t && t->queue && !tracer.server.needs_socket)
        measurement_choice_await_counters(t);
    bool asks = measurement_wanted_options().asks;
    if ((!file && !asks) || !t || !t->queue || tracer.server.needs_socket)
        return initial;
    if (asks)
        stderr_log_print("waiting up to %u s for measurement settings (viewer, or poet measure)",
                         ASK_MS / 1000);
    uint32_t wanted = measurement_choice_poll(t, asks ? ASK_MS : FILE_MS);
    if (!(wanted & WANTED_CHOSEN) && asks)
        stderr_log_print("no measurement settings received; starting the program");
    else if (wanted & WANTED_BROKEN)
        stderr_log_print_once(
            "POET_MEASURE: @%.200s: invalid settings file, ignored; see: poet check FILE", file);
    else if (!(wanted & WANTED_CHOSEN))
        stderr_log_print_once(
            "POET_MEASURE: @%.200s: not yet read by the server; the program starts without it",
            file);
    measurement_wanted_set_samples(WANTED_RATE(wanted));
    return initial | wanted;
}
