#include "config/event_pattern.h"

#include "base/alloc.h"
#include "config/pattern_tokens.h"

#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 32u /* types of one event */

const char *const pattern_attribute_names[PATTERN_ATTRIBUTE_COUNT] = {
#define A(NAME, word) [PATTERN_##NAME] = word,
    PATTERN_ATTRIBUTES(A)
#undef A
};

/* ---- parts of a pattern ---- */

/* Returns the index of the event with the name of the current token; event_count if there is
 * none. */
static uint32_t pattern_find(const struct pattern_reader *r)
{
    const struct event_pattern *p = r->pattern;
    uint32_t i = 0;
    while (i < p->event_count && !pattern_is_name(r, p->events[i].name))
        i++;
    return i;
}

static uint32_t pattern_add_event(struct pattern_reader *r)
{
    struct event_pattern *p = r->pattern;
    if (p->event_count == PATTERN_EVENTS_MAX) {
        pattern_fail_at(r, r->begin, "more than %u events", PATTERN_EVENTS_MAX);
        return 0;
    }
    p->events[p->event_count] = (struct pattern_event){
        .name = xstrndup(r->text + r->begin, r->end - r->begin), .column = r->begin + 1};
    return p->event_count++;
}

static void pattern_add_type(struct pattern_reader *r, uint32_t event, char *type)
{
    struct pattern_event *e = &r->pattern->events[event];
    if (e->type_count == WORDS_MAX) {
        pattern_fail_at(r, r->begin, "more than %u types", WORDS_MAX);
        free(type);
        return;
    }
    ARRAY_PUSH(e->types, e->type_count, type);
}

static bool pattern_has_room(struct pattern_reader *r, uint32_t count)
{
    if (count >= PATTERN_CLAUSES_MAX)
        pattern_fail_at(r, r->begin, "more than %u clauses of one kind", PATTERN_CLAUSES_MAX);
    return !r->failed;
}

static void pattern_add_relation(struct pattern_reader *r, struct pattern_relation relation)
{
    struct event_pattern *p = r->pattern;
    if (relation.a == relation.b)
        pattern_fail_at(r, r->begin, "an event has no relation to itself; name two events");
    else if (pattern_has_room(r, p->relation_count))
        ARRAY_PUSH(p->relations, p->relation_count, relation);
}

/* ---- conditions ---- */

static enum pattern_attribute pattern_read_attribute(struct pattern_reader *r)
{
    enum pattern_attribute a = 0;
    while (a < PATTERN_ATTRIBUTE_COUNT && !pattern_is_name(r, pattern_attribute_names[a]))
        a++;
    if (a < PATTERN_ATTRIBUTE_COUNT) {
        pattern_next(r);
        return a;
    }
    pattern_fail(r, "object, thread, line, type, kind, place, process, text or time");
    return PATTERN_OBJECT;
}

static bool pattern_read_test(struct pattern_reader *r, enum pattern_test *test)
{
    if (r->token < TOKEN_EQUAL || r->token > TOKEN_AT_LEAST) {
        pattern_fail(r, "=, !=, ~, !~, <, <=, > or >=");
        return false;
    }
    *test = (enum pattern_test)(PATTERN_EQUAL + (r->token - TOKEN_EQUAL));
    return true;
}

/* Reads a value after an operator: a text in quotes, a regular expression between slashes, or
 * all up to white space, a comma, a semicolon or a closing parenthesis. */
static char *pattern_read_value(struct pattern_reader *r, struct pattern_condition *c)
{
    pattern_skip_space(r);
    c->column = r->begin + 1;
    c->begin = r->begin;
    char first = r->text[r->begin];
    bool quoted = first == '"' || first == '/';
    if (quoted)
        pattern_read_quoted(r);
    else
        r->end += (uint32_t)strcspn(r->text + r->end, " \t\r\n,;)");
    c->end = r->end;
    if (r->end == r->begin)
        pattern_fail_at(r, r->begin, "expected a value");
    if (r->failed)
        return NULL;
    char *value = quoted ? pattern_unquote(r->text + r->begin, r->end - r->begin)
                         : xstrndup(r->text + r->begin, r->end - r->begin);
    pattern_next(r);
    return value;
}

static void pattern_check_test(struct pattern_reader *r, const struct pattern_condition *c)
{
    bool orders = c->test >= PATTERN_LESS, time = c->attribute == PATTERN_TIME;
    if (orders && !time)
        pattern_fail_at(r, c->begin, "%s has no order; use =, !=, ~ or !~",
                        pattern_attribute_names[c->attribute]);
    else if (time && !orders)
        pattern_fail_at(r, c->begin, "compare times with <, <=, > or >=");
}

