#include "server/queries/tables/calls_rows.h"

#include "base/alloc.h"
#include "wire/profile_region.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum callrows_column {
    SCOPE,
    PARENT,
    RELATION,
    CALLS,
    CONCURRENT,
    SELF,
    SELF_SHARE,
    NET,
    LEAF,
    TOTAL,
    TOTAL_SHARE,
    FUNCTION_SHARE,
    CPU,
    SELF_MEAN,
    MEAN,
    MIN,
    MAX,
    CPU_MEAN,
    CPU_MIN,
    CPU_MAX,
    MARK,
    CYCLE,
    MEASURING,
    LIFE,
    UNACCOUNTED,
    COUNTED,
    SINCE,
    NESTED,
    SAMPLES,
    ERROR,
    SITE, /* with `points` */
    POINT
};

#define HOOKS "instrumented calls"
#define SAMPLED "samples of call stacks"

/* Forms of the table in which a column is shown by default. */
enum {
    IN_TIMES = CALLS_CYCLES | CALLS_CALLEES | CALLS_CALLERS | CALLS_BUTTERFLY,
    IN_GRAPHS = CALLS_CALLEES | CALLS_CALLERS | CALLS_BUTTERFLY,
    IN_SUMS = CALLS_FLAT | CALLS_TREE | CALLS_WALL,
    IN_BOTH = IN_TIMES | IN_SUMS,
    IN_ALL = IN_BOTH | CALLS_INVERTED,
    IN_SAMPLED = 1 << 30, /* if calls were sampled */
    IN_NONE = 0
};

static const struct {
    const char *name, *title;
    enum table_kind kind;
    unsigned seen; /* of enum calls_form */
} columns[] = {[SCOPE] = {"function", NULL, TABLE_PLACE, IN_ALL},
               [PARENT] = {"caller", NULL, TABLE_PLACE, IN_NONE},
               [RELATION] = {"relation", NULL, TABLE_TEXT, CALLS_BUTTERFLY},
               [CALLS] = {"calls", NULL, TABLE_COUNT, IN_ALL},
               [CONCURRENT] = {"concurrent", NULL, TABLE_COUNT, IN_SUMS},
               [SELF] = {"self_ns", NULL, TABLE_NS, IN_SUMS},
               [SELF_SHARE] = {"self_share", "%", TABLE_SHARE, IN_SUMS | CALLS_INVERTED},
               [NET] = {"net_ns", NULL, TABLE_NS, IN_NONE},
               [LEAF] = {"leaf_self_ns", "self of function", TABLE_NS, CALLS_INVERTED},
               [TOTAL] = {"total_ns", NULL, TABLE_NS, IN_BOTH},
               [TOTAL_SHARE] = {"total_share", "%", TABLE_SHARE, IN_SUMS},
               [FUNCTION_SHARE] = {"function_share", "% of function", TABLE_SHARE,
                                   IN_GRAPHS | CALLS_TREE | CALLS_WALL | CALLS_INVERTED},
               [CPU] = {"cpu_ns", "CPU", TABLE_NS, IN_ALL},
               [SELF_MEAN] = {"self_mean_ns", "self mean", TABLE_NS, IN_BOTH},
               [MEAN] = {"mean_ns", NULL, TABLE_NS, IN_BOTH},
               [MIN] = {"min_ns", NULL, TABLE_NS, IN_BOTH},
               [MAX] = {"max_ns", NULL, TABLE_NS, IN_BOTH},
               [CPU_MEAN] = {"cpu_mean_ns", "CPU mean", TABLE_NS, IN_TIMES},
               [CPU_MIN] = {"cpu_min_ns", "CPU min", TABLE_NS, IN_TIMES},
               [CPU_MAX] = {"cpu_max_ns", "CPU max", TABLE_NS, IN_TIMES},
               [MARK] = {"flags", NULL, TABLE_TEXT, IN_BOTH},
               [CYCLE] = {"cycle", NULL, TABLE_COUNT, IN_TIMES},
               [MEASURING] = {"overhead_ns", "instrumentation overhead", TABLE_NS, IN_NONE},
               [LIFE] = {"lifetime_ns", NULL, TABLE_NS, IN_NONE},
               [UNACCOUNTED] = {"unaccounted_ns", "outside functions", TABLE_NS, IN_NONE},
               [COUNTED] = {"untimed", "counted, not timed", TABLE_COUNT, IN_NONE},
               [SINCE] = {"untimed_since_ns", "since", TABLE_NS, IN_NONE},
               [NESTED] = {"nested_ns", NULL, TABLE_NS, IN_NONE},
               [SAMPLES] = {"samples", NULL, TABLE_COUNT, IN_SAMPLED},
               [ERROR] = {"error_ns", "± (95 %)", TABLE_NS, IN_SAMPLED}};

