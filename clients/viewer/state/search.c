#define PCRE2_CODE_UNIT_WIDTH 8
#include "clients/viewer/state/search.h"

#include "clients/viewer/state/pattern_hits.h"
#include "clients/viewer/state/server_link.h"
#include "wire/query_results.h"
#include "wire/limits.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

/* Takes ownership of text. */
static void search_update_summary(struct viewer_search *f, char *text)
{
    g_free(f->summary);
    f->summary = text;
}

/* ---- matching of names ---- */

struct search_pattern {
    const char *plain;
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *limits;
};

static bool begin_pattern(struct viewer_search *f, struct search_pattern *p, const char *text,
                          bool expression)
{
    int error;
    PCRE2_SIZE at;
    PCRE2_UCHAR why[200];
    *p = (struct search_pattern){.plain = text};
    if (!expression)
        return true;
    p->code =
        pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
                      PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_CASELESS, &error, &at, NULL);
    if (!p->code) {
        pcre2_get_error_message(error, why, sizeof why);
        search_update_summary(f, g_strdup_printf("At character %zu: %s", at + 1, (char *)why));
        return false;
    }
    p->match = pcre2_match_data_create(1, NULL);
    p->limits = pcre2_match_context_create(NULL);
    pcre2_set_match_limit(p->limits, 100000);
    return true;
}

static void end_pattern(struct search_pattern *p)
{
    pcre2_code_free(p->code);
    pcre2_match_data_free(p->match);
    pcre2_match_context_free(p->limits);
}

static bool search_pattern_matches(const struct search_pattern *p, const char *text)
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

static void add_types(struct viewer_search *f, const struct search_pattern *p,
                      struct search_request *r)
{
    const struct trace_metadata *book = server_link_metadata(f->link);
    r->types = g_new(uint32_t, book->type_count + 1);
    for (uint32_t i = 1; i <= book->type_count; i++)
        if (search_pattern_matches(p, metadata_type_name(book, i)))
            r->types[r->type_count++] = i;
}

static void add_lines(struct viewer_search *f, const struct search_pattern *p,
                      struct search_request *r)
{
    const struct trace_metadata *book = server_link_metadata(f->link);
    r->lines = g_new(uint32_t, book->line_count + 1);
    for (uint32_t i = 1; i <= book->line_count; i++)
        if (metadata_line(book, i) && search_pattern_matches(p, metadata_label(book, i)))
            r->lines[r->line_count++] = i;
}

static void add_sites(struct viewer_search *f, const struct search_pattern *p,
                      struct search_request *r)
{
    r->sites = g_new(struct search_site, f->site_count + 1);
    for (uint32_t i = 0; i < f->site_count; i++) {
        struct symbol_location site =
            symbolize(f->link->sites, f->sites[i].process, f->sites[i].address);
        char *words = g_strdup_printf("%s %s", site.function, site.place);
        if (search_pattern_matches(p, words))
            r->sites[r->site_count++] = f->sites[i];
        g_free(words);
    }
}

/* ---- requests ---- */

static void search_reset_hits(struct viewer_search *f)
{
    g_clear_pointer(&f->hits, g_free);
    g_clear_pointer(&f->positions, g_free);
    g_clear_pointer(&f->by_position, g_free);
    f->hit_count = 0;
    f->count = f->looked = 0;
    f->running = f->near_known = f->jump = false;
    f->near = (struct event_id){0, 0};
    result_table_free(&f->matches);
}

void search_clear(struct viewer_search *f)
{
    search_reset_hits(f);
    g_clear_pointer(&f->sites, g_free);
    f->site_count = 0;
    f->sites_here = false;
    g_clear_pointer(&f->summary, g_free);
    g_clear_pointer(&f->search.text, g_free);
}

bool search_is_active(const struct viewer_search *f) { return f->search.text && *f->search.text; }

bool search_found_nothing(const struct viewer_search *f)
{
    return search_is_active(f) && f->summary && !f->running && !f->count;
}

static bool empty_of(const struct search_request *r)
{
    return !r->type_count && !r->line_count && !r->site_count && !*r->text;
}

static void search_receive_hits(void *user, const struct response_chunk *answer);
static void search_receive_nearest(void *user, const struct response_chunk *answer);