/* Reads a condition on an event, from its attribute's operator on, which is the current token. */
static void pattern_read_condition(struct pattern_reader *r, uint32_t event,
                                   enum pattern_attribute attribute)
{
    struct event_pattern *p = r->pattern;
    struct pattern_condition c = {.event = event, .attribute = attribute};
    if (!pattern_has_room(r, p->condition_count) || !pattern_read_test(r, &c.test))
        return;
    c.value = pattern_read_value(r, &c);
    pattern_check_test(r, &c);
    if (!r->failed && attribute == PATTERN_TIME && !pattern_time_parse(c.value, &c.time_ns))
        pattern_fail_at(r, c.begin, "\"%s\" is not a time, as 5ms is (ns, us, ms, s, min)",
                        c.value);
    if (r->failed)
        free(c.value);
    else
        ARRAY_PUSH(p->conditions, p->condition_count, c);
}

/* Reads conditions in parentheses, if there are any. */
static void pattern_read_conditions(struct pattern_reader *r, uint32_t event)
{
    if (!pattern_accept(r, TOKEN_OPEN))
        return;
    do {
        enum pattern_attribute attribute = pattern_read_attribute(r);
        if (!r->failed)
            pattern_read_condition(r, event, attribute);
    } while (pattern_accept(r, TOKEN_COMMA));
    pattern_expect(r, TOKEN_CLOSE, "a comma or )");
}

/* ---- clauses ---- */

/* Reads the types of an event: names separated by |, or *. */
static void pattern_read_types(struct pattern_reader *r, uint32_t event)
{
    if (pattern_accept(r, TOKEN_ANY))
        return;
    do {
        if (r->token != TOKEN_NAME && r->token != TOKEN_STRING) {
            pattern_fail(r, "the type of an event, or *");
            return;
        }
        size_t size = r->end - r->begin;
        const char *at = r->text + r->begin;
        pattern_add_type(r, event,
                         r->token == TOKEN_NAME ? xstrndup(at, size) : pattern_unquote(at, size));
        pattern_next(r);
    } while (pattern_accept(r, TOKEN_OR));
}

static void pattern_free_types(struct pattern_event *e)
{
    for (uint32_t i = 0; i < e->type_count; i++)
        free(e->types[i]);
    free(e->types);
    e->types = NULL;
    e->type_count = 0;
}

/* Reads the definition of an event, after its name and the colon. */
static void pattern_read_definition(struct pattern_reader *r, uint32_t event)
{
    struct pattern_event *e = &r->pattern->events[event];
    pattern_free_types(e);
    e->implied = false;
    pattern_read_types(r, event);
    pattern_read_conditions(r, event);
}

/* Reads the name of an event, which becomes an event of that type if it is not defined. */
static uint32_t pattern_read_operand(struct pattern_reader *r)
{
    if (r->token != TOKEN_NAME) {
        pattern_fail(r, "an event");
        return 0;
    }
    uint32_t event = pattern_find(r);
    if (event == r->pattern->event_count) {
        event = pattern_add_event(r);
        if (r->failed)
            return 0;
        r->pattern->events[event].implied = true;
        pattern_add_type(r, event, xstrdup(r->pattern->events[event].name));
    }
    pattern_next(r);
    pattern_read_conditions(r, event);
    return event;
}

static void pattern_read_absence(struct pattern_reader *r)
{
    struct event_pattern *p = r->pattern;
    struct pattern_absence absence = {.event = pattern_read_operand(r)};
    if (!r->failed && !pattern_is_name(r, "between"))
        pattern_fail(r, "between");
    if (r->failed || !pattern_has_room(r, p->absence_count))
        return;
    pattern_next(r);
    absence.a = pattern_read_operand(r);
    if (pattern_is_name(r, "and") || r->token == TOKEN_COMMA)
        pattern_next(r);
    absence.b = pattern_read_operand(r);
    if (!r->failed &&
        (absence.a == absence.b || absence.event == absence.a || absence.event == absence.b))
        pattern_fail_at(r, r->begin, "between needs three different events");
    p->events[absence.event].absent = true;
    if (!r->failed)
        ARRAY_PUSH(p->absences, p->absence_count, absence);
}

/* Returns whether EVENT.ATTRIBUTE follows the current token. */
static bool pattern_is_attribute_of_event(struct pattern_reader *ahead)
{
    pattern_next(ahead);
    if (ahead->token != TOKEN_NAME || ahead->text[ahead->end] != '.')
        return false;
    pattern_next(ahead);
    pattern_next(ahead);
    for (enum pattern_attribute i = 0; i < PATTERN_ATTRIBUTE_COUNT; i++)
        if (pattern_is_name(ahead, pattern_attribute_names[i]))
            return true;
    return false;
}

