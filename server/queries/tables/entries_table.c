#include "server/queries/tables/entries_table.h"

#include "base/alloc.h"
#include "server/timing/call_profile.h"

#include <stdlib.h>

static struct call_contexts *entry_records_contexts(const struct run *run)
{
    return (struct call_contexts *)(uintptr_t)&run->contexts; /* only `wanted` is set */
}

bool entry_records_begin(struct entry_records *e, const struct table_view *view,
                         struct error *error)
{
    if (view->past) {
        error_set(error, "call records are selected by time: give --from and --to as times");
        return false;
    }
    *e = (struct entry_records){.run = view->run, .taken = view->run->contexts.taken};
    entry_records_contexts(e->run)->wanted = e->run->programs.connected > 0;
    return true;
}

bool entry_records_are_ready(const struct entry_records *e)
{
    return !(e->run->programs.connected && e->run->contexts.taken == e->taken &&
             e->run->contexts.wanted);
}

static int64_t entry_records_clock_ns(const struct run *run, int64_t ns)
{
    int64_t sum;
    return ns == INT64_MIN || ns == INT64_MAX ||
                   __builtin_add_overflow(ns, (int64_t)run->clock.start_ns, &sum)
               ? ns
               : sum;
}

void entry_records_read(struct entry_records *e, const struct table_view *view)
{
    const struct call_contexts *contexts = &e->run->contexts;
    e->from_ns = entry_records_clock_ns(e->run, view->from_ns);
    e->to_ns = entry_records_clock_ns(e->run, view->to_ns);
    e->threads = xcalloc(contexts->count + 1, sizeof *e->threads);
    for (uint32_t i = 0; i < contexts->count; i++) {
        const struct call_context_thread *t = &contexts->threads[i];
        const struct call_entries_thread *entries =
            call_entries_for_thread(&e->run->entries, t->session, t->code);
        if (!entries || !table_wants(view, t->line))
            continue;
        e->lost += entries->lost;
        e->counted += call_profile_counted_only(t);
        e->threads[e->count++] =
            (struct entry_records_thread){.entries = entries,
                                          .line = t->line,
                                          .scope_of = scope_numbers_of(&e->scopes, e->run, t),
                                          .context_count = t->count};
    }
}

static struct table_cell entry_records_cell(const struct entry_records *e,
                                            const struct entry_records_thread *t, uint32_t context)
{
    uint32_t scope = context < t->context_count ? t->scope_of[context] : 0;
    return scope ? scope_numbers_cell(&e->scopes, e->run, scope) : table_cell_text("(unknown yet)");
}

void entry_records_notes(const struct entry_records *e, struct result_table *t)
{
    if (!e->count)
        table_add_note(t, "no per-call records: run with POET_MEASURE=calls=every");
    if (e->lost)
        table_add_note(t, "%llu calls dropped: ring buffer overrun", (unsigned long long)e->lost);
    if (e->counted)
        table_add_note(t, "%llu calls of the whole run have no records: counted, not timed",
                       (unsigned long long)e->counted);
    if (e->count && order_first(e->run->order))
        table_add_note(t, "records of calls before the first kept event were discarded (--keep)");
    if (e->run->entries.left)
        table_add_note(t, "%llu calls dropped: at most %llu MiB of call records are kept",
                       (unsigned long long)e->run->entries.left,
                       (unsigned long long)(CALL_ENTRIES_KEPT >> 20));
}

void entry_records_free(struct entry_records *e)
{
    for (uint32_t i = 0; i < e->count; i++)
        free(e->threads[i].scope_of);
    free(e->threads);
    scope_numbers_free(&e->scopes);
    *e = (struct entry_records){0};
}

/* ---- table of single calls ----
 *
 * Table of call records: each call of the threads with its begin and end, in the order of time (a
 * flow trace).  Option: "most": number of rows (default MOST); if there are more, a note says from
 * when on. */

#define MOST 100000u
#define MOST_ASKED 1000000u
#define DEEPEST 200u /* deeper rows are indented this far only */

enum entries_column { SCOPE, IS, AT, TOOK, THREAD, DEPTH };

static const char recorded[] = "call records";
static const struct column_definition entries_table_columns[] = {
    [SCOPE] = {"function", .kind = TABLE_PLACE, .source = recorded},
    [IS] = {"kind", .kind = TABLE_TEXT, .source = recorded},
    [AT] = {"start_ns", .kind = TABLE_FINE, .source = recorded},
    [TOOK] = {"duration_ns", .kind = TABLE_FINE, .source = recorded},
    [THREAD] = {"thread", .kind = TABLE_LINE, .source = recorded},
    [DEPTH] = {"depth", .kind = TABLE_COUNT, .source = recorded, .detail = true},
};

