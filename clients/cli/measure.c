/* poet measure: changes what the programs of a live run measure. */
#define _GNU_SOURCE
#include "clients/cli/command.h"
#include "clients/cli/command_source.h"
#include "clients/cli/table_options.h"

#include "base/alloc.h"
#include "wire/profile_region.h"
#include "wire/request.h"

#include <stdlib.h>
#include <string.h>

#define CALLS (WANTED_COUNTS | WANTED_REAL | WANTED_CPU | WANTED_EVERY)

/* Settings that a user can change. */
static const struct {
    const char *name, *value;
    uint32_t mask, bits;
} measure_settings[] = {{"calls", "off", CALLS, 0},
                        {"calls", "counts", CALLS, WANTED_COUNTS},
                        {"calls", "real", CALLS, WANTED_COUNTS | WANTED_REAL},
                        {"calls", "cpu", CALLS, WANTED_COUNTS | WANTED_REAL | WANTED_CPU},
                        {"calls", "every", CALLS, CALLS},
                        {"states", "off", WANTED_STATES, 0},
                        {"states", "on", WANTED_STATES, WANTED_STATES},
                        {"metrics", "off", WANTED_METERS, 0},
                        {"metrics", "on", WANTED_METERS, WANTED_METERS}};

#define SETTINGS (sizeof measure_settings / sizeof *measure_settings)

static int measure_invalid(const struct command *command, const char *word)
{
    char *all = xstrdup("");
    for (size_t i = 0; i < SETTINGS; i++) {
        char *more = xasprintf("%s%s%s=%s", all, i ? ", " : "", measure_settings[i].name,
                               measure_settings[i].value);
        free(all);
        all = more;
    }
    int status = command_usage(
        command, "%s: invalid setting; valid: %s; append :THREADS to select threads", word, all);
    free(all);
    return status;
}

/* Parses NAME=VALUE[:THREADS]; *threads: NULL for all threads. */
static bool measure_read_setting(const char *word, struct measurement_request *request,
                                 const char **threads)
{
    const char *colon = strchr(word, ':');
    size_t n = colon ? (size_t)(colon - word) : strlen(word);
    for (size_t i = 0; i < SETTINGS; i++) {
        size_t name = strlen(measure_settings[i].name);
        if (n == name + 1 + strlen(measure_settings[i].value) && word[name] == '=' &&
            strncmp(word, measure_settings[i].name, name) == 0 &&
            strncmp(word + name + 1, measure_settings[i].value, n - name - 1) == 0) {
            request->mask = measure_settings[i].mask;
            request->bits = measure_settings[i].bits;
            *threads = colon ? colon + 1 : NULL;
            return true;
        }
    }
    return false;
}

static void measure_receive_count(void *user, const struct response_chunk *answer)
{
    if (answer->part == RESPONSE_MEASURED_PROGRAMS)
        *(uint32_t *)user = decode_u32(answer->in);
}

static int measure_send_request(const struct command *command, struct command_source *subject,
                                struct measurement_request *request)
{
    struct encoder body = {0};
    uint32_t programs = 0;
    encode_measurement_request(&body, request);
    if (!command_source_request(command, subject, REQUEST_SET_MEASUREMENT, &body,
                                measure_receive_count, &programs))
        return EXIT_FAILED;
    return programs ? EXIT_DONE : command_fail(command, "no program of this run is connected");
}

static int measure_send_setting(const struct command *command, struct command_source *subject,
                                const char *word)
{
    struct measurement_request request = {0};
    struct table_request named = {0};
    struct table_settings tables = {.command = command};
    if (!measure_read_setting(word, &request, &tables.threads))
        return measure_invalid(command, word);
    if (tables.threads && !table_request_label_lines(&tables, &named, subject)) {
        free(named.lines);
        return EXIT_USAGE;
    }
    request.lines = named.lines;
    request.line_count = named.line_count;
    int status = measure_send_request(command, subject, &request);
    measurement_request_free(&request);
    return status;
}

/* Checks all settings before the first one is sent. */
static int measure_check_settings(const struct command *command, char **words, bool *by_threads)
{
    for (; *words; words++) {
        struct measurement_request request = {0};
        const char *threads;
        if (!measure_read_setting(*words, &request, &threads))
            return measure_invalid(command, *words);
        *by_threads |= threads != NULL;
    }
    return EXIT_DONE;
}

static int measure_run(const struct command *command, int argc, char **argv)
{
    struct command_source subject;
    bool by_threads = false;
    int first, status = command_read(command, argc, argv, NULL, &first);
    if (status != OPTIONS_READ)
        return status;
    const char *source = first < argc && !strchr(argv[first], '=') ? argv[first++] : NULL;
    if (first == argc)
        return command_usage(command, "missing operand: SETTING");
    status = measure_check_settings(command, argv + first, &by_threads);
    if (status != EXIT_DONE)
        return status;
    if (!command_source_open(command, &subject, source,
                             by_threads ? SESSION_ALL_LINES : SESSION_NAMED_LINES,
                             label_option_selected(LABELS_NAME)))
        return EXIT_FAILED;
    for (; first < argc && status == EXIT_DONE; first++)
        status = measure_send_setting(command, &subject, argv[first]);
    command_source_close(&subject);
    return status;
}

static const struct argp argp = {
    .args_doc = "[SOURCE] SETTING...",
    .doc = "Change what the programs of a live run measure.  A SETTING is calls=off, counts, real, "
           "cpu or every; states=on or off; or metrics=on or off; with :THREADS (numbers, or names "
           "with * and ?, separated by commas) it applies to these threads only.\v"
           "For example: poet measure calls=counts, poet measure latest calls=off:main,worker*",
    .children = options_children};

const struct command command_measure = {.name = "measure",
                                        .summary = "change what a live program measures",
                                        .run = measure_run,
                                        .argp = &argp};