enum calls_form calls_rows_form(const struct table_request *r)
{
    bool callees = table_option(r, "graph"), callers = table_option(r, "callers");
    return table_option(r, "cycles")                               ? CALLS_CYCLES
           : table_option(r, "wall")                               ? CALLS_WALL
           : table_option(r, "inverted")                           ? CALLS_INVERTED
           : callees && callers                                    ? CALLS_BUTTERFLY
           : callees                                               ? CALLS_CALLEES
           : callers                                               ? CALLS_CALLERS
           : (r->flags & TABLE_TREE) || strcmp(r->by, "path") == 0 ? CALLS_TREE
                                                                   : CALLS_FLAT;
}

bool calls_rows_shows_times(enum calls_form form) { return form & IN_TIMES; }

const char *calls_rows_sort(enum calls_form form)
{
    return form == CALLS_INVERTED                         ? "leaf_self_ns"
           : form & (IN_GRAPHS | CALLS_TREE | CALLS_WALL) ? "total_ns"
                                                          : "self_ns";
}

/* Returns whether a column is known of measured calls only, not of samples. */
static bool is_of_calls(size_t column)
{
    return column == CONCURRENT || column == NET || column == MEAN || column == MIN ||
           column == MAX || column == CPU_MEAN || column == CPU_MIN || column == CPU_MAX;
}

/* Returns whether a column is an estimate. */
static bool is_estimate(size_t column, bool overlaps, bool sampled)
{
    bool time = column == SELF || column == SELF_SHARE || column == TOTAL ||
                column == TOTAL_SHARE || column == FUNCTION_SHARE || column == LEAF ||
                column == CPU;
    return column == NET || column == MEASURING || (column == CONCURRENT && !overlaps) ||
           column == ERROR || (sampled && time);
}

void calls_rows_columns(struct result_table *t, enum calls_form form, bool overlaps, bool sampled)
{
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        table_add_column(t, columns[i].name, columns[i].title, columns[i].kind,
                         sampled ? SAMPLED : HOOKS);
        t->columns[t->column_count - 1].exact = !is_estimate(i, overlaps, sampled);
        if (!(columns[i].seen & (form | (sampled ? IN_SAMPLED : 0))) || (sampled && is_of_calls(i)))
            table_detail(t);
    }
}

void calls_rows_add_points(struct result_table *t)
{
    table_add_column(t, "site", NULL, TABLE_PLACE, SAMPLED);
    table_detail(t);
    table_add_column(t, "point", NULL, TABLE_PLACE, SAMPLED);
    table_detail(t);
}

/* ---- cells ---- */

static void set_share(struct table_cell *cell, int64_t ns, int64_t of)
{
    if (of > 0)
        *cell = table_cell_real((double)ns / (double)of);
}

/* Returns whether minimum and maximum are those of calls: not if none has ended. */
static bool has_single(const struct call_sums *s)
{
    return s->ended && (uint64_t)s->left < s->calls;
}

/* Returns whether a mean may be that of the calls between minimum and maximum: calls that have not
 * ended, as those of a coroutine that is suspended, have times, too.  (Times are rounded
 * individually.) */
static bool is_mean(const struct call_sums *s, int64_t mean_ns, int64_t least_ns, int64_t most_ns)
{
    bool complete = !s->open && !s->left;
    return mean_ns >= 0 &&
           (complete || !has_single(s) || (mean_ns >= least_ns - 1 && mean_ns <= most_ns + 1));
}

