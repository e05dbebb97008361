/* poet ls: saved runs of this machine, and those of live servers. */
#define _GNU_SOURCE
#include "clients/cli/terminal_color.h"
#include "clients/cli/command.h"
#include "clients/cli/json_output.h"
#include "clients/cli/run_list.h"
#include "clients/cli/pager.h"

#include "wire/text.h"
#include "config/options.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- text ---- */

static const char *bytes_text(char *s, size_t size, uint64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double v = (double)bytes;
    int unit = 0;
    for (; v >= 999.5 && unit < 4; unit++)
        v /= 1000;
    snprintf(s, size, unit && v < 9.95 ? "%.1f %s" : "%.0f %s", v, units[unit]);
    return s;
}

static const char *length_text(char *s, size_t size, int64_t ns)
{
    long long seconds = ns / 1000000000;
    if (seconds >= 3600)
        snprintf(s, size, "%lld:%02lld:%02lld h", seconds / 3600, seconds / 60 % 60, seconds % 60);
    else if (seconds >= 60)
        snprintf(s, size, "%lld:%02lld min", seconds / 60, seconds % 60);
    else
        snprintf(s, size, ns >= 1000000000 ? "%.1f s" : "%.3f s", (double)ns / 1e9);
    return s;
}

static const char *date_text(char *s, size_t size, uint64_t wall_ns)
{
    time_t begin = (time_t)(wall_ns / 1000000000u);
    struct tm tm;
    strftime(s, size, "%Y-%m-%d %H:%M:%S", localtime_r(&begin, &tm));
    return s;
}

static const char *ending_begin(enum run_ending ending)
{
    return terminal_color_begin(ending == ENDING_LIVE       ? COLOR_GOOD
                                : ending == ENDING_FINISHED ? COLOR_FAINT
                                                            : COLOR_CAREFUL);
}

static void print_ending(const struct run_list_entry *l)
{
    printf("%s%s%s", ending_begin(l->ending), run_ending_text(l->ending), terminal_color_end());
    if (l->ending == ENDING_STOPPED) /* the recorded events cannot tell which */
        fputs(" (or exited in an untraced call)", stdout);
    if (l->deadlock)
        printf(", %sdeadlock%s", terminal_color_begin(COLOR_BAD), terminal_color_end());
    else if (l->waiting)
        printf(", %u blocked", l->waiting);
    if (l->lost)
        printf(", %s%llu lost%s", terminal_color_begin(COLOR_BAD), (unsigned long long)l->lost,
               terminal_color_end());
    if (l->why)
        printf(": %s", l->why);
    putchar('\n');
}

static int width_of(const struct run_list *listing, bool program)
{
    size_t most = program ? 7 : 3;
    for (size_t i = 0; i < listing->count; i++) {
        const char *s = program ? listing->items[i].program : listing->items[i].name;
        most = strlen(s) > most ? strlen(s) : most;
    }
    return (int)most;
}

static void print_text(const struct run_list *listing)
{
    char date[32], length[32], size[32];
    int names = width_of(listing, false), programs = width_of(listing, true);
    uint64_t bytes = 0;
    if (listing->count)
        printf("%s%-*s  %-*s  %-19s  %10s  %11s  %7s  STATUS%s\n", terminal_color_begin(COLOR_HEAD),
               names, "RUN", programs, "PROGRAM", "START", "DURATION", "EVENTS", "SIZE",
               terminal_color_end());
    for (size_t i = 0; i < listing->count; i++) {
        const struct run_list_entry *l = &listing->items[i];
        bytes += l->bytes;
        char *name = text_readable(l->name, strlen(l->name), false);
        printf("%-*s  %-*s  ", names, name, programs, l->program);
        free(name);
        if (l->ending == ENDING_UNREADABLE)
            printf("%-19s  %10s  %11s", "", "", "");
        else
            printf("%-19s  %10s  %11llu", date_text(date, sizeof date, l->wall_ns),
                   length_text(length, sizeof length, l->length_ns), (unsigned long long)l->events);
        printf("  %7s  ", bytes_text(size, sizeof size, l->bytes));
        print_ending(l);
    }
    printf("%s%zu run%s, %s%s\n", terminal_color_begin(COLOR_FAINT), listing->count,
           plural_suffix(listing->count), bytes_text(size, sizeof size, bytes),
           terminal_color_end());
}

/* ---- JSON ---- */

