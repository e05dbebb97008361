#include "clients/poet/hangs.h"

#include "clients/book/fate.h"
#include "clients/source/waits.h"
#include "memory/memory.h"
#include "wire/asleep.h"

#include <stdlib.h>
#include <string.h>

#define MOST 12u /* rows; and sentences below them */

enum { WHAT, THREAD, ABOUT, HELD_BY, TAKEN_AT, WAITED, WHERE, EVENT, COLUMNS };

static void add_columns(struct shown_table *t, const char *title)
{
    static const struct {
        const char *name, *title;
        enum table_kind kind;
    } columns[COLUMNS] = {{"what", "what", TABLE_TEXT},          {"thread", "thread", TABLE_LINE},
                          {"about", "for", TABLE_LINE},          {"held_by", "held by", TABLE_LINE},
                          {"taken_at", "taken at", TABLE_PLACE}, {"waited_ns", "waited", TABLE_NS},
                          {"where", "where", TABLE_PLACE},       {"event", "event", TABLE_EVENT}};
    t->title = memory_copied(title);
    for (unsigned i = 0; i < COLUMNS; i++) {
        struct table_column c = {.name = memory_copied(columns[i].name),
                                 .title = memory_copied(columns[i].title),
                                 .unit = memory_copied(columns[i].kind == TABLE_NS ? "ns" : ""),
                                 .kind = (uint8_t)columns[i].kind,
                                 .exact = true,
                                 .source = memory_copied("order")};
        PUSH(t->columns, t->column_count, c);
    }
}

static bool in_cycle(const struct waits *w, uint32_t thread)
{
    for (size_t i = 0; i < w->cycle_count; i++)
        for (uint32_t k = 0; k < w->cycles[i].count; k++)
            if (w->cycles[i].steps[k].thread == thread)
                return true;
    return false;
}

/* Of a program that ended by itself, and in no cycle, nor behind one. */
static bool is_neutral(const struct waits *w, const struct shown_wait *wait)
{
    return wait->at_exit && wait->fate == FATE_OPEN && !in_cycle(w, wait->thread);
}

static void set_place(struct table_cell *cell, uint32_t process, uint64_t address)
{
    if (address)
        *cell = cell_place((struct table_place){process, address});
}

static void set_holder(const struct shown_holder *holder, struct table_cell *cells)
{
    cells[HELD_BY] = cell_line(holder->thread);
    set_place(&cells[TAKEN_AT], holder->process, holder->site);
}

static void set_cells(const struct waits *w, const struct shown_wait *wait,
                      struct table_cell *cells)
{
    const char *what = in_cycle(w, wait->thread)  ? "deadlock"
                       : is_neutral(w, wait)      ? "waits"
                       : wait->fate == FATE_NEVER ? "can never go on"
                                                  : "perhaps never goes on";
    int64_t waited = w->now.now_ns - wait->since_ns;
    cells[WHAT] = (struct table_cell){.is = CELL_TEXT, .text = memory_copied(what)};
    cells[THREAD] = cell_line(wait->thread);
    cells[ABOUT] = cell_line(wait->about);
    if (wait->holder_count)
        set_holder(&wait->holders[0], cells);
    if (w->now.now_ns >= 0 && waited >= 0)
        cells[WAITED] = cell_number(waited);
    if (!wait->end)
        set_place(&cells[WHERE], wait->event.process, wait->event.site);
    cells[EVENT] = cell_event(wait->event.at);
}

static void add_row(const struct waits *w, const struct shown_wait *wait, struct shown_table *t)
{
    struct table_row row = {.event = wait->event.at};
    PUSH(row.lines, row.line_count, wait->thread);
    if (wait->about)
        PUSH(row.lines, row.line_count, wait->about);
    PUSH(t->rows, t->row_count, row);
    set_cells(w, wait, table_cells(t, t->row_count - 1));
}

/* What is known of an object that no thread may ever signal again, a note for each sentence. */
static void add_notes(const struct book *book, const struct waits *w, struct shown_table *t)
{
    for (size_t i = 0; i < w->verdict_count && t->note_count < MOST; i++) {
        char *said = fate_verdict(book, &w->verdicts[i]), *rest = said;
        for (char *line; rest && (line = strsep(&rest, "\n")) != NULL;)
            if (*line)
                PUSH(t->notes, t->note_count, memory_copied(line));
        free(said);
    }
}

