/* poet watch: feeds numbers that commands and files print periodically into a live run. */
#define _GNU_SOURCE
#include "base/clock.h"
#include "clients/cli/number_sampler.h"
#include "clients/cli/command_source.h"

#include "base/alloc.h"
#include "wire/program_messages.h"
#include "config/options.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EVERY = 256, RUN, COUNT, FILE_OF };

struct watch_item {
    char *name;
    const char *what; /* a path or a command */
    bool is_file;
    char *problem; /* last error message; NULL: none */
};

struct watch_options {
    const struct command *command;
    const char *run, *every, *times; /* as on the command line; NULL: not specified */
    const char *wrong_file; /* an invalid --file */
    long every_ms, count;
    struct watch_item *items;
    size_t item_count;
};

static volatile int stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

/* ---- options ---- */

static bool watch_add_item(struct watch_options *w, const char *word, bool is_file)
{
    const char *equals = strchr(word, '=');
    size_t name = equals ? (size_t)(equals - word) : 0;
    if (!name || !equals[1] || name >= MESSAGE_LABEL_BYTES)
        return false;
    w->items = xreallocarray(w->items, w->item_count + 1, sizeof *w->items);
    w->items[w->item_count++] =
        (struct watch_item){.name = xstrndup(word, name), .what = equals + 1, .is_file = is_file};
    return true;
}

static bool read_long(const char *text, long least, long most, long *value)
{
    char *end;
    errno = 0;
    *value = strtol(text, &end, 10);
    return !errno && end != text && !*end && *value >= least && *value <= most;
}

static const struct option_row watch_rows[] = {OPTION_STORES(EVERY, struct watch_options, every),
                                               OPTION_STORES(COUNT, struct watch_options, times),
                                               OPTION_STORES(RUN, struct watch_options, run),
                                               {0}};

static error_t watch_parse_option(int key, char *value, struct argp_state *state)
{
    struct watch_options *w = state->input;
    if (key != FILE_OF)
        return option_rows_parse(watch_rows, key, value, state);
    w->wrong_file = watch_add_item(w, value, true) ? w->wrong_file : value;
    return 0;
}

static int watch_check_arguments(struct watch_options *w, int argc, char **argv, int first)
{
    if (w->every && !read_long(w->every, 1, 86400000, &w->every_ms))
        return command_usage(w->command,
                             "--every: invalid value \"%s\"; valid: 1 to 86400000 milliseconds",
                             w->every);
    if (w->times && !read_long(w->times, 1, 1000000000, &w->count))
        return command_usage(w->command, "--count: invalid value \"%s\"; valid: 1 or more",
                             w->times);
    if (w->wrong_file)
        return command_usage(w->command, "--file: invalid value \"%s\"; use NAME=PATH",
                             w->wrong_file);
    for (; first < argc; first++)
        if (!watch_add_item(w, argv[first], false))
            return command_usage(w->command, "%s: invalid operand; use NAME=COMMAND", argv[first]);
    return w->item_count
               ? OPTIONS_READ
               : command_usage(w->command, "missing operand: NAME=COMMAND or --file NAME=PATH");
}

/* ---- sending ---- */

static bool watch_send_value(struct command_source *subject, const struct watch_item *item,
                             long long value)
{
    struct encoder out = {0};
    encoder_begin_message(&out, MESSAGE_SAMPLED_CELLS);
    encode_string(&out, item->name);
    encode_string(&out, "");
    encode_u64(&out, (uint64_t)value);
    encoder_end_message(&out);
    return session_send_message(&subject->source, &out);
}

/* Reports an error of an item only if it differs from the last one. */
static void watch_report_wrong(const struct watch_options *w, struct watch_item *item,
                               const char *why)
{
    if (why && (!item->problem || strcmp(item->problem, why) != 0))
        command_fail(w->command, "%s: %s: %s", item->name, item->what, why);
    free(item->problem);
    item->problem = why ? xstrdup(why) : NULL;
}

static void watch_sample_items(const struct watch_options *w, struct command_source *subject)
{
    for (size_t i = 0; i < w->item_count && !stopped; i++) {
        struct watch_item *item = &w->items[i];
        struct error error;
        long long value;
        bool known = item->is_file
                         ? number_sampler_read_file(item->what, &value, &error)
                         : number_sampler_run_command(item->what, &value, &stopped, &error);
        if (known)
            watch_send_value(subject, item, value);
        if (!stopped)
            watch_report_wrong(w, item, known ? NULL : error.text);
    }
}

