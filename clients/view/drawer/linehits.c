#include "clients/view/drawer/linehits.h"

#include "clients/site/site.h"
#include "clients/view/parts/inquiry.h"
#include "clients/view/parts/marked.h"
#include "clients/view/picture/view.h"
#include "wire/asked.h"
#include "wire/found.h"
#include "wire/limits.h"

#include <string.h>

struct linehits {
    struct view *view;
    struct inquiry listing, searching;
    char *path; /* wanted; NULL: nothing is */
    int first, last;
    struct asked_site *sites; /* all of the run's, as they were then */
    uint32_t site_count;
};

struct linehits *linehits_new(struct view *view)
{
    struct linehits *h = g_new0(struct linehits, 1);
    h->view = view;
    return h;
}

/* (The link has gone by then.) */
void linehits_free(struct linehits *h)
{
    g_free(h->path);
    g_free(h->sites);
    g_free(h);
}

static bool is_wanted(const struct linehits *h, const struct asked_site *at)
{
    struct site_is site = sites_outer(h->view->link.sites, at->process, at->address);
    return site.line >= MIN(h->first, h->last) && site.line <= MAX(h->first, h->last) &&
           strcmp(site.path, h->path) == 0;
}

static void take_found(void *user, const struct answer *answer)
{
    struct linehits *h = user;
    struct shown_found found;
    if (answer->part != PART_FOUND)
        return;
    get_found(answer->in, &found);
    struct ref *events = g_new(struct ref, found.hit_count + 1);
    for (uint32_t i = 0; i < found.hit_count; i++)
        events[i] = found.hits[i].at;
    if (in_done(answer->in) && h->path && found.hit_count) {
        marked_add(&h->view->marked, events, found.hit_count);
        news_tell(&h->view->news, NEWS_HITS);
    }
    g_free(events);
    shown_found_free(&found);
}

static void search(struct linehits *h)
{
    struct search_request r = {.limit = LIMIT_HITS, .text = (char *)(guintptr) ""};
    struct out body = {0};
    r.sites = g_new(struct asked_site, h->site_count + 1);
    for (uint32_t i = 0; i < h->site_count; i++)
        if (is_wanted(h, &h->sites[i]))
            r.sites[r.site_count++] = h->sites[i];
    if (r.site_count) {
        put_search_request(&body, &r);
        inquiry_ask(&h->view->link, &h->searching, ASK_SEARCH, &body, take_found, h);
    }
    g_free(r.sites);
}

static void take_sites(void *user, const struct answer *answer)
{
    struct linehits *h = user;
    struct in *in = answer->in;
    if (answer->part != PART_SITES)
        return;
    uint32_t n = get_count(in, 12);
    g_free(h->sites);
    h->sites = g_new(struct asked_site, n + 1);
    for (h->site_count = 0; h->site_count < n; h->site_count++) {
        h->sites[h->site_count].process = get_u32(in);
        h->sites[h->site_count].address = get_u64(in);
    }
    if (h->path)
        search(h);
}

void linehits_cancel(struct linehits *h)
{
    inquiry_cancel(&h->view->link, &h->searching);
    g_clear_pointer(&h->path, g_free);
}

/* A run that grows may have further places each time. */
void linehits_mark(struct linehits *h, const char *path, int first, int last)
{
    linehits_cancel(h);
    h->path = g_strdup(path);
    h->first = first;
    h->last = last;
    if (!inquiry_runs(&h->view->link, &h->listing))
        inquiry_ask(&h->view->link, &h->listing, ASK_SITES, NULL, take_sites, h);
}

void linehits_clear(struct linehits *h)
{
    linehits_cancel(h);
    inquiry_cancel(&h->view->link, &h->listing);
    g_clear_pointer(&h->sites, g_free);
    h->site_count = 0;
}

bool linehits_busy(const struct linehits *h)
{
    return inquiry_runs(&h->view->link, &h->listing) || inquiry_runs(&h->view->link, &h->searching);
}
