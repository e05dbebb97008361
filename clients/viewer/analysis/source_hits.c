#include "clients/viewer/analysis/source_hits.h"

#include "clients/symbols/symbolizer.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/highlights.h"
#include "clients/viewer/diagram/viewer.h"
#include "wire/request_body.h"
#include "wire/query_results.h"
#include "wire/limits.h"

#include <string.h>

struct source_hits {
    struct view *view;
    struct request_slot listing, searching;
    char *path; /* of the lines to mark; NULL: none */
    int first, last;
    struct search_site *sites; /* all call sites of the run, as last listed */
    uint32_t site_count;
};

struct source_hits *source_hits_new(struct view *view)
{
    struct source_hits *h = g_new0(struct source_hits, 1);
    h->view = view;
    return h;
}

/* Cancels no request, as the link is closed by then. */
void source_hits_free(struct source_hits *h)
{
    g_free(h->path);
    g_free(h->sites);
    g_free(h);
}

static bool is_wanted(const struct source_hits *h, const struct search_site *at)
{
    struct symbol_location site =
        symbolize_outer(h->view->server_link.sites, at->process, at->address);
    return site.line >= MIN(h->first, h->last) && site.line <= MAX(h->first, h->last) &&
           strcmp(site.path, h->path) == 0;
}

static void source_hits_receive_hits(void *user, const struct response_chunk *answer)
{
    struct source_hits *h = user;
    struct search_result found;
    if (answer->part != RESPONSE_FOUND)
        return;
    decode_search_result(answer->in, &found);
    struct event_id *events = g_new(struct event_id, found.hit_count + 1);
    for (uint32_t i = 0; i < found.hit_count; i++)
        events[i] = found.hits[i].at;
    if (decoder_finish(answer->in) && h->path && found.hit_count) {
        highlights_add(&h->view->highlights, events, found.hit_count);
        notifier_emit(&h->view->notifier, NOTIFY_HITS);
    }
    g_free(events);
    search_result_free(&found);
}

static void source_hits_search_events(struct source_hits *h)
{
    struct search_request r = {.limit = LIMIT_HITS, .text = (char *)(guintptr) ""};
    struct encoder body = {0};
    r.sites = g_new(struct search_site, h->site_count + 1);
    for (uint32_t i = 0; i < h->site_count; i++)
        if (is_wanted(h, &h->sites[i]))
            r.sites[r.site_count++] = h->sites[i];
    if (r.site_count) {
        encode_search_request(&body, &r);
        request_slot_send(&h->view->server_link, &h->searching, REQUEST_SEARCH, &body,
                          source_hits_receive_hits, h);
    }
    g_free(r.sites);
}

static void source_hits_receive_sites(void *user, const struct response_chunk *answer)
{
    struct source_hits *h = user;
    struct decoder *in = answer->in;
    if (answer->part != RESPONSE_SITES)
        return;
    uint32_t n = decode_count(in, 12);
    g_free(h->sites);
    h->sites = g_new(struct search_site, n + 1);
    for (h->site_count = 0; h->site_count < n; h->site_count++) {
        h->sites[h->site_count].process = decode_u32(in);
        h->sites[h->site_count].address = decode_u64(in);
    }
    if (h->path)
        source_hits_search_events(h);
}

void source_hits_cancel(struct source_hits *h)
{
    request_slot_cancel(&h->view->server_link, &h->searching);
    g_clear_pointer(&h->path, g_free);
}

/* Lists the call sites again each time, since a growing run may have more. */
void source_hits_mark(struct source_hits *h, const char *path, int first, int last)
{
    source_hits_cancel(h);
    h->path = g_strdup(path);
    h->first = first;
    h->last = last;
    if (!request_slot_is_running(&h->view->server_link, &h->listing))
        request_slot_send(&h->view->server_link, &h->listing, REQUEST_SITES, NULL,
                          source_hits_receive_sites, h);
}

void source_hits_clear(struct source_hits *h)
{
    source_hits_cancel(h);
    request_slot_cancel(&h->view->server_link, &h->listing);
    g_clear_pointer(&h->sites, g_free);
    h->site_count = 0;
}

bool source_hits_are_busy(const struct source_hits *h)
{
    return request_slot_is_running(&h->view->server_link, &h->listing) ||
           request_slot_is_running(&h->view->server_link, &h->searching);
}
