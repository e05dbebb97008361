/* The table of entries: each call of the threads as it began and ended, in the order of time; a flow trace.
 *
 * Option: "most": so many rows (MOST if it is not said); where there are more, a note says from when on. */
#include "server/answer/table/entered.h"
#include "memory/memory.h"

#include <stdlib.h>

#define MOST 100000u
#define MOST_ASKED 1000000u
#define DEEPEST 200u /* rows of greater depth are left out of what is indented */

enum column { SCOPE, IS, AT, TOOK, THREAD, DEPTH };

struct flow {
    struct entries_walk walk;
    struct entry_seen next;
    bool done;
};

struct work {
    const struct table_view *view;
    struct entered entered;
    struct flow *flows; /* by thread */
    uint32_t *order; /* those that are not done, the earliest first: a heap */
    uint32_t waiting;
    struct one {
        uint32_t thread;
        struct entry_seen seen;
        bool open; /* it was, when the range began */
    } *rows;
    size_t count, room, most;
    size_t opened; /* of these rows: were open when the range began */
    bool looked;
};

static void *begin(const struct table_view *view, char **problem)
{
    struct entered entered;
    if (!entered_begin(&entered, view, problem))
        return NULL;
    struct work *w = memory_zeroed(1, sizeof *w);
    const char *most = table_option(view->request, "most");
    unsigned long asked = most ? strtoul(most, NULL, 10) : 0;
    w->view = view;
    w->entered = entered;
    w->most = asked ? (asked < MOST_ASKED ? asked : MOST_ASKED) : MOST;
    return w;
}

/* ---- in the order of time ---- */

static bool earlier(const struct work *w, uint32_t a, uint32_t b)
{
    uint64_t x = w->flows[a].next.entry.time_ns, y = w->flows[b].next.entry.time_ns;
    return x < y || (x == y && a < b);
}

static void sink(struct work *w, uint32_t i)
{
    for (;;) {
        uint32_t least = i;
        for (uint32_t k = 2 * i + 1; k <= 2 * i + 2 && k < w->waiting; k++)
            least = earlier(w, w->order[k], w->order[least]) ? k : least;
        if (least == i)
            return;
        uint32_t t = w->order[i];
        w->order[i] = w->order[least];
        w->order[least] = t;
        i = least;
    }
}

static void fetch(struct work *w, struct flow *f)
{
    f->done =
        !entries_next(&f->walk, &f->next) || (int64_t)f->next.entry.time_ns >= w->entered.to_ns;
}

static void add(struct work *w, uint32_t thread, struct entry_seen seen, bool open)
{
    w->rows = grow(w->rows, &w->room, w->count + 1, sizeof *w->rows);
    w->rows[w->count++] = (struct one){thread, seen, open};
}

/* Calls that had begun before the range, and were open. */
static void add_open(struct work *w, uint32_t thread, const struct entry_open *open, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct entry_seen seen = {
            .entry = {.is = ENTRY_BEGINS, .context = open[i].context, .time_ns = open[i].began_ns},
            .depth = (uint32_t)i};
        add(w, thread, seen, true);
    }
}

static void begin_flow(struct work *w, uint32_t thread)
{
    struct flow *f = &w->flows[thread];
    int64_t from_ns = w->entered.from_ns;
    struct entry_open *open = NULL;
    size_t count = 0, room = 0;
    f->walk = entries_walk(w->entered.threads[thread].entries, from_ns > 0 ? (uint64_t)from_ns : 0);
    do {
        count = f->walk.open_count;
        open = grow(open, &room, count + 1, sizeof *open);
        for (size_t i = 0; i < count; i++)
            open[i] = f->walk.open[i];
        fetch(w, f);
    } while (!f->done && (int64_t)f->next.entry.time_ns < from_ns);
    add_open(w, thread, open, count);
    free(open);
}

static int by_begin(const void *a, const void *b)
{
    const struct one *x = a, *y = b;
    uint64_t s = x->seen.entry.time_ns, t = y->seen.entry.time_ns;
    if (s != t)
        return s < t ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->seen.depth < y->seen.depth ? -1 : 1;
}

static void look(struct work *w)
{
    entered_look(&w->entered, w->view);
    w->flows = memory_zeroed(w->entered.count + 1, sizeof *w->flows);
    w->order = memory_zeroed(w->entered.count + 1, sizeof *w->order);
    for (uint32_t i = 0; i < w->entered.count; i++) {
        begin_flow(w, i);
        if (!w->flows[i].done)
            w->order[w->waiting++] = i;
    }
    for (uint32_t i = w->waiting; i--;)
        sink(w, i);
    w->opened = w->count;
    if (w->count)
        qsort(w->rows, w->count, sizeof *w->rows, by_begin);
    w->looked = true;
}

