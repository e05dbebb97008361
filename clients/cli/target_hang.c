#include "clients/cli/target_hang.h"

#include "clients/connection/finding_text.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Length without the #2 of lines with equal names, whose order can differ between runs. */
static size_t name_bytes(const char *label) { return strcspn(label, "#"); }

static void target_hang_add_cell_label(struct target_hang *w, const struct trace_metadata *book,
                                       const struct result_table *t, uint32_t row,
                                       const char *column)
{
    uint32_t at = result_table_find_column(t, column);
    const struct table_cell *c = at < t->column_count ? &result_table_cells(t, row)[at] : NULL;
    if (!c || c->is != CELL_LINE)
        return;
    w->names = array_reserve(w->names, &w->room, w->count + 1, sizeof *w->names);
    w->names[w->count++] = xstrdup(metadata_label(book, c->line));
}

void target_hang_make(struct target_hang *w, const struct trace_metadata *book,
                      const struct result_table *t, uint32_t row)
{
    const char *kind = finding_text_kind(t, row);
    *w = (struct target_hang){.cycle = strcmp(kind, "lock-order-inversion") == 0,
                              .waking = strcmp(kind, "lost-wakeup") == 0 ||
                                        strcmp(kind, "signal-not-broadcast") == 0 ||
                                        strcmp(kind, "early-signal") == 0};
    for (uint32_t i = row + 1; i < t->row_count && t->rows[i].depth; i++) {
        target_hang_add_cell_label(w, book, t, i, "object");
        target_hang_add_cell_label(w, book, t, i, "second_object");
    }
}

static bool is_about(const struct target_hang *w, const struct trace_metadata *book, uint32_t line)
{
    const char *label = metadata_label(book, line);
    for (size_t i = 0; i < w->count; i++)
        if (name_bytes(label) == name_bytes(w->names[i]) &&
            memcmp(label, w->names[i], name_bytes(label)) == 0)
            return true;
    return false;
}

static bool is_cycle(const struct target_hang *w, const struct wait_list *waits,
                     const struct trace_metadata *book)
{
    for (size_t i = 0; i < waits->cycle_count; i++)
        for (uint32_t k = 0; k < waits->cycles[i].count; k++)
            if (is_about(w, book, waits->cycles[i].steps[k].about))
                return true;
    return false;
}

static bool is_waking(const struct target_hang *w, const struct wait_list *waits,
                      const struct trace_metadata *book)
{
    for (size_t i = 0; i < waits->verdict_count; i++)
        if (waits->verdicts[i].fate != OUTCOME_OPEN && is_about(w, book, waits->verdicts[i].about))
            return true;
    return false;
}

bool target_hang_matches(const struct target_hang *w, const struct wait_list *waits,
                         const struct trace_metadata *book)
{
    return (!w->cycle && !w->waking) || (w->cycle && is_cycle(w, waits, book)) ||
           (w->waking && is_waking(w, waits, book));
}

void target_hang_free(struct target_hang *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->names[i]);
    free(w->names);
    *w = (struct target_hang){0};
}