/* Reads "EVENT.ATTRIBUTE = VALUE" or "EVENT.ATTRIBUTE = EVENT.ATTRIBUTE", from the dot on. */
static void pattern_read_comparison(struct pattern_reader *r, uint32_t a)
{
    struct event_pattern *p = r->pattern;
    enum pattern_attribute of_a = pattern_read_attribute(r), of_b;
    enum pattern_test test;
    struct pattern_reader ahead = *r;
    struct pattern_error ignored;
    ahead.error = &ignored;
    if (r->failed || !pattern_read_test(&ahead, &test)) {
        pattern_fail(r, "=, !=, ~, !~, <, <=, > or >=");
        return;
    }
    if (!pattern_is_attribute_of_event(&ahead)) {
        pattern_read_condition(r, a, of_a);
        return;
    }
    pattern_next(r);
    uint32_t b = pattern_read_operand(r);
    pattern_expect(r, TOKEN_DOT, "a dot");
    of_b = pattern_read_attribute(r);
    if (r->failed)
        return;
    if (test != PATTERN_EQUAL && test != PATTERN_UNEQUAL)
        pattern_fail_at(r, r->begin, "two events are compared with = or !=");
    else if (of_a == PATTERN_TIME || of_a == PATTERN_TEXT)
        pattern_fail_at(r, r->begin, "%s cannot be compared between events%s",
                        pattern_attribute_names[of_a],
                        of_a == PATTERN_TIME ? "; use a ..5ms b" : "");
    else if (of_a != of_b && !(pattern_attribute_is_line(of_a) && pattern_attribute_is_line(of_b)))
        pattern_fail_at(r, r->begin, "%s and %s cannot be equal", pattern_attribute_names[of_a],
                        pattern_attribute_names[of_b]);
    else if (a == b)
        pattern_fail_at(r, r->begin, "compare two different events");
    else if (pattern_has_room(r, p->comparison_count))
        ARRAY_PUSH(p->comparisons, p->comparison_count,
                   ((struct pattern_comparison){a, b, of_a, of_b, test == PATTERN_UNEQUAL}));
}

/* Returns whether the current semicolon means "next on its line": white space is before it, and
 * an event follows, which is neither an attribute nor a definition. */
static bool pattern_is_next(const struct pattern_reader *r)
{
    struct pattern_reader ahead = *r;
    struct pattern_error ignored;
    if (r->token != TOKEN_SEMICOLON || !r->spaced || r->text[r->begin] == '\n')
        return false;
    ahead.error = &ignored;
    pattern_next(&ahead);
    if (ahead.token != TOKEN_NAME)
        return false;
    pattern_next(&ahead);
    return ahead.token != TOKEN_DOT && ahead.token != TOKEN_COLON;
}

/* Reads the operator of a relation, if there is one; returns whether there is. */
static bool pattern_read_relation(struct pattern_reader *r, struct pattern_relation *relation,
                                  bool *within)
{
    *within = false;
    if (pattern_is_next(r) || pattern_is_name(r, "next")) {
        relation->kind = PATTERN_NEXT;
        pattern_next(r);
    } else if (pattern_accept(r, TOKEN_BEFORE)) {
        relation->kind = PATTERN_BEFORE;
        *within = pattern_accept(r, TOKEN_WITHIN);
    } else if (pattern_accept(r, TOKEN_CONCURRENT)) {
        relation->kind = PATTERN_CONCURRENT;
    } else if (pattern_accept(r, TOKEN_EQUAL)) {
        relation->kind = PATTERN_SIMULTANEOUS;
    } else if (pattern_accept(r, TOKEN_WITHIN)) {
        relation->kind = PATTERN_WITHIN;
        *within = true;
    } else {
        return false;
    }
    if (*within)
        relation->within_ns = pattern_time(r);
    return true;
}

/* Reads "a -> b || c ...", from the first operand on. Events that are joined by || in a row are
 * concurrent to each other. */