struct entries_flow {
    struct call_entries_walk walk;
    struct call_entry_seen next;
    bool done;
};

struct entries_work {
    const struct table_view *view;
    struct entry_records entered;
    struct entries_flow *flows; /* by thread index */
    uint32_t *order; /* indices of those that are not done: a heap, the earliest first */
    uint32_t waiting;
    struct entries_row {
        uint32_t thread;
        struct call_entry_seen seen;
        bool open; /* the call was open when the range began */
    } *rows;
    size_t count, room, most;
    size_t opened; /* number of such rows */
    bool looked;
};

static void *entries_table_begin(const struct table_view *view, struct error *error)
{
    struct entry_records entered;
    if (!entry_records_begin(&entered, view, error))
        return NULL;
    struct entries_work *w = xcalloc(1, sizeof *w);
    const char *most = table_option(view->request, "most");
    unsigned long asked = most ? strtoul(most, NULL, 10) : 0;
    w->view = view;
    w->entered = entered;
    w->most = asked ? (asked < MOST_ASKED ? asked : MOST_ASKED) : MOST;
    return w;
}

/* ---- merging by time ---- */

static bool entries_table_is_earlier(const struct entries_work *w, uint32_t a, uint32_t b)
{
    uint64_t x = w->flows[a].next.entry.time_ns, y = w->flows[b].next.entry.time_ns;
    return x < y || (x == y && a < b);
}

static void entries_table_sift_down(struct entries_work *w, uint32_t i)
{
    for (;;) {
        uint32_t least = i;
        for (uint32_t k = 2 * i + 1; k <= 2 * i + 2 && k < w->waiting; k++)
            least = entries_table_is_earlier(w, w->order[k], w->order[least]) ? k : least;
        if (least == i)
            return;
        uint32_t t = w->order[i];
        w->order[i] = w->order[least];
        w->order[least] = t;
        i = least;
    }
}

static void entries_table_fetch_entry(struct entries_work *w, struct entries_flow *f)
{
    f->done = !call_entries_next(&f->walk, &f->next) ||
              (int64_t)f->next.entry.time_ns >= w->entered.to_ns;
}

static void entries_table_append_row(struct entries_work *w, uint32_t thread,
                                     struct call_entry_seen seen, bool open)
{
    w->rows = array_reserve(w->rows, &w->room, w->count + 1, sizeof *w->rows);
    w->rows[w->count++] = (struct entries_row){thread, seen, open};
}

/* Adds the calls of a thread that were open when the range began. */
static void add_open(struct entries_work *w, uint32_t thread, const struct call_entry_open *open,
                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct call_entry_seen seen = {.entry = {.is = CALL_RECORD_BEGINS,
                                                 .context = open[i].context,
                                                 .time_ns = open[i].began_ns},
                                       .depth = (uint32_t)i};
        entries_table_append_row(w, thread, seen, true);
    }
}

static void begin_flow(struct entries_work *w, uint32_t thread)
{
    struct entries_flow *f = &w->flows[thread];
    int64_t from_ns = w->entered.from_ns;
    struct call_entry_open *open = NULL;
    size_t count = 0, room = 0;
    f->walk =
        call_entries_walk(w->entered.threads[thread].entries, from_ns > 0 ? (uint64_t)from_ns : 0);
    do {
        count = f->walk.open_count;
        open = array_reserve(open, &room, count + 1, sizeof *open);
        for (size_t i = 0; i < count; i++)
            open[i] = f->walk.open[i];
        entries_table_fetch_entry(w, f);
    } while (!f->done && (int64_t)f->next.entry.time_ns < from_ns);
    add_open(w, thread, open, count);
    free(open);
}

static int by_begin(const void *a, const void *b)
{
    const struct entries_row *x = a, *y = b;
    uint64_t s = x->seen.entry.time_ns, t = y->seen.entry.time_ns;
    if (s != t)
        return s < t ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->seen.depth < y->seen.depth ? -1 : 1;
}

static void entries_table_read_entries(struct entries_work *w)
{
    entry_records_read(&w->entered, w->view);
    w->flows = xcalloc(w->entered.count + 1, sizeof *w->flows);
    w->order = xcalloc(w->entered.count + 1, sizeof *w->order);
    for (uint32_t i = 0; i < w->entered.count; i++) {
        begin_flow(w, i);
        if (!w->flows[i].done)
            w->order[w->waiting++] = i;
    }
    for (uint32_t i = w->waiting; i--;)
        entries_table_sift_down(w, i);
    w->opened = w->count;
    if (w->count)
        qsort(w->rows, w->count, sizeof *w->rows, by_begin);
    w->looked = true;
}

