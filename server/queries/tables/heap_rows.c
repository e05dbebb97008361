#include "server/queries/tables/heap_rows.h"

#include "base/alloc.h"
#include "server/run/event_times.h"

#include <stdlib.h>
#include <string.h>

/* ---- libraries ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *library_of(const struct run *run, uint32_t process, uint64_t site)
{
    const struct run_process *p =
        process < run->processes.count ? &run->processes.items[process] : NULL;
    for (size_t i = 0; p && i < p->module_count; i++)
        if (site >= p->modules[i].start && site < p->modules[i].end)
            return base_name(p->modules[i].path);
    return "";
}

/* Returns whether a library allocates on behalf of its callers, to which that is attributed
 * then. */
static bool is_system(const char *library)
{
    static const char *const begins[] = {"libc.so",   "libc-",     "ld-linux", "ld-musl",
                                         "libstdc++", "libc++.so", "libgcc_s", "libpoet"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(library, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

static bool is_system_at(const struct run *run, uint32_t process,
                         const struct heap_row_stack *stack, uint32_t i)
{
    return is_system(library_of(run, process, stack->sites[i]));
}

/* Removes the callers of main() from the stack: the C library and the program's first
 * instructions. */
static void cut_beginning(const struct run *run, uint32_t process, struct heap_row_stack *stack)
{
    uint32_t n = stack->count;
    if (n > 2 && !is_system_at(run, process, stack, n - 1) &&
        is_system_at(run, process, stack, n - 2))
        n--;
    while (n > 1 && is_system_at(run, process, stack, n - 1))
        n--;
    stack->count = n;
}

struct heap_row_stack heap_rows_stack(const struct run *run, uint32_t process, uint32_t node)
{
    struct heap_row_stack stack = {.library = "", .own = true};
    uint32_t parent;
    for (uint64_t site; (site = heap_totals_site(run, process, node, &parent)); node = parent) {
        const char *library = library_of(run, process, site);
        if (stack.own && !is_system(library)) {
            stack.own = false;
            stack.count = 0;
        }
        if (!stack.count)
            stack.library = library;
        if (stack.count < HEAP_DEPTH)
            stack.sites[stack.count++] = site;
    }
    stack.site = stack.count ? stack.sites[0] : 0;
    if (node == HEAP_NODE_WHOLE && !stack.own)
        cut_beginning(run, process, &stack);
    stack.end = node < HEAP_NODE_FIRST ? node : HEAP_NODE_UNKNOWN;
    stack.own = stack.end == HEAP_NODE_OWN || stack.end == HEAP_NODE_EARLY ||
                (stack.own && stack.count && *stack.library);
    return stack;
}

void heap_rows_context(struct result_table *table, const struct heap_row_stack *stack,
                       uint32_t process)
{
    struct table_row *row = &table->rows[table->row_count - 1];
    row->context = xreallocarray(NULL, (size_t)stack->count + 1, sizeof *row->context);
    row->context_count = stack->count;
    for (uint32_t i = 0; i < stack->count; i++)
        row->context[i] = (struct table_place){process, stack->sites[i]};
}

/* ---- rows ---- */

static int by_number(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

int heap_rows_by_thread(const void *a, const void *b)
{
    const struct heap_row *x = a, *y = b;
    return x->sum.process != y->sum.process ? by_number(x->sum.process, y->sum.process)
                                            : by_number(x->sum.thread, y->sum.thread);
}

int heap_rows_by_place(const void *a, const void *b)
{
    const struct heap_row *x = a, *y = b;
    int order = heap_rows_by_thread(a, b);
    return order ? order : by_number(x->stack.site, y->stack.site);
}

int heap_rows_by_stack(const void *a, const void *b)
{
    const struct heap_row *x = a, *y = b;
    int order = heap_rows_by_place(a, b);
    for (uint32_t i = 0; !order && i < x->stack.count && i < y->stack.count; i++)
        order = by_number(x->stack.sites[i], y->stack.sites[i]);
    return order ? order : by_number(x->stack.count, y->stack.count);
}

int heap_rows_by_library(const void *a, const void *b)
{
    const struct heap_row *x = a, *y = b;
    int order = by_number(x->sum.process, y->sum.process);
    return order ? order : strcmp(x->stack.library, y->stack.library);
}

void heap_rows_add(struct heap_allocated *into, const struct heap_allocated *s)
{
    into->blocks += s->blocks;
    into->bytes += s->bytes;
    into->usable += s->usable;
    into->freed += s->freed;
    into->freed_bytes += s->freed_bytes;
    into->freed_usable += s->freed_usable;
    into->temporaries += s->temporaries;
    into->elsewhere += s->elsewhere;
    into->elsewhere_bytes += s->elsewhere_bytes;
    into->elsewhere_usable += s->elsewhere_usable;
    into->nulls += s->nulls;
    into->most_bytes = 0; /* the maxima were reached at different times */
}

static bool is_sooner(const struct heap_row_first *a, const struct heap_row_first *b)
{
    return a->event.line && (!b->event.line || a->at_ns < b->at_ns);
}

static void taken_join(struct heap_row *into, const struct heap_row *row)
{
    heap_rows_add(&into->sum, &row->sum);
    if (is_sooner(&row->first, &into->first))
        into->first = row->first;
}

struct event_id heap_rows_before(const struct run *run, uint32_t thread, uint32_t event,
                                 int64_t at_ns)
{
    const struct order *order = run->order;
    if (!thread || thread > order_line_count(order))
        return (struct event_id){0};
    uint64_t first = order_line_first(order, thread), low = first,
             high = order_line_events(order, thread);
    while (low < high) { /* finds the first event that is later */
        uint64_t middle = low + (high - low) / 2;
        uint64_t position = order_line_at(order, thread, middle);
        if (position == NO_POSITION) /* the trace file is damaged there */
            return (struct event_id){0};
        if (event_times_fitted(run, position) <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    struct order_event last = low > first
                                  ? order_event(order, order_line_at(order, thread, low - 1))
                                  : (struct order_event){0};
    uint32_t number = last.line == thread && last.number > event ? last.number : event;
    return number ? (struct event_id){thread, number} : (struct event_id){0};
}

struct heap_row_first *heap_rows_firsts(const struct run *run)
{
    struct heap_row_first *firsts = xcalloc(heap_totals_count(run) + 1, sizeof *firsts);
    for (size_t i = 0; i < heap_totals_block_count(run); i++) {
        const struct heap_unfreed *b = heap_totals_block_at(run, i);
        const struct heap_allocated *s = heap_totals_find_numbered(run, b->process, b->sum);
        if (!s || !s->thread)
            continue;
        struct heap_row_first first = {{s->thread, b->event}, b->at_ns},
                              *known = &firsts[s - heap_totals_at(run, 0)];
        if (is_sooner(&first, known))
            *known = first;
    }
    return firsts;
}

size_t heap_rows_merge(struct heap_row *rows, size_t n, int (*order)(const void *, const void *))
{
    size_t kept = 0;
    qsort(rows, n, sizeof *rows, order);
    for (size_t i = 0; i < n; i++) {
        if (kept && order(&rows[kept - 1], &rows[i]) == 0)
            taken_join(&rows[kept - 1], &rows[i]);
        else
            rows[kept++] = rows[i];
    }
    return kept;
}

/* ---- tree of stacks ---- */

static uint32_t heap_rows_child_node(struct heap_row_tree *tree, uint32_t parent, uint32_t process,
                                     uint64_t site)
{
    for (uint32_t i = tree->nodes[parent].child; i; i = tree->nodes[i].sibling)
        if (tree->nodes[i].process == process && tree->nodes[i].site == site)
            return i;
    uint32_t is = (uint32_t)tree->count;
    tree->nodes = array_reserve(tree->nodes, &tree->room, ++tree->count, sizeof *tree->nodes);
    tree->nodes[is] = (struct heap_row_node){.parent = parent,
                                             .sibling = tree->nodes[parent].child,
                                             .process = process,
                                             .site = site,
                                             .sum = {.process = process}};
    tree->nodes[parent].child = is;
    return is;
}

void heap_rows_grow(struct heap_row_tree *tree, const struct heap_row *row)
{
    uint32_t node = 0;
    if (!tree->count) {
        tree->nodes = array_reserve(tree->nodes, &tree->room, tree->count = 1, sizeof *tree->nodes);
        tree->nodes[0] = (struct heap_row_node){0};
    }
    for (uint32_t i = row->stack.count; i-- > 0;) {
        node = heap_rows_child_node(tree, node, row->sum.process, row->stack.sites[i]);
        heap_rows_add(&tree->nodes[node].sum, &row->sum);
    }
}

void heap_rows_tree_free(struct heap_row_tree *tree)
{
    free(tree->nodes);
    *tree = (struct heap_row_tree){0};
}