/* Requests the first hit from the start of the search: it is known long before all are counted. */
static void search_request_nearest(struct viewer_search *f, const struct search_request *all)
{
    struct search_request r = *all;
    struct encoder body = {0};
    r.from = f->search.from;
    r.limit = 1;
    r.count = false;
    encode_search_request(&body, &r);
    request_slot_send(f->link, &f->nearing, REQUEST_SEARCH, &body, search_receive_nearest, f);
}

static void search_send_request(struct viewer_search *f, const struct search_pattern *p)
{
    const struct search_query *s = &f->search;
    struct search_request r = {.any = s->where == SEARCH_ANYWHERE,
                               .count = true,
                               .expression = s->expression,
                               .limit = LIMIT_HITS,
                               .text = (char *)(guintptr) ""};
    struct encoder body = {0};
    if (r.any || s->where == SEARCH_TYPES)
        add_types(f, p, &r);
    if (r.any || s->where == SEARCH_LINES)
        add_lines(f, p, &r);
    if (r.any || s->where == SEARCH_SITES)
        add_sites(f, p, &r);
    if (r.any || s->where == SEARCH_TEXTS)
        r.text = s->text;
    if (empty_of(&r)) {
        search_update_summary(f, g_strdup("No matches"));
    } else {
        f->running = f->jump = true;
        encode_search_request(&body, &r);
        request_slot_send(f->link, &f->searching, REQUEST_SEARCH, &body, search_receive_hits, f);
        search_request_nearest(f, &r);
    }
    g_free(r.types);
    g_free(r.lines);
    g_free(r.sites);
}

static void search_receive_sites(void *user, const struct response_chunk *answer);
static void search_receive_matches(void *user, const struct response_chunk *answer);

/* Returns whether the text is a pattern of events, which is searched for anywhere. */
static bool search_is_for_pattern(const struct viewer_search *f)
{
    return f->search.where == SEARCH_ANYWHERE && !f->search.expression &&
           pattern_hits_is_pattern(f->search.text, server_link_metadata(f->link));
}

static void search_send_pattern(struct viewer_search *f)
{
    struct encoder body = {0};
    char *error;
    pattern_hits_encode(&body, f->search.text, server_link_metadata(f->link), f->link->sites,
                        f->sites, f->site_count, &error);
    if (error) {
        search_update_summary(f, error);
        return;
    }
    f->running = f->jump = true;
    request_slot_send(f->link, &f->searching, REQUEST_TABLE, &body, search_receive_matches, f);
}

static void search_restart(struct viewer_search *f)
{
    bool sites = f->search.where == SEARCH_ANYWHERE || f->search.where == SEARCH_SITES;
    struct search_pattern p;
    search_reset_hits(f);
    search_update_summary(f, NULL);
    request_slot_cancel(f->link, &f->searching);
    request_slot_cancel(f->link, &f->nearing);
    if (!search_is_active(f) || !f->link->has_run)
        return;
    if (sites && !f->sites_here) {
        if (!request_slot_is_running(f->link, &f->listing_sites))
            request_slot_send(f->link, &f->listing_sites, REQUEST_SITES, NULL, search_receive_sites,
                              f);
        return; /* the search continues when they arrive */
    }
    if (search_is_for_pattern(f)) {
        search_send_pattern(f);
        return;
    }
    if (!begin_pattern(f, &p, f->search.text, f->search.expression))
        return;
    search_send_request(f, &p);
    end_pattern(&p);
}

void search_start(struct viewer_search *f, const char *text, enum search_scope where,
                  bool expression, uint64_t from)
{
    char *copy = g_strdup(text);
    g_free(f->search.text);
    f->search = (struct search_query){copy, where, expression, from};
    search_restart(f);
    notifier_emit(f->notifier, NOTIFY_HITS);
}

static void search_receive_sites(void *user, const struct response_chunk *answer)
{
    struct viewer_search *f = user;
    struct decoder *in = answer->in;
    if (answer->part != RESPONSE_SITES)
        return;
    uint32_t n = decode_count(in, 12);
    g_free(f->sites);
    f->sites = g_new(struct search_site, n + 1);
    for (f->site_count = 0; f->site_count < n; f->site_count++) {
        f->sites[f->site_count].process = decode_u32(in);
        f->sites[f->site_count].address = decode_u64(in);
    }
    f->sites_here = true;
    search_restart(f);
    notifier_emit(f->notifier, NOTIFY_HITS);
}

