#include "clients/cli/hang_table.h"

#include "clients/metadata/hang_text.h"
#include "clients/connection/wait_list.h"
#include "base/alloc.h"
#include "wire/asleep.h"

#include <stdlib.h>
#include <string.h>

#define MOST 12u /* maximum number of rows, and of notes below them */

enum { WHAT, THREAD, ABOUT, HELD_BY, TAKEN_AT, WAITED, WHERE, EVENT, COLUMNS };

static void add_columns(struct result_table *t, const char *title)
{
    static const struct {
        const char *name, *title;
        enum table_kind kind;
    } columns[COLUMNS] = {
        {"diagnosis", "diagnosis", TABLE_TEXT},      {"thread", "thread", TABLE_LINE},
        {"object", "blocked on", TABLE_LINE},        {"held_by", "held by", TABLE_LINE},
        {"acquired_at", "acquired at", TABLE_PLACE}, {"waited_ns", "waited", TABLE_NS},
        {"location", "location", TABLE_PLACE},       {"event", "event", TABLE_EVENT}};
    t->title = xstrdup(title);
    for (unsigned i = 0; i < COLUMNS; i++) {
        struct table_column c = {.name = xstrdup(columns[i].name),
                                 .title = xstrdup(columns[i].title),
                                 .unit = xstrdup(columns[i].kind == TABLE_NS ? "ns" : ""),
                                 .kind = (uint8_t)columns[i].kind,
                                 .exact = true,
                                 .source = xstrdup("order")};
        ARRAY_PUSH(t->columns, t->column_count, c);
    }
}

/* Returns whether the thread's program exited by itself, and the thread neither hangs nor is in a
 * deadlock cycle. */
static bool hang_table_is_at_exit(const struct wait_list *w, const struct wait_info *wait)
{
    return wait->at_exit && wait->fate == OUTCOME_OPEN && !wait_list_is_in_cycle(w, wait->thread);
}

static void set_place(struct table_cell *cell, uint32_t process, uint64_t address)
{
    if (address)
        *cell = table_cell_place((struct table_place){process, address});
}

static void set_holder(const struct holder_info *holder, struct table_cell *cells)
{
    cells[HELD_BY] = table_cell_line(holder->thread);
    set_place(&cells[TAKEN_AT], holder->process, holder->site);
}

static void set_cells(const struct wait_list *w, const struct wait_info *wait,
                      struct table_cell *cells)
{
    const char *what = wait_list_is_in_cycle(w, wait->thread) ? "deadlock"
                       : hang_table_is_at_exit(w, wait)       ? "waiting"
                       : wait->fate == OUTCOME_NEVER          ? "never resumes"
                                                              : "likely never resumes";
    int64_t waited = w->now.now_ns - wait->since_ns;
    cells[WHAT] = (struct table_cell){.is = CELL_TEXT, .text = xstrdup(what)};
    cells[THREAD] = table_cell_line(wait->thread);
    cells[ABOUT] = table_cell_line(wait->about);
    if (wait->holder_count)
        set_holder(&wait->holders[0], cells);
    if (w->now.now_ns >= 0 && waited >= 0)
        cells[WAITED] = table_cell_number(waited);
    if (!wait->end)
        set_place(&cells[WHERE], wait->event.process, wait->event.site);
    cells[EVENT] = table_cell_event(wait->event.at);
}

static void add_row(const struct wait_list *w, const struct wait_info *wait, struct result_table *t)
{
    struct table_row row = {.event = wait->event.at};
    ARRAY_PUSH(row.lines, row.line_count, wait->thread);
    if (wait->about)
        ARRAY_PUSH(row.lines, row.line_count, wait->about);
    ARRAY_PUSH(t->rows, t->row_count, row);
    set_cells(w, wait, result_table_cells(t, t->row_count - 1));
}

/* Adds a note for each step of a cycle that more than the columns says: another kind of holder than
 * that of a mutex, or a signal handler. */
static void add_cycle_notes(const struct trace_metadata *book, const struct wait_list *w,
                            const struct cycle_info *cycle, struct result_table *t)
{
    for (uint32_t i = 0; i < cycle->count && t->note_count < MOST; i++) {
        const struct wait_info *wait = wait_list_of_thread(w, cycle->steps[i].thread);
        char *handler = handler_text(book, wait);
        if (handler || cycle->steps[i].how != HOLD_LOCK)
            ARRAY_PUSH(t->notes, t->note_count, deadlock_edge_text(book, cycle, i, wait));
        free(handler);
    }
}

