/* Notes below the table of memory. */
#include "base/alloc.h"
#include "server/queries/tables/heap_rows.h"

#include <stdlib.h>
#include <string.h>

uint64_t heap_notes_difference(uint64_t taken, uint64_t freed)
{
    return taken > freed ? taken - freed : 0;
}

uint64_t heap_notes_blocks_left(const struct heap_allocated *s)
{
    return heap_notes_difference(s->blocks, s->freed + s->elsewhere);
}

struct table_cell heap_notes_program(const struct table_view *view, uint32_t process)
{
    if (process >= view->run->processes.count)
        return (struct table_cell){0};
    const struct run_process *p = &view->run->processes.items[process];
    const char *slash = strrchr(p->path, '/');
    char *text = xasprintf("%s[%u]", slash ? slash + 1 : p->path, p->pid);
    struct table_cell cell = table_cell_text(text);
    free(text);
    return cell;
}

void heap_notes_add_depth(const struct heap_row *rows, size_t n, struct result_table *t)
{
    uint64_t ends[HEAP_NODE_FIRST] = {0}, all = 0;
    for (size_t i = 0; i < n; i++) {
        ends[rows[i].stack.end] += rows[i].sum.blocks;
        all += rows[i].sum.blocks;
    }
    if (ends[HEAP_NODE_UNKNOWN])
        table_add_note(t, "%llu of %llu blocks have an incomplete stack (no unwind info)",
                       (unsigned long long)ends[HEAP_NODE_UNKNOWN], (unsigned long long)all);
    if (ends[HEAP_NODE_CUT])
        table_add_note(
            t, "%llu of %llu blocks have a stack deeper than %u frames, which is truncated",
            (unsigned long long)ends[HEAP_NODE_CUT], (unsigned long long)all, HEAP_DEPTH);
    if (ends[HEAP_NODE_CALLS])
        table_add_note(t,
                       "%llu of %llu blocks have the stack of their calls compiled with -profile",
                       (unsigned long long)ends[HEAP_NODE_CALLS], (unsigned long long)all);
}

#define PROCESSES_SHOWN 4u

static int heap_notes_compare_peaks(const void *a, const void *b)
{
    const struct heap_process *const *x = a, *const *y = b;
    return (*x)->most_bytes < (*y)->most_bytes ? 1 : (*x)->most_bytes > (*y)->most_bytes ? -1 : 0;
}

/* Adds the peak heap of the processes with the highest peaks, PROCESSES_SHOWN at most. */
static void heap_notes_add_peaks(const struct table_view *view, struct result_table *t)
{
    size_t n = 0, count = heap_totals_process_count(view->run);
    const struct heap_process **all = xcalloc(count + 1, sizeof *all);
    for (size_t i = 0; i < count; i++)
        if (heap_totals_process_at(view->run, i)->most_bytes)
            all[n++] = heap_totals_process_at(view->run, i);
    qsort(all, n, sizeof *all, heap_notes_compare_peaks);
    for (size_t i = 0; i < n && i < PROCESSES_SHOWN; i++) {
        struct table_cell name = heap_notes_program(view, all[i]->process);
        if (name.is == CELL_TEXT)
            table_add_note(t, "peak heap of %s: %llu bytes at %.3f s", name.text,
                           (unsigned long long)all[i]->most_bytes,
                           all[i]->most_ns > 0 ? (double)all[i]->most_ns / 1e9 : 0.0);
        free(name.is == CELL_TEXT ? name.text : NULL);
    }
    if (n > PROCESSES_SHOWN)
        table_add_note(t, "the other %zu processes had a lower peak", n - PROCESSES_SHOWN);
    free(all);
}

static void heap_notes_add_own_malloc(const struct table_view *view, struct result_table *t)
{
    for (size_t i = 0; i < heap_totals_process_count(view->run); i++) {
        const struct heap_process *p = heap_totals_process_at(view->run, i);
        struct table_cell name =
            p->own_malloc ? heap_notes_program(view, p->process) : (struct table_cell){0};
        if (name.is != CELL_TEXT)
            continue;
        table_add_note(t,
                       "%s defines malloc itself, which is not measured: only operators new and "
                       "delete are",
                       name.text);
        free(name.text);
    }
}

void heap_notes_add(const struct table_view *view, struct result_table *t,
                    const struct heap_allocated *apart)
{
    uint64_t unseen = 0, unknown = 0;
    for (size_t i = 0; i < heap_totals_process_count(view->run); i++) {
        unseen += heap_totals_process_at(view->run, i)->unseen;
        unknown += heap_totals_process_at(view->run, i)->unknown;
    }
    if (heap_notes_blocks_left(apart))
        table_add_note(
            t, "%llu block%s (%llu bytes) %s to libc and the dynamic loader; see --by library",
            (unsigned long long)heap_notes_blocks_left(apart),
            heap_notes_blocks_left(apart) == 1 ? "" : "s",
            (unsigned long long)heap_notes_difference(apart->bytes,
                                                      apart->freed_bytes + apart->elsewhere_bytes),
            heap_notes_blocks_left(apart) == 1 ? "belongs" : "belong");
    if (unknown)
        table_add_note(t, "%llu freed blocks were allocated before tracing started",
                       (unsigned long long)unknown);
    if (unseen)
        table_add_note(t, "%llu calls were not counted (no space or no time)",
                       (unsigned long long)unseen);
    heap_notes_add_own_malloc(view, t);
    heap_notes_add_peaks(view, t);
    if (!heap_totals_process_count(view->run))
        table_add_note(t, "no heap data: use poet record -m memory with a local server");
    else if (view->from_ns != INT64_MIN || view->to_ns != INT64_MAX || view->past)
        table_add_note(t, "these sums cover the whole run: the time of each free is not recorded");
}