static void print_json(const struct run_list *listing)
{
    struct json_object *o = json_object_new_object(), *list = json_object_new_array();
    uint64_t bytes = 0;
    for (size_t i = 0; i < listing->count; i++) {
        const struct run_list_entry *l = &listing->items[i];
        struct json_object *r = json_object_new_object();
        bool known = l->ending != ENDING_UNREADABLE;
        bytes += l->bytes;
        json_object_object_add(r, "run", json_object_new_string(l->name));
        json_object_object_add(r, "file", *l->path ? json_object_new_string(l->path) : NULL);
        json_object_object_add(r, "program", json_object_new_string(l->program));
        json_object_object_add(r, "start_ns", known ? json_object_new_uint64(l->wall_ns) : NULL);
        json_object_object_add(r, "duration_ns",
                               known ? json_object_new_int64(l->length_ns) : NULL);
        json_object_object_add(r, "events", known ? json_object_new_uint64(l->events) : NULL);
        json_object_object_add(r, "lost", json_object_new_uint64(l->lost));
        json_object_object_add(r, "bytes", json_object_new_uint64(l->bytes));
        json_object_object_add(r, "status", json_object_new_string(run_ending_text(l->ending)));
        json_object_object_add(r, "blocked", json_object_new_int64(l->waiting));
        json_object_object_add(r, "deadlock", json_object_new_boolean(l->deadlock));
        json_object_object_add(r, "reason", l->why ? json_object_new_string(l->why) : NULL);
        json_object_array_add(list, r);
    }
    json_object_object_add(o, "runs", list);
    json_object_object_add(o, "bytes", json_object_new_uint64(bytes));
    json_print(o);
}

/* ---- the command ---- */

static const char *const sorts[] = {"date", "name", "duration", "events", "size"};

struct ls_options {
    bool json;
    int sort; /* index of sorts */
};

static int ls_compare_runs(const void *a, const void *b, void *sort)
{
    const struct run_list_entry *x = a, *y = b;
    const struct {
        uint64_t x, y;
    } keys[] = {{x->wall_ns, y->wall_ns},
                {0, 0},
                {(uint64_t)x->length_ns, (uint64_t)y->length_ns},
                {x->events, y->events},
                {x->bytes, y->bytes}};
    int by = *(const int *)sort;
    if (keys[by].x != keys[by].y)
        return keys[by].x < keys[by].y ? 1 : -1;
    return strcmp(x->name, y->name);
}

static const struct option_row ls_rows[] = {OPTION_SETS('j', struct ls_options, json), {0}};

static error_t ls_parse_option(int key, char *value, struct argp_state *state)
{
    struct ls_options *wanted = state->input;
    if (key != 's')
        return option_rows_parse(ls_rows, key, value, state);
    for (int i = 0; i < 5; i++)
        if (strcmp(value, sorts[i]) == 0) {
            wanted->sort = i;
            return 0;
        }
    command_usage(&command_ls,
                  "--sort: invalid value \"%s\"; "
                  "valid: date, name, duration, events, size",
                  value);
    return EINVAL;
}

static int ls_run(const struct command *command, int argc, char **argv)
{
    struct ls_options wanted = {0};
    int first, status = command_read(command, argc, argv, &wanted, &first);
    if (status != OPTIONS_READ)
        return status;
    struct run_list listing = {0};
    status = EXIT_DONE;
    if (first == argc)
        run_list_add_all(&listing);
    for (int i = first; i < argc; i++)
        if (!run_list_add(&listing, argv[i]))
            status = command_fail(command, "%s: %s", argv[i], strerror(errno));
    if (listing.count)
        qsort_r(listing.items, listing.count, sizeof *listing.items, ls_compare_runs, &wanted.sort);
    pager_begin();
    (wanted.json ? print_json : print_text)(&listing);
    run_list_free(&listing);
    return status;
}

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "print one JSON object; times in nanoseconds, start_ns since 1970", 0},
    {"sort", 's', "BY", 0, "sort by date (default), name, duration, events or size, largest first",
     0},
    {0}};
static const struct argp_child children[] = {
    {&color_options, 0, NULL, 0}, {&options_common, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = ls_parse_option,
    .args_doc = "[RUN|DIRECTORY|ENDPOINT...]",
    .doc =
        "List runs, newest first: name (to use as SOURCE), program, start, duration (up to the "
        "last event), events, disk space, and status: completed (with any exit status); killed "
        "(the program recorded no end: it was killed, or it exited in an untraced call, such as "
        "daemon() of the C library); truncated (the server exited first, or the file was cut "
        "short); or live; followed by the number of threads blocked at the end, or a deadlock, and "
        "lost events.  Without arguments: the traces in the state directory (~/.local/state/poet) "
        "and in the working directory, and the runs of local servers.",
    .children = children};

const struct command command_ls = {
    .name = "ls", .summary = "list saved and live runs", .run = ls_run, .argp = &argp};
