/* Table of the blocks of one scope: the code between the calls that it makes, with execution
 * counts and times (server/timing/scope_blocks.h).  For threads that recorded the begin and end
 * of each call it uses these, else the code segments of activity records.  Option: "scope" =
 * "PROCESS:ADDRESS", an address in the scope. */
#include "server/queries/tables/scope_numbers.h"
#include "server/queries/tables/table_query.h"
#include "server/timing/scope_blocks.h"
#include "server/run/activity_store.h"
#include "server/run/call_sites.h"
#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum blocks_column {
    BLOCK,
    LINES,
    FROM,
    UNTIL,
    AFTER,
    PARENT,
    TIMES,
    SELF,
    MEAN,
    SHARE,
    UNASSIGNED
};

struct blocks_work {
    const struct table_view *view;
    struct call_contexts *all;
    uint64_t taken; /* number of region readings when the request came */
    struct table_place place;
    struct scope_numbers scopes;
    struct scope_block_thread *threads; /* `scopes` is NULL if the thread does not count */
    uint32_t count, named, next; /* numbers of threads: all; with scopes set; with times added */
    struct call_entries_walk walk;
    struct scope_block_times times;
    /* walking: reads the call records of a thread; counted: some times come from call records. */
    bool walking, counted;
    struct call_site_key own; /* begin of the function */
    uint64_t beyond; /* where the next known function begins, as an offset in the file */
    uint64_t only, foreign; /* calls in it: only counted ones; those from code elsewhere */
    struct scope_blocks blocks;
};

static void *blocks_table_begin(const struct table_view *view, struct error *error)
{
    const char *scope = table_option(view->request, "scope");
    unsigned process = 0;
    unsigned long long address = 0;
    char more;
    if (!scope || sscanf(scope, "%u:%llu%c", &process, &address, &more) != 2)
        error_set(error, "the request names no function");
    else if (view->past || view->from_ns != INT64_MIN || view->to_ns != INT64_MAX)
        error_set(error, "blocks are known for the whole run only, not for a part of it");
    if (*error->text)
        return NULL;
    struct blocks_work *w = xcalloc(1, sizeof *w);
    w->view = view;
    w->place = (struct table_place){process, address};
    w->blocks.together = strcmp(view->request->by, "function") == 0;
    w->all = (struct call_contexts *)(uintptr_t)&view->run->contexts; /* only `wanted` changes */
    w->all->wanted = view->run->programs.connected > 0;
    w->taken = w->all->taken;
    return w;
}

/* ---- times of a thread's code segments ---- */

static uint64_t blocks_table_positive(int64_t ns) { return ns > 0 ? (uint64_t)ns : 0; }

/* Adds the times of a thread's code segments.  Time that a record does not assign to code
 * segments belongs to the last one of the previous record, unless records are missing. */
static void add_steps(struct blocks_work *w, const struct call_context_thread *thread)
{
    const struct run *run = w->view->run;
    const struct thread_timeline *course = intervals_for_thread(w->view->measured, thread->line);
    bool whole =
        thread->process < run->processes.count && !run->processes.items[thread->process].dropped;
    uint32_t last = UINT32_MAX;
    int64_t before_ns = 0;
    const struct activity_span *s;
    for (uint64_t i = activity_first(run, thread->line); (s = activity_span(run, thread->line, i));
         i++) {
        const struct code_segment *steps = activity_steps(run, thread->line, s);
        int64_t left = s->time_ns - before_ns;
        for (uint16_t k = 0; k < s->count; k++, left -= (int64_t)steps[k - 1].ticks)
            scope_block_times_add(&w->times, steps[k].step, steps[k].ticks);
        if (whole)
            scope_block_times_add(&w->times, last, blocks_table_positive(left));
        last = s->count ? steps[s->count - 1].step : UINT32_MAX;
        before_ns = s->time_ns;
    }
    if (whole && course && course->end_ns != INTERVALS_NEVER)
        scope_block_times_add(&w->times, last, blocks_table_positive(course->end_ns - before_ns));
}

static const struct call_entries_thread *
blocks_table_entries_of(const struct blocks_work *w, const struct call_context_thread *t)
{
    const struct call_entries_thread *e =
        call_entries_for_thread(&w->view->run->entries, t->session, t->code);
    return e && !e->lost && !w->view->run->entries.left ? e : NULL;
}

