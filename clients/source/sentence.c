#include "clients/source/sentence.h"

#include "memory/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 3 /* that are told of who was waited for, */
#define STEPS_EACH 1 /* of each where there are several, */
#define SEGMENTS 3 /* the longest of which are told */

/* Grows by words. */
struct said {
    char *text;
};

static void add(struct said *said, char *more)
{
    char *both = memory_printed("%s%s", said->text, more);
    free(said->text);
    free(more);
    said->text = both;
}

static char *duration(double ns)
{
    return ns < 1e3   ? memory_printed("%.0f ns", ns)
           : ns < 1e6 ? memory_printed("%.1f µs", ns / 1e3)
           : ns < 1e9 ? memory_printed("%.1f ms", ns / 1e6)
                      : memory_printed("%.2f s", ns / 1e9);
}

/* The table's columns that are spoken of. */
struct columns {
    uint32_t waited, thread, step, charge, since, since_ns, where;
    uint32_t since_event, since_where; /* there are servers that do not tell these */
    bool good;
};

static struct columns columns_of(const struct shown_table *t)
{
    struct columns c = {.waited = table_find(t, "waited_ns"),
                        .thread = table_find(t, "thread"),
                        .step = table_find(t, "step"),
                        .charge = table_find(t, "charge_ns"),
                        .since = table_find(t, "since"),
                        .since_ns = table_find(t, "since_ns"),
                        .where = table_find(t, "where"),
                        .since_event = table_find(t, "since_event"),
                        .since_where = table_find(t, "since_where")};
    uint32_t n = t->column_count;
    c.good =
        c.waited < n && c.thread < n && c.step < n && c.charge < n && c.since < n && c.since_ns < n;
    return c;
}

static char *in_words(const struct table_names *names, const struct shown_table *t, uint32_t row,
                      uint32_t column)
{
    return table_say(names, &t->columns[column], &table_cells(t, row)[column]);
}

static int64_t number(const struct shown_table *t, uint32_t row, uint32_t column)
{
    const struct table_cell *cell = &table_cells(t, row)[column];
    return cell->is == CELL_NUMBER ? cell->number : 0;
}

/* The row of this segment with the next smaller charge (or an equal one further down); row_count: there is none. */
static uint32_t next_charge(const struct shown_table *t, const struct columns *c, uint32_t segment,
                            uint32_t before)
{
    int64_t limit = before < t->row_count ? number(t, before, c->charge) : INT64_MAX, most = 0;
    uint32_t found = t->row_count;
    for (uint32_t i = segment + 1; i < t->row_count && t->rows[i].depth > 0; i++) {
        int64_t ns = number(t, i, c->charge);
        bool after = ns < limit || (ns == limit && i > before);
        if (t->rows[i].depth == 1 && ns > most && after && i != before) {
            most = ns;
            found = i;
        }
    }
    return found;
}

static void add_step(struct said *said, const struct table_names *names,
                     const struct shown_table *t, const struct columns *c, uint32_t segment,
                     uint32_t row, const char *before)
{
    const struct table_cell *who = &table_cells(t, row)[c->thread],
                            *whom = &table_cells(t, segment)[c->thread];
    char *step = in_words(names, t, row, c->step),
         *took = duration((double)number(t, row, c->charge));
    bool other = who->is == CELL_LINE && whom->is == CELL_LINE && who->line != whom->line;
    const char *by = other ? book_label(names->book, who->line) : "";
    add(said, memory_printed("%s%s%s%s %s", before, by, other ? " " : "", step, took));
    free(step);
    free(took);
}

static void add_steps(struct said *said, const struct table_names *names,
                      const struct shown_table *t, const struct columns *c, uint32_t segment,
                      bool several)
{
    uint32_t told = 0, row = t->row_count, most = several ? STEPS_EACH : STEPS;
    while ((row = next_charge(t, c, segment, row)) < t->row_count) {
        if (told < most)
            add_step(said, names, t, c, segment, row, several ? " (" : told ? ", " : ": ");
        told++;
    }
    if (told > most)
        add(said, several ? memory_copied(", ...") : memory_printed(", and %u more", told - most));
    if (told && several)
        add(said, memory_copied(")"));
}