static void set_single(struct table_cell *cells, const struct call_sums *s)
{
    if (s->calls > s->counted)
        cells[SELF_MEAN] = table_cell_number(s->self_ns / (int64_t)(s->calls - s->counted));
    if (s->total && is_mean(s, calls_mean_total(s), s->least_ns, s->most_ns))
        cells[MEAN] = table_cell_number(calls_mean_total(s));
    if (call_profile_cpu_known(s) && is_mean(s, calls_mean_cpu(s), s->cpu_least_ns, s->cpu_most_ns))
        cells[CPU_MEAN] = table_cell_number(calls_mean_cpu(s));
    if (!has_single(s))
        return;
    cells[MIN] = table_cell_number(s->least_ns);
    cells[MAX] = table_cell_number(s->most_ns);
    if (!s->cpu || s->blind)
        return;
    cells[CPU_MIN] = table_cell_number(s->cpu_least_ns);
    cells[CPU_MAX] = table_cell_number(s->cpu_most_ns);
}

/* Returns half the width of the 95 % confidence interval of a time that n of N samples estimate
 * (Agresti and Coull, Approximate is better than "exact", 1998). */
static int64_t error_ns(const struct calls_rows *rows, uint64_t n)
{
    double all = (double)rows->samples + 4, share = ((double)n + 2) / all;
    return (int64_t)(1.96 * sqrt(share * (1 - share) / all) * (double)rows->sampled_ns + .5);
}

static void set_samples(const struct calls_rows *rows, struct table_cell *cells,
                        const struct call_sums *s)
{
    cells[SAMPLES] = table_cell_number((int64_t)s->samples);
    cells[ERROR] = table_cell_number(error_ns(rows, s->samples));
}

static void set_times(const struct calls_rows *rows, struct table_cell *cells,
                      const struct call_sums *s)
{
    cells[SELF] = table_cell_number(s->self_ns);
    set_share(&cells[SELF_SHARE], s->self_ns, rows->life_ns);
    if (!rows->raw && !s->sampled)
        cells[NET] = table_cell_number(call_profile_net(s));
    cells[MEASURING] = table_cell_number((int64_t)(s->cost_ps / 1000));
    if (s->total) {
        cells[TOTAL] = table_cell_number(s->total_ns);
        set_share(&cells[TOTAL_SHARE], s->total_ns, rows->life_ns);
        cells[NESTED] = table_cell_number(s->nested_ns);
    }
    if (call_profile_cpu_known(s))
        cells[CPU] = table_cell_number(s->cpu_ns);
    if (!rows->part)
        set_single(cells, s);
}

/* Marks incomplete calls, and those that were only counted, as their times are part of their
 * callers'. */
static void set_mark(const struct calls_rows *rows, struct table_cell *cells,
                     const struct call_sums *s)
{
    bool incomplete = s->open || (s->left > 0 && !rows->part);
    int64_t since_ns = (int64_t)(s->since_ns - rows->run->clock.start_ns);
    char since[48] = "";
    if (s->counted && s->since_ns) {
        snprintf(since, sizeof since, " since %.3f s", (double)since_ns / 1e9);
        cells[SINCE] = table_cell_number(since_ns);
    }
    char *mark =
        xasprintf("%s%s%s%s", incomplete ? "INCOMPLETE" : "", incomplete && s->counted ? ", " : "",
                  s->counted ? "counted, not timed" : "", since);
    cells[MARK] = table_cell_text(mark);
    cells[COUNTED] = table_cell_number((int64_t)s->counted);
    free(mark);
}

static bool is_nothing(const struct calls_rows *rows, const struct call_sums *s)
{
    return rows->part && !s->calls && !s->self_ns && !s->total_ns;
}

static struct table_cell *add_row(struct calls_rows *rows, uint8_t depth, uint32_t function,
                                  const struct call_sums *s)
{
    struct table_cell *cells =
        is_nothing(rows, s) ? NULL : table_add_row(rows->table, depth, (struct event_id){0});
    if (!cells)
        return NULL;
    const struct call_function *f = &rows->calls->functions[function];
    cells[SCOPE] = scope_numbers_cell(rows->scopes, rows->run, f->scope);
    if (!s->sampled || s->calls) {
        cells[CALLS] = table_cell_number((int64_t)s->calls);
        cells[CONCURRENT] = table_cell_number((int64_t)s->concurrent);
    }
    if (s->sampled)
        set_samples(rows, cells, s);
    if (s->timed)
        set_times(rows, cells, s);
    set_mark(rows, cells, s);
    if (f->cycle)
        cells[CYCLE] = table_cell_number(f->cycle);
    return cells;
}

