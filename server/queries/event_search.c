/* Searching the events of a run.  The expressions are those of PCRE2, under its limits on matching
 * and memory. */
#define PCRE2_CODE_UNIT_WIDTH 8
#define _GNU_SOURCE
#include "server/queries/request_queue.h"

#include "base/alloc.h"
#include "server/eventloop/event_loop.h"
#include "server/queries/referenced_lines.h"
#include "wire/query_results.h"
#include "wire/request.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#define MATCH_STEPS 10000u /* matching steps for one text: a millisecond at most */
#define MATCH_DEPTH 1000u
#define MATCH_KIB 1024u
#define STEP_NS 3000000u /* maximum duration of a step, however costly the expression is */
#define TELL_EVERY 2000000u /* events between progress messages */

struct event_search_job {
    const struct run *run;
    struct search_request request;
    pcre2_code *expression;
    pcre2_match_data *match;
    pcre2_match_context *limits;
    uint8_t *types, *lines; /* by number: whether it is requested */
    uint32_t type_room, line_room;
    uint64_t at, end; /* positions; a search backwards counts `at` down to `end` */
    uint64_t reported_at; /* events visited at the last progress message */
    uint32_t sent; /* number of events sent */
    struct search_result found;
    size_t hit_room;
    bool finished;
    uint64_t costly; /* number of texts at which the expression ran into its limits */
    struct loop_share share;
    const struct run_text
        *resume; /* the next text of the event at which the last step ended; NULL: its first */
    bool later; /* the current event has texts left for the next step */
};

/* ---- the conditions ---- */

static uint8_t *set_of(const uint32_t *numbers, uint32_t count, uint32_t *room)
{
    *room = 0;
    for (uint32_t i = 0; i < count; i++)
        if (numbers[i] >= *room && numbers[i] < LIMIT_LINES)
            *room = numbers[i] + 1;
    uint8_t *set = xcalloc(*room + 1, 1);
    for (uint32_t i = 0; i < count; i++)
        if (numbers[i] < *room)
            set[numbers[i]] = 1;
    return set;
}

