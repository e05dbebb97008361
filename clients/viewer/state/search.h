/* Finding events by type, line, text or call site.
 *
 * Types, lines and call sites are compared here, where their names are known; the server looks
 * through the events. */
#ifndef CLIENTS_VIEWER_STATE_SEARCH_H
#define CLIENTS_VIEWER_STATE_SEARCH_H

#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/notifications.h"
#include "wire/request_body.h"

enum search_scope { SEARCH_ANYWHERE, SEARCH_TYPES, SEARCH_LINES, SEARCH_TEXTS, SEARCH_SITES };

struct viewer_search {
    struct server_link *link;       /* borrowed, as the next */
    const struct listener *news; /* told HITS */
    struct event_id *hits;        /* sorted by line and number */
    uint64_t *positions;     /* in the order of the log */
    struct event_id *by_position;
    uint32_t hit_count;
    uint64_t count, looked; /* hits in all, and events that were looked at, so far */
    bool running;
    bool jump;     /* nobody has gone to the first hit yet: whoever does clears it */
    bool near_known; /* is it known which is the first from where the search began? */
    /* that one; line 0: there is none from there on, it goes on from the begin */
    struct event_id near;
    uint64_t near_position;
    char *summary; /* how far it is, for people; NULL: nothing was looked for */
    /* private */
    struct request_slot searching, nearing, listing_sites;
    struct search_query {
        char *text;
        enum search_scope where;
        bool expression; /* as of PCRE2 */
        uint64_t from; /* a position of the log */
    } search;
    struct search_site *sites; /* all of the run's, once they are wanted */
    uint32_t site_count;
    bool sites_here;
};

/* Forgets what was found; an empty text finds nothing.  All of the run is searched; the first hit
 * is that from this position of the log on. */
void search_start(struct viewer_search *finder, const char *text, enum search_scope where,
                  bool expression, uint64_t from);
bool search_is_active(
    const struct viewer_search *finder); /* is anything looked for, found or not? */
bool search_found_nothing(
    const struct viewer_search *finder); /* and there is nothing of it, in all of the run */
void search_clear(struct viewer_search *finder); /* another run */
/* Index of a hit, of which there is one at least; step 1: the next one after a position of the
 * log, -1: the one before it, 0: the one there or the next. */
uint32_t search_hit_from(const struct viewer_search *finder, uint64_t position, int step);

#endif
