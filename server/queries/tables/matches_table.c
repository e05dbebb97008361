/* Table of the matches of a pattern of events: a row with the first event of each match, and below
 * it one for each of the others.  Options: "pattern"; "limit": number of matches in the table;
 * "first": only the first match of each event with the pattern's first name; "uncertain": also
 * matches that rest on an unknown order; "counted": number of matches to count beyond the limit.
 * The total has the number of matches; of uncertain ones if these are in the table, too.
 *
 * With the option "unmatched" the rows are the events with the pattern's first name that are in no
 * match, and the total has their number.  If events may be missing or the run has not ended, they
 * may yet have one, and are uncertain. */
#include "base/alloc.h"
#include "server/queries/pattern_search.h"
#include "server/queries/tables/table_query.h"
#include "server/run/call_sites.h"
#include "server/run/untraced_reasons.h"

#include <stdlib.h>
#include <string.h>

#define MATCHES_LISTED 1000u /* if no limit is requested */
#define MATCHES_COUNTED 1000000u /* beyond those that are listed */

enum matches_column {
    MATCH,
    NAME,
    TYPE,
    EVENT,
    THREAD,
    OBJECT,
    LOCATION,
    TIME,
    UNCERTAIN,
    POSITION
};

static const struct column_definition matches_columns[] = {
    [MATCH] = {"match", .kind = TABLE_COUNT},
    [NAME] = {"name", .kind = TABLE_TEXT},
    [TYPE] = {"type", .kind = TABLE_TEXT},
    [EVENT] = {"event", .kind = TABLE_EVENT},
    [THREAD] = {"thread", .kind = TABLE_LINE},
    [OBJECT] = {"object", .kind = TABLE_LINE},
    [LOCATION] = {"location", .kind = TABLE_PLACE},
    [TIME] = {"time_ns", .kind = TABLE_NS},
    [UNCERTAIN] = {"uncertain", .kind = TABLE_COUNT, .detail = true},
    [POSITION] = {"position", .kind = TABLE_COUNT, .detail = true}, /* in the log */
};

static uint64_t matches_number(const struct table_view *view, const char *key, uint64_t otherwise)
{
    const char *value = table_option(view->request, key);
    return value ? strtoull(value, NULL, 10) : otherwise;
}

static bool matches_are_negated(const struct table_view *view)
{
    return matches_number(view, "unmatched", 0);
}

static void *matches_begin(const struct table_view *view, struct error *error)
{
    const char *pattern = table_option(view->request, "pattern");
    struct match_settings settings = {.limit = matches_number(view, "limit", MATCHES_LISTED),
                                      .first_only = matches_number(view, "first", 0),
                                      .keep_uncertain = matches_number(view, "uncertain", 0)};
    uint64_t most = LIMIT_TABLE_ROWS / PATTERN_EVENTS_MAX;
    settings.limit = settings.limit < most ? settings.limit : most;
    uint64_t counted = matches_number(view, "counted", MATCHES_COUNTED);
    settings.count_limit =
        counted > UINT64_MAX - settings.limit ? UINT64_MAX : settings.limit + counted;
    if (matches_are_negated(view)) {
        settings.first_only = true;
        settings.limit = 0;
        settings.count_limit = UINT64_MAX;
    }
    if (!pattern) {
        error_set(error, "the option \"pattern\" is missing");
        return NULL;
    }
    struct pattern_search *search = pattern_search_new(view->run, pattern, &settings, error);
    if (search) {
        search->from_ns = view->from_ns;
        search->to_ns = view->to_ns;
        search->past = view->past;
    }
    return search;
}

static bool matches_step(void *work, uint64_t *budget) { return pattern_search_step(work, budget); }

static uint64_t matches_progress(const void *work)
{
    const struct pattern_search *search = work;
    return search->next - search->first;
}

/* ---- rows ---- */

static struct table_cell *matches_add_event(const struct table_view *view,
                                            const struct pattern_search *search, uint32_t role,
                                            const struct match_event *m, bool first,
                                            uint64_t number, struct result_table *t)
{
    const struct pattern_event *named = &search->pattern->events[role];
    struct event_id at = table_event(view, m->position);
    struct table_cell *cells = table_add_row(t, !first, at);
    if (!cells)
        return NULL;
    uint32_t place =
        call_sites_for_line(view->run, order_event(view->run->order, m->position).site);
    if (first)
        cells[MATCH] = table_cell_number((int64_t)number);
    cells[NAME] = table_cell_text(named->name);
    cells[TYPE] = table_cell_text(run_type_name(view->run, m->values[PATTERN_TYPE]));
    cells[EVENT] = table_cell_event(at);
    cells[THREAD] = table_cell_line(m->values[PATTERN_THREAD]);
    cells[OBJECT] = table_cell_line(m->values[PATTERN_OBJECT]);
    if (place)
        cells[LOCATION] = table_cell_place(table_place(view, place));
    cells[TIME] = table_cell_number(m->time_ns);
    cells[POSITION] = table_cell_number((int64_t)m->position);
    table_row_line(t, m->values[PATTERN_THREAD]);
    return cells;
}

