/* Table of waits: where threads waited, for how long, and which code of which threads caused it. */
#include "base/alloc.h"
#include "server/run/cpu_placement.h"
#include "server/queries/tables/step_categories.h"
#include "server/queries/tables/attribution_cells.h"
#include "server/queries/attribution_cache.h"
#include "server/queries/interval_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHIEF 95 /* percent of a group's time of which the causes are listed */
#define CAUSES 8 /* maximum number of causes listed, unless the option "causes" is set */

enum waits_column {
    WAITED,
    SHARE,
    WAITS,
    WHERE,
    TYPE,
    FOR,
    KIND,
    CLASS,
    RELEASED_BY,
    CHARGE,
    STEP,
    THREAD,
    DIRECT,
    MOST,
    UNEXPLAINED,
    LI,
    IP,
    CC,
    GUESSED,
    LIFE,
    CATEGORY,
    FROM, /* this and the following: only for single waits */
    UNTIL,
    GOING_ON /* and three more: attribution_cells_add_delay() */
};

static const struct column_definition waits_table_columns[GOING_ON] = {
    [WAITED] = {"waited_ns", "wait time", .kind = TABLE_NS},
    [SHARE] = {"share", "% of waits", .kind = TABLE_SHARE},
    [WAITS] = {"count", .kind = TABLE_COUNT},
    [WHERE] = {"location", .kind = TABLE_PLACE},
    [TYPE] = {"type", "operation", .kind = TABLE_TEXT},
    [FOR] = {"object", "waits for", .kind = TABLE_TEXT},
    [KIND] = {"cause", .kind = TABLE_TEXT},
    [CLASS] = {"wait_class", "class", .kind = TABLE_TEXT, .detail = true},
    [RELEASED_BY] = {"unblocked_at", .kind = TABLE_PLACE},
    [CHARGE] = {"attributed_ns", .kind = TABLE_NS, .under = "waited_ns"},
    [STEP] = {"segment", "code segment", .kind = TABLE_STEP, .under = "location"},
    [THREAD] = {"thread", .kind = TABLE_LINE, .under = "object"},
    [DIRECT] = {"direct", "attribution", .kind = TABLE_TEXT, .under = "cause"},
    [MOST] = {"max_ns", .kind = TABLE_NS, .detail = true},
    [UNEXPLAINED] = {"unattributed_ns", .kind = TABLE_NS, .detail = true},
    [LI] = {"load_imbalance_ns", .kind = TABLE_NS, .detail = true},
    [IP] = {"insufficient_parallelism_ns", .kind = TABLE_NS, .detail = true},
    [CC] = {"contention_ns", "contention/communication", .kind = TABLE_NS, .detail = true},
    [GUESSED] = {"ambiguous", "ambiguous waker", .kind = TABLE_COUNT, .detail = true},
    [LIFE] = {"lifetime_ns", .kind = TABLE_NS, .detail = true},
    [CATEGORY] = {"category", .kind = TABLE_TEXT, .detail = true},
    [FROM] = {"from_ns", .kind = TABLE_NS, .detail = true},
    [UNTIL] = {"end_event", .kind = TABLE_EVENT, .detail = true},
};

struct waits_work {
    struct attribution_cells causing;
    struct wait_groups groups;
    struct step_categories categories;
    uint32_t causes; /* maximum number of causes listed per group */
    uint64_t again; /* generation of the intervals; 0: groups of a part, which are not kept */
};

static uint32_t kind_of(const void *context, uint32_t line)
{
    const struct waits_work *w = context;
    return order_line_kind(w->categories.view->run->order, line);
}

static uint32_t category_of(const void *context, const struct wait_record *wait)
{
    const struct waits_work *w = context;
    return step_categories_wait(&w->categories, wait);
}

static uint8_t category_of_step(const void *context, uint32_t step)
{
    const struct waits_work *w = context;
    return step_categories_step(&w->categories, step);
}