static void begin_thread(struct blocks_work *w, const struct call_context_thread *thread)
{
    const struct call_entries_thread *e = blocks_table_entries_of(w, thread);
    w->times = (struct scope_block_times){.count = 2 * (size_t)w->threads[w->next].count,
                                          .step = UINT32_MAX,
                                          .thread = e ? &w->threads[w->next] : NULL,
                                          .scope = w->blocks.scope};
    w->threads[w->next].is = thread;
    w->times.ns = xcalloc(w->times.count + 1, sizeof *w->times.ns);
    if (e)
        w->walk = call_entries_walk(e, 0);
    else
        add_steps(w, thread);
    w->counted |= e != NULL;
    w->walking = e != NULL;
}

/* Sets where the function and the next known function of its file begin. */
static void blocks_table_set_bounds(struct blocks_work *w)
{
    const struct scope *own = &w->scopes.items[w->blocks.scope - 1];
    w->own = call_sites_key(w->view->run, own->place.process, own->place.address);
    w->beyond = UINT64_MAX;
    for (size_t i = 0; i < w->scopes.count && own->is == SCOPE_FUNCTION; i++) {
        const struct scope *s = &w->scopes.items[i];
        struct call_site_key key = call_sites_key(w->view->run, s->place.process, s->place.address);
        if (s->is == SCOPE_FUNCTION && key.space == w->own.space && key.offset > w->own.offset &&
            key.offset < w->beyond)
            w->beyond = key.offset;
    }
}

/* Returns whether a call site is outside of the function: calls by a function that is excluded
 * or only counted are attributed to its caller, but come from no source line of the caller. */
static bool is_foreign(const struct blocks_work *w, struct call_site_key site)
{
    return w->scopes.items[w->blocks.scope - 1].is == SCOPE_FUNCTION &&
           (site.space != w->own.space || site.offset <= w->own.offset || site.offset > w->beyond);
}

/* Returns the call site of each context in the scope as a number in the order of the code, 0 if
 * it is unknown.  The caller frees it. */
static uint64_t *sites_of(struct blocks_work *w, const struct call_context_thread *thread,
                          const struct scope_block_thread *t)
{
    uint64_t *sites = xcalloc(t->count + 1, sizeof *sites);
    for (uint32_t i = 1; i < t->count; i++) {
        const struct snapshot_context *c = &thread->items[i].sums;
        if (!c->is.parent || t->scopes[c->is.parent] != w->blocks.scope)
            continue;
        w->only += c->is.scope == SCOPE_COUNTED ? c->calls : 0;
        if (!c->is.site)
            continue;
        struct call_site_key key = call_sites_key(w->view->run, thread->process, c->is.site);
        bool foreign = is_foreign(w, key);
        w->foreign += foreign ? c->calls : 0;
        sites[i] = foreign ? 0 : key.offset + 1;
    }
    return sites;
}

static void end_thread(struct blocks_work *w, const struct call_context_thread *thread)
{
    struct scope_block_thread *t = &w->threads[w->next];
    uint64_t *sites = sites_of(w, thread, t);
    t->sites = sites;
    scope_blocks_add(&w->blocks, t, &w->times);
    t->sites = NULL;
    free(sites);
    scope_block_times_free(&w->times);
    if (w->walking)
        call_entries_walk_end(&w->walk);
    w->walking = false;
}

/* Adds a thread; returns true when it is done. */
static bool blocks_table_add_thread(struct blocks_work *w, uint64_t *budget)
{
    const struct call_context_thread *thread = &w->all->threads[w->next];
    struct call_entry_seen seen;
    if (!w->times.ns)
        begin_thread(w, thread);
    while (w->walking && *budget && call_entries_next(&w->walk, &seen)) {
        scope_block_times_entry(&w->times, &seen.entry);
        --*budget;
    }
    if (!*budget)
        return false;
    end_thread(w, thread);
    return true;
}

/* ---- all threads ---- */

static bool blocks_table_counts_thread(const struct blocks_work *w,
                                       const struct call_context_thread *thread)
{
    return thread->count > 1 && table_wants(w->view, thread->line);
}