/* Deadlocks first: the others may wait for their threads. */
static void add_rows(const struct book *book, const struct waits *w, struct shown_table *t)
{
    t->cells = memory_zeroed((size_t)MOST * COLUMNS, sizeof *t->cells);
    for (unsigned cycles = 2; cycles-- > 0;)
        for (size_t i = 0; i < w->count && t->row_count < MOST; i++)
            if (in_cycle(w, w->items[i].thread) == (cycles > 0) &&
                (cycles || w->items[i].fate != FATE_OPEN))
                add_row(w, &w->items[i], t);
    if (t->row_count)
        add_notes(book, w, t);
}

static void add_neutral(const struct book *book, const struct waits *w, struct shown_table *t)
{
    (void)book;
    size_t count = 0;
    t->cells = memory_zeroed((size_t)MOST * COLUMNS, sizeof *t->cells);
    for (size_t i = 0; i < w->count; i++)
        if (is_neutral(w, &w->items[i]) && count++ < MOST)
            add_row(w, &w->items[i], t);
    if (count > MOST)
        PUSH(t->notes, t->note_count,
             memory_printed("%zu threads wait; the first %u are shown", count, MOST));
}

static void set_sleeper(const struct waits *w, const struct shown_sleeper *s,
                        struct table_cell *cells)
{
    const char *call = asleep_name(s->call);
    cells[WHAT] = (struct table_cell){
        .is = CELL_TEXT, .text = memory_printed("sleeps%s%s", *call ? ": " : "", call)};
    cells[THREAD] = cell_line(s->thread);
    if (w->now.now_ns >= s->since_ns)
        cells[WAITED] = cell_number(w->now.now_ns - s->since_ns);
    set_place(&cells[WHERE], s->event.process, s->event.site);
    cells[EVENT] = cell_event(s->event.at);
}

/* What they wait for is not known: the sentence below says all that is. */
static void add_sleepers(const struct book *book, const struct waits *w, struct shown_table *t)
{
    (void)book;
    char *all = waits_asleep(w);
    t->cells = memory_zeroed((size_t)MOST * COLUMNS, sizeof *t->cells);
    for (size_t i = 0; i < w->sleeper_count && t->row_count < MOST; i++) {
        struct table_row row = {.event = w->sleepers[i].event.at};
        PUSH(row.lines, row.line_count, w->sleepers[i].thread);
        PUSH(t->rows, t->row_count, row);
        set_sleeper(w, &w->sleepers[i], table_cells(t, t->row_count - 1));
    }
    if (all)
        PUSH(t->notes, t->note_count, all);
}

static void take(void *user, const struct answer *answer) { waits_take(user, answer); }

static bool ask(const struct tables *o, struct subject *subject, struct waits *waits)
{
    struct out judged = {0};
    *waits = (struct waits){0};
    put_u8(&judged, 1);
    return subject_ask(o->command, subject, ASK_WAITS, &judged, take, waits);
}

/* A table of some of the threads that wait, which `fill` chooses. */
static int hangs_table(const struct tables *o, struct subject *subject, struct shown_table *t,
                       const char *title,
                       void (*fill)(const struct book *book, const struct waits *waits,
                                    struct shown_table *table))
{
    struct waits waits;
    bool ok = ask(o, subject, &waits);
    add_columns(t, title);
    if (ok)
        fill(&subject->source.book, &waits, t);
    waits_free(&waits);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

int hangs_at_exit(const struct tables *o, struct subject *subject, struct shown_table *t)
{
    return hangs_table(o, subject, t, "waiting at exit", add_neutral);
}

int hangs_asleep(const struct tables *o, struct subject *subject, struct shown_table *t)
{
    return hangs_table(o, subject, t, "asleep in calls that are not traced", add_sleepers);
}

int hangs_ask(const struct tables *o, struct subject *subject, struct shown_table *t)
{
    return hangs_table(o, subject, t, "what hangs", add_rows);
}
