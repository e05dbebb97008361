/* Matches of a pattern of events (config/event_pattern.h) in a run, found while its events are fed
 * in the order of the log: each match when the last of its events is.
 *
 * The events that can be in a match are kept for each event of the pattern, by an attribute that
 * must be equal and by chain (event_clocks.h).  Along a chain those that happened before an event
 * are first, and those that happened after it are last, so that the ones in a relation to it are
 * found by binary search; the other events of a match are bound one after the other, those with the
 * fewest candidates first.  (Fox 1998; Pramanik, Taylor, Wong 2013.)
 *
 * A match is uncertain if the order of two of its events is unknown: another order might exclude
 * it.  Not thread-safe. */
#ifndef SERVER_ANALYSIS_PATTERN_MATCH_H
#define SERVER_ANALYSIS_PATTERN_MATCH_H

#include "base/map.h"
#include "config/event_pattern.h"
#include "server/analysis/event_clocks.h"

/* An event that meets the conditions of events of the pattern. */
struct match_event {
    uint64_t position, number;
    int64_t time_ns;
    uint32_t roles; /* bits: indices of those events */
    struct event_clock clock;
    uint32_t point; /* index of the first match event of its synchronization point */
    /* of its attributes; 0: it has none */
    uint32_t values[PATTERN_PROCESS + 1];
};

struct match_settings {
    uint64_t limit; /* matches to keep */
    uint64_t count_limit; /* matches to count; of uncertain ones, too */
    bool first_only; /* only the first match of each event with the pattern's first name */
    bool keep_uncertain; /* else uncertain matches are only counted */
    /* events may be missing: that none is between two events is uncertain */
    bool incomplete;
    bool may_be_unknown; /* the order of some events may be unknown: then is_unknown is called */
    /* Returns whether events at two positions, which no known chain orders, may be ordered. */
    bool (*is_unknown)(const void *context, uint64_t a, uint64_t b);
    const void *context;
};

/* Candidates of an event of the pattern, of one chain, and with one value of its key. */
struct match_chain {
    uint32_t chain;
    bool jumps; /* their times do not grow */
    uint32_t *items;
    size_t count, room;
};

struct match_bucket { /* those with one value of the key */
    uint32_t *chains; /* indices of `chains` */
    size_t count, room;
};

struct match_role {
    bool absent, may_be_last;
    bool has_key; /* else there is one bucket */
    enum pattern_attribute key, partner_key; /* it equals that of the partner */
    uint32_t partner;
    struct map buckets; /* value -> 1 + index of `all` */
    struct match_bucket *all;
    size_t bucket_count, bucket_room;
    uint64_t count; /* candidates */
};

enum match_done { MATCH_DONE = 1, MATCH_DONE_UNCERTAIN = 2 };

struct match_level {
    uint32_t role;
    size_t bucket, bucket_end, chain; /* the chain of a bucket to be begun next */
    const uint32_t *items; /* NULL: events from `at` on, up to `end` */
    size_t at, end;
    bool uncertain; /* the match up to the bound event */
};

struct pattern_match {
    const struct event_pattern *pattern;
    const struct event_clocks *clocks;
    struct match_settings settings;
    struct match_event *events;
    size_t event_count, event_room;
    struct match_role roles[PATTERN_EVENTS_MAX];
    struct match_chain *chains;
    size_t chain_count, chain_room;
    struct map chain_of; /* role and bucket, chain -> 1 + index */
    struct match_line { /* its events, in the order of their numbers; used for PATTERN_NEXT */
        uint32_t *items;
        size_t count, room;
    } *lines; /* by line */
    size_t line_room;
    uint32_t present; /* number of events of a match */
    uint32_t first_role;
    bool uses_next;
    /* by event, as the first role, if only first matches are wanted: whether it has a match, or an
     * uncertain one; bits of enum match_done */
    uint8_t *done;
    size_t done_room;
    /* the search for matches that end with the last event */
    struct match_level levels[PATTERN_EVENTS_MAX];
    uint32_t bound[PATTERN_EVENTS_MAX]; /* by role: event */
    uint32_t is_bound; /* bits: roles */
    uint32_t depth, anchor_role;
    bool searching, strict; /* no longer counts uncertain ones that would not be kept */
    bool finished; /* all limits are reached */
    /* results */
    uint32_t *found; /* by match, then role: events; absent ones are 0 */
    uint8_t *found_uncertain;
    size_t found_count, found_room, uncertain_room;
    uint64_t count, uncertain_count; /* of matches, kept or not */
    size_t bytes;
};

/* The pattern and the clocks must exist as long as the matches. */
struct pattern_match *pattern_match_new(const struct event_pattern *pattern,
                                        const struct event_clocks *clocks,
                                        const struct match_settings *settings);
void pattern_match_free(struct pattern_match *match);
/* Adds the next event in the order of the log, of a point that was added to the clocks. */
void pattern_match_add(struct pattern_match *match, const struct match_event *event);
/* Continues the search for matches that end with the event added last, for about *budget
 * candidates; returns true when it has found all.  It must have before the next event is added. */
bool pattern_match_step(struct pattern_match *match, uint64_t *budget);
/* Ends the search: an event that came later, in unknown order, may be between two events of a match
 * after all; such matches are uncertain. */
void pattern_match_end(struct pattern_match *match);

#endif