/* Adds a note for each lock whose holder has exited, and for each line of a diagnosis. */
static void add_notes(const struct trace_metadata *book, const struct wait_list *w,
                      struct result_table *t)
{
    const struct wait_info *lock = NULL;
    for (size_t i = 0; i < w->cycle_count; i++)
        add_cycle_notes(book, w, &w->cycles[i], t);
    while ((lock = wait_list_abandoned_lock(w, lock)) != NULL && t->note_count < MOST) {
        char *text = abandoned_lock_text(book, lock);
        text[strcspn(text, "\n")] = 0;
        ARRAY_PUSH(t->notes, t->note_count, text);
    }
    for (size_t i = 0; i < w->verdict_count && t->note_count < MOST; i++) {
        bool explained = wait_list_is_explained(w, &w->verdicts[i]);
        char *text = explained ? NULL : diagnosis_text(book, &w->verdicts[i]), *rest = text;
        for (char *line; rest && (line = strsep(&rest, "\n")) != NULL;)
            if (*line)
                ARRAY_PUSH(t->notes, t->note_count, xstrdup(line));
        free(text);
    }
}

/* Adds deadlocked threads first, since the others may wait for them. */
static void add_rows(const struct trace_metadata *book, const struct wait_list *w,
                     struct result_table *t)
{
    t->cells = xcalloc((size_t)MOST * COLUMNS, sizeof *t->cells);
    for (unsigned cycles = 2; cycles-- > 0;)
        for (size_t i = 0; i < w->count && t->row_count < MOST; i++)
            if (wait_list_is_in_cycle(w, w->items[i].thread) == (cycles > 0) &&
                (cycles || w->items[i].fate != OUTCOME_OPEN))
                add_row(w, &w->items[i], t);
    if (t->row_count)
        add_notes(book, w, t);
}

static void hang_table_add_at_exit(const struct trace_metadata *book, const struct wait_list *w,
                                   struct result_table *t)
{
    (void)book;
    size_t count = 0;
    t->cells = xcalloc((size_t)MOST * COLUMNS, sizeof *t->cells);
    for (size_t i = 0; i < w->count; i++)
        if (hang_table_is_at_exit(w, &w->items[i]) && count++ < MOST)
            add_row(w, &w->items[i], t);
    if (count > MOST)
        ARRAY_PUSH(t->notes, t->note_count,
                   xasprintf("%zu threads wait; only the first %u are listed", count, MOST));
}

static void set_sleeper(const struct wait_list *w, const struct sleeper_info *s,
                        struct table_cell *cells)
{
    const char *call = sleep_call_name(s->call);
    cells[WHAT] = (struct table_cell){.is = CELL_TEXT,
                                      .text = xasprintf("asleep%s%s", *call ? ": " : "", call)};
    cells[THREAD] = table_cell_line(s->thread);
    if (w->now.now_ns >= s->since_ns)
        cells[WAITED] = table_cell_number(w->now.now_ns - s->since_ns);
    set_place(&cells[WHERE], s->event.process, s->event.site);
    cells[EVENT] = table_cell_event(s->event.at);
}

/* What they wait for is not known: the sentence below says all that is. */
static void add_sleepers(const struct trace_metadata *book, const struct wait_list *w,
                         struct result_table *t)
{
    (void)book;
    char *all = wait_list_sleepers(w);
    t->cells = xcalloc((size_t)MOST * COLUMNS, sizeof *t->cells);
    for (size_t i = 0; i < w->sleeper_count && t->row_count < MOST; i++) {
        struct table_row row = {.event = w->sleepers[i].event.at};
        ARRAY_PUSH(row.lines, row.line_count, w->sleepers[i].thread);
        ARRAY_PUSH(t->rows, t->row_count, row);
        set_sleeper(w, &w->sleepers[i], result_table_cells(t, t->row_count - 1));
    }
    if (all)
        ARRAY_PUSH(t->notes, t->note_count, all);
}

static void hang_table_receive_waits(void *user, const struct response_chunk *answer)
{
    wait_list_receive(user, answer);
}

static bool hang_table_request_waits(const struct table_settings *o, struct command_source *subject,
                                     struct wait_list *waits)
{
    struct encoder judged = {0};
    *waits = (struct wait_list){0};
    encode_u8(&judged, 1);
    return command_source_request(o->command, subject, REQUEST_WAITS, &judged,
                                  hang_table_receive_waits, waits);
}

/* Makes a table of the blocked threads that `fill` selects. */
static int hang_table_make(const struct table_settings *o, struct command_source *subject,
                           struct result_table *t, const char *title,
                           void (*fill)(const struct trace_metadata *book,
                                        const struct wait_list *waits, struct result_table *table))
{
    struct wait_list waits;
    bool ok = hang_table_request_waits(o, subject, &waits);
    add_columns(t, title);
    if (ok)
        fill(&subject->source.book, &waits, t);
    wait_list_free(&waits);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

int hang_table_at_exit(const struct table_settings *o, struct command_source *subject,
                       struct result_table *t)
{
    return hang_table_make(o, subject, t, "Waiting at exit", hang_table_add_at_exit);
}

int hang_table_sleepers(const struct table_settings *o, struct command_source *subject,
                        struct result_table *t)
{
    return hang_table_make(o, subject, t, "Asleep in untraced calls", add_sleepers);
}

int hang_table_request(const struct table_settings *o, struct command_source *subject,
                       struct result_table *t)
{
    return hang_table_make(o, subject, t, "Deadlocks and hangs", add_rows);
}