static bool blocks_table_name_scopes(struct blocks_work *w, uint64_t *budget)
{
    if (!w->threads) {
        w->count = w->all->count;
        w->threads = xcalloc(w->count + 1, sizeof *w->threads);
    }
    for (; w->named < w->count; w->named++) {
        const struct call_context_thread *thread = &w->all->threads[w->named];
        if (!*budget)
            return false;
        *budget -= *budget < thread->count + 1 ? *budget : thread->count + 1;
        if (blocks_table_counts_thread(w, thread))
            w->threads[w->named] = (struct scope_block_thread){
                .number = w->named,
                .count = (uint32_t)thread->count,
                .scopes = scope_numbers_of(&w->scopes, w->view->run, thread)};
    }
    w->blocks.scope = scope_numbers_find(&w->scopes, w->view->run, w->place);
    if (w->blocks.scope && !w->next)
        blocks_table_set_bounds(w);
    return true;
}

/* (In a live run it waits for the newest sums.) Contexts that arrive meanwhile have no scope
 * here. */
static bool blocks_table_step(void *work, uint64_t *budget)
{
    struct blocks_work *w = work;
    if (w->view->run->programs.connected && w->all->taken == w->taken && w->all->wanted)
        return false;
    if (!blocks_table_name_scopes(w, budget))
        return false;
    for (; w->blocks.scope && w->next < w->count; w->next++)
        if (w->threads[w->next].scopes && !blocks_table_add_thread(w, budget))
            return false;
    return true;
}

/* ---- rows ---- */

/* Returns whether part of the self time is not recorded: block times are minimums then, and some
 * can be unknown. */
static bool is_partly(const struct scope_blocks *b)
{
    /* a smaller difference is due to reading the clocks */
    return b->timed && b->unassigned_ns > b->self_ns / 100 + 100000;
}

static const struct {
    const char *name, *title;
    enum table_kind kind;
    bool detail, guessed; /* guessed: inferred from the code */
} columns[] = {[BLOCK] = {"block", NULL, TABLE_STEP, false, false},
               [LINES] = {"lines", NULL, TABLE_TEXT, false, true},
               [FROM] = {"from", NULL, TABLE_PLACE, true, false},
               [UNTIL] = {"until", NULL, TABLE_PLACE, true, true},
               [AFTER] = {"after", NULL, TABLE_PLACE, false, false},
               [PARENT] = {"caller", NULL, TABLE_PLACE, false, false},
               [TIMES] = {"count", NULL, TABLE_COUNT, false, false},
               [SELF] = {"self_ns", NULL, TABLE_NS, false, false},
               [MEAN] = {"mean_ns", NULL, TABLE_NS, false, false},
               [SHARE] = {"self_share", "%", TABLE_SHARE, false, false},
               [UNASSIGNED] = {"unassigned_ns", "in no block", TABLE_NS, true, false}};

static void add_columns(const struct blocks_work *w, struct result_table *t)
{
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        table_add_column(t, columns[i].name, columns[i].title, columns[i].kind,
                         i < SELF     ? "instrumented calls"
                         : w->counted ? "call records"
                                      : "code segments of the thread's records");
        t->columns[i].exact = !columns[i].guessed && (i < SELF || !is_partly(&w->blocks));
        if (columns[i].detail || (i == PARENT && w->blocks.together))
            table_detail(t);
    }
}

/* Returns a cell for the place of the call itself, not of its return address. */
static struct table_cell blocks_table_site_cell(const struct blocks_work *w, uint32_t number,
                                                uint32_t context)
{
    const struct call_context_thread *thread = &w->all->threads[number];
    uint64_t at = thread->items[context].sums.is.site;
    return at ? table_cell_place((struct table_place){thread->process, at - 1})
              : (struct table_cell){0};
}

static void set_block(const struct blocks_work *w, struct table_cell *cells,
                      const struct scope_block *b)
{
    const struct scope *scope = &w->scopes.items[w->blocks.scope - 1];
    struct table_cell own = scope_numbers_cell(&w->scopes, w->view->run, w->blocks.scope), at;
    cells[BLOCK] = own;
    cells[FROM] = own.is == CELL_PLACE ? own : (struct table_cell){0};
    if (b->called) {
        at = b->after == BLOCKS_NO_SITE ? (struct table_cell){0}
                                        : blocks_table_site_cell(w, b->thread, b->called);
        cells[FROM] = at;
        cells[AFTER] =
            scope_numbers_cell(&w->scopes, w->view->run, w->threads[b->thread].scopes[b->called]);
        if (at.is && own.is == CELL_PLACE)
            cells[BLOCK] = (struct table_cell){.is = CELL_STEP,
                                               .step = CELL_STEP_CALLS,
                                               .between = {.from = scope->place, .to = at.place}};
    } else if (own.is == CELL_PLACE) {
        cells[BLOCK] = (struct table_cell){
            .is = CELL_STEP, .step = CELL_STEP_CALLS, .between = {.from = scope->place}};
    }
    if (b->next)
        cells[UNTIL] = blocks_table_site_cell(w, b->next_thread, b->next);
    if (b->after != BLOCKS_NO_SITE && (!b->until || b->until == BLOCKS_ANY))
        cells[LINES] = table_cell_text(b->until ? "to an unknown location" : "to the end");
    if (!w->blocks.together)
        cells[PARENT] = scope_numbers_cell(&w->scopes, w->view->run, b->parent);
}