static int by_site(const void *a, const void *b)
{
    const struct search_site *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

static bool event_search_compile_pattern(struct event_search_job *job)
{
    int code;
    PCRE2_SIZE where;
    PCRE2_UCHAR why[200];
    if (!job->request.expression || !*job->request.text)
        return true;
    job->expression =
        pcre2_compile((PCRE2_SPTR)job->request.text, PCRE2_ZERO_TERMINATED,
                      PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_CASELESS, &code, &where, NULL);
    if (!job->expression) {
        pcre2_get_error_message(code, why, sizeof why);
        job->found.problem = xasprintf("at character %zu: %s", where + 1, (char *)why);
        return false;
    }
    job->match = pcre2_match_data_create(1, NULL);
    job->limits = pcre2_match_context_create(NULL);
    if (!job->match || !job->limits)
        out_of_memory(sizeof *job);
    pcre2_set_match_limit(job->limits, MATCH_STEPS);
    pcre2_set_depth_limit(job->limits, MATCH_DEPTH);
    pcre2_set_heap_limit(job->limits, MATCH_KIB);
    return true;
}

static bool text_matches(struct event_search_job *job, const char *text)
{
    if (!job->expression)
        return strcasestr(text, job->request.text) != NULL;
    int found = pcre2_match(job->expression, (PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, 0,
                            job->match, job->limits);
    job->costly += found == PCRE2_ERROR_MATCHLIMIT || found == PCRE2_ERROR_DEPTHLIMIT ||
                   found == PCRE2_ERROR_HEAPLIMIT;
    return found >= 0;
}

/* Returns whether a text of the event matches.  Matching can be costly, and an event can have
 * many texts, so it stops after some time and sets `later`. */
static bool has_text(struct event_search_job *job, struct event_id at)
{
    const struct run_text *t = job->resume ? job->resume : run_texts(job->run, at);
    job->resume = NULL;
    for (; t; t = t->next) {
        if (text_matches(job, t->text))
            return true;
        if (t->next && !loop_share_left(job->share)) {
            job->resume = t->next;
            job->later = true;
            return false;
        }
    }
    return false;
}

static bool has_site(const struct event_search_job *job, const struct order_event *e)
{
    const struct site *known = site_table_at(&job->run->sites, e->site);
    if (!known)
        return false;
    struct search_site site = {known->process, known->address};
    return bsearch(&site, job->request.sites, job->request.site_count, sizeof site, by_site) !=
           NULL;
}

/* Returns whether the event meets each condition (or, with `any`, one of them). */
static bool event_search_matches(struct event_search_job *job, const struct order_event *e)
{
    const struct search_request *r = &job->request;
    bool any = r->any;
    if (r->type_count && (e->type < job->type_room && job->types[e->type]) == any)
        return any;
    if (r->line_count && (e->line < job->line_room && job->lines[e->line]) == any)
        return any;
    if (r->site_count && has_site(job, e) == any)
        return any;
    if (*r->text && has_text(job, (struct event_id){e->line, e->number}) == any)
        return any;
    return !any;
}

/* ---- the job ---- */

/* Takes ownership of the request.  An invalid expression is reported in the response. */
static struct event_search_job *finding_begin(const struct run *run, struct search_request *request)
{
    struct event_search_job *job = xcalloc(1, sizeof *job);
    *job = (struct event_search_job){.run = run, .request = *request};
    *request = (struct search_request){0};
    struct search_request *r = &job->request;
    uint64_t first = order_first(run->order), count = order_count(run->order);
    uint64_t from = r->from < first ? first : r->from > count ? count : r->from;
    job->at = from;
    job->end = r->backwards ? first : count;
    job->types = set_of(r->types, r->type_count, &job->type_room);
    job->lines = set_of(r->lines, r->line_count, &job->line_room);
    if (r->site_count)
        qsort(r->sites, r->site_count, sizeof *r->sites, by_site);
    job->finished = !event_search_compile_pattern(job);
    return job;
}

static void event_search_add_hit(struct event_search_job *job, const struct order_event *e,
                                 uint64_t position)
{
    struct search_result *f = &job->found;
    f->count++;
    if (job->sent >= job->request.limit)
        return;
    f->hits = array_reserve(f->hits, &job->hit_room, f->hit_count + 1, sizeof *f->hits);
    f->hits[f->hit_count++] = (struct search_hit){{e->line, e->number}, position};
    job->sent++;
}

static bool finding_step(void *p, uint64_t budget)
{
    struct event_search_job *job = p;
    bool backwards = job->request.backwards;
    uint64_t first = order_first(job->run->order);
    if (job->at < first) { /* discarded meanwhile */
        job->at = backwards ? job->end : first;
        job->resume = NULL;
    }
    job->share = loop_share_new(STEP_NS);
    for (; budget && job->at != job->end && !job->finished && loop_share_left(job->share);
         budget--) {
        uint64_t position = backwards ? job->at - 1 : job->at;
        struct order_event e = order_event(job->run->order, position);
        job->later = false;
        bool good = e.line && !(e.line & HIDDEN_LINE) && event_search_matches(job, &e);
        if (job->later) /* the next step matches its other texts */
            break;
        job->at = backwards ? job->at - 1 : job->at + 1;
        job->found.looked++;
        if (!good)
            continue;
        event_search_add_hit(job, &e, position);
        job->finished = job->sent >= job->request.limit && !job->request.count;
    }
    job->finished |= job->at == job->end;
    bool enough = job->sent >= job->request.limit && job->sent == job->found.hit_count && job->sent;
    return job->finished || enough || job->found.looked - job->reported_at >= TELL_EVERY;
}

static bool finding_put(void *p, struct response *reply)
{
    struct event_search_job *job = p;
    job->found.done = job->finished;
    if (job->finished && job->costly && !job->found.problem)
        job->found.problem =
            xasprintf("the expression is too costly for %llu text%s, which may match or not",
                      (unsigned long long)job->costly, job->costly == 1 ? "" : "s");
    job->reported_at = job->found.looked;
    for (uint32_t i = 0; i < job->found.hit_count; i++)
        referenced_lines_note(job->found.hits[i].at.line);
    response_chunk_begin(reply, RESPONSE_FOUND);
    encode_search_result(reply->out, &job->found);
    response_chunk_end(reply);
    job->found.hit_count = 0;
    return job->finished;
}

static void finding_free(void *p)
{
    struct event_search_job *job = p;
    pcre2_code_free(job->expression);
    pcre2_match_data_free(job->match);
    pcre2_match_context_free(job->limits);
    search_request_free(&job->request);
    search_result_free(&job->found);
    free(job->types);
    free(job->lines);
    free(job);
}

static void *event_search_begin(struct request_queue *queue, struct decoder *in)
{
    struct search_request request;
    decode_search_request(in, &request);
    struct event_search_job *job = decoder_finish(in) ? finding_begin(queue->run, &request) : NULL;
    search_request_free(&request);
    return job;
}

const struct query query_search = {.begin = event_search_begin,
                                   .step = finding_step,
                                   .put = finding_put,
                                   .free = finding_free,
                                   .most = LIMIT_SEARCHES};
