#include "clients/connection/race_text.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct table_cell *race_text_cell(const struct result_table *t, uint32_t row,
                                               const char *name)
{
    static const struct table_cell nothing;
    uint32_t column = result_table_find_column(t, name);
    return column < t->column_count ? &result_table_cells(t, row)[column] : &nothing;
}

static const char *race_text_label(const struct table_names *names, const struct result_table *t,
                                   uint32_t row, const char *name)
{
    const struct table_cell *c = race_text_cell(t, row, name);
    return c->is == CELL_LINE ? metadata_label(names->book, c->line) : NULL;
}

static const char *race_text_word(const struct result_table *t, uint32_t row, const char *name)
{
    const struct table_cell *c = race_text_cell(t, row, name);
    return c->is == CELL_TEXT ? c->text : "";
}

static long long race_text_number(const struct result_table *t, uint32_t row, const char *name)
{
    const struct table_cell *c = race_text_cell(t, row, name);
    return c->is == CELL_NUMBER ? (long long)c->number : 0;
}

/* Returns " at f (x.c:12)", or "", in new memory. */
static char *race_text_place(const struct table_names *names, const struct result_table *t,
                             uint32_t row, const char *name)
{
    const struct table_cell *c = race_text_cell(t, row, name);
    bool known = c->is == CELL_PLACE && c->place.address;
    char *place = known ? result_table_place_text(names, c->place, "") : xstrdup("");
    char *text = *place ? xasprintf(" at %s", place) : xstrdup("");
    free(place);
    return text;
}

/* Returns the event of a cell, or "". Valid until the next call. */
static const char *race_text_event(const struct result_table *t, uint32_t row, const char *name)
{
    static char text[48];
    const struct table_cell *c = race_text_cell(t, row, name);
    *text = 0;
    if (c->is == CELL_EVENT)
        event_id_print(text, sizeof text, c->event);
    return text;
}

/* Returns the row of the race that an access belongs to. */
static uint32_t race_text_head(const struct result_table *t, uint32_t row)
{
    while (row && t->rows[row].depth)
        row--;
    return row;
}

char *race_text_memory(const struct table_names *names, const struct result_table *t, uint32_t row)
{
    const char *memory = race_text_word(t, row, "memory"),
               *owner = race_text_label(names, t, row, "owner");
    const struct table_cell *object = race_text_cell(t, row, "object");
    if (strcmp(memory, "heap") == 0)
        return xasprintf("at offset %lld of a heap block",
                         race_text_number(t, row, "block_offset"));
    if (strcmp(memory, "stack") == 0)
        return xasprintf("on the stack of %s", owner ? owner : "a thread");
    char *name =
        object->is == CELL_DATA ? result_table_data_text(names, object->place) : xstrdup("memory");
    char *text = xasprintf(strncmp(name, "0x", 2) == 0 ? "at address %s" : "at %s (global)", name);
    free(name);
    return text;
}

/* Returns where the block of the heap comes from; NULL: it is about other memory. */
static char *race_text_block(const struct table_names *names, const struct result_table *t,
                             uint32_t row)
{
    const char *owner = race_text_label(names, t, row, "owner");
    if (strcmp(race_text_word(t, row, "memory"), "heap") != 0)
        return NULL;
    char *place = race_text_place(names, t, row, "allocated");
    char *text = xasprintf("the block of %lld bytes was allocated%s%s%s",
                           race_text_number(t, row, "block_bytes"), owner ? " by " : "",
                           owner ? owner : "", *place ? place : " at an unknown place");
    free(place);
    return text;
}

static char *race_text_operation(const struct table_names *names, const struct result_table *t,
                                 uint32_t row, const char *memory)
{
    const char *thread = race_text_label(names, t, row, "thread"),
               *access = race_text_word(t, row, "access");
    char *place = race_text_place(names, t, row, "location");
    long long bytes = race_text_number(t, race_text_head(t, row), "bytes");
    char *what = strcmp(access, "free") == 0
                     ? xstrdup(memory ? "free of a heap block" : "free of the block")
                     : xasprintf("%s of %lld byte%s%s%s", access, bytes, bytes == 1 ? "" : "s",
                                 memory ? " " : "", memory ? memory : "");
    char *text = xasprintf("%s by %s%s", what, thread ? thread : "(unknown)", place);
    free(what);
    free(place);
    return text;
}

