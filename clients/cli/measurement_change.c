#define _GNU_SOURCE
#include "clients/cli/measurement_change.h"

#include "config/description_values.h"
#include "base/alloc.h"
#include "wire/request_body.h"
#include "wire/profile_region.h"

#include <stdlib.h>
#include <string.h>

#define CALLS (WANTED_COUNTS | WANTED_REAL | WANTED_CPU | WANTED_EVERY)

/* What a meter may be set to. */
static const struct {
    const char *meter, *value;
    uint32_t mask, bits;
} words[] = {{"calls", "off", CALLS, 0},
             {"calls", "counts", CALLS, WANTED_COUNTS},
             {"calls", "real", CALLS, WANTED_COUNTS | WANTED_REAL},
             {"calls", "cpu", CALLS, WANTED_COUNTS | WANTED_REAL | WANTED_CPU},
             {"calls", "every", CALLS, CALLS},
             {"states", "off", WANTED_STATES, 0},
             {"states", "on", WANTED_STATES, WANTED_STATES},
             {"metrics", "off", WANTED_METERS, 0},
             {"metrics", "on", WANTED_METERS, WANTED_METERS}};

#define WORDS (sizeof words / sizeof *words)

static char *no_such(const char *word)
{
    char *all = xstrdup("");
    for (size_t i = 0; i < WORDS; i++) {
        char *more = xasprintf("%s%s%s=%s", all, i ? ", " : "", words[i].meter, words[i].value);
        free(all);
        all = more;
    }
    char *why =
        xasprintf("%s: invalid setting; valid: %s; append :LINES to select threads", word, all);
    free(all);
    return why;
}

bool measurement_change_read(const char *word, uint32_t *mask, uint32_t *bits, const char **lines,
                             char **why)
{
    const char *colon = strchr(word, ':');
    size_t n = colon ? (size_t)(colon - word) : strlen(word);
    for (size_t i = 0; i < WORDS; i++) {
        size_t meter = strlen(words[i].meter);
        if (n == meter + 1 + strlen(words[i].value) && word[meter] == '=' &&
            strncmp(word, words[i].meter, meter) == 0 &&
            strncmp(word + meter + 1, words[i].value, n - meter - 1) == 0) {
            *mask = words[i].mask;
            *bits = words[i].bits;
            *lines = colon ? colon + 1 : NULL;
            return true;
        }
    }
    *why = no_such(word);
    return false;
}

enum session_lines measurement_change_lines(const char *word)
{
    return strchr(word, ':') ? SESSION_ALL_LINES : SESSION_NAMED_LINES;
}

static void measurement_change_receive_count(void *user, const struct response_chunk *answer)
{
    if (answer->part == RESPONSE_MEASURED_PROGRAMS)
        *(uint32_t *)user = decode_u32(answer->in);
}

static int measurement_change_send_request(const struct command *command,
                                           struct command_source *subject,
                                           struct measurement_request *request)
{
    struct encoder body = {0};
    uint32_t programs = 0;
    encode_measurement_request(&body, request);
    if (!command_source_request(command, subject, REQUEST_SET_MEASUREMENT, &body,
                                measurement_change_receive_count, &programs))
        return EXIT_FAILED;
    return programs ? EXIT_DONE : command_fail(command, "no program of this run is connected");
}

int measurement_change_send(const struct command *command, struct command_source *subject,
                            const char *word)
{
    struct measurement_request request = {0};
    struct table_request named = {0};
    struct table_settings tables = {.command = command};
    char *why = NULL;
    if (!measurement_change_read(word, &request.mask, &request.bits, &tables.threads, &why)) {
        command_usage(command, "%s", why);
        free(why);
        return EXIT_USAGE;
    }
    if (tables.threads && !table_request_label_lines(&tables, &named, subject)) {
        free(named.lines);
        return EXIT_USAGE;
    }
    request.lines = named.lines;
    request.line_count = named.line_count;
    int status = measurement_change_send_request(command, subject, &request);
    measurement_request_free(&request);
    return status;
}