/* So that one may go on with the next moment, those of the last one are all there. */
static bool is_enough(const struct work *w)
{
    return w->count >= w->most + w->opened &&
           (w->count == w->opened ||
            w->flows[w->order[0]].next.entry.time_ns != w->rows[w->count - 1].seen.entry.time_ns);
}

/* True: all that is wanted is there. */
static bool take_some(struct work *w, uint64_t *budget)
{
    for (; w->waiting && !is_enough(w); --*budget) {
        uint32_t thread = w->order[0];
        struct flow *f = &w->flows[thread];
        if (!*budget)
            return false;
        add(w, thread, f->next, false);
        fetch(w, f);
        if (f->done)
            w->order[0] = w->order[--w->waiting];
        sink(w, 0);
    }
    return true;
}

/* When what is not there goes on. */
static int64_t cut_ns(const struct work *w)
{
    uint64_t time_ns = w->flows[w->order[0]].next.entry.time_ns;
    return (int64_t)(time_ns - w->entered.run->start_ns);
}

static bool step(void *work, uint64_t *budget)
{
    struct work *w = work;
    if (!w->looked && !entered_is_there(&w->entered))
        return false;
    if (!w->looked)
        look(w);
    return take_some(w, budget);
}

/* ---- rows ---- */

static void add_columns(struct shown_table *t)
{
    static const char source[] = "calls, as they began and ended";
    table_add_column(t, "scope", "scope", TABLE_PLACE, source);
    table_add_column(t, "is", "", TABLE_TEXT, source);
    table_add_column(t, "at_ns", "at", TABLE_FINE, source);
    table_add_column(t, "took_ns", "took", TABLE_FINE, source);
    table_add_column(t, "thread", "thread", TABLE_LINE, source);
    table_add_column(t, "depth", "depth", TABLE_COUNT, source);
    table_detail(t);
}

static const char *word_of(const struct one *row)
{
    static const char *const words[] = {
        [ENTRY_BEGINS] = "entry", [ENTRY_ENDED] = "exit", [ENTRY_LOST] = "lost"};
    return row->open ? "open" : words[row->seen.entry.is];
}

static struct table_cell say_lost(uint64_t calls)
{
    char *text = memory_printed("%llu calls are not there", (unsigned long long)calls);
    struct table_cell cell = cell_text(text);
    free(text);
    return cell;
}

static bool add_row(const struct work *w, const struct one *row, struct shown_table *t)
{
    const struct entered_thread *thread = &w->entered.threads[row->thread];
    const struct entry *e = &row->seen.entry;
    uint32_t depth = row->seen.depth < DEEPEST ? row->seen.depth : DEEPEST;
    struct table_cell *cells = table_add_row(t, (uint8_t)depth, (struct ref){0});
    if (!cells)
        return false;
    cells[AT] = cell_number((int64_t)(e->time_ns - w->entered.run->start_ns));
    cells[THREAD] = cell_line(thread->line);
    cells[IS] = cell_text(word_of(row));
    cells[SCOPE] =
        e->is == ENTRY_LOST ? say_lost(e->lost) : entered_cell(&w->entered, thread, e->context);
    if (e->is == ENTRY_ENDED && row->seen.began_ns)
        cells[TOOK] = cell_number((int64_t)(e->time_ns - row->seen.began_ns));
    cells[DEPTH] = cell_number(row->seen.depth);
    table_row_line(t, thread->line);
    return true;
}

static void fill(void *work, const struct table_view *view, struct shown_table *t)
{
    struct work *w = work;
    (void)view;
    t->title = memory_copied("entries");
    add_columns(t);
    for (size_t i = 0; i < w->count && add_row(w, &w->rows[i], t); i++)
        ;
    entered_notes(&w->entered, t);
    if (w->waiting)
        table_add_note(t, "these are the first %zu: go on with --from %lldns", w->count,
                       (long long)cut_ns(w));
}

static void free_work(void *work)
{
    struct work *w = work;
    for (uint32_t i = 0; w->flows && i < w->entered.count; i++)
        entries_walk_end(&w->flows[i].walk);
    free(w->flows);
    free(w->order);
    free(w->rows);
    entered_free(&w->entered);
    free(w);
}

static const char *const by[] = {"time", NULL};

const struct preset preset_entries = {
    .what = "entries", .by = by, .begin = begin, .step = step, .fill = fill, .free = free_work};