char *race_text_access(const struct table_names *names, const struct result_table *t, uint32_t row)
{
    return race_text_operation(names, t, row, NULL);
}

char *race_text_summary(const struct table_names *names, const struct result_table *t, uint32_t row)
{
    char *memory = race_text_memory(names, t, row);
    bool first = row + 1 < t->row_count && t->rows[row + 1].depth;
    char *text = first ? race_text_operation(names, t, row + 1, memory) : xstrdup(memory);
    long long count = race_text_number(t, row, "count");
    char *all = count > 1 ? xasprintf("%s (%lld occurrences)", text, count) : xstrdup(text);
    free(text);
    free(memory);
    return all;
}

/* ---- further sentences ---- */

/* Returns "called by f (x.c:3), g (x.c:9)", or NULL. */
static char *race_text_callers(const struct table_names *names, const struct table_row *row)
{
    char *all = NULL;
    for (uint32_t i = 1; i < row->context_count; i++) {
        char *place = result_table_place_text(names, row->context[i], ""), *before = all;
        if (*place)
            all = before ? xasprintf("%s, %s", before, place) : xasprintf("called by %s", place);
        if (all != before)
            free(before);
        free(place);
    }
    return all;
}

static char *race_text_locks(const struct table_names *names, const struct result_table *t,
                             uint32_t row)
{
    const char *lock = race_text_label(names, t, row, "lock");
    char *first = xstrdup(lock ? lock : "no lock");
    const char *outer = race_text_label(names, t, row, "outer_lock");
    const char *event = race_text_event(t, row, "event");
    char *text = xasprintf("after event %s, while it held %s%s%s", event, first,
                           outer ? " and " : "", outer ? outer : "");
    free(first);
    return text;
}

/* Returns how far the two threads are ordered. */
static char *race_text_common(const struct table_names *names, const struct result_table *t,
                              uint32_t row)
{
    bool has_threads = row + 2 < t->row_count;
    char *earlier = xstrdup(has_threads ? race_text_label(names, t, row + 2, "thread") : "");
    const char *later = has_threads ? race_text_label(names, t, row + 1, "thread") : "",
               *event = race_text_event(t, row, "last_common_before");
    char *before = *event
                       ? xasprintf("last event of %s before the later access: %s", earlier, event)
                       : xasprintf("no event of %s is before the later access", earlier);
    event = race_text_event(t, row, "first_common_after");
    char *text =
        *event
            ? xasprintf("%s; first event of %s after the earlier access: %s", before, later, event)
            : xasprintf("%s; no event of %s is after the earlier access", before, later);
    free(before);
    free(earlier);
    return text;
}

char *race_text_more(const struct table_names *names, const struct result_table *t, uint32_t row,
                     unsigned i)
{
    const char *uncertain = race_text_word(t, row, "uncertain");
    if (t->rows[row].depth)
        return i == 0   ? race_text_locks(names, t, row)
               : i == 1 ? race_text_callers(names, &t->rows[row])
                        : NULL;
    return i == 0   ? race_text_common(names, t, row)
           : i == 1 ? race_text_block(names, t, row)
           : i == 2 ? (*uncertain ? xasprintf("uncertain because: %s", uncertain) : NULL)
                    : NULL;
}

/* ---- merging ---- */

#define RACE_ROWS 3u /* the race, and its accesses */

/* Returns both places, whichever comes first, and the memory, in new memory. */
static char *race_text_key(const struct table_names *names, const struct result_table *t,
                           uint32_t row)
{
    char *memory = race_text_memory(names, t, row),
         *a = race_text_place(names, t, row + 1, "location"),
         *b = race_text_place(names, t, row + 2, "location");
    bool swap = strcmp(a, b) > 0;
    char *key =
        xasprintf("%s\n%s\n%s\n%s", swap ? b : a, swap ? a : b, race_text_word(t, row, "memory"),
                  strcmp(race_text_word(t, row, "memory"), "heap") == 0 ? "" : memory);
    free(a);
    free(b);
    free(memory);
    return key;
}

static unsigned race_text_writes(const struct result_table *t, uint32_t row)
{
    unsigned writes = 0;
    for (uint32_t i = row + 1; i < row + RACE_ROWS; i++)
        writes += strstr(race_text_word(t, i, "access"), "read") == NULL;
    return writes;
}

