#define PCRE2_CODE_UNIT_WIDTH 8
#include "clients/view/parts/finder.h"

#include "clients/view/parts/inquiry.h"
#include "clients/view/parts/link.h"
#include "clients/view/parts/news.h"
#include "wire/found.h"
#include "wire/limits.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

/* What is to be said of it; text: ours from now on. */
static void sum_up(struct finder *f, char *text)
{
    g_free(f->summary);
    f->summary = text;
}

/* ---- names here ---- */

struct pattern {
    const char *plain;
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *limits;
};

static bool begin_pattern(struct finder *f, struct pattern *p, const char *text, bool expression)
{
    int error;
    PCRE2_SIZE at;
    PCRE2_UCHAR why[200];
    *p = (struct pattern){.plain = text};
    if (!expression)
        return true;
    p->code =
        pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
                      PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_CASELESS, &error, &at, NULL);
    if (!p->code) {
        pcre2_get_error_message(error, why, sizeof why);
        sum_up(f, g_strdup_printf("At character %zu: %s", at + 1, (char *)why));
        return false;
    }
    p->match = pcre2_match_data_create(1, NULL);
    p->limits = pcre2_match_context_create(NULL);
    pcre2_set_match_limit(p->limits, 100000);
    return true;
}

static void end_pattern(struct pattern *p)
{
    pcre2_code_free(p->code);
    pcre2_match_data_free(p->match);
    pcre2_match_context_free(p->limits);
}

