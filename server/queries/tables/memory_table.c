/* Table of memory: what was allocated from the heap and never freed, by call site, stack, thread or
 * library; or each such block (server/run/heap_totals.h). */
#include "base/alloc.h"
#include "server/queries/tables/heap_rows.h"
#include "wire/finding_kinds.h"

#include <stdlib.h>
#include <string.h>

/* ---- figures and notes ---- */

/* Returns allocated minus freed, at least 0: the program runs while its counters are read, so a
 * free may be counted before its allocation. */
static uint64_t heap_notes_difference(uint64_t taken, uint64_t freed)
{
    return taken > freed ? taken - freed : 0;
}

/* Returns the number of blocks not freed. */
static uint64_t heap_notes_blocks_left(const struct heap_allocated *s)
{
    return heap_notes_difference(s->blocks, s->freed + s->elsewhere);
}

/* Add notes: how complete the stacks are, the maximum in use, and what is left out (`apart`), not
 * traced or unknown. */
static void heap_notes_add_depth(const struct heap_row *rows, size_t n, struct result_table *t)
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
        struct table_cell name = table_cell_program(view, all[i]->process);
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
            p->own_malloc ? table_cell_program(view, p->process) : (struct table_cell){0};
        if (name.is != CELL_TEXT)
            continue;
        table_add_note(t,
                       "%s defines malloc itself, which is not measured: only operators new and "
                       "delete are",
                       name.text);
        free(name.text);
    }
}