static void add_row(const struct blocks_work *w, const struct scope_block *b,
                    struct result_table *t)
{
    struct table_cell *cells = b->times || b->ns ? table_add_row(t, 0, (struct event_id){0})
                                                 : NULL; /* called, not returned */
    if (!cells)
        return;
    set_block(w, cells, b);
    cells[TIMES] = table_cell_number((int64_t)b->times);
    bool partly = is_partly(&w->blocks);
    if (!w->blocks.timed || (partly && !b->ns))
        return;
    cells[SELF] = table_cell_number(b->ns);
    if (b->times && !partly)
        cells[MEAN] = table_cell_number(b->ns / (int64_t)b->times);
    int64_t all_ns =
        w->blocks.self_ns - (w->blocks.unassigned_ns < 0 ? w->blocks.unassigned_ns : 0);
    if (all_ns > 0)
        cells[SHARE] = table_cell_real((double)b->ns / (double)all_ns);
}

static void add_total(const struct blocks_work *w, struct result_table *t)
{
    struct table_cell *cells = table_make_total(t);
    cells[TIMES] = table_cell_number((int64_t)w->blocks.calls);
    if (!w->blocks.timed)
        return;
    cells[SELF] = table_cell_number(w->blocks.self_ns);
    cells[UNASSIGNED] = table_cell_number(w->blocks.unassigned_ns);
}

static void add_notes(const struct blocks_work *w, struct result_table *t)
{
    const struct scope_blocks *b = &w->blocks;
    if (!b->scope) {
        table_add_note(t, "not called by these threads");
        return;
    }
    table_add_note(t,
                   "%llu calls of the function; a block ends at the next call, wherever that is in "
                   "the code",
                   (unsigned long long)b->calls);
    if (b->guessed)
        table_add_note(
            t, "ends of blocks that each call executed once are assumed at the next call in "
               "the code; POET_MEASURE=calls=every records where each ended");
    if (w->only)
        table_add_note(t,
                       "%llu calls in it were counted but not timed: they end no block, and their "
                       "time is in the enclosing block",
                       (unsigned long long)w->only);
    if (w->foreign)
        table_add_note(
            t,
            "%llu calls came from code of other functions, such as excluded or counted-only "
            "ones: the source line after them is unknown",
            (unsigned long long)w->foreign);
    if (!b->timed)
        table_add_note(t, "calls were counted, not timed");
    else if (is_partly(b))
        table_add_note(
            t, "the block of %.3f ms is unknown, so the times of the blocks are lower bounds: %s",
            (double)b->unassigned_ns / 1e6,
            w->counted ? "some calls have no recorded start or end"
                       : "the thread's records hold at most 255 code segments each, and none "
                         "after the last record (POET_MEASURE=calls=every has them all)");
}

static void blocks_table_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct blocks_work *w = work;
    w->view = view;
    t->title = xstrdup("blocks");
    add_columns(w, t);
    scope_blocks_sort(&w->blocks);
    for (size_t i = 0; i < w->blocks.count; i++)
        add_row(w, &w->blocks.items[i], t);
    add_total(w, t);
    add_notes(w, t);
    table_arrange(t, view->request, NULL);
}

static void free_work(void *work)
{
    struct blocks_work *w = work;
    for (uint32_t i = 0; i < w->count; i++)
        free((uint32_t *)(uintptr_t)w->threads[i].scopes);
    if (w->walking)
        call_entries_walk_end(&w->walk);
    scope_block_times_free(&w->times);
    free(w->threads);
    scope_numbers_free(&w->scopes);
    scope_blocks_free(&w->blocks);
    free(w);
}

static const char *const blocks_table_groupings[] = {"path", "function", NULL};

const struct table_preset preset_blocks = {.what = "blocks",
                                           .by = blocks_table_groupings,
                                           .begin = blocks_table_begin,
                                           .step = blocks_table_step,
                                           .fill = blocks_table_fill,
                                           .free = free_work};
