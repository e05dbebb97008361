/* Search of a run for the matches of a pattern of events (config/event_pattern.h), in steps: finds
 * the events that meet the conditions of the pattern, and feeds them to the matcher
 * (server/analysis/pattern_match.h) with their clocks. */
#ifndef SERVER_QUERIES_PATTERN_SEARCH_H
#define SERVER_QUERIES_PATTERN_SEARCH_H

#include "server/analysis/pattern_match.h"
#include "server/run/run.h"
#include "wire/endpoint.h"

#define PATTERN_SEARCH_BYTES_MAX ((size_t)768 << 20)

struct pattern_test_state; /* of a condition */

struct pattern_search {
    const struct run *run;
    struct event_pattern *pattern;
    struct match_settings settings;
    int64_t from_ns, to_ns; /* only events at these times */
    const struct cone *past; /* only events in it; NULL: all */
    struct event_clocks clocks;
    struct pattern_match *match;
    uint64_t first, next, end; /* positions: all events before `next` are read */
    struct order_event *events; /* from `next` on */
    size_t event_count, event_room, at; /* at: index of the next point */
    struct match_event *waiting; /* events of the current point that were not fed yet */
    size_t waiting_count, waiting_room, waiting_at;
    uint32_t *type_roles; /* by type: 1 + roles that allow it; 0: not determined yet */
    size_t type_room;
    struct pattern_test_state *tests; /* by condition */
    uint32_t needed; /* bits: attributes that are compared */
    uint32_t hiding; /* untraced reasons that hide the order of all events */
    uint64_t spent; /* of the budget, by the current point */
    uint64_t costly; /* texts in which a regular expression ran into its limits */
    bool cut; /* memory limit: only events before `next` were examined */
    bool force_unknown; /* a part of the log could not be read */
};

/* Begins a search for a pattern, as text in which names of lines and places are replaced by their
 * numbers. Returns NULL with the reason in *error. */
struct pattern_search *pattern_search_new(const struct run *run, const char *text,
                                          const struct match_settings *settings,
                                          struct error *error);
/* Continues for about *budget events; returns true when all are examined. */
bool pattern_search_step(struct pattern_search *search, uint64_t *budget);
void pattern_search_free(struct pattern_search *search);

#endif
