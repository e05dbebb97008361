/* Table of the share of time that threads were in some functions: for each span between two of
 * their events, or for each of many pixels.
 *
 * Between two events only durations are known: the share is that of the whole span.  A wait belongs
 * to the calls in which it began.  Spans with unknown calls have no row.
 *
 * Options: "function", as "PROCESS:ADDRESS" in hexadecimal; "type", the name of a recorded call;
 * each may be given several times; "begin" and "end": the range, ns of the run, or positions by
 * "order"; "pixels": their number, by "time" and by "order". */
#include "base/alloc.h"
#include "server/queries/tables/table_query.h"
#include "server/run/activity_store.h"
#include "server/run/call_sites.h"
#include "wire/limits.h"
#include "wire/profile_region.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- filter for call paths ---- */

#define FUNCTION_PATHS_MAX 64u

/* Filter for call paths that contain all of the requested functions.  Zero-initialize it. */
struct function_paths {
    struct within_one {
        struct call_site_key key; /* of a function; unused if `type` is not NULL */
        const char *type; /* owned by the request */
    } ones[FUNCTION_PATHS_MAX];
    uint32_t count;
    /* by path number: bit i is set if ones[i] is on the path; 0 for path 0 */
    uint64_t *on;
    size_t known, room;
};

static bool function_paths_add(struct function_paths *w, const struct table_view *view,
                               const char *text)
{
    char *end;
    uint32_t process = (uint32_t)strtoul(text, &end, 16);
    uint64_t address = *end == ':' ? strtoull(end + 1, &end, 16) : 0;
    if (!address || *end)
        return false;
    w->ones[w->count++] = (struct within_one){.key = call_sites_key(view->run, process, address)};
    return true;
}

/* Returns false if a function of the request is malformed, or if it names none. */
static bool function_paths_begin(struct function_paths *w, const struct table_view *view)
{
    const struct table_request *r = view->request;
    bool good = true;
    for (uint32_t i = 0; i < r->option_count && w->count < FUNCTION_PATHS_MAX && good; i++) {
        if (strcmp(r->options[i].key, "function") == 0)
            good = function_paths_add(w, view, r->options[i].value);
        else if (strcmp(r->options[i].key, "type") == 0)
            w->ones[w->count++] = (struct within_one){.type = r->options[i].value};
    }
    return good && w->count;
}

static uint64_t function_paths_all(const struct function_paths *w)
{
    return w->count < 64 ? (UINT64_C(1) << w->count) - 1 : UINT64_MAX;
}

/* ---- call paths ---- */

static bool function_paths_matches(const struct table_view *view, const struct within_one *one,
                                   const struct activity_path *path)
{
    if (one->type)
        return path->scope == SCOPE_WAITED &&
               strcmp(run_type_name(view->run, path->type), one->type) == 0;
    if (path->scope != SCOPE_FUNCTION && path->scope != SCOPE_NAMED)
        return false;
    struct call_site_key key = call_sites_key(view->run, path->process, path->function);
    return key.space == one->key.space && key.offset == one->key.offset;
}

/* Returns the bits of a path. Computes all up to it, since a parent has a smaller number than its
 * children. */
static uint64_t function_paths_on(struct function_paths *w, const struct table_view *view,
                                  uint32_t path)
{
    w->on = array_reserve_zeroed(w->on, &w->room, (size_t)path + 1, sizeof *w->on);
    for (size_t p = w->known + 1; p <= path; p++) {
        const struct activity_path *is = activity_path(view->run, (uint32_t)p);
        w->on[p] = w->on[is->parent];
        for (uint32_t i = 0; i < w->count; i++)
            w->on[p] |= (uint64_t)function_paths_matches(view, &w->ones[i], is) << i;
    }
    w->known = path > w->known ? path : w->known;
    return w->on[path];
}

/* Returns 1 if all requested functions are on the call path of a code segment, 0 if not, -1 if its
 * calls are unknown. */
static int function_paths_step(struct function_paths *w, const struct table_view *view,
                               uint32_t code)
{
    const struct code_segments *steps = &view->measured->steps;
    if (!code || code > steps->count || code_segments_at(steps, code).is != STEP_CALLS)
        return -1;
    return function_paths_on(w, view, code_segments_at(steps, code).from) == function_paths_all(w);
}

