/* poet meters: what descriptions, and files of one's own, count and time over the events of a run. */
#define _GNU_SOURCE
#include "clients/poet/labels.h"
#include "clients/poet/tables.h"
#include "clients/poet/wanting.h"
#include "config/meters.h"
#include "memory/memory.h"
#include "wire/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_SET = 3000 };

struct wanted {
    struct tables tables;
    const char *file, *set;
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Which meters:", 1},
    {"meters", 'm', "FILE", 0, "also those of a file, as docs/config.md tells how to write one", 1},
    {"set", OPTION_SET, "METER=VALUE[:LINES]", 0,
     "instead: have a program that runs measure from now on: calls=counts, real, cpu or off; "
     "states and meters=on or off; of all threads, or of some, as with --lines",
     1},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct wanted *w = state->input;
    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = &w->tables;
    else if (key == 'm')
        w->file = value;
    else if (key == OPTION_SET)
        w->set = value;
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

#define FILE_BYTES (1u << 20) /* of a file, at most */

static char *text_of(const char *path)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return NULL;
    char *text = memory_zeroed(FILE_BYTES + 1, 1);
    size_t size = fread(text, 1, FILE_BYTES, f);
    bool bad = ferror(f) || memchr(text, 0, size);
    fclose(f);
    text[size] = 0;
    if (!bad)
        return text;
    free(text);
    errno = EINVAL;
    return NULL;
}

/* As the server reads it; NULL with complaints. */
static char *meters_of(const struct command *command, const char *path)
{
    struct arena texts = {0};
    struct target_meter *meters;
    size_t count;
    char *text = text_of(path);
    if (!text) {
        command_fail(command, "%s: %s", path, strerror(errno));
        return NULL;
    }
    bool good = meters_read(text, path, stderr, &texts, &meters, &count);
    free(text);
    text = good ? meters_text(meters, count) : NULL;
    free(meters);
    arena_free(&texts);
    if (!text)
        return NULL;
    if (strlen(text) <= LIMIT_OPTION_BYTES)
        return text;
    command_fail(command, "%s: more meters than may be asked for at once", path);
    free(text);
    return NULL;
}

static int run_set(const struct wanted *w, int argc, char **argv, int first)
{
    const struct command *command = w->tables.command;
    struct subject subject;
    const char *source = subject_named(argc, argv, &first);
    if (argc != first)
        return command_usage(command, "%s: one SOURCE is enough", argv[first]);
    if (!subject_open(command, &subject, source, wanting_lines(w->set), labels_wanted(LABELS_NAME)))
        return EXIT_FAILED;
    int status = wanting_tell(command, &subject, w->set);
    subject_close(&subject);
    return status;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct wanted w = {.tables = {.command = command}};
    int first, status = command_read(command, argc, argv, &w, &first);
    if (status != OPTIONS_READ)
        return status;
    if (w.set)
        return run_set(&w, argc, argv, first);
    char *text = w.file ? meters_of(command, w.file) : NULL;
    if (w.file && !text)
        return EXIT_USAGE;
    struct table_option given[] = {{(char *)(uintptr_t) "meters", text}, {0}};
    struct tables_section section = {.what = "meters", .options = text ? given : NULL};
    status = tables_command(&w.tables, argc, argv, first, &section, 1);
    free(text);
    return status;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[SOURCE]",
    .doc =
        "Say what meters counted and timed: those that the program counts itself (poet_meter of poet.h), "
        "numbers that poet watch told, and those of the run's descriptions, and of a file.  The last "
        "are worked out from the events, so that they are there for old traces, too.",
    .children = tables_children};

const struct command command_meters = {
    .name = "meters",
    .summary = "say what meters of one's own counted and timed over the events",
    .run = run,
    .argp = &argp};
