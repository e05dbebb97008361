/* The table of memory: what was taken from the heap and never given back, by place, stack, thread or library; or each such
 * block (server/run/heap.h). */
#include "memory/memory.h"
#include "server/answer/table/taken.h"

#include <stdlib.h>
#include <string.h>

enum column {
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

static const char *const by[] = {"place", "path", "thread", "library", "block", NULL};

/* Which of them people see without asking. */
enum seen { OF_SUMS = 1, OF_PLACES = 2, OF_BLOCKS = 4, OF_LIBRARIES = 8, OF_ALL = 15 };

static const struct {
    const char *name, *title;
    enum table_kind kind;
    unsigned seen;
} columns[COLUMNS] = {
    [SCOPE] = {"scope", "scope", TABLE_PLACE, OF_ALL},
    [THREAD] = {"thread", "thread", TABLE_LINE, OF_ALL},
    [BLOCKS] = {"blocks", "never freed", TABLE_COUNT, OF_SUMS | OF_PLACES | OF_LIBRARIES},
    [BYTES] = {"bytes", "bytes", TABLE_COUNT, OF_ALL},
    [USABLE] = {"usable", "usable", TABLE_COUNT, OF_BLOCKS},
    [ELSEWHERE] = {"elsewhere", "freed by others", TABLE_COUNT, OF_SUMS | OF_PLACES | OF_LIBRARIES},
    [ELSEWHERE_BYTES] = {"elsewhere_bytes", "their bytes", TABLE_COUNT, 0},
    [TEMPORARIES] = {"temporaries", "temporary", TABLE_COUNT, OF_SUMS | OF_PLACES | OF_LIBRARIES},
    [NULLS] = {"nulls", "free(NULL)", TABLE_COUNT, OF_SUMS | OF_PLACES | OF_LIBRARIES},
    [TAKEN] = {"taken", "taken", TABLE_COUNT, OF_SUMS | OF_PLACES | OF_LIBRARIES},
    [TAKEN_BYTES] = {"taken_bytes", "bytes taken", TABLE_COUNT, OF_SUMS | OF_PLACES | OF_LIBRARIES},
    [MOST] = {"most_bytes", "most bytes at once", TABLE_COUNT, 0},
    [FAULT] = {"fault", "fault", TABLE_TEXT, OF_PLACES},
    [BEFORE] = {"before", "freed before at", TABLE_PLACE, 0},
    [ADDRESS] = {"address", "address", TABLE_TEXT, OF_BLOCKS},
    [AT] = {"at_ns", "taken at", TABLE_NS, OF_BLOCKS},
    [LIBRARY] = {"library", "library", TABLE_TEXT, OF_LIBRARIES},
    [PROCESS] = {"program", "program", TABLE_TEXT, 0},
};

static bool is(const struct table_view *view, const char *kind)
{
    return strcmp(*view->request->by ? view->request->by : by[0], kind) == 0;
}

static bool is_tree(const struct table_view *view) { return view->request->flags & TABLE_TREE; }

static bool is_blocks(const struct table_view *view)
{
    return is(view, "block") || table_option(view->request, "each");
}

static bool all_seen(const struct table_view *view)
{
    uint64_t unseen = 0;
    for (size_t i = 0; i < heap_process_count(view->run); i++)
        unseen += heap_process_at(view->run, i)->unseen;
    return !unseen;
}

static void add_columns(const struct table_view *view, struct shown_table *t)
{
    unsigned seen = is_blocks(view)       ? OF_BLOCKS
                    : is(view, "library") ? OF_LIBRARIES
                    : is(view, "thread")  ? OF_SUMS
                                          : OF_PLACES;
    for (size_t i = 0; i < COLUMNS; i++) {
        table_add_column(t, columns[i].name, columns[i].title, columns[i].kind,
                         i == SCOPE || i == LIBRARY || i == PROCESS ? NULL
                                                                    : "calls of the allocator");
        if (!(columns[i].seen & seen))
            table_detail(t);
    }
    for (size_t i = 0; i < COLUMNS; i++)
        t->columns[i].exact =
            all_seen(view) && i != AT; /* that is as fine as a tick of the clock */
}

/* ---- cells ---- */

static struct table_cell number(uint64_t n)
{
    return cell_number(n < INT64_MAX ? (int64_t)n : INT64_MAX);
}

static void set_figures(struct table_cell *c, const struct heap_taken *s)
{
    c[BLOCKS] = number(taken_left(s));
    c[BYTES] = number(taken_rest(s->bytes, s->freed_bytes + s->elsewhere_bytes));
    c[USABLE] = number(taken_rest(s->usable, s->freed_usable + s->elsewhere_usable));
    c[ELSEWHERE] = number(s->elsewhere);
    c[ELSEWHERE_BYTES] = number(s->elsewhere_bytes);
    c[TEMPORARIES] = number(s->temporaries);
    c[NULLS] = number(s->nulls);
    c[TAKEN] = number(s->blocks);
    c[TAKEN_BYTES] = number(s->bytes);
    if (s->most_bytes)
        c[MOST] = number(s->most_bytes);
}

static struct table_cell place_cell(const struct taken_stack *stack, uint32_t process)
{
    static const char *const ends[] = {
        [HEAP_NODE_OTHER] = "(other)", [HEAP_NODE_EARLY] = "(before counting began)"};
    if (stack->site)
        return cell_place((struct table_place){process, stack->site});
    const char *end = stack->end < sizeof ends / sizeof *ends ? ends[stack->end] : NULL;
    return end ? cell_text(end) : (struct table_cell){0};
}

/* stack NULL: it is not about one place. */
static struct table_cell *add_row(const struct table_view *view, struct shown_table *t,
                                  uint8_t depth, const struct heap_taken *s,
                                  const struct taken_stack *stack, struct ref event)
{
    struct table_cell *c = table_add_row(t, depth, event);
    if (!c)
        return NULL;
    if (stack) {
        c[SCOPE] = place_cell(stack, s->process);
        c[LIBRARY] = cell_text(stack->library);
        taken_context(t, stack, s->process);
    }
    c[THREAD] = cell_line(s->thread);
    c[PROCESS] = taken_program(view, s->process);
    if (s->thread)
        table_row_line(t, s->thread);
    return c;
}

static struct table_cell address_cell(uint64_t address)
{
    char *text = memory_printed("0x%llx", (unsigned long long)address);
    struct table_cell cell = cell_text(text);
    free(text);
    return cell;
}

/* ---- what was wrong ---- */

static void add_wrong(const struct table_view *view, struct shown_table *t,
                      const struct heap_wrong *w)
{
    static const char *const faults[HEAP_FAULTS] = {
        [HEAP_TWICE] = "freed twice",
        [HEAP_NO_BLOCK] = "no block begins there",
        [HEAP_NEVER] = "never given out",
        [HEAP_MALLOC_DELETE] = "malloc, but delete",
        [HEAP_NEW_FREE] = "new, but free",
        [HEAP_NEW_ARRAY] = "new[] and delete, or new and delete[]"};
    struct heap_taken s = {.process = w->process, .thread = w->thread};
    struct taken_stack stack = taken_stack(view->run, w->process, w->node);
    if (!stack.site)
        stack =
            (struct taken_stack){.site = w->site, .library = "", .sites = {w->site}, .count = 1};
    struct ref event = w->event && w->thread ? (struct ref){w->thread, w->event} : (struct ref){0};
    struct table_cell *c = add_row(view, t, 0, &s, &stack, event);
    if (!c)
        return;
    c[FAULT] = cell_text(faults[w->fault]);
    c[ADDRESS] = address_cell(w->address);
    if (w->before)
        c[BEFORE] = cell_place((struct table_place){w->process, w->before});
}

static bool wants(const struct table_view *view, uint32_t thread)
{
    return thread ? table_wants(view, thread) : !view->request->line_count;
}

static void add_wrongs(const struct table_view *view, struct shown_table *t)
{
    for (size_t i = 0; i < heap_wrong_count(view->run); i++) {
        const struct heap_wrong *w = heap_wrong_at(view->run, i);
        if (w->fault != HEAP_NULL && wants(view, w->thread))
            add_wrong(view, t, w);
    }
}

/* ---- rows ---- */

static size_t gather(const struct table_view *view, struct taken_row *rows, bool all,
                     struct heap_taken *apart)
{
    size_t n = 0;
    struct taken_first *firsts = taken_firsts(view->run);
    for (size_t i = 0; i < heap_count(view->run); i++) {
        const struct heap_taken *s = heap_at(view->run, i);
        if (!wants(view, s->thread) || !(s->blocks || s->nulls))
            continue;
        rows[n] = (struct taken_row){*s, taken_stack(view->run, s->process, s->node), firsts[i]};
        if (!all && rows[n].stack.own)
            taken_add(apart, s);
        else
            n++;
    }
    free(firsts);
    return n;
}

static void add_rows(const struct table_view *view, struct shown_table *t, struct taken_row *rows,
                     size_t n)
{
    bool places = is(view, "place") || is(view, "path"), libraries = is(view, "library");
    for (size_t i = 0; i < n; i++) {
        struct heap_taken *s = &rows[i].sum;
        if (is(view, "place") && !taken_left(s) && !s->elsewhere && !s->nulls)
            continue; /* all is well */
        s->thread = libraries ? 0 : s->thread;
        struct table_cell *c =
            add_row(view, t, 0, s, places || libraries ? &rows[i].stack : NULL,
                    libraries || !rows[i].first.event.line
                        ? (struct ref){0}
                        : taken_before(view->run, rows[i].first.event.line,
                                       rows[i].first.event.number, rows[i].first.at_ns));
        if (!c)
            continue;
        set_figures(c, s);
        if (libraries)
            c[SCOPE] = (struct table_cell){0};
    }
}

static void add_tree(const struct table_view *view, struct shown_table *t,
                     const struct taken_row *rows, size_t n)
{
    struct taken_tree tree = {0};
    for (size_t i = 0; i < n; i++)
        taken_grow(&tree, &rows[i]);
    uint32_t node = tree.count ? tree.nodes[0].child : 0;
    for (uint8_t depth = 0; node;) {
        const struct taken_node *at = &tree.nodes[node];
        struct taken_stack place = {
            .site = at->site, .library = "", .sites = {at->site}, .count = 1};
        struct table_cell *c = add_row(view, t, depth, &at->sum, &place, (struct ref){0});
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
    taken_tree_free(&tree);
}

/* ---- blocks ---- */

static void add_block(const struct table_view *view, struct shown_table *t,
                      const struct heap_left *b, struct heap_taken *all)
{
    const struct heap_taken *s = heap_numbered(view->run, b->process, b->sum);
    struct heap_taken nobody = {.process = b->process}, one;
    s = s ? s : &nobody;
    struct taken_stack stack = taken_stack(view->run, b->process, s->node);
    if (!wants(view, s->thread) || stack.own)
        return;
    one = (struct heap_taken){.process = b->process,
                              .thread = s->thread,
                              .blocks = 1,
                              .bytes = b->bytes,
                              .usable = b->usable};
    taken_add(all, &one);
    struct ref event = taken_before(view->run, s->thread, b->event, b->at_ns);
    struct table_cell *c = add_row(view, t, 0, &one, &stack, event);
    if (!c)
        return;
    set_figures(c, &one);
    c[ADDRESS] = address_cell(b->address);
    c[AT] = cell_number(b->at_ns > 0 ? b->at_ns : 0);
}

static void add_blocks(const struct table_view *view, struct shown_table *t, struct heap_taken *all)
{
    uint64_t left_out = 0;
    for (size_t i = 0; i < heap_block_count(view->run); i++)
        add_block(view, t, heap_block_at(view->run, i), all);
    for (size_t i = 0; i < heap_process_count(view->run); i++)
        left_out += heap_process_at(view->run, i)->blocks_left;
    if (left_out)
        table_add_note(t, "%llu more blocks are not listed: so many are kept of a process at most",
                       (unsigned long long)left_out);
}

/* ---- the table ---- */

struct work {
    const struct run *run;
    uint64_t came;
    bool waits;
};

/* Blocks of a run that goes on are read when they are asked for. */
static void *begin(const struct table_view *view, char **problem)
{
    struct work *w = memory_zeroed(1, sizeof *w);
    struct run *run = (struct run *)(uintptr_t)view->run; /* only what is wanted is set */
    (void)problem;
    w->run = run;
    w->came = heap_blocks_came(run);
    w->waits = is_blocks(view) && run->connected && heap_process_count(run);
    if (w->waits)
        *heap_wants_blocks(run) = true;
    return w;
}

static bool step(void *work, uint64_t *budget)
{
    const struct work *w = work;
    (void)budget;
    return !w->waits || !w->run->connected || heap_blocks_came(w->run) != w->came;
}

static void fill_sums(const struct table_view *view, struct shown_table *t)
{
    struct taken_row *rows = memory_zeroed(heap_count(view->run) + 1, sizeof *rows);
    struct heap_taken apart = {0}, all = {0};
    size_t n = gather(view, rows, is(view, "library"), &apart);
    for (size_t i = 0; i < n; i++)
        taken_add(&all, &rows[i].sum);
    taken_say_depth(rows, n, t);
    if (is_tree(view)) {
        add_tree(view, t, rows, n);
    } else {
        size_t kept = taken_merge(rows, n,
                                  is(view, "place")     ? taken_by_place
                                  : is(view, "path")    ? taken_by_stack
                                  : is(view, "library") ? taken_by_library
                                                        : taken_by_thread);
        add_rows(view, t, rows, kept);
        if (is(view, "place") || is(view, "path"))
            add_wrongs(view, t);
    }
    free(rows);
    table_arrange(t, view->request, "bytes");
    if (n || heap_process_count(view->run)) /* nothing is known to be left */
        set_figures(table_make_total(t), &all);
    taken_say(view, t, &apart);
}

static void fill(void *work, const struct table_view *view, struct shown_table *t)
{
    struct heap_taken all = {0};
    (void)work;
    t->title = memory_copied(is_blocks(view) ? "memory: each block that was never freed"
                                             : "memory: what was taken and never freed");
    add_columns(view, t);
    if (!is_blocks(view)) {
        fill_sums(view, t);
        return;
    }
    add_blocks(view, t, &all);
    table_arrange(t, view->request, "bytes");
    if (all.blocks)
        set_figures(table_make_total(t), &all);
    taken_say(view, t, &(struct heap_taken){0});
}

const struct preset preset_memory = {
    .what = "memory", .by = by, .begin = begin, .step = step, .fill = fill, .free = free};