/* Does the same for the call path at an event, to which the event's own type is added. */
static int function_paths_event(struct function_paths *w, const struct table_view *view,
                                uint64_t position)
{
    const struct run *run = view->run;
    struct order_event e = order_event(run->order, position);
    const struct site *site = site_table_at(&run->sites, e.site);
    uint32_t path = site && site->thread ? activity_path_of(run, site->thread, site->context)
                                         : ACTIVITY_NO_PATH;
    if (path == ACTIVITY_NO_PATH)
        return -1;
    uint64_t on = function_paths_on(w, view, path);
    for (uint32_t i = 0; i < w->count; i++)
        if (w->ones[i].type && strcmp(run_type_name(run, e.type), w->ones[i].type) == 0)
            on |= UINT64_C(1) << i;
    return on == function_paths_all(w);
}

static void function_paths_free(struct function_paths *w)
{
    free(w->on);
    *w = (struct function_paths){0};
}

/* ---- the table ---- */

enum { BY_EVENT, BY_TIME, BY_ORDER };

enum function_time_column { THREAD, FROM, UNTIL, SHARE, UNTIL_EVENT, COLUMNS };

static const struct column_definition function_time_columns[COLUMNS] = {
    [THREAD] = {"thread", .kind = TABLE_LINE, .source = "regions"},
    [FROM] = {"from", .kind = TABLE_COUNT, .source = "regions"},
    [UNTIL] = {"until", .kind = TABLE_COUNT, .source = "regions"},
    [SHARE] = {"share", .kind = TABLE_SHARE, .source = "regions"},
    [UNTIL_EVENT] = {"until_event", "until", .kind = TABLE_EVENT, .source = "regions"},
};

/* A span of a thread between two events, or between two pixels. */
struct function_stretch {
    double from, to; /* ns; positions if by order */
    uint64_t begin, end; /* positions of its events, or NO_POSITION */
    double share; /* of the time in the functions; negative: not known */
};

struct function_time_work {
    const struct table_view *view;
    struct function_paths within;
    unsigned by;
    double from, to;
    uint32_t pixels;
    uint32_t thread; /* index of the current thread */
    size_t item; /* 1 + index of its next interval; 0: not begun */
    struct function_stretch last; /* its last span, which is not added yet; to <= from: none */
    float *shares; /* by pixel, of the current thread */
    bool full;
    double inside, known; /* time in the functions, and time for which that is known */
    struct result_table made;
};

/* ---- the request ---- */

#define MOST 1e19

static double function_time_option(const struct table_view *view, const char *key, double otherwise)
{
    const char *value = table_option(view->request, key);
    return value ? strtod(value, NULL) : otherwise;
}

static void add_columns(struct function_time_work *w)
{
    struct column_definition columns[COLUMNS];
    memcpy(columns, function_time_columns, sizeof columns);
    if (w->by == BY_EVENT)
        columns[FROM].kind = columns[UNTIL].kind = TABLE_NS;
    w->made.title = xstrdup("time in a function");
    table_add_columns(&w->made, columns, COLUMNS);
}

static void *function_time_begin(const struct table_view *view, struct error *error)
{
    double from = function_time_option(view, "begin", -MOST),
           to = function_time_option(view, "end", MOST),
           pixels = function_time_option(view, "pixels", 0);
    struct function_time_work *w = xcalloc(1, sizeof *w);
    w->by = strcmp(view->request->by, "time") == 0    ? BY_TIME
            : strcmp(view->request->by, "order") == 0 ? BY_ORDER
                                                      : BY_EVENT;
    if (!function_paths_begin(&w->within, view))
        error_set(error, "inside: the request names no function");
    else if (!(from >= -MOST && to <= MOST && from < to) ||
             (w->by && !(pixels >= 1 && pixels <= LIMIT_PIXELS)))
        error_set(error, "inside: the request has no valid range");
    if (*error->text) {
        free(w);
        return NULL;
    }
    w->view = view;
    w->from = from;
    w->to = to;
    w->pixels = w->by ? (uint32_t)pixels : 0;
    w->shares = xcalloc(w->pixels + 1, sizeof *w->shares);
    add_columns(w);
    return w;
}

/* ---- rows ---- */