static enum wait_group_by by_of(const char *by)
{
    static const char *const words[GROUP_BYS] = {"place",  "pattern", "object",  "site",
                                                 "thread", "wait",    "category"};
    for (unsigned i = 0; i < GROUP_BYS; i++)
        if (strcmp(by, words[i]) == 0)
            return (enum wait_group_by)i;
    return GROUP_PLACE;
}

/* Sets the groups; those of the whole run are continued from the last request. */
static void waits_table_set_groups(struct waits_work *w, const struct table_view *view,
                                   struct wait_grouping grouping)
{
    bool whole = !view->past && !view->request->line_count && view->from_ns == INT64_MIN &&
                 view->to_ns == INT64_MAX && !w->categories.any;
    w->again = whole ? interval_cache_generation(view->run) : 0;
    if (whole) {
        grouping.until_ns = NULL; /* threads can be added meanwhile */
        w->groups = attribution_cache_acquire(view->run, w->causing.since, grouping);
        return;
    }
    w->groups.why = attribution_cache_get(view->run, w->causing.since);
    w->groups.charges.communication = attribution_cache_communication();
    w->groups.grouping = grouping;
    if (w->categories.any) {
        w->groups.charges.category = category_of_step;
        w->groups.charges.context = w;
    }
}

static void *waits_table_begin(const struct table_view *view, struct error *error)
{
    struct waits_work *w = xcalloc(1, sizeof *w);
    if (!step_categories_begin(&w->categories, view, error) ||
        !attribution_cells_begin(&w->causing, view, error)) {
        attribution_cells_free(&w->causing);
        step_categories_free(&w->categories);
        free(w);
        return NULL;
    }
    const char *causes = table_option(view->request, "causes");
    w->causes = causes ? (uint32_t)strtoul(causes, NULL, 10) : CAUSES;
    waits_table_set_groups(w, view,
                           (struct wait_grouping){.by = by_of(view->request->by),
                                                  .which = attribution_cells_wants(view, "while")
                                                               ? PATH_OVERLAP
                                                               : PATH_EXPANDED,
                                                  .direct = attribution_cells_wants(view, "direct"),
                                                  .from_ns = w->causing.from_ns,
                                                  .until_ns = w->causing.until_ns,
                                                  .until_count = w->causing.until_count,
                                                  .object = attribution_cells_line(view, "object"),
                                                  .kind = kind_of,
                                                  .category = category_of,
                                                  .context = w});
    return w;
}

static bool waits_table_step(void *work, uint64_t *budget)
{
    struct waits_work *w = work;
    if (!attribution_cells_prepare(&w->causing, budget))
        return false;
    size_t before = w->groups.done;
    bool whole = wait_groups_step(&w->groups, *budget / 8 + 1);
    uint64_t spent = 8 * (w->groups.done - before);
    *budget = spent < *budget ? *budget - spent : 0;
    return whole;
}

static void add_columns(struct result_table *t, enum wait_group_by by)
{
    struct column_definition columns[GOING_ON];
    memcpy(columns, waits_table_columns, sizeof columns);
    if (by == GROUP_OBJECT)
        columns[FOR].kind = TABLE_LINE;
    if (by == GROUP_THREAD || by == GROUP_WAIT)
        columns[THREAD].under = NULL;
    columns[CATEGORY].detail = by != GROUP_CATEGORY;
    table_add_columns(t, columns, by == GROUP_WAIT ? GOING_ON : FROM);
    if (by == GROUP_WAIT)
        attribution_cells_add_delay(t);
}

/* Returns a text such as "serialization 60 %, imbalance 40 %", the largest first. */
static struct table_cell waits_table_describe_kinds(const struct wait_group *group)
{
    static const char *const words[CAUSE_KINDS] = {"imbalance", "serialization", "contention"};
    char text[64] = "";
    bool shown[CAUSE_KINDS] = {false};
    for (unsigned n = 0; n < CAUSE_KINDS; n++) {
        unsigned most = CAUSE_KINDS;
        for (unsigned i = 0; i < CAUSE_KINDS; i++)
            if (!shown[i] && (most == CAUSE_KINDS || group->kinds[i] > group->kinds[most]))
                most = i;
        int percent = (int)(100.0 * (double)group->kinds[most] / (double)group->waited_ns + .5);
        shown[most] = true;
        if (percent)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s %d %%",
                     *text ? ", " : "", words[most], percent);
    }
    return attribution_cells_text(text);
}