static bool matches(const struct pattern *p, const char *text)
{
    if (p->code)
        return pcre2_match(p->code, (PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, 0, p->match,
                           p->limits) >= 0;
    char *a = g_utf8_casefold(text, -1), *b = g_utf8_casefold(p->plain, -1);
    bool found = strstr(a, b) != NULL;
    g_free(a);
    g_free(b);
    return found;
}

static void add_types(struct finder *f, const struct pattern *p, struct search_request *r)
{
    const struct book *book = link_book(f->link);
    r->types = g_new(uint32_t, book->type_count + 1);
    for (uint32_t i = 1; i <= book->type_count; i++)
        if (matches(p, book_type(book, i)))
            r->types[r->type_count++] = i;
}

static void add_lines(struct finder *f, const struct pattern *p, struct search_request *r)
{
    const struct book *book = link_book(f->link);
    r->lines = g_new(uint32_t, book->line_count + 1);
    for (uint32_t i = 1; i <= book->line_count; i++)
        if (book_line(book, i) && matches(p, book_label(book, i)))
            r->lines[r->line_count++] = i;
}

static void add_sites(struct finder *f, const struct pattern *p, struct search_request *r)
{
    r->sites = g_new(struct asked_site, f->site_count + 1);
    for (uint32_t i = 0; i < f->site_count; i++) {
        struct site_is site = sites_call(f->link->sites, f->sites[i].process, f->sites[i].address);
        char *words = g_strdup_printf("%s %s", site.function, site.place);
        if (matches(p, words))
            r->sites[r->site_count++] = f->sites[i];
        g_free(words);
    }
}

/* ---- asking ---- */

static void forget(struct finder *f)
{
    g_clear_pointer(&f->hits, g_free);
    g_clear_pointer(&f->positions, g_free);
    g_clear_pointer(&f->by_position, g_free);
    f->hit_count = 0;
    f->count = f->looked = 0;
    f->running = f->near_known = f->jump = false;
    f->near = (struct ref){0, 0};
}

void finder_clear(struct finder *f)
{
    forget(f);
    g_clear_pointer(&f->sites, g_free);
    f->site_count = 0;
    f->sites_here = false;
    g_clear_pointer(&f->summary, g_free);
    g_clear_pointer(&f->search.text, g_free);
}

bool finder_wants(const struct finder *f) { return f->search.text && *f->search.text; }

bool finder_vain(const struct finder *f)
{
    return finder_wants(f) && f->summary && !f->running && !f->count;
}

static bool empty_of(const struct search_request *r)
{
    return !r->type_count && !r->line_count && !r->site_count && !*r->text;
}

static void take_found(void *user, const struct answer *answer);
static void take_near(void *user, const struct answer *answer);

/* The first one from where the search begins, which may be long before all are counted. */
static void ask_near(struct finder *f, const struct search_request *all)
{
    struct search_request r = *all;
    struct out body = {0};
    r.from = f->search.from;
    r.limit = 1;
    r.count = false;
    put_search_request(&body, &r);
    inquiry_ask(f->link, &f->nearing, ASK_SEARCH, &body, take_near, f);
}

static void ask(struct finder *f, const struct pattern *p)
{
    const struct finder_search *s = &f->search;
    struct search_request r = {.any = s->where == FINDER_ANYWHERE,
                               .count = true,
                               .expression = s->expression,
                               .limit = LIMIT_HITS,
                               .text = (char *)(guintptr) ""};
    struct out body = {0};
    if (r.any || s->where == FINDER_TYPES)
        add_types(f, p, &r);
    if (r.any || s->where == FINDER_LINES)
        add_lines(f, p, &r);
    if (r.any || s->where == FINDER_SITES)
        add_sites(f, p, &r);
    if (r.any || s->where == FINDER_TEXTS)
        r.text = s->text;
    if (empty_of(&r)) {
        sum_up(f, g_strdup("No hits"));
    } else {
        f->running = f->jump = true;
        put_search_request(&body, &r);
        inquiry_ask(f->link, &f->searching, ASK_SEARCH, &body, take_found, f);
        ask_near(f, &r);
    }
    g_free(r.types);
    g_free(r.lines);
    g_free(r.sites);
}

static void take_sites(void *user, const struct answer *answer);

static void start(struct finder *f)
{
    bool sites = f->search.where == FINDER_ANYWHERE || f->search.where == FINDER_SITES;
    struct pattern p;
    forget(f);
    sum_up(f, NULL);
    inquiry_cancel(f->link, &f->searching);
    inquiry_cancel(f->link, &f->nearing);
    if (!finder_wants(f) || !f->link->has_run)
        return;
    if (sites && !f->sites_here) {
        if (!inquiry_runs(f->link, &f->listing_sites))
            inquiry_ask(f->link, &f->listing_sites, ASK_SITES, NULL, take_sites, f);
        return; /* it goes on when they are here */
    }
    if (!begin_pattern(f, &p, f->search.text, f->search.expression))
        return;
    ask(f, &p);
    end_pattern(&p);
}

void finder_start(struct finder *f, const char *text, enum finder_where where, bool expression,
                  uint64_t from)
{
    char *copy = g_strdup(text);
    g_free(f->search.text);
    f->search = (struct finder_search){copy, where, expression, from};
    start(f);
    news_tell(f->news, NEWS_HITS);
}

static void take_sites(void *user, const struct answer *answer)
{
    struct finder *f = user;
    struct in *in = answer->in;
    if (answer->part != PART_SITES)
        return;
    uint32_t n = get_count(in, 12);
    g_free(f->sites);
    f->sites = g_new(struct asked_site, n + 1);
    for (f->site_count = 0; f->site_count < n; f->site_count++) {
        f->sites[f->site_count].process = get_u32(in);
        f->sites[f->site_count].address = get_u64(in);
    }
    f->sites_here = true;
    start(f);
    news_tell(f->news, NEWS_HITS);
}

/* ---- hits ---- */

static int by_ref(const void *a, const void *b)
{
    const struct ref *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static char *words_of(const struct finder *f)
{
    uint64_t all = f->link->count;
    if (f->running)
        return g_strdup_printf("%'llu hits, %.0f %% looked at…", (unsigned long long)f->count,
                               all ? 100.0 * (double)f->looked / (double)all : 0);
    if (!f->count)
        return g_strdup("No hits");
    return g_strdup_printf(f->count > f->hit_count ? "%'llu hits, the first %'u marked"
                                                   : "%'llu hits",
                           (unsigned long long)f->count, f->hit_count);
}

static void add_hits(struct finder *f, const struct shown_found *found)
{
    uint32_t n = f->hit_count + found->hit_count;
    f->hits = g_renew(struct ref, f->hits, n + 1);
    f->by_position = g_renew(struct ref, f->by_position, n + 1);
    f->positions = g_renew(uint64_t, f->positions, n + 1);
    for (uint32_t i = 0; i < found->hit_count; i++) {
        f->by_position[f->hit_count] = f->hits[f->hit_count] = found->hits[i].at;
        f->positions[f->hit_count++] = found->hits[i].position;
    }
    if (found->hit_count)
        qsort(f->hits, f->hit_count, sizeof *f->hits, by_ref);
    f->count = found->count;
    f->looked = found->looked;
    f->running = !found->done;
    sum_up(f, found->problem && *found->problem ? g_strdup(found->problem) : words_of(f));
    news_tell(f->news, NEWS_HITS);
}

static void take_near(void *user, const struct answer *answer)
{
    struct finder *f = user;
    struct shown_found found;
    if (answer->part != PART_FOUND)
        return;
    get_found(answer->in, &found);
    bool good = in_done(answer->in);
    if (good && found.hit_count && !f->near_known) {
        f->near = found.hits[0].at;
        f->near_position = found.hits[0].position;
        f->near_known = true;
    }
    f->near_known |= good && found.done;
    shown_found_free(&found);
    if (f->near_known)
        news_tell(f->news, NEWS_HITS);
}

static void take_found(void *user, const struct answer *answer)
{
    struct finder *f = user;
    struct shown_found found;
    if (answer->part != PART_FOUND) {
        f->running = false;
        return;
    }
    get_found(answer->in, &found);
    if (in_done(answer->in))
        add_hits(f, &found);
    shown_found_free(&found);
}

uint32_t finder_from(const struct finder *f, uint64_t position, int step)
{
    uint32_t i = 0;
    while (i < f->hit_count && f->positions[i] < position)
        i++;
    if (step < 0)
        i = i ? i - 1 : f->hit_count - 1;
    return i == f->hit_count ? 0 : i;
}