/* Returns whether there are enough rows: it stops only between two different times, so that a
 * later request can continue with the second one. */
static bool is_enough(const struct entries_work *w)
{
    return w->count >= w->most + w->opened &&
           (w->count == w->opened ||
            w->flows[w->order[0]].next.entry.time_ns != w->rows[w->count - 1].seen.entry.time_ns);
}

/* Adds rows in the order of time; returns true when there are enough. */
static bool entries_table_take_entries(struct entries_work *w, uint64_t *budget)
{
    for (; w->waiting && !is_enough(w); --*budget) {
        uint32_t thread = w->order[0];
        struct entries_flow *f = &w->flows[thread];
        if (!*budget)
            return false;
        entries_table_append_row(w, thread, f->next, false);
        entries_table_fetch_entry(w, f);
        if (f->done)
            w->order[0] = w->order[--w->waiting];
        entries_table_sift_down(w, 0);
    }
    return true;
}

/* Returns the time at which the omitted rows begin. */
static int64_t cut_ns(const struct entries_work *w)
{
    uint64_t time_ns = w->flows[w->order[0]].next.entry.time_ns;
    return (int64_t)(time_ns - w->entered.run->clock.start_ns);
}

static bool entries_table_step(void *work, uint64_t *budget)
{
    struct entries_work *w = work;
    if (!w->looked && !entry_records_are_ready(&w->entered))
        return false;
    if (!w->looked)
        entries_table_read_entries(w);
    return entries_table_take_entries(w, budget);
}

/* ---- rows ---- */

static const char *word_of(const struct entries_row *row)
{
    static const char *const words[] = {
        [CALL_RECORD_BEGINS] = "entry", [CALL_RECORD_ENDED] = "exit", [CALL_RECORD_LOST] = "lost"};
    return row->open ? "open" : words[row->seen.entry.is];
}

static struct table_cell entries_table_note_lost(uint64_t calls)
{
    char *text = xasprintf("%llu calls dropped", (unsigned long long)calls);
    struct table_cell cell = table_cell_text(text);
    free(text);
    return cell;
}

static bool add_row(const struct entries_work *w, const struct entries_row *row,
                    struct result_table *t)
{
    const struct entry_records_thread *thread = &w->entered.threads[row->thread];
    const struct call_record *e = &row->seen.entry;
    uint32_t depth = row->seen.depth < DEEPEST ? row->seen.depth : DEEPEST;
    struct table_cell *cells = table_add_row(t, (uint8_t)depth, (struct event_id){0});
    if (!cells)
        return false;
    cells[AT] = table_cell_number((int64_t)(e->time_ns - w->entered.run->clock.start_ns));
    cells[THREAD] = table_cell_line(thread->line);
    cells[IS] = table_cell_text(word_of(row));
    cells[SCOPE] = e->is == CALL_RECORD_LOST ? entries_table_note_lost(e->lost)
                                             : entry_records_cell(&w->entered, thread, e->context);
    if (e->is == CALL_RECORD_ENDED && row->seen.began_ns)
        cells[TOOK] = table_cell_number((int64_t)(e->time_ns - row->seen.began_ns));
    cells[DEPTH] = table_cell_number(row->seen.depth);
    table_row_line(t, thread->line);
    return true;
}

static void entries_table_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct entries_work *w = work;
    (void)view;
    t->title = xstrdup("entries");
    table_add_columns(t, entries_table_columns,
                      sizeof entries_table_columns / sizeof *entries_table_columns);
    for (size_t i = 0; i < w->count && add_row(w, &w->rows[i], t); i++)
        ;
    entry_records_notes(&w->entered, t);
    if (w->waiting)
        table_add_note(t, "these are the first %zu; continue with --from %lldns", w->count,
                       (long long)cut_ns(w));
}

static void free_work(void *work)
{
    struct entries_work *w = work;
    for (uint32_t i = 0; w->flows && i < w->entered.count; i++)
        call_entries_walk_end(&w->flows[i].walk);
    free(w->flows);
    free(w->order);
    free(w->rows);
    entry_records_free(&w->entered);
    free(w);
}

static const char *const entries_table_groupings[] = {"time", NULL};

const struct table_preset preset_entries = {.what = "entries",
                                            .by = entries_table_groupings,
                                            .begin = entries_table_begin,
                                            .step = entries_table_step,
                                            .fill = entries_table_fill,
                                            .free = free_work};