static struct table_cell waits_table_describe(const struct table_view *view,
                                              const struct wait_group *group, enum wait_group_by by)
{
    if (by == GROUP_OBJECT || by == GROUP_WAIT || !group->several)
        return table_cell_line(group->about);
    if (!group->about)
        return (struct table_cell){0};
    return attribution_cells_text(
        run_kind_name(view->run, order_line_kind(view->run->order, group->about)));
}

static double waits_table_fraction(int64_t ns, int64_t of)
{
    return of ? (double)ns / (double)of : 0;
}

/* Sets the cells that groups of ended and of open waits have in common. longest: a wait of the
 * group. */
static void set_common(const struct table_view *view, const struct waits_work *w,
                       const struct wait_group *group, const struct wait_record *longest,
                       struct table_cell *cells)
{
    enum wait_group_by by = w->groups.grouping.by;
    cells[WAITED] = table_cell_number(group->waited_ns);
    cells[WAITS] = table_cell_number((int64_t)group->waits);
    if (by != GROUP_SITE && by != GROUP_THREAD)
        cells[CATEGORY] = step_categories_cell(step_categories_wait(&w->categories, longest));
    if (by != GROUP_OBJECT && by != GROUP_THREAD && by != GROUP_CATEGORY)
        cells[WHERE] = table_cell_place(table_place(view, group->place));
    if (by == GROUP_PLACE || by == GROUP_PATTERN || by == GROUP_WAIT)
        cells[TYPE] = attribution_cells_text(group->type ? run_type_name(view->run, group->type)
                                                         : "awaits end");
    if (by != GROUP_SITE && by != GROUP_THREAD && by != GROUP_CATEGORY)
        cells[FOR] = waits_table_describe(view, group, by);
    cells[CLASS] =
        attribution_cells_text(group->mixed ? "mixed" : attribution_cells_class(group->class));
    if (by == GROUP_THREAD || by == GROUP_WAIT)
        cells[THREAD] = table_cell_line(group->thread);
    cells[MOST] = table_cell_number(group->most_ns);
}

static void set_cells(const struct table_view *view, const struct waits_work *w,
                      const struct wait_group *group, int64_t all_ns, struct table_cell *cells)
{
    set_common(view, w, group, &view->measured->waits[group->first], cells);
    cells[SHARE] = table_cell_real(waits_table_fraction(group->waited_ns, all_ns));
    cells[KIND] = waits_table_describe_kinds(group);
    cells[RELEASED_BY] = table_cell_place(table_place(view, group->released_by));
    cells[UNEXPLAINED] = table_cell_number(group->unexplained_ns);
    cells[LI] = table_cell_number(group->kinds[CAUSE_IMBALANCE]);
    cells[IP] = table_cell_number(group->kinds[CAUSE_SERIAL]);
    cells[CC] = table_cell_number(group->kinds[CAUSE_CONTENTION]);
    cells[GUESSED] = table_cell_number((int64_t)group->guessed);
}

static void set_charge(struct table_cell *cells, int64_t ns, int64_t of)
{
    cells[CHARGE] = table_cell_number(ns);
    cells[SHARE] = table_cell_real(waits_table_fraction(ns, of));
}

