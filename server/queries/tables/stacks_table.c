/* Table of wait time by call stack: of the waiters, or of the calls that ended their waits; as a
 * tree of calls, or, with the option "graph", callers with their callees.  Its columns are those of
 * the table of calls, so that the same formats and charts show it. */
#include "base/alloc.h"
#include "server/queries/tables/table_query.h"
#include "server/run/call_sites.h"

#include <stdlib.h>
#include <string.h>

enum stacks_column { SCOPE, WAITS, SELF, TOTAL, TOTAL_SHARE, MOST, COLUMNS };

static const struct column_definition stacks_table_columns[COLUMNS] = {
    [SCOPE] = {"function", .kind = TABLE_PLACE},
    [WAITS] = {"calls", "waits", .kind = TABLE_COUNT},
    [SELF] = {"self_ns", "here", .kind = TABLE_NS},
    [TOTAL] = {"total_ns", "wait time", .kind = TABLE_NS},
    [TOTAL_SHARE] = {"total_share", "% of waits", .kind = TABLE_SHARE},
    [MOST] = {"max_ns", .kind = TABLE_NS}};

/* Frames that are not places. */
enum stacks_frame {
    FRAME_MORE = UINT32_MAX - 8, /* callers that are not known */
    FRAME_NO_SITE,
    FRAME_UNATTRIBUTED,
    FRAME_TIMEOUT,
    FRAME_LATENCY
};

static const char *const stacks_frame_texts[] = {"...", "(no call site)", "(unattributed)",
                                                 "(timeout)", "(wake-up latency)"};

/* A call in the tree: the first node is above all outermost ones. */
struct stacks_node {
    uint32_t parent, child, sibling; /* indices; 0: none */
    uint32_t frame; /* a place, or an enum stacks_frame */
    uint64_t waits; /* of which it is the innermost call */
    int64_t self_ns, total_ns, most_ns;
};

struct stacks_work {
    const struct table_view *view;
    struct stacks_node *nodes;
    size_t count, room;
    struct map children; /* (parent, frame) -> index */
    size_t done; /* waits that were added */
    bool wakers;
    uint64_t open; /* waits that have not ended */
};

/* ---- the tree ---- */

static uint32_t stacks_tree_child(struct stacks_work *w, uint32_t parent, uint32_t frame)
{
    uint32_t is = (uint32_t)(uintptr_t)map_get(&w->children, parent, frame);
    if (is)
        return is;
    is = (uint32_t)w->count++;
    w->nodes = array_reserve(w->nodes, &w->room, w->count, sizeof *w->nodes);
    w->nodes[is] =
        (struct stacks_node){.parent = parent, .frame = frame, .sibling = w->nodes[parent].child};
    w->nodes[parent].child = is;
    map_put(&w->children, parent, frame, (void *)(uintptr_t)is);
    return is;
}

static void stacks_tree_add(struct stacks_work *w, uint32_t node, int64_t ns)
{
    w->nodes[node].waits++;
    w->nodes[node].self_ns += ns;
    for (bool above = true; above; node = w->nodes[node].parent) {
        w->nodes[node].total_ns += ns;
        w->nodes[node].most_ns = ns > w->nodes[node].most_ns ? ns : w->nodes[node].most_ns;
        above = node != 0;
    }
}

/* Returns the node of a site with its callers, from the outermost one on. */
static uint32_t stacks_tree_node(struct stacks_work *w, uint32_t site)
{
    const struct run *run = w->view->run;
    const struct site *s = site_table_at(&run->sites, site);
    if (!s)
        return site == SITE_CUT || site == SITE_UNKNOWN ? stacks_tree_child(w, 0, FRAME_MORE) : 0;
    return stacks_tree_child(w, stacks_tree_node(w, s->caller), call_sites_for_line(run, site));
}

/* Adds time that was spent waiting, to the stack of the event at the position. */
static void stacks_table_add(struct stacks_work *w, uint64_t position, int64_t ns)
{
    const struct order *order = w->view->run->order;
    uint32_t site = position >= order_first(order) && position != NO_POSITION
                        ? order_event(order, position).site
                        : 0;
    uint32_t node = site ? stacks_tree_node(w, site) : 0;
    if (ns > 0)
        stacks_tree_add(w, node ? node : stacks_tree_child(w, 0, FRAME_NO_SITE), ns);
}

