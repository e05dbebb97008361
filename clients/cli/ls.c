/* poet ls: saved runs of this machine, and those of live servers, each once. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "clients/cli/command.h"
#include "clients/cli/output_format.h"
#include "clients/cli/terminal.h"
#include "clients/connection/session.h"
#include "clients/connection/wait_list.h"
#include "config/options.h"
#include "wire/event_types.h"
#include "wire/text.h"

#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

/* ---- the list of runs ---- */

enum run_ending { ENDING_FINISHED, ENDING_STOPPED, ENDING_CUT_OFF, ENDING_LIVE, ENDING_UNREADABLE };

struct run_list_entry {
    char *name; /* its name as a SOURCE */
    char *path; /* of its file; "": deleted */
    char *program; /* "": unknown */
    char *why; /* why it cannot be read; or NULL */
    uint64_t wall_ns; /* its start, since 1970 */
    int64_t length_ns; /* until its last event */
    uint64_t events, lost, bytes; /* bytes: on disk */
    uint32_t waiting; /* threads blocked at its end */
    bool deadlock; /* some of them in a deadlock */
    enum run_ending ending;
    dev_t device; /* with the inode: identifies the file; both 0: none */
    ino_t inode;
};

struct run_list {
    struct run_list_entry *items;
    size_t count, room;
};

/* Returns "finished", "stopped", ... */
static const char *run_ending_text(enum run_ending ending)
{
    static const char *const texts[] = {"completed", "killed", "truncated", "live", "unreadable"};
    return texts[ending];
}

static const char *run_list_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool run_list_contains(const struct run_list *listing, const struct stat *st)
{
    for (size_t i = 0; i < listing->count; i++)
        if (listing->items[i].inode == st->st_ino && listing->items[i].device == st->st_dev)
            return true;
    return false;
}

static struct run_list_entry *run_list_append_run(struct run_list *listing)
{
    listing->items =
        array_reserve(listing->items, &listing->room, listing->count + 1, sizeof *listing->items);
    struct run_list_entry *l = &listing->items[listing->count++];
    *l = (struct run_list_entry){0};
    return l;
}

static void run_list_set_file(struct run_list_entry *l, const char *path, const struct stat *st)
{
    l->path = xstrdup(path);
    if (!st)
        return;
    l->bytes = (uint64_t)st->st_blocks * 512;
    l->device = st->st_dev;
    l->inode = st->st_ino;
}

/* Returns "prodcons", or "bash +4". */
static char *run_list_programs(const struct trace_metadata *book)
{
    const char *first =
        book->process_count ? run_list_base_name(book->processes[0].path) : book->run.name;
    if (book->process_count > 1)
        return xasprintf("%s +%u", first, book->process_count - 1);
    return xstrdup(first);
}

static void run_list_receive_waits(void *user, const struct response_chunk *answer)
{
    wait_list_receive(user, answer);
}

/* ---- the last event of a line ---- */

struct run_list_last_event {
    const struct trace_metadata *book;
    uint64_t position; /* NO_POSITION: not found */
    bool ends; /* it is the exit or exec of the thread */
};

static void run_list_receive_position(void *user, const struct response_chunk *answer)
{
    struct run_list_last_event *last = user;
    struct search_result found;
    if (answer->part != RESPONSE_FOUND)
        return;
    decode_search_result(answer->in, &found);
    if (!answer->in->error && found.hit_count)
        last->position = found.hits[0].position;
    search_result_free(&found);
}

static void run_list_receive_last(void *user, const struct response_chunk *answer)
{
    struct run_list_last_event *last = user;
    struct event_info event;
    if (answer->part != RESPONSE_EVENT)
        return;
    decode_event_info(answer->in, &event);
    const char *type = answer->in->error ? "" : metadata_type_name(last->book, event.type);
    last->ends = strcmp(type, "exit") == 0 || strcmp(type, "exec") == 0;
    event_info_free(&event);
}

/* Returns whether a thread, which has no end on its line, exited by pthread_exit() or exec(). */
static bool run_list_left_in_order(struct session *source, const struct line_metadata *line)
{
    struct run_list_last_event last = {&source->book, NO_POSITION, false};
    struct encoder body = {0};
    struct error ignored;
    if (line->is.last < 2)
        return false;
    encode_event_id(&body, (struct event_id){line->is.line, line->is.last - 1});
    encode_u8(&body, 1); /* direction: forward */
    if (!session_wait(
            source, session_send(source, REQUEST_NEIGHBOR, &body, run_list_receive_position, &last),
            &ignored) ||
        last.position == NO_POSITION)
        return false;
    body = (struct encoder){0};
    encode_u64(&body, last.position);
    encode_u32(&body, 1);
    return session_wait(
               source, session_send(source, REQUEST_LOG_RANGE, &body, run_list_receive_last, &last),
               &ignored) &&
           last.ends;
}