static void add_causes(const struct table_view *view, struct waits_work *w,
                       struct wait_group *group, struct result_table *t)
{
    bool all = view->request->flags & TABLE_TREE;
    int64_t sum = 0;
    struct table_cell *cells;
    wait_groups_arrange(&w->groups, group);
    for (uint32_t i = 0; i < group->cause_count; i++) {
        const struct wait_group_cause *cause = &w->groups.causes[group->causes[i]];
        struct segment_id pair = wait_attribution_pair(w->groups.why, cause->pair);
        if (!all && (i == w->causes || waits_table_fraction(sum, group->waited_ns) * 100 >= CHIEF))
            break;
        cells = table_add_row(t, 1, (struct event_id){0});
        if (!cells)
            return;
        set_charge(cells, cause->ns, group->waited_ns);
        cells[STEP] = attribution_cells_step(view, pair.step);
        cells[CATEGORY] = step_categories_cell(step_categories_step(&w->categories, pair.step));
        cells[THREAD] = table_cell_line(pair.thread);
        cells[DIRECT] = table_cell_text(cause->direct ? "direct" : "propagated");
        table_row_line(t, pair.thread);
        sum += cause->ns;
    }
    if (sum == group->waited_ns || !(cells = table_add_row(t, 1, (struct event_id){0})))
        return;
    set_charge(cells, group->waited_ns - sum, group->waited_ns);
    cells[STEP] = table_cell_text(w->groups.grouping.direct ? "propagated and other" : "other");
}

/* ---- waits that have not ended ---- */

/* Returns how much of an open wait lies in the range, if its thread is requested; 0 if nothing
 * counts. */
static int64_t unended_ns(const struct table_view *view, const struct waits_work *w,
                          const struct wait_record *wait)
{
    const struct thread_timeline *course = intervals_for_thread(view->measured, wait->thread);
    size_t index = course ? (size_t)(course - view->measured->threads) : SIZE_MAX;
    int64_t until = index < w->causing.until_count ? w->causing.until_ns[index] : INT64_MIN,
            from = wait->from_ns > view->from_ns ? wait->from_ns : view->from_ns,
            to = wait->to_ns < until ? wait->to_ns : until;
    uint32_t object = w->groups.grouping.object;
    return to > from && (!object || wait->about == object) ? to - from : 0;
}

/* Computes the key of the group of an open wait: equal for waits that would be in one group, had
 * they ended. */
static void unended_key(const struct table_view *view, const struct waits_work *w,
                        const struct wait_record *wait, uint64_t *a, uint64_t *b)
{
    *b = 0;
    switch (w->groups.grouping.by) {
    case GROUP_OBJECT:
        *a = wait->about;
        break;
    case GROUP_SITE:
        *a = wait->place;
        break;
    case GROUP_CATEGORY:
        *a = step_categories_wait(&w->categories, wait);
        break;
    case GROUP_THREAD:
    case GROUP_WAIT: /* a thread has at most one open wait */
        *a = wait->thread;
        break;
    default:
        *a = (uint64_t)wait->place << 32 | wait->type;
        *b = wait->about ? order_line_kind(view->run->order, wait->about) : 0;
    }
}

struct unended_waits {
    struct wait_group group; /* its sums, and what its waits have in common */
    const struct wait_record *longest;
};

static void unended_add(struct unended_waits *u, const struct wait_record *wait, int64_t ns)
{
    struct wait_group *group = &u->group;
    if (!group->waits++)
        *group = (struct wait_group){.place = wait->place,
                                     .type = wait->type,
                                     .about = wait->about,
                                     .thread = wait->thread,
                                     .class = wait->class,
                                     .waits = 1};
    group->waited_ns += ns;
    group->mixed |= group->class != wait->class;
    group->several |= group->about != wait->about;
    if (ns <= group->most_ns)
        return;
    group->most_ns = ns;
    u->longest = wait;
}

/* Adds the row of a group of open waits.  Values that are not known before a wait ends are null:
 * its share, its release, its causes. */
static void unended_add_row(const struct table_view *view, const struct waits_work *w,
                            const struct unended_waits *u, struct result_table *t)
{
    const struct wait_group *group = &u->group;
    enum wait_group_by by = w->groups.grouping.by;
    struct table_cell *cells = table_add_row(t, 0, table_event(view, u->longest->begin));
    if (!cells)
        return;
    set_common(view, w, group, u->longest, cells);
    cells[KIND] = table_cell_text("not ended");
    if (by == GROUP_WAIT)
        cells[FROM] = table_cell_number(u->longest->from_ns);
    table_row_line(t, u->longest->thread);
    table_row_line(t, group->about);
}