static void set_parent(const struct calls_rows *rows, struct table_cell *cells, uint32_t function)
{
    if (cells && function)
        cells[PARENT] =
            scope_numbers_cell(rows->scopes, rows->run, rows->calls->functions[function].scope);
}

/* ---- rows ---- */

void calls_rows_thread(struct calls_rows *rows, uint32_t line, int64_t life_ns)
{
    struct call_sums all = call_profile_all(rows->calls);
    struct table_cell *cells = table_add_row(rows->table, 0, (struct event_id){0});
    if (!cells)
        return;
    cells[SCOPE] = table_cell_line(line);
    cells[CALLS] = table_cell_number((int64_t)all.calls);
    cells[COUNTED] = table_cell_number((int64_t)all.counted);
    cells[CONCURRENT] = table_cell_number((int64_t)all.concurrent);
    all.total = all.ended = false;
    if (all.timed) {
        set_times(rows, cells, &all);
        cells[UNACCOUNTED] = table_cell_number(life_ns - all.self_ns);
    }
    cells[TOTAL] = cells[LIFE] = table_cell_number(life_ns);
    cells[SELF_MEAN] = cells[CPU_MEAN] = (struct table_cell){0};
    table_row_line(rows->table, line);
    rows->depth = 1;
}

static void add_outside(struct calls_rows *rows, const char *text, int64_t ns, int64_t cpu_ns)
{
    struct table_cell *cells =
        ns > 0 ? table_add_row(rows->table, rows->depth, (struct event_id){0}) : NULL;
    if (!cells)
        return;
    cells[SCOPE] = table_cell_text(text);
    cells[SELF] = cells[TOTAL] = table_cell_number(ns);
    set_share(&cells[SELF_SHARE], ns, rows->life_ns);
    set_share(&cells[TOTAL_SHARE], ns, rows->life_ns);
    cells[CPU] = table_cell_number(cpu_ns);
}

void calls_rows_outside(struct calls_rows *rows, int64_t life_ns)
{
    struct call_sums all = call_profile_all(rows->calls);
    const struct call_sums *thread = &rows->calls->functions[0].sums;
    if (!all.sampled && !thread->sampled)
        return;
    add_outside(rows, "(on a CPU, no function known)", thread->cpu_ns, thread->cpu_ns);
    add_outside(rows, "(off CPU, no traced wait)", life_ns - all.self_ns - thread->cpu_ns, 0);
}

/* Returns whether an entry is only the parent of other functions' calls, and no call itself. */
static bool only_gathers(const struct calls_rows *rows, const struct call_function *f)
{
    return !f->sums.calls && rows->scopes->items[f->scope - 1].is == SCOPE_OTHER;
}

static void calls_rows_flat(struct calls_rows *rows)
{
    const struct call_profile *calls = rows->calls;
    for (uint32_t i = 1; i < calls->function_count; i++)
        if (!only_gathers(rows, &calls->functions[i]))
            add_row(rows, rows->depth, i, &calls->functions[i].sums);
}

/* Adds a row for a caller or a callee of a function, with its share of the function's total: what
 * the function did when called from there; what the callee did when called by it. */
static void calls_rows_relative(struct calls_rows *rows, const struct call_arc *arc, bool caller)
{
    const struct call_sums *of = &rows->calls->functions[caller ? arc->to : arc->from].sums;
    struct table_cell *cells =
        add_row(rows, rows->depth + 1, caller ? arc->from : arc->to, &arc->sums);
    if (!cells)
        return;
    cells[RELATION] = table_cell_text(caller ? "caller" : "callee");
    if (!caller)
        set_parent(rows, cells, arc->from);
    else if (!arc->from)
        cells[SCOPE] = table_cell_text("(thread start)");
    if (arc->sums.timed && arc->sums.total && of->total)
        set_share(&cells[FUNCTION_SHARE], arc->sums.total_ns, of->total_ns);
}

/* Lists of arcs: of each function the last one, and of each arc the next one of its function. */
struct calls_arc_lists {
    uint32_t *last, *next; /* 1 + index; 0: none */
};

static struct calls_arc_lists calls_rows_list_arcs(const struct call_profile *calls, bool callers)
{
    struct calls_arc_lists lists = {xcalloc(calls->function_count + 1, sizeof *lists.last),
                                    xcalloc(calls->arc_count + 1, sizeof *lists.next)};
    for (uint32_t i = (uint32_t)calls->arc_count; i > 0; i--) {
        const struct call_arc *arc = &calls->arcs[i - 1];
        uint32_t *last = &lists.last[callers ? arc->to : arc->from];
        lists.next[i - 1] = *last;
        *last = i;
    }
    return lists;
}

