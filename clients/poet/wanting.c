#define _GNU_SOURCE
#include "clients/poet/wanting.h"

#include "config/values.h"
#include "memory/memory.h"
#include "wire/asked.h"
#include "wire/region.h"

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
             {"meters", "off", WANTED_METERS, 0},
             {"meters", "on", WANTED_METERS, WANTED_METERS}};

#define WORDS (sizeof words / sizeof *words)

static char *no_such(const char *word)
{
    char *all = memory_copied("");
    for (size_t i = 0; i < WORDS; i++) {
        char *more =
            memory_printed("%s%s%s=%s", all, i ? ", " : "", words[i].meter, words[i].value);
        free(all);
        all = more;
    }
    char *why = memory_printed(
        "%s: write one of %s; behind it :LINES, if not all threads are meant", word, all);
    free(all);
    return why;
}

bool wanting_read(const char *word, uint32_t *mask, uint32_t *bits, const char **lines, char **why)
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

enum source_lines wanting_lines(const char *word)
{
    return strchr(word, ':') ? SOURCE_ALL_LINES : SOURCE_NAMED_LINES;
}

static void take(void *user, const struct answer *answer)
{
    if (answer->part == PART_WANTED)
        *(uint32_t *)user = get_u32(answer->in);
}

static int ask(const struct command *command, struct subject *subject, struct want_request *request)
{
    struct out body = {0};
    uint32_t programs = 0;
    put_want_request(&body, request);
    if (!subject_ask(command, subject, ASK_WANT, &body, take, &programs))
        return EXIT_FAILED;
    return programs ? EXIT_DONE
                    : command_fail(command, "no program of this run is there to measure anything");
}

int wanting_tell(const struct command *command, struct subject *subject, const char *word)
{
    struct want_request request = {0};
    struct table_request named = {0};
    struct tables tables = {.command = command};
    char *why = NULL;
    if (!wanting_read(word, &request.mask, &request.bits, &tables.lines, &why)) {
        command_usage(command, "%s", why);
        free(why);
        return EXIT_USAGE;
    }
    if (tables.lines && !tables_name_lines(&tables, &named, subject)) {
        free(named.lines);
        return EXIT_USAGE;
    }
    request.lines = named.lines;
    request.line_count = named.line_count;
    int status = ask(command, subject, &request);
    want_request_free(&request);
    return status;
}
