/* poet metrics and poet usage: metrics that descriptions and users' files define over the events of
 * a run, and those of the operating system. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "clients/cli/command_source.h"
#include "clients/cli/table_options.h"
#include "config/metric_rules.h"
#include "config/options.h"
#include "wire/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct metrics_options {
    struct table_settings tables;
    const char *file;
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Which metrics:", 1},
    {"metrics", 'm', "FILE", 0, "also those that FILE defines (see docs/config.md)", 1},
    {0}};

static const struct option_row metrics_rows[] = {OPTION_CHILD_INPUT(struct metrics_options, tables),
                                                 OPTION_STORES('m', struct metrics_options, file),
                                                 {0}};

static error_t metrics_parse_option(int key, char *value, struct argp_state *state)
{
    return option_rows_parse(metrics_rows, key, value, state);
}

#define FILE_BYTES (1u << 20) /* maximum size of a file */

static char *text_view_of(const char *path)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return NULL;
    char *text = xcalloc(FILE_BYTES + 2, 1);
    size_t size = fread(text, 1, FILE_BYTES + 1, f);
    int error = ferror(f) ? errno : size > FILE_BYTES ? EFBIG : memchr(text, 0, size) ? EINVAL : 0;
    fclose(f);
    if (!error)
        return text;
    free(text);
    errno = error;
    return NULL;
}

/* Returns the rules in the form that the server reads; NULL after reporting errors. */
static char *metrics_read_rules(const struct command *command, const char *path)
{
    struct arena texts = {0};
    struct target_metric *meters;
    size_t count;
    char *text = text_view_of(path);
    if (!text) {
        command_fail(command, "%s: %s", path, strerror(errno));
        return NULL;
    }
    bool good = metric_rules_read(text, path, stderr, &texts, &meters, &count);
    free(text);
    text = good ? metric_rules_write(meters, count) : NULL;
    free(meters);
    arena_free(&texts);
    if (!text)
        return NULL;
    if (strlen(text) <= LIMIT_OPTION_BYTES)
        return text;
    command_fail(command, "%s: too many metrics for one request", path);
    free(text);
    return NULL;
}

static int metrics_run(const struct command *command, int argc, char **argv)
{
    struct metrics_options w = {.tables = {.command = command}};
    int first, status = command_read(command, argc, argv, &w, &first);
    if (status != OPTIONS_READ)
        return status;
    char *text = w.file ? metrics_read_rules(command, w.file) : NULL;
    if (w.file && !text)
        return EXIT_USAGE;
    struct table_option given[] = {{(char *)(uintptr_t) "metrics", text}, {0}};
    struct table_section section = {.what = "metrics", .options = text ? given : NULL};
    status = table_output_command(&w.tables, argc, argv, first, &section, 1);
    free(text);
    return status;
}

static const struct argp metrics_argp = {
    .options = options,
    .parser = metrics_parse_option,
    .args_doc = "[SOURCE]",
    .doc =
        "Show metrics: those the program maintains (poet_meter of poet.h), values from poet "
        "watch, and those derived from events by a target description or a metric file (also for "
        "existing traces).",
    .children = tables_children};

const struct command command_metrics = {.name = "metrics",
                                        .summary = "show user-defined metrics",
                                        .run = metrics_run,
                                        .argp = &metrics_argp};

/* ---- poet usage ---- */

static error_t usage_parse_option(int key, char *value, struct argp_state *state)
{
    (void)value;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = state->input;
    return 0;
}

static int usage_run(const struct command *command, int argc, char **argv)
{
    struct table_settings tables = {.command = command};
    int first, status = command_read(command, argc, argv, &tables, &first);
    if (status != OPTIONS_READ)
        return status;
    struct table_section section = {.what = "usage"};
    return table_output_command(&tables, argc, argv, first, &section, 1);
}

static const struct argp usage_argp = {
    .parser = usage_parse_option,
    .args_doc = "[SOURCE]",
    .doc =
        "Show OS metrics per process and thread: CPU time, run-queue wait (runnable), memory, "
        "page faults, I/O; with poet record -m counters also cycles, instructions, cache and "
        "branch misses, where the machine has such counters.  Local processes are sampled 10 "
        "times per second at first, later less often; final values come from getrusage() "
        "and are exact.",
    .children = tables_children};

const struct command command_resources = {.name = "usage",
                                          .summary =
                                              "show OS resource usage: CPU time, memory, I/O",
                                          .run = usage_run,
                                          .argp = &usage_argp};