static void calls_rows_relatives(struct calls_rows *rows, const struct calls_arc_lists *lists,
                                 uint32_t function, bool callers)
{
    for (uint32_t i = lists->last[function]; i; i = lists->next[i - 1])
        calls_rows_relative(rows, &rows->calls->arcs[i - 1], callers);
}

static void calls_rows_graph(struct calls_rows *rows, enum calls_form form)
{
    const struct call_profile *calls = rows->calls;
    struct calls_arc_lists up = calls_rows_list_arcs(calls, true),
                           down = calls_rows_list_arcs(calls, false);
    for (uint32_t f = 1; f < calls->function_count; f++) {
        add_row(rows, rows->depth, f, &calls->functions[f].sums);
        if (form != CALLS_CALLEES)
            calls_rows_relatives(rows, &up, f, true);
        if (form != CALLS_CALLERS)
            calls_rows_relatives(rows, &down, f, false);
    }
    free(up.last);
    free(up.next);
    free(down.last);
    free(down.next);
}

/* Returns the node after this one in preorder, 0 at the end; below: include its children. */
static uint32_t next_node(const struct call_profile *calls, uint32_t node, bool below,
                          unsigned *depth)
{
    if (below && calls->nodes[node].child) {
        ++*depth;
        return calls->nodes[node].child;
    }
    for (; node; node = calls->nodes[node].parent, --*depth)
        if (calls->nodes[node].sibling)
            return calls->nodes[node].sibling;
    return 0;
}

static void calls_rows_tree(struct calls_rows *rows)
{
    const struct call_profile *calls = rows->calls;
    unsigned depth = 0;
    if (!calls->node_count)
        return;
    for (uint32_t i = next_node(calls, 0, true, &depth); i;) {
        const struct call_node *node = &calls->nodes[i];
        struct table_cell *cells =
            add_row(rows, (uint8_t)(rows->depth + depth - 1), node->function, &node->sums);
        set_parent(rows, cells, calls->nodes[node->parent].function);
        if (cells && node->parent && node->sums.total)
            set_share(&cells[FUNCTION_SHARE], node->sums.total_ns,
                      calls->nodes[node->parent].sums.total_ns);
        if (cells && rows->points && node->address)
            cells[node->point ? POINT : SITE] =
                table_cell_place((struct table_place){node->process, node->address - !node->point});
        rows->cut |= depth == CALLS_ROWS_DEPTH && node->child;
        i = next_node(calls, i, depth < CALLS_ROWS_DEPTH, &depth);
    }
}

static void calls_rows_cycles(struct calls_rows *rows)
{
    const struct call_profile *calls = rows->calls;
    for (uint32_t cycle = 1; cycle <= calls->cycles; cycle++) {
        char *title = xasprintf("cycle %u", cycle);
        struct table_cell *cells = table_add_row(rows->table, rows->depth, (struct event_id){0});
        if (cells) {
            cells[SCOPE] = table_cell_text(title);
            cells[CYCLE] = table_cell_number(cycle);
        }
        free(title);
        for (uint32_t f = 1; f < calls->function_count; f++)
            if (calls->functions[f].cycle == cycle)
                add_row(rows, rows->depth + 1, f, &calls->functions[f].sums);
    }
}

/* ---- the inverted tree ---- */

/* A call path from a function upwards: how much of the function's self time it led to. */
struct inverted_node {
    uint32_t function, parent, child, sibling; /* nodes; 0: none */
    struct call_sums sums; /* of the function, called on this path */
};

struct inverted_tree {
    struct inverted_node *nodes; /* the first one is above all functions */
    uint32_t count;
    size_t room;
    struct map index; /* parent and function to node */
};

static uint32_t inverted_tree_node(struct inverted_tree *t, uint32_t parent, uint32_t function)
{
    uint32_t known = (uint32_t)(uintptr_t)map_get(&t->index, parent, function);
    if (known)
        return known;
    t->nodes = array_reserve(t->nodes, &t->room, t->count + 1u, sizeof *t->nodes);
    t->nodes[t->count] = (struct inverted_node){
        .function = function, .parent = parent, .sibling = t->nodes[parent].child};
    t->nodes[parent].child = t->count;
    map_put(&t->index, parent, function, (void *)(uintptr_t)t->count);
    return t->count++;
}