/* ---- waits ---- */

/* Returns how much of a time is in the range. */
static int64_t stacks_table_in_range(const struct stacks_work *w, uint32_t thread, int64_t from_ns,
                                     int64_t to_ns)
{
    const struct table_view *view = w->view;
    const struct thread_timeline *course = intervals_for_thread(view->measured, thread);
    int64_t until_ns = course ? table_until(view, course) : view->to_ns;
    from_ns = from_ns > view->from_ns ? from_ns : view->from_ns;
    to_ns = to_ns < until_ns ? to_ns : until_ns;
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* Adds the parts of a wait by what ended each. */
static void stacks_table_add_wakers(struct stacks_work *w, const struct wait_record *wait)
{
    int64_t from_ns = wait->from_ns, rest_ns;
    for (uint32_t i = 0; i < wait->count; i++) {
        const struct wait_interval *part = &w->view->measured->segments[wait->segment + i];
        stacks_table_add(w, part->release,
                         stacks_table_in_range(w, wait->thread, from_ns, part->to_ns));
        from_ns = part->to_ns;
    }
    rest_ns = stacks_table_in_range(w, wait->thread, from_ns, wait->to_ns);
    uint32_t frame = wait->count                   ? FRAME_LATENCY
                     : wait->class == WAIT_TIMEOUT ? FRAME_TIMEOUT
                                                   : FRAME_UNATTRIBUTED;
    if (rest_ns)
        stacks_tree_add(w, stacks_tree_child(w, 0, frame), rest_ns);
}

static void stacks_table_add_waiter(struct stacks_work *w, const struct wait_record *wait)
{
    stacks_table_add(w, wait->begin,
                     stacks_table_in_range(w, wait->thread, wait->from_ns, wait->to_ns));
}

static void *stacks_table_begin(const struct table_view *view, struct error *error)
{
    struct stacks_work *w = xcalloc(1, sizeof *w);
    (void)error;
    w->view = view;
    w->wakers = strcmp(view->request->by, "waker") == 0;
    w->nodes = array_reserve(NULL, &w->room, w->count = 1, sizeof *w->nodes);
    w->nodes[0] = (struct stacks_node){0};
    return w;
}

static bool stacks_table_step(void *work, uint64_t *budget)
{
    struct stacks_work *w = work;
    const struct intervals *measured = w->view->measured;
    for (; w->done < measured->wait_count && *budget; w->done++, --*budget) {
        const struct wait_record *wait = &measured->waits[w->done];
        if (!table_wants(w->view, wait->thread))
            continue;
        if (w->wakers)
            stacks_table_add_wakers(w, wait);
        else
            stacks_table_add_waiter(w, wait);
    }
    return w->done == measured->wait_count;
}

/* Adds the time so far of waits that have not ended. */
static void stacks_table_add_open(struct stacks_work *w)
{
    const struct table_view *view = w->view;
    for (size_t i = 0; !view->apart && !w->wakers && i < view->lives.open_count; i++)
        if (table_wants(view, view->lives.open[i].thread)) {
            stacks_table_add_waiter(w, &view->lives.open[i]);
            w->open++;
        }
}

/* ---- rows ---- */

static struct table_cell stacks_table_frame_cell(const struct stacks_work *w, uint32_t frame)
{
    return frame >= FRAME_MORE ? table_cell_text(stacks_frame_texts[frame - FRAME_MORE])
                               : table_cell_place(table_place(w->view, frame));
}

static void stacks_table_add_row(const struct stacks_work *w, struct result_table *t, uint8_t depth,
                                 const struct stacks_node *node)
{
    int64_t all_ns = w->nodes[0].total_ns;
    struct table_cell *cells = table_add_row(t, depth, (struct event_id){0});
    if (!cells)
        return;
    cells[SCOPE] = stacks_table_frame_cell(w, node->frame);
    cells[WAITS] = table_cell_number((int64_t)node->waits);
    cells[SELF] = table_cell_number(node->self_ns);
    cells[TOTAL] = table_cell_number(node->total_ns);
    cells[TOTAL_SHARE] = table_cell_real(all_ns ? (double)node->total_ns / (double)all_ns : 0);
    cells[MOST] = table_cell_number(node->most_ns);
}

static void stacks_table_add_tree(const struct stacks_work *w, struct result_table *t)
{
    uint32_t node = w->nodes[0].child;
    for (uint8_t depth = 0; node;) {
        stacks_table_add_row(w, t, depth, &w->nodes[node]);
        if (w->nodes[node].child) {
            node = w->nodes[node].child;
            depth++;
            continue;
        }
        while (node && !w->nodes[node].sibling) {
            node = w->nodes[node].parent;
            depth -= node != 0;
        }
        node = node ? w->nodes[node].sibling : 0;
    }
}

static int stacks_table_by_frame(const void *a, const void *b)
{
    const struct stacks_node *x = a, *y = b;
    return x->frame != y->frame ? (x->frame < y->frame ? -1 : 1)
                                : (x->parent > y->parent) - (x->parent < y->parent);
}

/* Adds to `into` the sums of the nodes that follow and are equal to the first. A recursive call is
 * in the total of its caller, too. Returns their number. */
static size_t stacks_table_merge(const struct stacks_node *nodes, size_t count, bool arcs,
                                 struct stacks_node *into)
{
    size_t n = 0;
    *into = (struct stacks_node){.frame = nodes->frame, .parent = nodes->parent};
    for (; n < count && nodes[n].frame == into->frame && (!arcs || nodes[n].parent == into->parent);
         n++) {
        into->waits += nodes[n].waits;
        into->self_ns += nodes[n].self_ns;
        into->total_ns += nodes[n].total_ns;
        into->most_ns = nodes[n].most_ns > into->most_ns ? nodes[n].most_ns : into->most_ns;
    }
    return n;
}

/* Adds each call with its own time, and below it what it called. */
static void stacks_table_add_graph(const struct stacks_work *w, struct result_table *t)
{
    size_t count = w->count - 1;
    struct stacks_node *calls = xcalloc(count + 1, sizeof *calls), *arcs, sum;
    arcs = xcalloc(count + 1, sizeof *arcs); /* frame: the caller; parent: the callee */
    for (size_t i = 0; i < count; i++) {
        calls[i] = arcs[i] = w->nodes[i + 1];
        calls[i].parent = 0;
        arcs[i].parent = arcs[i].frame;
        arcs[i].frame = w->nodes[w->nodes[i + 1].parent].frame;
    }
    qsort(calls, count, sizeof *calls, stacks_table_by_frame);
    qsort(arcs, count, sizeof *arcs, stacks_table_by_frame);
    for (size_t i = 0, k = 0; i < count;) {
        i += stacks_table_merge(&calls[i], count - i, false, &sum);
        stacks_table_add_row(w, t, 0, &sum);
        uint32_t caller = sum.frame;
        while (k < count && arcs[k].frame < caller)
            k++;
        while (k < count && arcs[k].frame == caller) {
            k += stacks_table_merge(&arcs[k], count - k, true, &sum);
            sum.frame = sum.parent;
            stacks_table_add_row(w, t, 1, &sum);
        }
    }
    free(calls);
    free(arcs);
}

static void stacks_table_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct stacks_work *w = work;
    w->view = view;
    stacks_table_add_open(w);
    t->title =
        xstrdup(w->wakers ? "waits by the call stack that ended them" : "waits by call stack");
    table_add_columns(t, stacks_table_columns, COLUMNS);
    if (table_option(view->request, "graph"))
        stacks_table_add_graph(w, t);
    else
        stacks_table_add_tree(w, t);
    table_arrange(t, view->request, "total_ns");
    table_make_total(t)[TOTAL] = table_cell_number(w->nodes[0].total_ns);
    if (w->open)
        table_add_note(t, "%llu wait%s not ended: the time so far is included",
                       (unsigned long long)w->open, w->open == 1 ? " had" : "s had");
}

static void stacks_table_free(void *work)
{
    struct stacks_work *w = work;
    map_free(&w->children);
    free(w->nodes);
    free(w);
}

static const char *const stacks_table_groupings[] = {"waiter", "waker", NULL};

const struct table_preset preset_stacks = {.what = "stacks",
                                           .by = stacks_table_groupings,
                                           .begin = stacks_table_begin,
                                           .step = stacks_table_step,
                                           .fill = stacks_table_fill,
                                           .free = stacks_table_free};