/* Adds a row for each group of open waits; returns the number of these waits. */
static size_t add_unended(const struct table_view *view, const struct waits_work *w,
                          struct result_table *t)
{
    size_t count = view->apart ? 0 : view->lives.open_count, all = 0, row_count = 0;
    struct unended_waits *rows = xcalloc(count + 1, sizeof *rows);
    struct map row_of = {0};
    for (size_t i = 0; i < count; i++) {
        const struct wait_record *wait = &view->lives.open[i];
        int64_t ns = unended_ns(view, w, wait);
        uint64_t a, b;
        if (!ns)
            continue;
        unended_key(view, w, wait, &a, &b);
        uintptr_t row = (uintptr_t)map_get(&row_of, a, b);
        if (!row)
            map_put(&row_of, a, b, (void *)(row = ++row_count));
        unended_add(&rows[row - 1], wait, ns);
        all++;
    }
    for (size_t row = 0; row < row_count; row++)
        unended_add_row(view, w, &rows[row], t);
    map_free(&row_of);
    free(rows);
    return all;
}

/* Adds a note about waits beyond the part of the run that was analyzed. */
static void waits_table_note_beyond(const struct table_view *view, const struct waits_work *w,
                                    struct result_table *t)
{
    size_t count = 0;
    int64_t all_ns = 0;
    for (size_t i = 0; i < view->lives.open_count; i++) {
        int64_t ns = unended_ns(view, w, &view->lives.open[i]);
        count += ns > 0;
        all_ns += ns;
    }
    if (count)
        table_add_note(t, "%zu wait%s beyond the range (%.3f ms) and %s excluded", count,
                       count == 1 ? " extends" : "s extend", (double)all_ns / 1e6,
                       count == 1 ? "is" : "are");
}

static void add_notes(const struct table_view *view, struct result_table *t,
                      const struct waits_work *w, const struct wait_group *all, size_t unended)
{
    double ms = 1e6;
    int64_t life = w->causing.life_ns;
    table_add_note(t,
                   "total wait time %.3f ms = %.1f %% of thread time (%.3f ms); %llu wait%s in %u "
                   "group%s; unattributed %.3f ms",
                   (double)all->waited_ns / ms, 100 * waits_table_fraction(all->waited_ns, life),
                   (double)life / ms, (unsigned long long)all->waits, all->waits == 1 ? "" : "s",
                   w->groups.count, w->groups.count == 1 ? "" : "s",
                   (double)all->unexplained_ns / ms);
    if (view->apart)
        waits_table_note_beyond(view, w, t);
    else if (unended)
        table_add_note(t,
                       "%zu wait%s not ended and %s excluded from the sums; rows \"not ended\" "
                       "show the time so far; see poet blocked",
                       unended, unended == 1 ? " had" : "s had", unended == 1 ? "is" : "are");
    if (all->guessed)
        table_add_note(t, "waker ambiguous for %llu wait%s: the latest candidate was used",
                       (unsigned long long)all->guessed, all->guessed == 1 ? "" : "s");
}

/* Adds a note that explains the kinds of causes, if any occur. */
static void explain_kinds(struct result_table *t, const struct wait_group *all)
{
    if (all->kinds[CAUSE_IMBALANCE] || all->kinds[CAUSE_SERIAL] || all->kinds[CAUSE_CONTENTION])
        table_add_note(t, "cause: imbalance = the late thread spent longer in the same code; "
                          "serialization = only the late thread executed that code; contention = "
                          "locks, messages, system calls, wake-up latency");
}