static void matches_add(const struct table_view *view, const struct pattern_search *search,
                        size_t number, struct result_table *t)
{
    const struct event_pattern *p = search->pattern;
    const uint32_t *found = search->match->found + number * p->event_count;
    bool first = true;
    for (uint32_t i = 0; i < p->event_count; i++) {
        if (p->events[i].absent)
            continue;
        struct table_cell *cells = matches_add_event(
            view, search, i, &search->match->events[found[i]], first, number + 1, t);
        if (cells && first && search->settings.keep_uncertain)
            cells[UNCERTAIN] = table_cell_number(search->match->found_uncertain[number]);
        first = false;
    }
}

static void matches_add_notes(const struct pattern_search *search, struct result_table *t)
{
    const struct pattern_match *m = search->match;
    size_t certain = 0;
    for (size_t i = 0; i < m->found_count; i++)
        certain += !m->found_uncertain[i];
    uint64_t more = m->count > certain ? m->count - certain : 0;
    const char *at_least = m->finished || search->cut ? "at least " : "";
    if (m->finished && !more)
        table_add_note(t, "limit reached; there may be more matches (--limit)");
    if (more && search->settings.limit)
        table_add_note(t, "%s%llu more match%s (--limit)", at_least, (unsigned long long)more,
                       more == 1 ? "" : "es");
    if (m->uncertain_count)
        table_add_note(t, "%s%llu %smatch%s rest%s on an unknown order%s",
                       m->strict || *at_least ? "at least " : "",
                       (unsigned long long)m->uncertain_count,
                       m->count && !search->settings.keep_uncertain ? "further " : "",
                       m->uncertain_count == 1 ? "" : "es", m->uncertain_count == 1 ? "s" : "",
                       search->settings.keep_uncertain ? "" : " (--uncertain)");
    if (search->cut)
        table_add_note(t, "only the first %llu of %llu events were examined (memory limit)",
                       (unsigned long long)(search->next + search->at - search->first),
                       (unsigned long long)(search->end - search->first));
    if (search->costly)
        table_add_note(t, "regular expression too costly for %llu text%s",
                       (unsigned long long)search->costly, search->costly == 1 ? "" : "s");
}

/* ---- events without a match ---- */

/* Returns whether an event without a match may have one that the trace lacks. */
static bool matches_may_be_missing(const struct pattern_search *search)
{
    const struct run *run = search->run;
    return search->settings.incomplete || search->cut || search->match->strict || search->first ||
           search->from_ns != INT64_MIN || search->to_ns != INT64_MAX || search->past ||
           run_connected(run) || run->file.unfinished || order_figures(run->order).pending;
}

static void matches_add_unmatched(const struct table_view *view,
                                  const struct pattern_search *search, struct result_table *t)
{
    const struct pattern_match *m = search->match;
    bool missing = matches_may_be_missing(search);
    uint64_t count = 0, uncertain = 0, limit = matches_number(view, "limit", MATCHES_LISTED);
    for (size_t i = 0; i < m->event_count; i++) {
        if (!(m->events[i].roles >> m->first_role & 1) || m->done[i] & MATCH_DONE)
            continue;
        if (missing || m->done[i])
            uncertain++;
        else if (count++ < limit)
            matches_add_event(view, search, m->first_role, &m->events[i], true, count, t);
    }
    struct table_cell *total = table_make_total(t);
    total[MATCH] = table_cell_number((int64_t)count);
    total[UNCERTAIN] = table_cell_number((int64_t)uncertain);
    if (uncertain)
        table_add_note(t, "%llu event%s may have no match%s", (unsigned long long)uncertain,
                       uncertain == 1 ? "" : "s",
                       run_connected(search->run) ? " (the run has not ended)"
                       : missing                  ? " (events may be missing)"
                                                  : " (unknown order)");
}

static void matches_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct pattern_search *search = work;
    t->title = xstrdup("matches of the pattern");
    table_add_columns(t, matches_columns, sizeof matches_columns / sizeof *matches_columns);
    if (matches_are_negated(view)) {
        matches_add_unmatched(view, search, t);
        return;
    }
    for (size_t i = 0; i < search->match->found_count; i++)
        matches_add(view, search, i, t);
    struct table_cell *total = table_make_total(t);
    total[MATCH] = table_cell_number((int64_t)search->match->count);
    total[UNCERTAIN] = table_cell_number((int64_t)search->match->uncertain_count);
    matches_add_notes(search, t);
    table_arrange(t, view->request, NULL);
}

static void matches_free(void *work) { pattern_search_free(work); }

const struct table_preset preset_matches = {.what = "matches",
                                            .begin = matches_begin,
                                            .step = matches_step,
                                            .no_intervals = true,
                                            .progress = matches_progress,
                                            .fill = matches_fill,
                                            .free = matches_free};