static void heap_notes_add(const struct table_view *view, struct result_table *t,
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

/* ---- the table ---- */

enum memory_column {
    SCOPE,
    THREAD,
    BLOCKS,
    BYTES,
    USABLE,
    ELSEWHERE,
    ELSEWHERE_BYTES,
    TEMPORARIES,
    NULLS,
    TAKEN,
    TAKEN_BYTES,
    MOST,
    FAULT,
    BEFORE,
    ADDRESS,
    AT,
    LIBRARY,
    PROCESS,
    COLUMNS
};

static const char *const memory_table_groupings[] = {"place",   "path",  "thread",
                                                     "library", "block", NULL};

/* Tables in which a column is shown by default. */
enum memory_seen { OF_SUMS = 1, OF_PLACES = 2, OF_BLOCKS = 4, OF_LIBRARIES = 8, OF_ALL = 15 };

static const struct {
    const char *name, *title;
    enum table_kind kind;
    unsigned seen;
} columns[COLUMNS] = {
    [SCOPE] = {"function", NULL, TABLE_PLACE, OF_ALL},
    [THREAD] = {"thread", NULL, TABLE_LINE, OF_ALL},
    [BLOCKS] = {"unfreed_blocks", "not freed", TABLE_COUNT, OF_SUMS | OF_PLACES | OF_LIBRARIES},
    [BYTES] = {"unfreed_bytes", "bytes not freed", TABLE_COUNT, OF_ALL},
    [USABLE] = {"usable", NULL, TABLE_COUNT, OF_BLOCKS},
    [ELSEWHERE] = {"freed_by_other_thread", "freed by other threads", TABLE_COUNT,
                   OF_SUMS | OF_PLACES | OF_LIBRARIES},
    [ELSEWHERE_BYTES] = {"freed_by_other_thread_bytes", "bytes freed by other threads", TABLE_COUNT,
                         0},
    [TEMPORARIES] = {"temporaries", "temporary", TABLE_COUNT, OF_SUMS | OF_PLACES | OF_LIBRARIES},
    [NULLS] = {"nulls", "free(NULL)", TABLE_COUNT, OF_SUMS | OF_PLACES | OF_LIBRARIES},
    [TAKEN] = {"allocations", NULL, TABLE_COUNT, OF_SUMS | OF_PLACES | OF_LIBRARIES},
    [TAKEN_BYTES] = {"allocated_bytes", "bytes allocated", TABLE_COUNT,
                     OF_SUMS | OF_PLACES | OF_LIBRARIES},
    [MOST] = {"peak_bytes", NULL, TABLE_COUNT, 0},
    [FAULT] = {"error", NULL, TABLE_TEXT, OF_PLACES},
    [BEFORE] = {"first_freed_at", NULL, TABLE_PLACE, 0},
    [ADDRESS] = {"address", NULL, TABLE_TEXT, OF_BLOCKS},
    [AT] = {"allocated_ns", "allocated at", TABLE_NS, OF_BLOCKS},
    [LIBRARY] = {"library", NULL, TABLE_TEXT, OF_LIBRARIES},
    [PROCESS] = {"program", NULL, TABLE_TEXT, 0},
};

static bool memory_table_is_by(const struct table_view *view, const char *kind)
{
    return strcmp(*view->request->by ? view->request->by : memory_table_groupings[0], kind) == 0;
}

static bool is_tree(const struct table_view *view) { return view->request->flags & TABLE_TREE; }

static bool is_blocks(const struct table_view *view)
{
    return memory_table_is_by(view, "block") || table_option(view->request, "each");
}

static bool all_seen(const struct table_view *view)
{
    uint64_t unseen = 0;
    for (size_t i = 0; i < heap_totals_process_count(view->run); i++)
        unseen += heap_totals_process_at(view->run, i)->unseen;
    return !unseen;
}

static void add_columns(const struct table_view *view, struct result_table *t)
{
    unsigned seen = is_blocks(view)                       ? OF_BLOCKS
                    : memory_table_is_by(view, "library") ? OF_LIBRARIES
                    : memory_table_is_by(view, "thread")  ? OF_SUMS
                                                          : OF_PLACES;
    for (size_t i = 0; i < COLUMNS; i++) {
        table_add_column(t, columns[i].name, columns[i].title, columns[i].kind,
                         i == SCOPE || i == LIBRARY || i == PROCESS ? NULL
                                                                    : "calls of the allocator");
        if (!(columns[i].seen & seen))
            table_detail(t);
    }
    for (size_t i = 0; i < COLUMNS; i++)
        t->columns[i].exact = all_seen(view) && i != AT; /* clock resolution */
}

/* ---- cells ---- */

static struct table_cell memory_table_number_cell(uint64_t n)
{
    return table_cell_number(n < INT64_MAX ? (int64_t)n : INT64_MAX);
}

static void set_figures(struct table_cell *c, const struct heap_allocated *s)
{
    c[BLOCKS] = memory_table_number_cell(heap_notes_blocks_left(s));
    c[BYTES] = memory_table_number_cell(
        heap_notes_difference(s->bytes, s->freed_bytes + s->elsewhere_bytes));
    c[USABLE] = memory_table_number_cell(
        heap_notes_difference(s->usable, s->freed_usable + s->elsewhere_usable));
    c[ELSEWHERE] = memory_table_number_cell(s->elsewhere);
    c[ELSEWHERE_BYTES] = memory_table_number_cell(s->elsewhere_bytes);
    c[TEMPORARIES] = memory_table_number_cell(s->temporaries);
    c[NULLS] = memory_table_number_cell(s->nulls);
    c[TAKEN] = memory_table_number_cell(s->blocks);
    c[TAKEN_BYTES] = memory_table_number_cell(s->bytes);
    if (s->most_bytes)
        c[MOST] = memory_table_number_cell(s->most_bytes);
}

static struct table_cell place_cell(const struct heap_row_stack *stack, uint32_t process)
{
    static const char *const ends[] = {
        [HEAP_NODE_OTHER] = "(other)", [HEAP_NODE_EARLY] = "(before tracing started)"};
    if (stack->site)
        return table_cell_place((struct table_place){process, stack->site});
    const char *end = stack->end < sizeof ends / sizeof *ends ? ends[stack->end] : NULL;
    return end ? table_cell_text(end) : (struct table_cell){0};
}

/* Adds a row. stack: the call site that it is about; NULL: several. */
static struct table_cell *add_row(const struct table_view *view, struct result_table *t,
                                  uint8_t depth, const struct heap_allocated *s,
                                  const struct heap_row_stack *stack, struct event_id event)
{
    struct table_cell *c = table_add_row(t, depth, event);
    if (!c)
        return NULL;
    if (stack) {
        c[SCOPE] = place_cell(stack, s->process);
        c[LIBRARY] = table_cell_text(stack->library);
        heap_rows_context(t, stack, s->process);
    }
    c[THREAD] = table_cell_line(s->thread);
    c[PROCESS] = table_cell_program(view, s->process);
    if (s->thread)
        table_row_line(t, s->thread);
    return c;
}

static struct table_cell address_cell(uint64_t address)
{
    char *text = xasprintf("0x%llx", (unsigned long long)address);
    struct table_cell cell = table_cell_text(text);
    free(text);
    return cell;
}

/* ---- errors ---- */

static void add_wrong(const struct table_view *view, struct result_table *t,
                      const struct heap_invalid_free *w)
{
    struct heap_allocated s = {.process = w->process, .thread = w->thread};
    struct heap_row_stack stack = heap_rows_stack(view->run, w->process, w->node);
    if (!stack.site)
        stack =
            (struct heap_row_stack){.site = w->site, .library = "", .sites = {w->site}, .count = 1};
    struct event_id event =
        w->event && w->thread ? (struct event_id){w->thread, w->event} : (struct event_id){0};
    struct table_cell *c = add_row(view, t, 0, &s, &stack, event);
    if (!c)
        return;
    c[FAULT] = table_cell_text(heap_faults[w->fault].text);
    c[ADDRESS] = address_cell(w->address);
    if (w->before)
        c[BEFORE] = table_cell_place((struct table_place){w->process, w->before});
}

static bool memory_table_wants_thread(const struct table_view *view, uint32_t thread)
{
    return thread ? table_wants(view, thread) : !view->request->line_count;
}

static void add_wrongs(const struct table_view *view, struct result_table *t)
{
    for (size_t i = 0; i < heap_totals_wrong_count(view->run); i++) {
        const struct heap_invalid_free *w = heap_totals_wrong_at(view->run, i);
        if (w->fault != HEAP_NULL && memory_table_wants_thread(view, w->thread))
            add_wrong(view, t, w);
    }
}

/* ---- rows ---- */

static size_t memory_table_gather_rows(const struct table_view *view, struct heap_row *rows,
                                       bool all, struct heap_allocated *apart)
{
    size_t n = 0;
    struct heap_row_first *firsts = heap_rows_firsts(view->run);
    for (size_t i = 0; i < heap_totals_count(view->run); i++) {
        const struct heap_allocated *s = heap_totals_at(view->run, i);
        if (!memory_table_wants_thread(view, s->thread) || !(s->blocks || s->nulls))
            continue;
        rows[n] = (struct heap_row){*s, heap_rows_stack(view->run, s->process, s->node), firsts[i]};
        if (!all && rows[n].stack.own)
            heap_rows_add(apart, s);
        else
            n++;
    }
    free(firsts);
    return n;
}

static void add_rows(const struct table_view *view, struct result_table *t, struct heap_row *rows,
                     size_t n)
{
    bool places = memory_table_is_by(view, "place") || memory_table_is_by(view, "path"),
         libraries = memory_table_is_by(view, "library");
    for (size_t i = 0; i < n; i++) {
        struct heap_allocated *s = &rows[i].sum;
        if (memory_table_is_by(view, "place") && !heap_notes_blocks_left(s) && !s->elsewhere &&
            !s->nulls)
            continue; /* nothing to report */
        s->thread = libraries ? 0 : s->thread;
        struct table_cell *c =
            add_row(view, t, 0, s, places || libraries ? &rows[i].stack : NULL,
                    libraries || !rows[i].first.event.line
                        ? (struct event_id){0}
                        : heap_rows_before(view->run, rows[i].first.event.line,
                                           rows[i].first.event.number, rows[i].first.at_ns));
        if (!c)
            continue;
        set_figures(c, s);
        if (libraries)
            c[SCOPE] = (struct table_cell){0};
    }
}

static void add_tree(const struct table_view *view, struct result_table *t,
                     const struct heap_row *rows, size_t n)
{
    struct heap_row_tree tree = {0};
    for (size_t i = 0; i < n; i++)
        heap_rows_grow(&tree, &rows[i]);
    uint32_t node = tree.count ? tree.nodes[0].child : 0;
    for (uint8_t depth = 0; node;) {
        const struct heap_row_node *at = &tree.nodes[node];
        struct heap_row_stack place = {
            .site = at->site, .library = "", .sites = {at->site}, .count = 1};
        struct table_cell *c = add_row(view, t, depth, &at->sum, &place, (struct event_id){0});
        if (c)
            set_figures(c, &at->sum);
        if (at->child) {
            node = at->child;
            depth++;
            continue;
        }
        while (node && !tree.nodes[node].sibling) {
            node = tree.nodes[node].parent;
            depth -= node != 0;
        }
        node = node ? tree.nodes[node].sibling : 0;
    }
    heap_rows_tree_free(&tree);
}

/* ---- blocks ---- */

static void add_block(const struct table_view *view, struct result_table *t,
                      const struct heap_unfreed *b, struct heap_allocated *all)
{
    const struct heap_allocated *s = heap_totals_find_numbered(view->run, b->process, b->sum);
    struct heap_allocated nobody = {.process = b->process}, one;
    s = s ? s : &nobody;
    struct heap_row_stack stack = heap_rows_stack(view->run, b->process, s->node);
    if (!memory_table_wants_thread(view, s->thread) || stack.own)
        return;
    one = (struct heap_allocated){.process = b->process,
                                  .thread = s->thread,
                                  .blocks = 1,
                                  .bytes = b->bytes,
                                  .usable = b->usable};
    heap_rows_add(all, &one);
    struct event_id event = heap_rows_before(view->run, s->thread, b->event, b->at_ns);
    struct table_cell *c = add_row(view, t, 0, &one, &stack, event);
    if (!c)
        return;
    set_figures(c, &one);
    c[ADDRESS] = address_cell(b->address);
    c[AT] = table_cell_number(b->at_ns > 0 ? b->at_ns : 0);
}

static void add_blocks(const struct table_view *view, struct result_table *t,
                       struct heap_allocated *all)
{
    uint64_t left_out = 0;
    for (size_t i = 0; i < heap_totals_block_count(view->run); i++)
        add_block(view, t, heap_totals_block_at(view->run, i), all);
    for (size_t i = 0; i < heap_totals_process_count(view->run); i++)
        left_out += heap_totals_process_at(view->run, i)->blocks_left;
    if (left_out)
        table_add_note(t, "%llu more blocks are not listed (limit per process reached)",
                       (unsigned long long)left_out);
}

/* ---- job ---- */

struct memory_work {
    const struct run *run;
    uint64_t came;
    bool waits;
};

/* Begins the table.  The blocks of a live run are requested from its programs. */
static void *memory_table_begin(const struct table_view *view, struct error *error)
{
    struct memory_work *w = xcalloc(1, sizeof *w);
    struct run *run = (struct run *)(uintptr_t)view->run; /* only `wanted` changes */
    (void)error;
    w->run = run;
    w->came = heap_totals_blocks_came(run);
    w->waits = is_blocks(view) && run->programs.connected && heap_totals_process_count(run);
    if (w->waits)
        *heap_totals_wants_blocks(run) = true;
    return w;
}

static bool memory_table_step(void *work, uint64_t *budget)
{
    const struct memory_work *w = work;
    (void)budget;
    return !w->waits || !w->run->programs.connected || heap_totals_blocks_came(w->run) != w->came;
}

static void fill_sums(const struct table_view *view, struct result_table *t)
{
    struct heap_row *rows = xcalloc(heap_totals_count(view->run) + 1, sizeof *rows);
    struct heap_allocated apart = {0}, all = {0};
    size_t n = memory_table_gather_rows(view, rows, memory_table_is_by(view, "library"), &apart);
    for (size_t i = 0; i < n; i++)
        heap_rows_add(&all, &rows[i].sum);
    heap_notes_add_depth(rows, n, t);
    if (is_tree(view)) {
        add_tree(view, t, rows, n);
    } else {
        size_t kept = heap_rows_merge(rows, n,
                                      memory_table_is_by(view, "place")     ? heap_rows_by_place
                                      : memory_table_is_by(view, "path")    ? heap_rows_by_stack
                                      : memory_table_is_by(view, "library") ? heap_rows_by_library
                                                                            : heap_rows_by_thread);
        add_rows(view, t, rows, kept);
        if (memory_table_is_by(view, "place") || memory_table_is_by(view, "path"))
            add_wrongs(view, t);
    }
    free(rows);
    table_arrange(t, view->request, "unfreed_bytes");
    if (n || heap_totals_process_count(view->run)) /* without any data, 0 would be wrong */
        set_figures(table_make_total(t), &all);
    heap_notes_add(view, t, &apart);
}

static void memory_table_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct heap_allocated all = {0};
    (void)work;
    t->title = xstrdup(is_blocks(view) ? "heap: blocks not freed" : "heap: memory not freed");
    add_columns(view, t);
    if (!is_blocks(view)) {
        fill_sums(view, t);
        return;
    }
    add_blocks(view, t, &all);
    table_arrange(t, view->request, "unfreed_bytes");
    if (all.blocks)
        set_figures(table_make_total(t), &all);
    heap_notes_add(view, t, &(struct heap_allocated){0});
}

const struct table_preset preset_memory = {.what = "memory",
                                           .by = memory_table_groupings,
                                           .begin = memory_table_begin,
                                           .step = memory_table_step,
                                           .fill = memory_table_fill,
                                           .free = free};