static struct wait_group waits_table_sum_groups(const struct wait_groups *groups)
{
    struct wait_group all = {0};
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct wait_group *group = &groups->items[i];
        all.waited_ns += group->waited_ns;
        all.unexplained_ns += group->unexplained_ns;
        all.waits += group->waits;
        all.guessed += group->guessed;
        all.most_ns = group->most_ns > all.most_ns ? group->most_ns : all.most_ns;
        for (unsigned k = 0; k < CAUSE_KINDS; k++)
            all.kinds[k] += group->kinds[k];
    }
    return all;
}

static void set_total(struct result_table *t, const struct waits_work *w,
                      const struct wait_group *all)
{
    struct table_cell *cells = table_make_total(t);
    cells[WAITED] = table_cell_number(all->waited_ns);
    cells[WAITS] = table_cell_number((int64_t)all->waits);
    cells[MOST] = table_cell_number(all->most_ns);
    cells[UNEXPLAINED] = table_cell_number(all->unexplained_ns);
    cells[LI] = table_cell_number(all->kinds[CAUSE_IMBALANCE]);
    cells[IP] = table_cell_number(all->kinds[CAUSE_SERIAL]);
    cells[CC] = table_cell_number(all->kinds[CAUSE_CONTENTION]);
    cells[GUESSED] = table_cell_number((int64_t)all->guessed);
    cells[LIFE] = table_cell_number(w->causing.life_ns);
}

static void add_row(const struct table_view *view, struct waits_work *w, struct wait_group *group,
                    int64_t all_ns, struct result_table *t)
{
    const struct wait_record *wait = &view->measured->waits[group->first];
    struct table_cell *cells = table_add_row(t, 0, table_event(view, wait->begin));
    if (!cells)
        return;
    set_cells(view, w, group, all_ns, cells);
    if (w->groups.grouping.by == GROUP_WAIT) {
        cells[FROM] = table_cell_number(wait->from_ns);
        cells[UNTIL] = table_cell_event(table_event(view, wait->end));
        struct resume_delay going = resume_delay_measure(
            cpu_placement_states(view->run), view->measured, wait, !view->run->programs.connected);
        attribution_cells_resume_delay(cells + GOING_ON, &going);
    }
    table_row_line(t, wait->thread);
    table_row_line(t, group->about);
    add_causes(view, w, group, t);
}

/* Returns whether the option "chief" leaves out a group, as it is below a hundredth of all. */
static bool waits_table_is_minor(const struct table_view *view, const struct wait_group *group,
                                 int64_t all_ns)
{
    return attribution_cells_wants(view, "chief") && group->waited_ns < all_ns / 100;
}

static void waits_table_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct waits_work *w = work;
    struct wait_group all = waits_table_sum_groups(&w->groups);
    t->title = xstrdup("waits");
    add_columns(t, w->groups.grouping.by);
    uint32_t little = 0;
    for (uint32_t i = 0; i < w->groups.count; i++)
        if (waits_table_is_minor(view, &w->groups.items[i], all.waited_ns))
            little++;
        else
            add_row(view, w, &w->groups.items[i], all.waited_ns, t);
    size_t unended = add_unended(view, w, t);
    set_total(t, w, &all);
    add_notes(view, t, w, &all, unended);
    explain_kinds(t, &all);
    if (little)
        table_add_note(t, "%u row%s below 1 %% omitted; see poet waits", little,
                       little == 1 ? "" : "s");
    table_arrange(t, view->request, "waited_ns");
}

static void free_work(void *work)
{
    struct waits_work *w = work;
    attribution_cache_release(w->causing.run, w->groups, w->again);
    attribution_cells_free(&w->causing);
    step_categories_free(&w->categories);
    free(w);
}

static const char *const waits_table_groupings[] = {"place",  "pattern", "object",   "site",
                                                    "thread", "wait",    "category", NULL};

const struct table_preset preset_waits = {.what = "waits",
                                          .by = waits_table_groupings,
                                          .begin = waits_table_begin,
                                          .step = waits_table_step,
                                          .fill = waits_table_fill,
                                          .free = free_work};
