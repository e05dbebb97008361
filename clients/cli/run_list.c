#define _GNU_SOURCE
#include "clients/cli/run_list.h"

#include "clients/connection/run_discovery.h"
#include "clients/connection/session.h"
#include "clients/connection/wait_list.h"
#include "base/alloc.h"
#include "wire/event_id.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *run_ending_text(enum run_ending ending)
{
    static const char *const texts[] = {"completed", "killed", "truncated", "live", "unreadable"};
    return texts[ending];
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_listed(const struct run_list *listing, const struct stat *st)
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

static void set_file(struct run_list_entry *l, const char *path, const struct stat *st)
{
    l->path = xstrdup(path);
    if (!st)
        return;
    l->bytes = (uint64_t)st->st_blocks * 512;
    l->device = st->st_dev;
    l->inode = st->st_ino;
}

/* Returns "prodcons", or "bash +4". */
static char *programs_of(const struct trace_metadata *book)
{
    const char *first = book->process_count ? base_name(book->processes[0].path) : book->run.name;
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

/* Returns whether a thread whose line has no end exited by pthread_exit() or exec(). */
static bool left_in_order(struct session *source, const struct line_metadata *line)
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
static enum run_ending ending_of(struct session *source)
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
    bool over = !thread || line->is.closed || line->is.exited || left_in_order(source, line);
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
    l->deadlock = waits.cycle_count > 0;
    l->program = programs_of(&source->book);
    l->ending = ending_of(source);
    wait_list_free(&waits);
    return true;
}

/* ---- files ---- */

/* Returns the shortest SOURCE for a file: its bare name if it is found in the state directory. */
static char *name_of(const char *path)
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

static void add_file(void *user, const char *path)
{
    struct run_list *listing = user;
    struct stat st;
    if (stat(path, &st) < 0 || is_listed(listing, &st))
        return;
    struct session source;
    struct error error;
    struct run_list_entry *l = run_list_append_run(listing);
    set_file(l, path, &st);
    l->name = name_of(path);
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

static void add_run(struct run_list *listing, struct session *source, uint32_t number)
{
    char text[16];
    struct error error;
    struct stat st;
    snprintf(text, sizeof text, "%u", number);
    if (!session_select_run(source, text, &error))
        return;
    const char *file = source->book.run.file;
    bool there = file && *file && stat(file, &st) == 0;
    if (there && is_listed(listing, &st))
        return;
    struct run_list_entry *l = run_list_append_run(listing);
    set_file(l, there ? file : "", there ? &st : NULL);
    l->name = there ? name_of(file) : xasprintf("%s#%u", source->name, number);
    if (run_list_request_run_details(l, source, &error))
        return;
    l->ending = ENDING_UNREADABLE;
    l->why = xstrdup(error.text);
    l->program = xstrdup("");
}

static void add_server(void *user, const char *endpoint)
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
            add_run(user, &source, numbers.items[i]);
    free(numbers.items);
    session_close(&source);
}

/* ---- all runs ---- */

void run_list_add_all(struct run_list *listing)
{
    char state[PATH_MAX];
    run_discovery_state(state, sizeof state);
    run_discovery_endpoints(add_server, listing);
    run_discovery_files(state, add_file, listing);
    run_discovery_files(".", add_file, listing);
}

bool run_list_add(struct run_list *listing, const char *what)
{
    char path[PATH_MAX];
    struct stat st;
    if (endpoint_is(what)) {
        add_server(listing, what);
        return true;
    }
    if (!run_discovery_find(what, path, sizeof path) || stat(path, &st) < 0)
        return false;
    if (S_ISDIR(st.st_mode))
        run_discovery_files(path, add_file, listing);
    else
        add_file(listing, path);
    return true;
}

void run_list_free(struct run_list *listing)
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