static void add_row(struct function_time_work *w, uint32_t line, double from, double until,
                    double share, struct event_id begins, struct event_id ends)
{
    struct table_cell *cells = w->full ? NULL : table_add_row(&w->made, 0, begins);
    w->full |= !cells;
    if (!cells)
        return;
    cells[THREAD] = table_cell_line(line);
    cells[FROM] = table_cell_number((int64_t)from);
    cells[UNTIL] = table_cell_number((int64_t)until);
    cells[SHARE] = table_cell_real(share);
    cells[UNTIL_EVENT] = table_cell_event(ends);
    table_row_line(&w->made, line);
}

static uint32_t thread_line(const struct function_time_work *w)
{
    return w->view->measured->threads[w->thread].thread;
}

static void add_pixels(struct function_time_work *w, const struct function_stretch *s)
{
    double scale = w->pixels / (w->to - w->from), a = (s->from - w->from) * scale,
           b = (s->to - w->from) * scale;
    a = a > 0 ? a : 0;
    b = b < w->pixels ? b : w->pixels;
    for (uint32_t x = (uint32_t)a; x < w->pixels && x < b; x++)
        w->shares[x] += (float)(s->share * ((b < x + 1 ? b : x + 1) - (a > x ? a : x)));
}

static void function_time_emit_last(struct function_time_work *w)
{
    struct function_stretch *s = &w->last;
    if (s->to <= s->from || s->share <= 0)
        return;
    if (w->by)
        add_pixels(w, s);
    else
        add_row(w, thread_line(w), s->from, s->to, s->share, table_event(w->view, s->begin),
                table_event(w->view, s->end));
}

/* Adds a span, merged with the previous one if their shares are equal. */
static void function_time_add_stretch(struct function_time_work *w,
                                      const struct function_stretch *s)
{
    if (s->to <= w->from || s->from >= w->to || s->to <= s->from)
        return;
    if (s->share >= 0) {
        double part = (s->to < w->to ? s->to : w->to) - (s->from > w->from ? s->from : w->from);
        w->known += part;
        w->inside += part * s->share;
    }
    if (w->last.to == s->from && w->last.to > w->last.from && w->last.share == s->share) {
        w->last.to = s->to;
        w->last.end = s->end;
        return;
    }
    function_time_emit_last(w);
    w->last = *s;
}

/* Returns a share in 1/255, as in state bands: successive pixels with the same one form a row. */
static unsigned function_time_quantize_share(float share)
{
    double of = round(255.0 * (double)share);
    return of < 0 ? 0 : of > 255 ? 255 : (unsigned)of;
}

static void function_time_emit_pixels(struct function_time_work *w)
{
    for (uint32_t i = 0, end; i < w->pixels; i = end) {
        for (end = i + 1; end < w->pixels && function_time_quantize_share(w->shares[end]) ==
                                                 function_time_quantize_share(w->shares[i]);)
            end++;
        if (function_time_quantize_share(w->shares[i]))
            add_row(w, thread_line(w), i, end, function_time_quantize_share(w->shares[i]) / 255.0,
                    (struct event_id){0}, (struct event_id){0});
    }
    memset(w->shares, 0, w->pixels * sizeof *w->shares);
}

/* ---- activities of a thread ---- */

static const struct wait_record *wait_of(const struct function_time_work *w,
                                         const struct interval *in)
{
    const struct intervals *all = w->view->measured;
    return in->is == INTERVAL_RUNS      ? NULL
           : in->is == INTERVAL_SEGMENT ? &all->waits[all->segments[in->of].wait]
                                        : &all->waits[in->of];
}

static uint64_t end_of(const struct function_time_work *w, const struct thread_timeline *c,
                       size_t i)
{
    const struct wait_record *wait = wait_of(w, &c->items[i]);
    return wait ? wait->end : c->items[i].position;
}

/* Returns the index after the intervals that form one span with interval i: those of one wait,
 * or those up to one event. */
static size_t stretch_end(const struct function_time_work *w, const struct thread_timeline *c,
                          size_t i)
{
    const struct wait_record *wait = wait_of(w, &c->items[i]);
    size_t end = i + 1;
    while (end < c->count && wait_of(w, &c->items[end]) == wait &&
           (wait || c->items[end].position == c->items[i].position))
        end++;
    return end;
}

static double share_of(struct function_time_work *w, const struct thread_timeline *c, size_t first,
                       size_t end)
{
    const struct wait_record *wait = wait_of(w, &c->items[first]);
    double in = 0, all = 0;
    if (wait)
        return function_paths_event(&w->within, w->view, wait->begin);
    for (size_t i = first; i < end; i++) {
        double ns = (double)(c->items[i].to_ns - interval_begin(c, i));
        int is = function_paths_step(&w->within, w->view, c->items[i].step);
        if (is < 0)
            return -1;
        in += is * ns;
        all += ns;
    }
    return all > 0 ? in / all : -1;
}