/* Determines how the run ended; a killed program recorded neither its end nor that of its first
 * thread. */
static enum run_ending run_list_ending(struct session *source)
{
    const struct run_info *run = &source->book.run;
    struct error ignored;
    if (run->connected || run->written)
        return ENDING_LIVE;
    if (run->unfinished)
        return ENDING_CUT_OFF;
    const uint32_t first = 1;
    if (!metadata_line(&source->book, first))
        session_subscribe_lines(source, &first, 1, &ignored);
    const struct line_metadata *line = metadata_line(&source->book, first);
    const struct target_line_type *kind = line ? metadata_line_type(&source->book, first) : NULL;
    bool thread = kind && kind->away; /* other lines do not end with a thread */
    bool over =
        !thread || line->is.closed || line->is.exited || run_list_left_in_order(source, line);
    return over ? ENDING_FINISHED : ENDING_STOPPED;
}

/* Gets the details of the selected run. */
static bool run_list_request_run_details(struct run_list_entry *l, struct session *source,
                                         struct error *error)
{
    struct wait_list waits = {0};
    if (!session_wait(source,
                      session_send(source, REQUEST_WAITS, NULL, run_list_receive_waits, &waits),
                      error)) {
        wait_list_free(&waits);
        return false;
    }
    const struct run_info *run = &source->book.run;
    l->wall_ns = run->wall_ns;
    l->events = run->events;
    l->lost = run->lost;
    l->length_ns = waits.now.last_ns;
    l->waiting = (uint32_t)waits.count;
    l->deadlock = wait_list_has_deadlock(&waits);
    l->program = run_list_programs(&source->book);
    l->ending = run_list_ending(source);
    wait_list_free(&waits);
    return true;
}

/* ---- files ---- */

