#include "clients/poet/aim.h"

#include "clients/source/otherwise.h"
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

/* Of several that are called alike it may be another one. */
static size_t name_bytes(const char *label) { return strcspn(label, "#"); }

static void add(struct aim *w, const struct book *book, const struct shown_table *t, uint32_t row,
                const char *column)
{
    uint32_t at = table_find(t, column);
    const struct table_cell *c = at < t->column_count ? &table_cells(t, row)[at] : NULL;
    if (!c || c->is != CELL_LINE)
        return;
    w->names = grow(w->names, &w->room, w->count + 1, sizeof *w->names);
    w->names[w->count++] = memory_copied(book_label(book, c->line));
}

void aim_make(struct aim *w, const struct book *book, const struct shown_table *t, uint32_t row)
{
    const char *kind = otherwise_kind(t, row);
    *w = (struct aim){.cycle = strcmp(kind, "inversion") == 0,
                      .waking = strcmp(kind, "lost") == 0 || strcmp(kind, "missed") == 0 ||
                                strcmp(kind, "unheard") == 0};
    for (uint32_t i = row + 1; i < t->row_count && t->rows[i].depth; i++) {
        add(w, book, t, i, "line");
        add(w, book, t, i, "then_line");
    }
}

static bool is_about(const struct aim *w, const struct book *book, uint32_t line)
{
    const char *label = book_label(book, line);
    for (size_t i = 0; i < w->count; i++)
        if (name_bytes(label) == name_bytes(w->names[i]) &&
            memcmp(label, w->names[i], name_bytes(label)) == 0)
            return true;
    return false;
}

static bool is_cycle(const struct aim *w, const struct waits *waits, const struct book *book)
{
    for (size_t i = 0; i < waits->cycle_count; i++)
        for (uint32_t k = 0; k < waits->cycles[i].count; k++)
            if (is_about(w, book, waits->cycles[i].steps[k].about))
                return true;
    return false;
}

static bool is_waking(const struct aim *w, const struct waits *waits, const struct book *book)
{
    for (size_t i = 0; i < waits->verdict_count; i++)
        if (waits->verdicts[i].fate != FATE_OPEN && is_about(w, book, waits->verdicts[i].about))
            return true;
    return false;
}

bool aim_is(const struct aim *w, const struct waits *waits, const struct book *book)
{
    return (!w->cycle && !w->waking) || (w->cycle && is_cycle(w, waits, book)) ||
           (w->waking && is_waking(w, waits, book));
}

void aim_free(struct aim *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->names[i]);
    free(w->names);
    *w = (struct aim){0};
}
