/* Search for events by type, line, text or call site; or for the matches of a pattern of events
 * (pattern_hits.h).
 *
 * Types, lines and call sites are matched here, where their names are known; the server searches
 * the events. */
#ifndef CLIENTS_VIEWER_STATE_SEARCH_H
#define CLIENTS_VIEWER_STATE_SEARCH_H

#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/request_slot.h"
#include "wire/request.h"

enum search_scope { SEARCH_ANYWHERE, SEARCH_TYPES, SEARCH_LINES, SEARCH_TEXTS, SEARCH_SITES };

struct viewer_search {
    struct server_link *link;       /* borrowed, like the following */
    const struct notifier *notifier; /* receives NOTIFY_HITS */
    struct event_id *hits;        /* sorted by line and number */
    uint64_t *positions;     /* in the order of the log */
    struct event_id *by_position;
    uint32_t hit_count;
    uint64_t count, looked; /* total hits, and events examined, so far */
    bool running;
    bool jump;     /* the jump to the first hit is pending: the code that jumps clears it */
    bool near_known; /* the first hit from the start of the search is known */
    /* that hit; line 0: none from there on, the search wraps around */
    struct event_id near;
    uint64_t near_position;
    char *summary; /* progress as text; NULL: no search */
    /* private */
    struct request_slot searching, nearing, listing_sites;
    struct search_query {
        char *text;
        enum search_scope where;
        bool expression; /* a PCRE2 regular expression */
        uint64_t from; /* a position of the log */
    } search;
    struct search_site *sites; /* all call sites of the run, once needed */
    uint32_t site_count;
    bool sites_here;
    struct result_table matches; /* of a pattern, as far as received */
};

/* Starts a search of the whole run, and discards previous hits; an empty text has no hits. The
 * first hit is the first one from this position of the log on. */
void search_start(struct viewer_search *finder, const char *text, enum search_scope where,
                  bool expression, uint64_t from);
bool search_is_active(
    const struct viewer_search *finder); /* whether there is a search, successful or not */
bool search_found_nothing(
    const struct viewer_search *finder); /* and it found nothing in the whole run */
void search_clear(struct viewer_search *finder); /* another run */
/* Returns the index of a hit, if there is at least one; step 1: the next one after a position of
 * the log, -1: the one before it, 0: the one there or the next. */
uint32_t search_hit_from(const struct viewer_search *finder, uint64_t position, int step);

#endif