/* ---- hits ---- */

static int search_compare_ref(const void *a, const void *b)
{
    const struct event_id *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static char *search_progress_text(const struct viewer_search *f)
{
    uint64_t all = f->link->count;
    if (f->running)
        return g_strdup_printf("%'llu matches, %.0f %% searched…", (unsigned long long)f->count,
                               all ? 100.0 * (double)f->looked / (double)all : 0);
    if (!f->count)
        return g_strdup("No matches");
    return g_strdup_printf(f->count > f->hit_count ? "%'llu matches (first %'u marked)"
                                                   : "%'llu matches",
                           (unsigned long long)f->count, f->hit_count);
}

static void add_hits(struct viewer_search *f, const struct search_result *found)
{
    uint32_t n = f->hit_count + found->hit_count;
    f->hits = g_renew(struct event_id, f->hits, n + 1);
    f->by_position = g_renew(struct event_id, f->by_position, n + 1);
    f->positions = g_renew(uint64_t, f->positions, n + 1);
    for (uint32_t i = 0; i < found->hit_count; i++) {
        f->by_position[f->hit_count] = f->hits[f->hit_count] = found->hits[i].at;
        f->positions[f->hit_count++] = found->hits[i].position;
    }
    if (found->hit_count)
        qsort(f->hits, f->hit_count, sizeof *f->hits, search_compare_ref);
    f->count = found->count;
    f->looked = found->looked;
    f->running = !found->done;
    search_update_summary(f, found->problem && *found->problem ? g_strdup(found->problem)
                                                               : search_progress_text(f));
    notifier_emit(f->notifier, NOTIFY_HITS);
}

static void search_receive_nearest(void *user, const struct response_chunk *answer)
{
    struct viewer_search *f = user;
    struct search_result found;
    if (answer->part != RESPONSE_FOUND)
        return;
    decode_search_result(answer->in, &found);
    bool good = decoder_finish(answer->in);
    if (good && found.hit_count && !f->near_known) {
        f->near = found.hits[0].at;
        f->near_position = found.hits[0].position;
        f->near_known = true;
    }
    f->near_known |= good && found.done;
    search_result_free(&found);
    if (f->near_known)
        notifier_emit(f->notifier, NOTIFY_HITS);
}

static void search_receive_hits(void *user, const struct response_chunk *answer)
{
    struct viewer_search *f = user;
    struct search_result found;
    if (answer->part != RESPONSE_FOUND) {
        f->running = false;
        return;
    }
    decode_search_result(answer->in, &found);
    if (decoder_finish(answer->in))
        add_hits(f, &found);
    search_result_free(&found);
}

/* The first event from the start of the search on is the nearest one. */
static void search_find_nearest(struct viewer_search *f)
{
    uint32_t i = 0;
    while (i < f->hit_count && f->positions[i] < f->search.from)
        i++;
    f->near_known = true;
    if (i == f->hit_count)
        return;
    f->near = f->by_position[i];
    f->near_position = f->positions[i];
}

static void search_receive_matches(void *user, const struct response_chunk *answer)
{
    struct viewer_search *f = user;
    struct search_result found;
    uint64_t matches;
    if (!result_table_receive(&f->matches, answer)) {
        f->looked = f->matches.known;
        return;
    }
    if (f->matches.problem) {
        f->running = false;
        search_update_summary(f, g_strdup(f->matches.problem));
        notifier_emit(f->notifier, NOTIFY_HITS);
        return;
    }
    pattern_hits_read(&f->matches, &found, &matches);
    add_hits(f, &found);
    search_find_nearest(f);
    if (matches)
        search_update_summary(f, g_strdup_printf("%'llu matches of the pattern (%'u events)",
                                                 (unsigned long long)matches, f->hit_count));
    search_result_free(&found);
    notifier_emit(f->notifier, NOTIFY_HITS);
}

uint32_t search_hit_from(const struct viewer_search *f, uint64_t position, int step)
{
    uint32_t i = 0;
    while (i < f->hit_count && f->positions[i] < position)
        i++;
    if (step < 0)
        i = i ? i - 1 : f->hit_count - 1;
    return i == f->hit_count ? 0 : i;
}