/* The column of a row in words, where it is known; NULL: it is not. */
static char *known(const struct table_names *names, const struct shown_table *t, uint32_t row,
                   uint32_t column)
{
    const struct table_cell *cell = column < t->column_count ? &table_cells(t, row)[column] : NULL;
    bool is = cell && cell->is != CELL_NULL && (cell->is != CELL_PLACE || cell->place.address);
    return is ? in_words(names, t, row, column) : NULL;
}

/* "; since 1:1 at 21.5 ms, when one made the other, in main (ring.c:44)" */
static void add_since(struct said *said, const struct table_names *names,
                      const struct shown_table *t, const struct columns *c, uint32_t segment)
{
    char *since = in_words(names, t, segment, c->since),
         *when = duration((double)number(t, segment, c->since_ns)),
         *event = known(names, t, segment, c->since_event),
         *in = known(names, t, segment, c->since_where),
         *where = known(names, t, segment, c->where);
    if (strcmp(since, "the start") == 0)
        add(said, memory_copied("; since the start"));
    else
        add(said, memory_printed("; since %s%s%s, when %s", event ? event : "", event ? " at " : "",
                                 when, since));
    if (in && !(where && strcmp(in, where) == 0)) /* where it waited is told anyway */
        add(said, memory_printed(", in %s", in));
    free(where);
    free(in);
    free(event);
    free(since);
    free(when);
}

/* The line of the source, where that is known. */
static void add_where(struct said *said, const struct table_names *names,
                      const struct shown_table *t, const struct columns *c, uint32_t segment)
{
    char *where = known(names, t, segment, c->where);
    if (where)
        add(said, memory_printed("; it waited in %s", where));
    free(where);
}

/* "waited 45.0 ms" */
static void add_whole(struct said *said, const struct shown_table *t, const struct columns *c)
{
    const struct table_cell *total = t->total ? &t->total[c->waited] : NULL;
    char *whole = duration(total && total->is == CELL_NUMBER ? (double)total->number : 0);
    add(said, memory_printed("waited %s", whole));
    free(whole);
}

static void add_segment(struct said *said, const struct table_names *names,
                        const struct shown_table *t, const struct columns *c, uint32_t segment,
                        bool several)
{
    char *whom = in_words(names, t, segment, c->thread),
         *took = duration((double)number(t, segment, c->waited));
    bool first = !strchr(said->text, ':');
    add(said, several ? memory_printed("%s %s for %s", first ? ":" : ", then", took, whom)
                      : memory_printed(" for %s", whom));
    free(whom);
    free(took);
    add_steps(said, names, t, c, segment, several);
}

/* Is it among the longest? */
static bool is_told(const struct shown_table *t, const struct columns *c, uint32_t segment)
{
    uint32_t longer = 0;
    int64_t ns = number(t, segment, c->waited);
    for (uint32_t i = 0; i < t->row_count; i++) {
        int64_t other = number(t, i, c->waited);
        longer += t->rows[i].depth == 0 && (other > ns || (other == ns && i < segment));
    }
    return longer < SEGMENTS;
}

char *sentence_of_wait(const struct table_names *names, const struct shown_table *t,
                       struct ref *cause)
{
    struct columns c = columns_of(t);
    struct said said = {memory_copied("")};
    uint32_t segments = 0, last = 0;
    *cause = (struct ref){0};
    for (uint32_t i = 0; c.good && i < t->row_count; i++)
        segments += t->rows[i].depth == 0;
    if (!c.good || !t->total) {
        free(said.text);
        return NULL;
    }
    add_whole(&said, t, &c);
    for (uint32_t i = 0; i < t->row_count; i++)
        if (t->rows[i].depth == 0) {
            if (is_told(t, &c, i))
                add_segment(&said, names, t, &c, i, segments > 1);
            last = i;
        }
    if (segments > SEGMENTS)
        add(&said, memory_printed(", and for %u more", segments - SEGMENTS));
    if (segments) {
        *cause = t->rows[last].event;
        add_since(&said, names, t, &c, last);
        add_where(&said, names, t, &c, last);
    }
    for (uint32_t i = 0; !segments && i < t->note_count; i++)
        add(&said, memory_printed(": %s", t->notes[i]));
    return said.text;
}