static size_t add_stretch(struct function_time_work *w, const struct thread_timeline *c, size_t i)
{
    size_t end = stretch_end(w, c, i);
    struct function_stretch s = {.begin = i ? end_of(w, c, i - 1) : c->start,
                                 .end = end_of(w, c, i)};
    s.from = w->by == BY_ORDER ? (double)s.begin : (double)interval_begin(c, i);
    s.to = w->by == BY_ORDER ? (double)s.end : (double)c->items[end - 1].to_ns;
    if (s.begin == NO_POSITION || s.end == NO_POSITION || s.to <= w->from || s.from >= w->to)
        return end;
    s.share = share_of(w, c, i, end);
    function_time_add_stretch(w, &s);
    return end;
}

/* Adds the thread's wait that has not ended, if there is one. */
static void add_open(struct function_time_work *w, const struct thread_timeline *c)
{
    const struct lifetimes *lives = &w->view->lives;
    int64_t from, to;
    for (size_t i = 0; i < lives->open_count; i++) {
        const struct wait_record *wait = &lives->open[i];
        if (wait->thread != c->thread || !thread_states_lifetime(lives, c, &from, &to))
            continue;
        struct function_stretch s = {.begin = wait->begin, .end = NO_POSITION};
        s.from = w->by == BY_ORDER ? (double)wait->begin : (double)wait->from_ns;
        s.to = w->by == BY_ORDER ? (double)order_count(w->view->run->order) : (double)to;
        s.share = function_paths_event(&w->within, w->view, wait->begin);
        function_time_add_stretch(w, &s);
    }
}

static void end_thread(struct function_time_work *w, const struct thread_timeline *c)
{
    add_open(w, c);
    function_time_emit_last(w);
    w->last = (struct function_stretch){0};
    if (w->by)
        function_time_emit_pixels(w);
    w->thread++;
    w->item = 0;
}

/* Returns the index of the first interval to add: by time, earlier ones can be skipped. */
static size_t first_of(const struct function_time_work *w, const struct thread_timeline *c)
{
    size_t i = w->by == BY_ORDER || w->from < -9e18 ? 0 : intervals_at(c, (int64_t)w->from);
    const struct wait_record *wait = i < c->count ? wait_of(w, &c->items[i]) : NULL;
    while (i && i < c->count && wait_of(w, &c->items[i - 1]) == wait &&
           (wait || c->items[i - 1].position == c->items[i].position))
        i--;
    return i;
}

static bool function_time_step(void *work, uint64_t *budget)
{
    struct function_time_work *w = work;
    for (; w->thread < w->view->measured->thread_count;) {
        const struct thread_timeline *c = &w->view->measured->threads[w->thread];
        if (!table_wants(w->view, c->thread)) {
            w->thread++;
            continue;
        }
        if (!w->item)
            w->item = 1 + first_of(w, c);
        while (w->item <= c->count && *budget &&
               (w->by == BY_ORDER || (double)interval_begin(c, w->item - 1) < w->to)) {
            w->item = 1 + add_stretch(w, c, w->item - 1);
            --*budget;
        }
        if (!*budget)
            return false;
        end_thread(w, c);
        --*budget;
    }
    return true;
}

/* ---- table ---- */

static void function_time_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct function_time_work *w = work;
    if (w->known > 0)
        table_make_total(&w->made)[3] = table_cell_real(w->inside / w->known);
    if (w->full)
        table_add_note(&w->made, "too many rows; narrow the selection (--threads, --from, --to)");
    table_move(t, &w->made);
    table_arrange(t, view->request, NULL);
}

static void free_work(void *work)
{
    struct function_time_work *w = work;
    function_paths_free(&w->within);
    result_table_free(&w->made);
    free(w->shares);
    free(w);
}

static const char *const function_time_groupings[] = {"event", "time", "order", NULL};

const struct table_preset preset_function_time = {.what = "function_time",
                                                  .by = function_time_groupings,
                                                  .begin = function_time_begin,
                                                  .step = function_time_step,
                                                  .fill = function_time_fill,
                                                  .free = free_work};
