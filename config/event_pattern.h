/* Patterns of events: named events with conditions, and relations between them in the
 * happened-before order, read from text.  docs/find.md explains the language.
 *
 * A pattern owns its texts.  It is immutable after reading, and threads can share it. */
#ifndef CONFIG_EVENT_PATTERN_H
#define CONFIG_EVENT_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATTERN_EVENTS_MAX 8u
#define PATTERN_BYTES_MAX 60000u
/* of each: conditions, comparisons, relations, absences */
#define PATTERN_CLAUSES_MAX 64u

/* clang-format off */
#define PATTERN_ATTRIBUTES(A)                                                                      \
    A(OBJECT, "object") A(THREAD, "thread") A(LINE, "line") A(TYPE, "type") A(KIND, "kind")        \
    A(PLACE, "place") A(PROCESS, "process") A(TEXT, "text") A(TIME, "time")
/* clang-format on */

enum pattern_attribute {
#define A(NAME, word) PATTERN_##NAME,
    PATTERN_ATTRIBUTES(A)
#undef A
        PATTERN_ATTRIBUTE_COUNT
};

extern const char *const pattern_attribute_names[PATTERN_ATTRIBUTE_COUNT];

/* Returns whether the value of an attribute is a trace line. */
static inline bool pattern_attribute_is_line(enum pattern_attribute attribute)
{
    return attribute == PATTERN_OBJECT || attribute == PATTERN_THREAD || attribute == PATTERN_LINE;
}

enum pattern_test {
    PATTERN_EQUAL,
    PATTERN_UNEQUAL,
    PATTERN_LIKE, /* a regular expression matches a part of it */
    PATTERN_UNLIKE,
    PATTERN_LESS,
    PATTERN_AT_MOST,
    PATTERN_GREATER,
    PATTERN_AT_LEAST
};

struct pattern_event {
    char *name;
    char **types;
    uint32_t type_count; /* 0: any type */
    uint32_t column; /* in the text, from 1 */
    bool absent; /* it must not exist: see struct pattern_absence */
    bool implied; /* not defined: its name is its type */
};

/* A condition on one event. */
struct pattern_condition {
    uint32_t event;
    enum pattern_attribute attribute;
    enum pattern_test test;
    char *value;
    int64_t time_ns; /* of PATTERN_TIME */
    uint32_t column;
    uint32_t begin, end; /* bytes of the text from which the value was read */
};

/* Two events have equal values of an attribute, or known values that are not equal. */
struct pattern_comparison {
    uint32_t a, b;
    enum pattern_attribute of_a, of_b; /* different ones only if both are trace lines */
    bool unequal;
};

enum pattern_relation_kind {
    PATTERN_BEFORE, /* a happened before b */
    PATTERN_CONCURRENT,
    PATTERN_SIMULTANEOUS,
    PATTERN_NEXT, /* b is the next event on the trace line of a */
    PATTERN_WITHIN /* b is not earlier than a, and at most a time later, by the clock */
};

struct pattern_relation {
    enum pattern_relation_kind kind;
    uint32_t a, b;
    int64_t within_ns;
};

/* No event like this happened after a and before b. */
struct pattern_absence {
    uint32_t event, a, b;
};

struct event_pattern {
    struct pattern_event events[PATTERN_EVENTS_MAX];
    struct pattern_condition *conditions;
    struct pattern_comparison *comparisons;
    struct pattern_relation *relations;
    struct pattern_absence *absences;
    uint32_t event_count, condition_count, comparison_count, relation_count, absence_count;
};

struct pattern_error {
    char text[160];
    uint32_t column; /* from 1 */
};

/* Reads a pattern.  Returns NULL with the reason in *error. */
struct event_pattern *event_pattern_read(const char *text, struct pattern_error *error);
void event_pattern_free(struct event_pattern *pattern);
/* Returns whether a text has the form of a pattern rather than of words to search for: it has a
 * relation or a condition. (A definition alone can be a label: T:main.) */
bool event_pattern_is_likely(const char *text);

#endif