static void watch_receive_stat(void *user, const struct response_chunk *answer)
{
    struct stat_info stat = {0};
    if (answer->part != RESPONSE_STAT)
        return;
    decode_stat_info(answer->in, &stat);
    *(uint32_t *)user = stat.connected;
    stat_info_free(&stat);
}

static uint64_t now_ns(void) { return clock_read_ns(CLOCK_MONOTONIC); }

static void rest_until(uint64_t ns)
{
    struct timespec until = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    if (now_ns() < ns)
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* Samples as long as a program of the run is connected, which is checked every second. */
static int watch_sample_until_end(const struct watch_options *w, struct command_source *subject)
{
    uint64_t every_ns = (uint64_t)w->every_ms * 1000000u, next = now_ns(), step = 1000000000u;
    for (long done = 0; !stopped && (!w->count || done < w->count);) {
        uint32_t connected = 0;
        if (!command_source_request(w->command, subject, REQUEST_STAT, NULL, watch_receive_stat,
                                    &connected))
            return EXIT_FAILED;
        if (!connected)
            return done ? EXIT_DONE
                        : command_fail(w->command, "%s: no program of this run is connected",
                                       subject->source.name);
        if (now_ns() >= next) {
            watch_sample_items(w, subject);
            done++;
            next = now_ns() > next + every_ns ? now_ns() : next + every_ns;
        }
        if (!w->count || done < w->count)
            rest_until(next < now_ns() + step ? next : now_ns() + step);
    }
    uint32_t ignored = 0; /* once this is answered, all values sent have arrived */
    return stopped || command_source_request(w->command, subject, REQUEST_STAT, NULL,
                                             watch_receive_stat, &ignored)
               ? EXIT_DONE
               : EXIT_FAILED;
}

static void free_items(const struct watch_options *w)
{
    for (size_t i = 0; i < w->item_count; i++) {
        free(w->items[i].name);
        free(w->items[i].problem);
    }
    free(w->items);
}

static int watch_run_loop(const struct watch_options *w)
{
    struct command_source subject;
    struct sigaction end = {.sa_handler = on_signal};
    if (!command_source_open(w->command, &subject, w->run, SESSION_NAMED_LINES, LABELS_NAME))
        return EXIT_FAILED;
    sigaction(SIGINT, &end, NULL);
    sigaction(SIGTERM, &end, NULL);
    int status = watch_sample_until_end(w, &subject);
    command_source_close(&subject);
    return status;
}

static int watch_run(const struct command *command, int argc, char **argv)
{
    struct watch_options w = {.command = command, .every_ms = 1000};
    int first, status = command_read(command, argc, argv, &w, &first);
    if (status == OPTIONS_READ)
        status = watch_check_arguments(&w, argc, argv, first);
    if (status == OPTIONS_READ)
        status = watch_run_loop(&w);
    free_items(&w);
    return status;
}

static const struct argp_option options[] = {
    {"file", FILE_OF, "NAME=PATH", 0, "sample the first number in PATH; may be repeated", 0},
    {"every", EVERY, "MS", 0, "sampling interval in milliseconds (1000)", 0},
    {"count", COUNT, "N", 0, "stop after N samples", 0},
    {"run", RUN, "SOURCE", 0, "target run (default: latest)", 0},
    {0}};
static const struct argp argp = {
    .options = options,
    .parser = watch_parse_option,
    .args_doc = "NAME=COMMAND...",
    .doc =
        "Sample numbers into a live run: the first number printed by a shell command or found in a "
        "file.  `poet metrics` shows them with the other metrics of the run.\vIt ends with Ctrl-C, "
        "and with the last program of the run.  Commands are run by this command, never by the "
        "server; one that fails, prints no number or takes more than ten seconds is reported with "
        "its name, and tried again at the next interval.",
    .children = options_children};

const struct command command_watch = {.name = "watch",
                                      .summary =
                                          "sample values from commands or files into a live run",
                                      .run = watch_run,
                                      .argp = &argp};