static void race_text_swap_rows(struct result_table *t, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < t->column_count; i++) {
        struct table_cell *cells_a = result_table_cells(t, a), *cells_b = result_table_cells(t, b);
        struct table_cell cell = cells_a[i];
        cells_a[i] = cells_b[i];
        cells_b[i] = cell;
    }
    struct table_row row = t->rows[a];
    t->rows[a] = t->rows[b];
    t->rows[b] = row;
}

/* Adds the race at `row` to an earlier one. */
static void race_text_merge_into(struct result_table *t, uint32_t earlier, uint32_t row)
{
    uint32_t count = result_table_find_column(t, "count"),
             number = result_table_find_column(t, "number");
    int64_t all = result_table_cells(t, earlier)[count].number +
                  result_table_cells(t, row)[count].number,
            first = result_table_cells(t, earlier)[number].number;
    bool certain = !*race_text_word(t, row, "uncertain"),
         was_certain = !*race_text_word(t, earlier, "uncertain");
    if (certain > was_certain ||
        (certain == was_certain && race_text_writes(t, row) > race_text_writes(t, earlier)))
        for (uint32_t i = 0; i < RACE_ROWS; i++)
            race_text_swap_rows(t, earlier + i, row + i);
    result_table_cells(t, earlier)[count].number = all;
    result_table_cells(t, earlier)[number].number = first;
}

void race_text_merge(const struct table_names *names, struct result_table *t)
{
    char **keys = NULL;
    uint32_t count = 0, kept = 0, number = result_table_find_column(t, "number");
    for (uint32_t row = 0; row + RACE_ROWS <= t->row_count; row += RACE_ROWS) {
        char *key = race_text_key(names, t, row);
        uint32_t same = 0;
        while (same < count && strcmp(keys[same], key) != 0)
            same++;
        if (same < count) {
            race_text_merge_into(t, same * RACE_ROWS, row);
            free(key);
            continue;
        }
        ARRAY_PUSH(keys, count, key);
        for (uint32_t i = 0; i < RACE_ROWS && row != kept; i++)
            race_text_swap_rows(t, kept + i, row + i);
        result_table_cells(t, kept)[number].number = (int64_t)count;
        kept += RACE_ROWS;
    }
    result_table_truncate(t, kept);
    for (uint32_t i = 0; i < count; i++)
        free(keys[i]);
    free(keys);
}

/* ---- the whole table ---- */

static void race_text_add_row(struct text_table *sheet, const struct result_table *t, uint32_t row,
                              unsigned depth, char *text)
{
    struct text_table_row *r = text_table_add_row(sheet);
    r->depth = (uint8_t)depth;
    r->event = t->rows[row].event;
    r->row = row;
    r->cells[0] = text;
}

static void race_text_add_more(struct text_table *sheet, const struct table_names *names,
                               const struct result_table *t, uint32_t row, unsigned depth)
{
    for (unsigned i = 0; i < RACE_TEXT_MORE; i++) {
        char *more = race_text_more(names, t, row, i);
        if (more)
            race_text_add_row(sheet, t, row, depth, more);
    }
}

void race_text_write(struct text_table *sheet, const struct table_names *names,
                     const struct result_table *t)
{
    sheet->title = xstrdup("data races");
    text_table_add_column(sheet, xstrdup(""), false);
    for (uint32_t i = 0; i < t->row_count; i++) {
        if (t->rows[i].depth)
            continue;
        bool uncertain = *race_text_word(t, i, "uncertain") != 0;
        char *summary = race_text_summary(names, t, i);
        race_text_add_row(sheet, t, i, 0,
                          xasprintf("%lld  %sdata race: %s", race_text_number(t, i, "number"),
                                    uncertain ? "possible " : "", summary));
        free(summary);
        for (uint32_t k = i + 1; k < t->row_count && t->rows[k].depth; k++) {
            if (k > i + 1) {
                char *access = race_text_access(names, t, k);
                race_text_add_row(sheet, t, k, 1, xasprintf("previous %s", access));
                free(access);
            }
            race_text_add_more(sheet, names, t, k, k > i + 1 ? 2 : 1);
        }
        race_text_add_more(sheet, names, t, i, 1);
    }
    for (uint32_t i = 0; i < t->note_count; i++)
        text_table_add_note(sheet, xstrdup(t->notes[i]));
}
