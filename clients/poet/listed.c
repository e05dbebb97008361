#define _GNU_SOURCE
#include "clients/poet/listed.h"

#include "clients/source/around.h"
#include "clients/source/source.h"
#include "clients/source/waits.h"
#include "memory/memory.h"
#include "wire/ref.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *ending_text(enum ending ending)
{
    static const char *const texts[] = {"finished", "stopped", "cut off", "live", "unreadable"};
    return texts[ending];
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_listed(const struct listing *listing, const struct stat *st)
{
    for (size_t i = 0; i < listing->count; i++)
        if (listing->items[i].inode == st->st_ino && listing->items[i].device == st->st_dev)
            return true;
    return false;
}

static struct listed *add(struct listing *listing)
{
    listing->items =
        grow(listing->items, &listing->room, listing->count + 1, sizeof *listing->items);
    struct listed *l = &listing->items[listing->count++];
    *l = (struct listed){0};
    return l;
}

static void set_file(struct listed *l, const char *path, const struct stat *st)
{
    l->path = memory_copied(path);
    if (!st)
        return;
    l->bytes = (uint64_t)st->st_blocks * 512;
    l->device = st->st_dev;
    l->inode = st->st_ino;
}

/* "prodcons", or "bash, cat and 3 more". */
static char *programs_of(const struct book *book)
{
    const char *first = book->process_count ? base_name(book->processes[0].path) : book->run.name;
    if (book->process_count > 1)
        return memory_printed("%s +%u", first, book->process_count - 1);
    return memory_copied(first);
}

static void take_waits(void *user, const struct answer *answer) { waits_take(user, answer); }

/* ---- the last event of a line ---- */

struct last {
    const struct book *book;
    uint64_t position; /* NO_POSITION: not found */
    bool ends; /* the thread ended with it, or became another program */
};

static void take_position(void *user, const struct answer *answer)
{
    struct last *last = user;
    struct shown_found found;
    if (answer->part != PART_FOUND)
        return;
    get_found(answer->in, &found);
    if (!answer->in->error && found.hit_count)
        last->position = found.hits[0].position;
    shown_found_free(&found);
}

static void take_last(void *user, const struct answer *answer)
{
    struct last *last = user;
    struct shown_event event;
    if (answer->part != PART_EVENT)
        return;
    get_event(answer->in, &event);
    const char *type = answer->in->error ? "" : book_type(last->book, event.type);
    last->ends = strcmp(type, "end") == 0 || strcmp(type, "exec") == 0;
    shown_event_free(&event);
}

/* Did a thread leave in order, though its line has no end: by pthread_exit() before others, or by exec()? */
static bool left_in_order(struct source *source, const struct book_line *line)
{
    struct last last = {&source->book, NO_POSITION, false};
    struct out body = {0};
    struct error ignored;
    if (line->is.last < 2)
        return false;
    put_ref(&body, (struct ref){line->is.line, line->is.last - 1});
    put_u8(&body, 1); /* the next one */
    if (!source_wait(source, source_ask(source, ASK_STEP, &body, take_position, &last), &ignored) ||
        last.position == NO_POSITION)
        return false;
    body = (struct out){0};
    put_u64(&body, last.position);
    put_u32(&body, 1);
    return source_wait(source, source_ask(source, ASK_LIST, &body, take_last, &last), &ignored) &&
           last.ends;
}

/* A program that was killed recorded neither its end nor that of its first thread. */
static enum ending ending_of(struct source *source)
{
    const struct shown_run *run = &source->book.run;
    struct error ignored;
    if (run->connected || run->written)
        return ENDING_LIVE;
    if (run->unfinished)
        return ENDING_CUT_OFF;
    const uint32_t first = 1;
    if (!book_line(&source->book, first))
        source_lines(source, &first, 1, &ignored);
    const struct book_line *line = book_line(&source->book, first);
    const struct target_kind *kind = line ? book_kind(&source->book, first) : NULL;
    bool thread = kind && kind->away; /* what is a thread's own ends when that does */
    bool over = !thread || line->is.closed || line->is.exited || left_in_order(source, line);
    return over ? ENDING_FINISHED : ENDING_STOPPED;
}

/* What the run that was selected says of itself. */
static bool fill(struct listed *l, struct source *source, struct error *error)
{
    struct waits waits = {0};
    if (!source_wait(source, source_ask(source, ASK_WAITS, NULL, take_waits, &waits), error)) {
        waits_free(&waits);
        return false;
    }
    const struct shown_run *run = &source->book.run;
    l->wall_ns = run->wall_ns;
    l->events = run->events;
    l->lost = run->lost;
    l->length_ns = waits.now.last_ns;
    l->waiting = (uint32_t)waits.count;
    l->deadlock = waits.cycle_count > 0;
    l->program = programs_of(&source->book);
    l->ending = ending_of(source);
    waits_free(&waits);
    return true;
}

/* ---- files ---- */

/* The shortest that means this file: its name where that is found here or in the state directory. */
static char *name_of(const char *path)
{
    char state[PATH_MAX], found[PATH_MAX];
    struct stat a, b;
    around_state(state, sizeof state);
    size_t n = strlen(state);
    if (strncmp(path, state, n) == 0 && path[n] == '/' && !strchr(path + n + 1, '/') &&
        around_find(path + n + 1, found, sizeof found) && stat(found, &a) == 0 &&
        stat(path, &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev)
        return memory_copied(path + n + 1);
    return memory_copied(path);
}

static void add_file(void *user, const char *path)
{
    struct listing *listing = user;
    struct stat st;
    if (stat(path, &st) < 0 || is_listed(listing, &st))
        return;
    struct source source;
    struct error error;
    struct listed *l = add(listing);
    set_file(l, path, &st);
    l->name = name_of(path);
    bool open = source_open(&source, path, SOURCE_NAMED_LINES, &error);
    if (!open || !fill(l, &source, &error)) {
        l->ending = ENDING_UNREADABLE;
        const char *said = error.text; /* without the name, which stands before it */
        if (strncmp(said, path, strlen(path)) == 0 && strncmp(said + strlen(path), ": ", 2) == 0)
            said += strlen(path) + 2;
        l->why = memory_copied(said);
        l->program = l->program ? l->program : memory_copied("");
    }
    if (open)
        source_close(&source);
}

/* ---- servers ---- */

struct numbers {
    uint32_t *items;
    size_t count, room;
};

static void take_number(void *user, const struct answer *answer)
{
    struct numbers *numbers = user;
    struct shown_run run;
    if (answer->part != PART_RUN)
        return;
    get_run(answer->in, &run);
    if (!answer->in->error) {
        numbers->items =
            grow(numbers->items, &numbers->room, numbers->count + 1, sizeof *numbers->items);
        numbers->items[numbers->count++] = run.number;
    }
    shown_run_free(&run);
}

static void add_run(struct listing *listing, struct source *source, uint32_t number)
{
    char text[16];
    struct error error;
    struct stat st;
    snprintf(text, sizeof text, "%u", number);
    if (!source_select(source, text, &error))
        return;
    const char *file = source->book.run.file;
    bool there = file && *file && stat(file, &st) == 0;
    if (there && is_listed(listing, &st))
        return;
    struct listed *l = add(listing);
    set_file(l, there ? file : "", there ? &st : NULL);
    l->name = there ? name_of(file) : memory_printed("%s#%u", source->name, number);
    if (fill(l, source, &error))
        return;
    l->ending = ENDING_UNREADABLE;
    l->why = memory_copied(error.text);
    l->program = memory_copied("");
}

static void add_server(void *user, const char *endpoint)
{
    struct source source;
    struct error error;
    struct numbers numbers = {0};
    if (!source_open(&source, endpoint, SOURCE_NO_RUN, &error))
        return;
    source.book.named = true;
    if (source_wait(&source, source_ask(&source, ASK_RUNS, NULL, take_number, &numbers), &error))
        for (size_t i = 0; i < numbers.count; i++)
            add_run(user, &source, numbers.items[i]);
    free(numbers.items);
    source_close(&source);
}

/* ---- all ---- */

void listing_add_all(struct listing *listing)
{
    char state[PATH_MAX];
    around_state(state, sizeof state);
    around_endpoints(add_server, listing);
    around_files(state, add_file, listing);
    around_files(".", add_file, listing);
}

bool listing_add(struct listing *listing, const char *what)
{
    char path[PATH_MAX];
    struct stat st;
    if (endpoint_is(what)) {
        add_server(listing, what);
        return true;
    }
    if (!around_find(what, path, sizeof path) || stat(path, &st) < 0)
        return false;
    if (S_ISDIR(st.st_mode))
        around_files(path, add_file, listing);
    else
        add_file(listing, path);
    return true;
}

void listing_free(struct listing *listing)
{
    for (size_t i = 0; i < listing->count; i++) {
        struct listed *l = &listing->items[i];
        free(l->name);
        free(l->path);
        free(l->program);
        free(l->why);
    }
    free(listing->items);
    *listing = (struct listing){0};
}