static void pattern_read_chain(struct pattern_reader *r, uint32_t first)
{
    uint32_t row[PATTERN_CLAUSES_MAX], count = 1;
    struct pattern_relation relation = {.a = first};
    bool within;
    row[0] = first;
    while (!r->failed && pattern_read_relation(r, &relation, &within)) {
        relation.b = pattern_read_operand(r);
        if (r->failed)
            return;
        if (relation.kind != PATTERN_CONCURRENT || count == PATTERN_CLAUSES_MAX) {
            count = 0;
            pattern_add_relation(r, relation);
        }
        if (within && relation.kind == PATTERN_BEFORE)
            pattern_add_relation(r, (struct pattern_relation){PATTERN_WITHIN, relation.a,
                                                              relation.b, relation.within_ns});
        for (uint32_t i = 0; i < count && relation.kind == PATTERN_CONCURRENT; i++)
            pattern_add_relation(r, (struct pattern_relation){
                                        .kind = PATTERN_CONCURRENT, .a = row[i], .b = relation.b});
        row[count++] = relation.b;
        relation.a = relation.b;
    }
}

static void pattern_read_clause(struct pattern_reader *r)
{
    if (pattern_accept(r, TOKEN_NOT)) {
        pattern_read_absence(r);
        return;
    }
    struct pattern_reader ahead = *r;
    if (r->token != TOKEN_NAME) {
        pattern_fail(r, "an event");
        return;
    }
    pattern_next(&ahead);
    if (ahead.token == TOKEN_COLON) {
        uint32_t event = pattern_find(r);
        if (event < r->pattern->event_count && !r->pattern->events[event].implied)
            pattern_fail_at(r, r->begin, "\"%s\" is defined twice", r->pattern->events[event].name);
        else if (event == r->pattern->event_count)
            event = pattern_add_event(r);
        if (r->failed)
            return;
        pattern_next(r);
        pattern_next(r);
        pattern_read_definition(r, event);
        return;
    }
    uint32_t event = pattern_read_operand(r);
    if (pattern_accept(r, TOKEN_DOT))
        pattern_read_comparison(r, event);
    else if (!r->failed)
        pattern_read_chain(r, event);
}

/* ---- the whole pattern ---- */

static void pattern_check_absent(struct pattern_reader *r)
{
    const struct event_pattern *p = r->pattern;
    uint32_t present = 0;
    for (uint32_t i = 0; i < p->event_count; i++)
        present += !p->events[i].absent;
    for (uint32_t i = 0; i < p->relation_count; i++) {
        const struct pattern_relation *x = &p->relations[i];
        if (p->events[x->a].absent || p->events[x->b].absent)
            pattern_fail_at(r, p->events[p->events[x->a].absent ? x->a : x->b].column - 1,
                            "an event that must be absent has no other relation");
    }
    for (uint32_t i = 0; i < p->absence_count; i++)
        if (p->events[p->absences[i].a].absent || p->events[p->absences[i].b].absent)
            pattern_fail_at(r, p->events[p->absences[i].event].column - 1,
                            "an event cannot be absent between absent events");
    for (uint32_t i = 0; i < p->comparison_count; i++)
        if (p->events[p->comparisons[i].a].absent && p->events[p->comparisons[i].b].absent)
            pattern_fail_at(r, p->events[p->comparisons[i].a].column - 1,
                            "two absent events cannot be compared");
    if (!present)
        pattern_fail_at(r, 0, "the pattern has no event");
}

struct event_pattern *event_pattern_read(const char *text, struct pattern_error *error)
{
    struct pattern_reader r = {
        .text = text, .error = error, .pattern = xcalloc(1, sizeof *r.pattern)};
    *error = (struct pattern_error){0};
    if (strlen(text) > PATTERN_BYTES_MAX)
        pattern_fail_at(&r, 0, "longer than %u bytes", PATTERN_BYTES_MAX);
    if (!r.failed)
        pattern_next(&r);
    while (!r.failed && r.token != TOKEN_END) {
        if (pattern_accept(&r, TOKEN_SEMICOLON))
            continue;
        pattern_read_clause(&r);
        if (!r.failed && r.token != TOKEN_END && r.token != TOKEN_SEMICOLON)
            pattern_fail(&r, "a relation or ;");
    }
    if (!r.failed)
        pattern_check_absent(&r);
    if (!r.failed)
        return r.pattern;
    event_pattern_free(r.pattern);
    return NULL;
}

void event_pattern_free(struct event_pattern *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->event_count; i++) {
        pattern_free_types(&p->events[i]);
        free(p->events[i].name);
    }
    for (uint32_t i = 0; i < p->condition_count; i++)
        free(p->conditions[i].value);
    free(p->conditions);
    free(p->comparisons);
    free(p->relations);
    free(p->absences);
    free(p);
}

bool event_pattern_is_likely(const char *text)
{
    struct pattern_error error;
    struct event_pattern *p = event_pattern_read(text, &error);
    bool likely =
        p && (p->relation_count || p->comparison_count || p->absence_count || p->condition_count);
    event_pattern_free(p);
    return likely;
}
