#define PCRE2_CODE_UNIT_WIDTH 8
#include "server/queries/pattern_search.h"

#include "base/alloc.h"
#include "config/description_values.h"
#include "server/run/call_sites.h"
#include "server/run/event_times.h"
#include "server/run/untraced_reasons.h"

#include <inttypes.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN_SEARCH_READ 256u /* events read at once */
#define PATTERN_SEARCH_MATCH_STEPS 10000u /* steps of a regular expression for one text */
#define PATTERN_SEARCH_MATCH_KIB 1024u
#define PATTERN_SEARCH_MATCH_COST 50u /* of one, in events */
#define PATTERN_SEARCH_NEAR_MAX 64u /* length of names for which a similar one is suggested */
#define PATTERN_SEARCH_NO_TYPE "no event of this run or its descriptions has the type \"%s\""

struct pattern_test_state {
    pcre2_code *expression; /* NULL: it is compared */
    pcre2_match_data *match;
    pcre2_match_context *limits;
    uint64_t *numbers; /* of lines, or addresses of places by process; sorted */
    uint32_t number_count;
};

/* ---- conditions ---- */

static int pattern_search_by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* A place as one number: processes and addresses of one run have few enough bits. */
static uint64_t pattern_search_place(uint32_t process, uint64_t address)
{
    return (uint64_t)process * 0x9e3779b97f4a7c15u ^ address;
}

/* Reads "17|18", or "2:4096|2:8192" for places; returns false if it is something else. */
static bool pattern_search_read_numbers(struct pattern_test_state *test, const char *value,
                                        bool places)
{
    char *end;
    for (const char *at = value;; at = end + 1) {
        uint64_t number = strtoull(at, &end, 10);
        if (end == at || *at < '0' || *at > '9')
            return false;
        if (places) {
            if (*end != ':' || end[1] < '0' || end[1] > '9')
                return false;
            number = pattern_search_place((uint32_t)number, strtoull(end + 1, &end, 10));
        }
        ARRAY_PUSH(test->numbers, test->number_count, number);
        if (*end != '|')
            break;
    }
    qsort(test->numbers, test->number_count, sizeof *test->numbers, pattern_search_by_number);
    return *end == 0;
}

static bool pattern_search_compile(struct pattern_test_state *test,
                                   const struct pattern_condition *c, struct error *error)
{
    int code;
    PCRE2_SIZE where;
    PCRE2_UCHAR why[120];
    test->expression = pcre2_compile((PCRE2_SPTR)c->value, PCRE2_ZERO_TERMINATED,
                                     PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &code, &where, NULL);
    if (!test->expression) {
        pcre2_get_error_message(code, why, sizeof why);
        error_set(error, "pattern: column %" PRIu32 ": regular expression: %s", c->column,
                  (char *)why);
        return false;
    }
    test->match = pcre2_match_data_create(1, NULL);
    test->limits = pcre2_match_context_create(NULL);
    if (!test->match || !test->limits)
        out_of_memory(sizeof *test);
    pcre2_set_match_limit(test->limits, PATTERN_SEARCH_MATCH_STEPS);
    pcre2_set_heap_limit(test->limits, PATTERN_SEARCH_MATCH_KIB);
    return true;
}

static bool pattern_search_prepare_condition(struct pattern_search *s, uint32_t i,
                                             struct error *error)
{
    const struct pattern_condition *c = &s->pattern->conditions[i];
    struct pattern_test_state *test = &s->tests[i];
    bool line = pattern_attribute_is_line(c->attribute), place = c->attribute == PATTERN_PLACE;
    if (line || place) {
        if (c->test <= PATTERN_UNEQUAL && pattern_search_read_numbers(test, c->value, place))
            return true;
        error_set(error, "pattern: column %" PRIu32 ": no %s \"%s\"", c->column,
                  place ? "place" : "trace line", c->value);
        return false;
    }
    return (c->test != PATTERN_LIKE && c->test != PATTERN_UNLIKE) ||
           pattern_search_compile(test, c, error);
}

