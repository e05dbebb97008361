/* Finding events by type, line, text or call site.
 *
 * Types, lines and call sites are compared here, where their names are known; the server looks
 * through the events. */
#ifndef CLIENTS_VIEW_PARTS_FINDER_H
#define CLIENTS_VIEW_PARTS_FINDER_H

#include "clients/view/parts/inquiry.h"
#include "clients/view/parts/news.h"
#include "wire/asked.h"

enum finder_where { FINDER_ANYWHERE, FINDER_TYPES, FINDER_LINES, FINDER_TEXTS, FINDER_SITES };

struct finder {
    struct link *link;       /* borrowed, as the next */
    const struct listener *news; /* told HITS */
    struct ref *hits;        /* sorted by line and number */
    uint64_t *positions;     /* in the order of the log */
    struct ref *by_position;
    uint32_t hit_count;
    uint64_t count, looked; /* hits in all, and events that were looked at, so far */
    bool running;
    bool jump;     /* nobody has gone to the first hit yet: whoever does clears it */
    char *summary; /* how far it is, for people; NULL: nothing was looked for */
    /* private */
    struct inquiry searching, listing_sites;
    struct finder_search {
        char *text;
        enum finder_where where;
        bool expression; /* as of PCRE2 */
    } search;
    struct asked_site *sites; /* all of the run's, once they are wanted */
    uint32_t site_count;
    bool sites_here;
};

/* Forgets what was found; an empty text finds nothing. */
void finder_start(struct finder *finder, const char *text, enum finder_where where,
                  bool expression);
void finder_clear(struct finder *finder); /* another run */
/* Index of a hit, of which there is one at least; step 1: the next one after a position of the
 * log, -1: the one before it, 0: the one there or the next. */
uint32_t finder_from(const struct finder *finder, uint64_t position, int step);

#endif