/* Returns the shortest SOURCE for a file: its bare name if it is found in the state directory. */
static char *run_list_name(const char *path)
{
    char state[PATH_MAX], found[PATH_MAX];
    struct stat a, b;
    run_discovery_state(state, sizeof state);
    size_t n = strlen(state);
    if (strncmp(path, state, n) == 0 && path[n] == '/' && !strchr(path + n + 1, '/') &&
        run_discovery_find(path + n + 1, found, sizeof found) && stat(found, &a) == 0 &&
        stat(path, &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev)
        return xstrdup(path + n + 1);
    return xstrdup(path);
}

static void run_list_add_file(void *user, const char *path)
{
    struct run_list *listing = user;
    struct stat st;
    if (stat(path, &st) < 0 || run_list_contains(listing, &st))
        return;
    struct session source;
    struct error error;
    struct run_list_entry *l = run_list_append_run(listing);
    run_list_set_file(l, path, &st);
    l->name = run_list_name(path);
    bool open = session_open(&source, path, SESSION_NAMED_LINES, &error);
    if (!open || !run_list_request_run_details(l, &source, &error)) {
        l->ending = ENDING_UNREADABLE;
        const char *text = error.text; /* without the leading path */
        if (strncmp(text, path, strlen(path)) == 0 && strncmp(text + strlen(path), ": ", 2) == 0)
            text += strlen(path) + 2;
        l->why = xstrdup(text);
        l->program = l->program ? l->program : xstrdup("");
    }
    if (open)
        session_close(&source);
}

/* ---- servers ---- */

struct numbers {
    uint32_t *items;
    size_t count, room;
};

static void run_list_receive_number(void *user, const struct response_chunk *answer)
{
    struct numbers *numbers = user;
    struct run_info run;
    if (answer->part != RESPONSE_RUN)
        return;
    decode_run_info(answer->in, &run);
    if (!answer->in->error) {
        numbers->items = array_reserve(numbers->items, &numbers->room, numbers->count + 1,
                                       sizeof *numbers->items);
        numbers->items[numbers->count++] = run.number;
    }
    run_info_free(&run);
}

static void run_list_add_run(struct run_list *listing, struct session *source, uint32_t number)
{
    char text[16];
    struct error error;
    struct stat st;
    snprintf(text, sizeof text, "%u", number);
    if (!session_select_run(source, text, &error))
        return;
    const char *file = source->book.run.file;
    bool there = file && *file && stat(file, &st) == 0;
    if (there && run_list_contains(listing, &st))
        return;
    struct run_list_entry *l = run_list_append_run(listing);
    run_list_set_file(l, there ? file : "", there ? &st : NULL);
    l->name = there ? run_list_name(file) : xasprintf("%s#%u", source->name, number);
    if (run_list_request_run_details(l, source, &error))
        return;
    l->ending = ENDING_UNREADABLE;
    l->why = xstrdup(error.text);
    l->program = xstrdup("");
}

static void run_list_add_server(void *user, const char *endpoint)
{
    struct session source;
    struct error error;
    struct numbers numbers = {0};
    if (!session_open(&source, endpoint, SESSION_NO_RUN, &error))
        return;
    source.book.named = true;
    if (session_wait(&source,
                     session_send(&source, REQUEST_RUNS, NULL, run_list_receive_number, &numbers),
                     &error))
        for (size_t i = 0; i < numbers.count; i++)
            run_list_add_run(user, &source, numbers.items[i]);
    free(numbers.items);
    session_close(&source);
}

/* ---- all runs ---- */

/* Adds the runs of all servers listening on this host, and the traces of the working and the state
 * directory. */
static void run_list_add_all(struct run_list *listing)
{
    char state[PATH_MAX];
    run_discovery_state(state, sizeof state);
    run_discovery_endpoints(run_list_add_server, listing);
    run_discovery_files(state, run_list_add_file, listing);
    run_discovery_files(".", run_list_add_file, listing);
}

/* Adds a trace file, each trace of a directory, or the runs of a server. Returns false with errno
 * set. */
static bool run_list_add(struct run_list *listing, const char *what)
{
    char path[PATH_MAX];
    struct stat st;
    if (endpoint_is(what)) {
        run_list_add_server(listing, what);
        return true;
    }
    if (!run_discovery_find(what, path, sizeof path) || stat(path, &st) < 0)
        return false;
    if (S_ISDIR(st.st_mode))
        run_discovery_files(path, run_list_add_file, listing);
    else
        run_list_add_file(listing, path);
    return true;
}

static void run_list_free(struct run_list *listing)
{
    for (size_t i = 0; i < listing->count; i++) {
        struct run_list_entry *l = &listing->items[i];
        free(l->name);
        free(l->path);
        free(l->program);
        free(l->why);
    }
    free(listing->items);
    *listing = (struct run_list){0};
}

/* ---- text ---- */

static const char *ls_bytes_text(char *s, size_t size, uint64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double v = (double)bytes;
    int unit = 0;
    for (; v >= 999.5 && unit < 4; unit++)
        v /= 1000;
    snprintf(s, size, unit && v < 9.95 ? "%.1f %s" : "%.0f %s", v, units[unit]);
    return s;
}

static const char *ls_length_text(char *s, size_t size, int64_t ns)
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

static const char *ls_date_text(char *s, size_t size, uint64_t wall_ns)
{
    time_t begin = (time_t)(wall_ns / 1000000000u);
    struct tm tm;
    strftime(s, size, "%Y-%m-%d %H:%M:%S", localtime_r(&begin, &tm));
    return s;
}

static const char *ls_ending_begin(enum run_ending ending)
{
    return terminal_color_begin(ending == ENDING_LIVE       ? COLOR_GOOD
                                : ending == ENDING_FINISHED ? COLOR_FAINT
                                                            : COLOR_CAREFUL);
}

static void ls_print_ending(const struct run_list_entry *l)
{
    printf("%s%s%s", ls_ending_begin(l->ending), run_ending_text(l->ending), terminal_color_end());
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

static int ls_width(const struct run_list *listing, bool program)
{
    size_t most = program ? 7 : 3;
    for (size_t i = 0; i < listing->count; i++) {
        const char *s = program ? listing->items[i].program : listing->items[i].name;
        most = strlen(s) > most ? strlen(s) : most;
    }
    return (int)most;
}

static void ls_print_text(const struct run_list *listing)
{
    char date[32], length[32], size[32];
    int names = ls_width(listing, false), programs = ls_width(listing, true);
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
            printf("%-19s  %10s  %11llu", ls_date_text(date, sizeof date, l->wall_ns),
                   ls_length_text(length, sizeof length, l->length_ns),
                   (unsigned long long)l->events);
        printf("  %7s  ", ls_bytes_text(size, sizeof size, l->bytes));
        ls_print_ending(l);
    }
    printf("%s%zu run%s, %s%s\n", terminal_color_begin(COLOR_FAINT), listing->count,
           plural_suffix(listing->count), ls_bytes_text(size, sizeof size, bytes),
           terminal_color_end());
}

/* ---- JSON ---- */

static void ls_print_json(const struct run_list *listing)
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
    (wanted.json ? ls_print_json : ls_print_text)(&listing);
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