static bool pattern_search_text_matches(struct pattern_search *s, uint32_t i, const char *text)
{
    const struct pattern_condition *c = &s->pattern->conditions[i];
    const struct pattern_test_state *test = &s->tests[i];
    if (!test->expression)
        return strcmp(text, c->value) == 0;
    int found = pcre2_match(test->expression, (PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, 0,
                            test->match, test->limits);
    s->spent += PATTERN_SEARCH_MATCH_COST;
    s->costly += found == PCRE2_ERROR_MATCHLIMIT || found == PCRE2_ERROR_DEPTHLIMIT ||
                 found == PCRE2_ERROR_HEAPLIMIT;
    return found >= 0;
}

/* Returns whether one of the annotations of an event matches. */
static bool pattern_search_annotation(struct pattern_search *s, uint32_t i,
                                      const struct order_event *e)
{
    const struct run_text *t = run_texts(s->run, (struct event_id){e->line, e->number});
    while (t && !pattern_search_text_matches(s, i, t->text))
        t = t->next;
    return t != NULL;
}

static bool pattern_search_has_number(const struct pattern_test_state *test, uint64_t number)
{
    return bsearch(&number, test->numbers, test->number_count, sizeof number,
                   pattern_search_by_number) != NULL;
}

static bool pattern_search_time(const struct pattern_condition *c, int64_t time_ns)
{
    return c->test == PATTERN_LESS      ? time_ns < c->time_ns
           : c->test == PATTERN_AT_MOST ? time_ns <= c->time_ns
           : c->test == PATTERN_GREATER ? time_ns > c->time_ns
                                        : time_ns >= c->time_ns;
}

static uint32_t pattern_search_kind(const struct run *run, const uint32_t *values)
{
    uint32_t line = values[PATTERN_OBJECT] ? values[PATTERN_OBJECT] : values[PATTERN_LINE];
    return order_line_kind(run->order, line);
}

static bool pattern_search_is_process(struct pattern_search *s, uint32_t i, uint32_t line)
{
    uint32_t process = line ? run_line_at(s->run, line)->process : UINT32_MAX;
    char pid[16];
    if (process >= s->run->processes.count)
        return false;
    snprintf(pid, sizeof pid, "%" PRIu32, s->run->processes.items[process].pid);
    const char *path = s->run->processes.items[process].path;
    const char *name = path && strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    return pattern_search_text_matches(s, i, pid) ||
           (name && pattern_search_text_matches(s, i, name));
}

/* Returns whether an event meets a condition, apart from its being negated. */
static bool pattern_search_meets(struct pattern_search *s, uint32_t i, const struct order_event *e,
                                 const struct match_event *m)
{
    const struct pattern_condition *c = &s->pattern->conditions[i];
    const struct run *run = s->run;
    const struct site *site;
    switch (c->attribute) {
    case PATTERN_OBJECT:
    case PATTERN_THREAD:
    case PATTERN_LINE:
        return pattern_search_has_number(&s->tests[i], m->values[c->attribute]);
    case PATTERN_TYPE:
        return pattern_search_text_matches(s, i, run_type_name(run, e->type));
    case PATTERN_KIND:
        return pattern_search_text_matches(s, i,
                                           run_kind_name(run, pattern_search_kind(run, m->values)));
    case PATTERN_PLACE:
        site = site_table_at(&run->sites, e->site);
        return site && pattern_search_has_number(
                           &s->tests[i], pattern_search_place(site->process, site->address));
    case PATTERN_PROCESS:
        return pattern_search_is_process(s, i, e->thread ? e->thread : e->line);
    case PATTERN_TEXT:
        return pattern_search_annotation(s, i, e);
    case PATTERN_TIME:
        return pattern_search_time(c, m->time_ns);
    case PATTERN_ATTRIBUTE_COUNT:
        break;
    }
    return false;
}

/* ---- types ---- */

static uint32_t pattern_search_allowed(const struct event_pattern *p, const char *type)
{
    uint32_t roles = 0;
    for (uint32_t i = 0; i < p->event_count; i++) {
        uint32_t k = 0;
        while (k < p->events[i].type_count && strcmp(p->events[i].types[k], type) != 0)
            k++;
        roles |= (uint32_t)(!p->events[i].type_count || k < p->events[i].type_count) << i;
    }
    return roles;
}

/* Returns the events of the pattern that a type allows. */
static inline uint32_t pattern_search_roles(struct pattern_search *s, uint32_t type)
{
    if (type >= s->type_room)
        s->type_roles =
            array_reserve_zeroed(s->type_roles, &s->type_room, type + 1u, sizeof *s->type_roles);
    if (!s->type_roles[type])
        s->type_roles[type] = 1 + pattern_search_allowed(s->pattern, run_type_name(s->run, type));
    return s->type_roles[type] - 1;
}

/* Returns the types that the run, or one of its descriptions, knows; ends with NULL. */
static const char **pattern_search_types(const struct run *run)
{
    size_t count = run->types.count + 1, n = 0;
    for (size_t t = 0; t < run->targets.count; t++)
        count += run->targets.items[t]->event_count;
    const char **names = xcalloc(count, sizeof *names);
    for (size_t i = 1; i <= run->types.count; i++)
        names[n++] = run_type_name(run, (uint32_t)i);
    for (size_t t = 0; t < run->targets.count; t++)
        for (size_t i = 0; i < run->targets.items[t]->event_count; i++)
            names[n++] = run->targets.items[t]->events[i].name;
    return names;
}

static bool pattern_search_check_type(const char *const *known, const char *type, uint32_t column,
                                      struct error *error)
{
    for (size_t i = 0; known[i]; i++)
        if (strcmp(known[i], type) == 0)
            return true;
    const char *near = strlen(type) < PATTERN_SEARCH_NEAR_MAX ? nearest_word(type, known) : NULL;
    error_set(error, "pattern: column %" PRIu32 ": " PATTERN_SEARCH_NO_TYPE "%s%s%s", column, type,
              near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    return false;
}

static bool pattern_search_check_types(const struct pattern_search *s, struct error *error)
{
    const char **known = pattern_search_types(s->run);
    bool good = true;
    for (uint32_t i = 0; i < s->pattern->event_count; i++)
        for (uint32_t k = 0; k < s->pattern->events[i].type_count && good; k++)
            good = pattern_search_check_type(known, s->pattern->events[i].types[k],
                                             s->pattern->events[i].column, error);
    free(known);
    return good;
}

/* ---- begin and end ---- */

static bool pattern_search_is_unknown(const void *context, uint64_t a, uint64_t b)
{
    const struct pattern_search *s = context;
    return s->hiding || s->clocks.damaged || order_uncertainty_between(s->run->order, a, b) != 0;
}

/* Begins at the first event, also again if events were discarded meanwhile. */
static void pattern_search_start(struct pattern_search *s)
{
    const struct order *order = s->run->order;
    struct order_figures figures = order_figures(order);
    pattern_match_free(s->match);
    event_clocks_free(&s->clocks);
    s->first = s->next = order_first(order);
    s->end = order_count(order);
    s->event_count = s->at = s->waiting_count = s->waiting_at = 0;
    s->hiding = untraced_reasons_hiding_order(s->run);
    s->settings.may_be_unknown =
        s->hiding || figures.doubtful || figures.damaged || s->first || s->force_unknown;
    s->settings.incomplete = s->hiding || run_lost(s->run);
    s->settings.is_unknown = pattern_search_is_unknown;
    s->settings.context = s;
    event_clocks_begin(&s->clocks, order, s->first);
    s->match = pattern_match_new(s->pattern, &s->clocks, &s->settings);
}

struct pattern_search *pattern_search_new(const struct run *run, const char *text,
                                          const struct match_settings *settings,
                                          struct error *error)
{
    struct pattern_error problem;
    struct pattern_search *s = xcalloc(1, sizeof *s);
    *s = (struct pattern_search){
        .run = run, .settings = *settings, .from_ns = INT64_MIN, .to_ns = INT64_MAX};
    s->pattern = event_pattern_read(text, &problem);
    if (!s->pattern)
        error_set(error, "pattern: column %" PRIu32 ": %s", problem.column, problem.text);
    bool good = s->pattern && pattern_search_check_types(s, error);
    if (good)
        s->tests = xcalloc(s->pattern->condition_count, sizeof *s->tests);
    for (uint32_t i = 0; good && i < s->pattern->condition_count; i++)
        good = pattern_search_prepare_condition(s, i, error);
    if (!good) {
        pattern_search_free(s);
        return NULL;
    }
    for (uint32_t i = 0; i < s->pattern->comparison_count; i++)
        s->needed |= 1u << s->pattern->comparisons[i].of_a | 1u << s->pattern->comparisons[i].of_b;
    pattern_search_start(s);
    return s;
}

void pattern_search_free(struct pattern_search *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; s->tests && i < s->pattern->condition_count; i++) {
        pcre2_code_free(s->tests[i].expression);
        pcre2_match_data_free(s->tests[i].match);
        pcre2_match_context_free(s->tests[i].limits);
        free(s->tests[i].numbers);
    }
    free(s->tests);
    pattern_match_free(s->match);
    event_clocks_free(&s->clocks);
    event_pattern_free(s->pattern);
    free(s->events);
    free(s->waiting);
    free(s->type_roles);
    free(s);
}

/* ---- the pass ---- */

/* Returns the line of the object that an event is about: of an event on its thread's line that is
 * in a sync pair, the line of the other event. */
static uint32_t pattern_search_object(const struct order_event *events, size_t count, size_t i)
{
    const struct order_event *e = &events[i];
    if (e->about)
        return e->about;
    if (e->line != e->thread)
        return e->line;
    const struct order_event *other = &events[i ? 0 : 1];
    return count == 2 && e->relation == RELATION_SYNC && other->line != e->line ? other->line : 0;
}

static void pattern_search_set_values(const struct pattern_search *s, const struct order_event *e,
                                      struct match_event *m)
{
    const struct run *run = s->run;
    m->values[PATTERN_THREAD] = e->thread;
    m->values[PATTERN_LINE] = e->line;
    m->values[PATTERN_TYPE] = e->type;
    if (s->needed >> PATTERN_KIND & 1)
        m->values[PATTERN_KIND] = 1 + pattern_search_kind(run, m->values);
    if (s->needed >> PATTERN_PLACE & 1)
        m->values[PATTERN_PLACE] = call_sites_for_line(run, e->site);
    if (s->needed >> PATTERN_PROCESS & 1)
        m->values[PATTERN_PROCESS] = 1 + run_line_at(run, e->thread ? e->thread : e->line)->process;
}

/* Returns the events of the pattern that an event can be, and sets *m. */
static uint32_t pattern_search_examine(struct pattern_search *s, const struct order_event *events,
                                       size_t count, size_t i, struct match_event *m)
{
    const struct order_event *e = &events[i];
    const struct event_pattern *p = s->pattern;
    uint64_t position = s->next + s->at + i;
    uint32_t roles = e->line && !(e->line & HIDDEN_LINE) && e->state == EVENT_ORDERED
                         ? pattern_search_roles(s, e->type)
                         : 0;
    if (!roles)
        return 0;
    *m = (struct match_event){
        .position = position, .number = e->number, .time_ns = event_times_for_process(s->run, e)};
    if (m->time_ns < s->from_ns || m->time_ns > s->to_ns ||
        (s->past && !cone_contains(s->past, position)))
        return 0;
    m->values[PATTERN_OBJECT] = pattern_search_object(events, count, i);
    pattern_search_set_values(s, e, m);
    for (uint32_t k = 0; k < p->condition_count && roles; k++) {
        uint32_t role = p->conditions[k].event;
        enum pattern_test test = p->conditions[k].test;
        if (roles >> role & 1 &&
            pattern_search_meets(s, k, e, m) == (test == PATTERN_UNEQUAL || test == PATTERN_UNLIKE))
            roles &= ~(1u << role);
    }
    m->roles = roles;
    return roles;
}

/* Examines the events of the point at s->at, which `count` events of the buffer are. */
static void pattern_search_visit_point(struct pattern_search *s, size_t count)
{
    const struct order_event *events = s->events + s->at;
    struct event_clock clock;
    s->waiting_count = s->waiting_at = 0;
    for (size_t i = 0; i < count; i++) {
        struct match_event m;
        if (!pattern_search_examine(s, events, count, i, &m))
            continue;
        m.point = (uint32_t)s->match->event_count;
        s->waiting =
            array_reserve(s->waiting, &s->waiting_room, s->waiting_count + 1, sizeof *s->waiting);
        s->waiting[s->waiting_count++] = m;
    }
    if (!event_clocks_add(&s->clocks, s->next + s->at, events, (uint32_t)count,
                          s->waiting_count != 0, &clock))
        s->waiting_count = 0;
    for (size_t i = 0; i < s->waiting_count; i++)
        s->waiting[i].clock = clock;
    s->at += count;
}

/* Reads events from `next` on, up to the end of a synchronization point. */
static void pattern_search_read(struct pattern_search *s)
{
    const struct order *order = s->run->order;
    s->next += s->at;
    s->at = s->event_count = 0;
    if (s->next >= s->end)
        return;
    size_t most = PATTERN_SEARCH_READ;
    while (s->event_count < most && s->next + s->event_count < s->end) {
        s->events = array_reserve(s->events, &s->event_room, most, sizeof *s->events);
        uint64_t left = s->end - s->next - s->event_count;
        s->event_count += order_read(order, s->next + s->event_count,
                                     left < most - s->event_count ? left : most - s->event_count,
                                     s->events + s->event_count);
        if (s->next + s->event_count == s->end || s->event_count < most)
            continue;
        uint64_t point = s->events[s->event_count - 1].point;
        if (point <= s->next) /* longer than the buffer */
            most *= 2;
        else
            s->event_count = point - s->next;
        if (point > s->next)
            return;
    }
}

/* Returns the number of events of the point at s->at. */
static size_t pattern_search_point(const struct pattern_search *s)
{
    size_t end = s->at + 1;
    while (end < s->event_count && s->events[end].point == s->events[s->at].point)
        end++;
    return end - s->at;
}

/* Feeds the waiting events; returns false if the budget is spent before. */
static bool pattern_search_feed(struct pattern_search *s, uint64_t *budget)
{
    while (pattern_match_step(s->match, budget)) {
        if (s->waiting_at == s->waiting_count)
            return true;
        pattern_match_add(s->match, &s->waiting[s->waiting_at++]);
    }
    return false;
}

static bool pattern_search_finish(struct pattern_search *s)
{
    if (s->clocks.damaged && !s->settings.may_be_unknown) {
        s->force_unknown = true;
        pattern_search_start(s);
        return false;
    }
    pattern_match_end(s->match);
    return true;
}

bool pattern_search_step(struct pattern_search *s, uint64_t *budget)
{
    if (s->first != order_first(s->run->order))
        pattern_search_start(s);
    if (s->settings.may_be_unknown && !order_uncertainty_step(s->run->order, s->end, *budget))
        return false;
    while (*budget && pattern_search_feed(s, budget)) {
        if (s->at == s->event_count)
            pattern_search_read(s);
        s->cut = s->match->bytes + s->clocks.bytes > PATTERN_SEARCH_BYTES_MAX ||
                 s->match->event_count > UINT32_MAX - PATTERN_SEARCH_READ;
        if (!s->event_count || s->cut || s->match->finished)
            return pattern_search_finish(s);
        size_t count = pattern_search_point(s);
        s->spent = count;
        pattern_search_visit_point(s, count);
        *budget -= *budget < s->spent ? *budget : s->spent;
    }
    return false;
}