/* Adds the calls of a context to each part of its path, from the function upwards. */
static void inverted_tree_add(struct inverted_tree *t, const struct call_profile *calls,
                              uint32_t node, bool *cut)
{
    uint32_t at = 0, depth = 0;
    for (uint32_t up = node; up; up = calls->nodes[up].parent) {
        if (depth++ == CALLS_ROWS_DEPTH) {
            *cut = true;
            return;
        }
        at = inverted_tree_node(t, at, calls->nodes[up].function);
        call_profile_sum(&t->nodes[at].sums, &calls->nodes[node].sums);
    }
}

static void inverted_tree_row(struct calls_rows *rows, const struct inverted_tree *t, uint32_t at,
                              uint8_t depth, int64_t self_ns)
{
    const struct inverted_node *n = &t->nodes[at];
    struct table_cell *cells = table_add_row(rows->table, depth, (struct event_id){0});
    if (!cells)
        return;
    cells[SCOPE] =
        scope_numbers_cell(rows->scopes, rows->run, rows->calls->functions[n->function].scope);
    if (n->sums.sampled)
        set_samples(rows, cells, &n->sums);
    if (!n->sums.sampled || n->sums.calls)
        cells[CALLS] = table_cell_number((int64_t)n->sums.calls);
    if (!n->sums.timed)
        return;
    cells[LEAF] = table_cell_number(n->sums.self_ns);
    set_share(&cells[SELF_SHARE], n->sums.self_ns, rows->life_ns);
    set_share(&cells[FUNCTION_SHARE], n->sums.self_ns, self_ns);
    if (call_profile_cpu_known(&n->sums))
        cells[CPU] = table_cell_number(n->sums.cpu_ns);
}

static void calls_rows_inverted(struct calls_rows *rows)
{
    const struct call_profile *calls = rows->calls;
    struct inverted_tree t = {.nodes = xcalloc(1, sizeof *t.nodes), .count = 1, .room = 1};
    uint8_t depth = rows->depth;
    int64_t self_ns = 0;
    for (uint32_t i = 1; i < calls->node_count; i++)
        if (calls->nodes[i].sums.calls || calls->nodes[i].sums.self_ns)
            inverted_tree_add(&t, calls, i, &rows->cut);
    for (uint32_t at = t.nodes[0].child; at;) {
        self_ns = t.nodes[at].parent ? self_ns : t.nodes[at].sums.self_ns;
        inverted_tree_row(rows, &t, at, depth, self_ns);
        if (t.nodes[at].child) {
            at = t.nodes[at].child;
            depth++;
            continue;
        }
        for (; at && !t.nodes[at].sibling; at = t.nodes[at].parent)
            depth--;
        at = t.nodes[at].sibling;
    }
    free(t.nodes);
    map_free(&t.index);
}

void calls_rows_add(struct calls_rows *rows, enum calls_form form)
{
    if (form == CALLS_FLAT)
        calls_rows_flat(rows);
    else if (form == CALLS_CYCLES)
        calls_rows_cycles(rows);
    else if (form & (CALLS_TREE | CALLS_WALL))
        calls_rows_tree(rows);
    else if (form == CALLS_INVERTED)
        calls_rows_inverted(rows);
    else
        calls_rows_graph(rows, form);
}

void calls_rows_total(struct calls_rows *rows, const struct call_sums *all)
{
    struct table_cell *cells = table_make_total(rows->table);
    struct call_sums sums = *all;
    cells[CALLS] = table_cell_number((int64_t)all->calls);
    cells[COUNTED] = table_cell_number((int64_t)all->counted);
    cells[CONCURRENT] = table_cell_number((int64_t)all->concurrent);
    sums.total = sums.ended = false;
    if (all->timed) {
        set_times(rows, cells, &sums);
        cells[SELF_MEAN] = cells[CPU_MEAN] = (struct table_cell){0};
        cells[UNACCOUNTED] = table_cell_number(rows->life_ns - all->self_ns);
    }
    cells[TOTAL] = cells[LIFE] = table_cell_number(rows->life_ns);
    if (rows->sampled)
        cells[SAMPLES] = table_cell_number((int64_t)rows->samples);
}
