/* Target descriptions, once they are read (by description_read.h, found by description_path.h):
 * what an environment's lines and events are called, how they look and what they must obey.
 * docs/config.md explains the language.
 *
 * A description checks and draws; the order never needs it.  Once read it does
 * not change, and may be shared by threads. */
#ifndef CONFIG_TARGET_H
#define CONFIG_TARGET_H

#include "base/arena.h"
#include "wire/event_types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum target_shape { SHAPE_NONE, SHAPE_CIRCLE, SHAPE_SQUARE };
/* DOTTED: of a type without partners; from what it comes after, thin dotted ones. */
enum target_arrow { ARROW_NONE, ARROW_TO_PARTNER, ARROW_FROM_PARTNER, ARROW_DOTTED };

struct target_color {
    double red, green, blue; /* 0 to 1 */
};

/* What calling for or at it is, or waiting by it: why time went. */
enum target_category {
    CATEGORY_NONE,
    CATEGORY_SEND,
    CATEGORY_RECEIVE,
    CATEGORY_COLLECTIVE,
    CATEGORY_BARRIER,
    CATEGORY_LOCK,
    CATEGORY_CONDITION,
    CATEGORY_SEMAPHORE,
    CATEGORY_JOIN,
    CATEGORY_SYSTEM,
    CATEGORY_CLOCK, /* an end of a wait that the clock brought */
    CATEGORY_SIGNAL, /* a signal handler, after which its thread waits on */
    CATEGORY_EXTRA, /* of a library that serves the program: what it takes is no work of its own */
    CATEGORY_PARALLEL, /* of the program, while others ran, too */
    CATEGORY_LOCAL, /* of the program, while nobody else ran */
    CATEGORIES
};

/* How far back one looks for why a wait took so long. */
enum target_wait_class {
    WAITS_NOT,
    WAITS_MEETING, /* to where those two met last: the other could have come earlier */
    WAITS_EXCLUSION, /* to its begin: nobody could have come earlier */
    WAITS_TIMER /* nowhere: the clock ends it */
};

struct target_line_type {
    char *name, *letter, *title;
    struct target_color colour;
    bool shared; /* visits overlap: its succession is no order */
    bool threads; /* threads can be in it */
    bool drawn; /* false: only ever listed */
    bool sorted; /* its lines stand in the order of their names */
    bool away; /* each is a thread's own, and shows where that is while it is on another line */
    /* calls on such are recorded in libraries, too, whether or not theirs are asked for */
    bool everywhere;
    /* several are started at once by a program that need not be in the trace; known by their
     * names */
    bool launched;
    bool far; /* such lead to other machines */
    bool numbered; /* lines of one name are told apart by numbers: w, w#2 */
    uint8_t category; /* an enum target_category, of events on its lines or about them */
    int part; /* the last part of the description that spoke of it */
};

struct target_names {
    char **items;
    size_t count;
};

/* One event type on the kinds in `on` (none: on all that have no entry of their
 * own for it).  A type may stand twice on a kind, with different relations. */
struct target_event {
    char *name, *label, *text;
    char
        *unheard; /* what is said of it where certainly nobody waited whom it could wake, or NULL */
    char *all; /* the text of one that lets all go on who wait, not just one; or NULL */
    char *group; /* where it stands in a legend, or NULL */
    struct target_names on;
    enum target_shape shape;
    bool filled;
    struct target_color colour;
    enum relation relation; /* RELATION_COUNT: any */
    struct target_names partners; /* types that its partner may have, none: any */
    enum target_arrow arrow;
    bool who; /* on another line than its thread's own, the thread's name stands beside it */
    bool ends; /* of the line, nothing but a stub is drawn after it */
    struct target_names after; /* on a shared line: comes after these */
    struct target_names line_after; /* types that may stand before it on its line; */
    bool line_first; /*   and whether it may be the first there */
    bool line_any; /* no such rule */
    struct target_names thread_after; /* types that its thread's previous event may have */
    bool thread_first, thread_any;
    /* signal handlers may come between the event by which its thread waited and it */
    bool handlers;
    bool interrupted; /* and this is an event by which a thread waits for such a one */
    bool opens, closes;
    bool waits; /* its thread cannot go on until a later event */
    bool waits_checked; /* as it was recorded: what rules go by */
    bool releases; /* and lets others into its line meanwhile */
    bool timed; /* or until a time has come */
    bool rests; /* for work, as its thread does by nature: nothing is concluded from that */
    /* types about the same object, or on its line, that let it go on */
    struct target_names woken_by;
    /* types by which a thread becomes one of those that all have to come */
    struct target_names expects;
    /* types that end such waiting as far as its time goes; none: woken_by */
    struct target_names causes;
    uint8_t waits_as; /* an enum target_wait_class */
    uint8_t category; /* an enum target_category; of none, that of the kind */
    bool has_presence, own;
    enum occupancy presence;
    bool has_about;
    enum occupancy about; /* of the acting thread, on the line that the event is about */
    const char *source; /* the file that spoke of it last, and the line */
    int source_line;
    int part;
};

struct target_line_group {
    char *name, *kind, *match; /* kind or a pattern (fnmatch) on names; the other is NULL */
    int part;
};

/* Functions and named scopes of a program, and all that is called in them. */
struct target_scope {
    char *match; /* a pattern (fnmatch) on names */
    uint8_t category; /* an enum target_category */
    int part;
};

struct target_metric; /* metric_rules.h */

struct target {
    struct arena texts; /* all names and texts here, and lists of them */
    char *name, *title;
    int version;
    struct target_line_type *kinds;
    size_t kind_count;
    struct target_event *events;
    size_t event_count;
    struct target_line_group *clusters;
    size_t cluster_count;
    struct target_scope *scopes;
    size_t scope_count;
    struct target_metric *meters;
    size_t meter_count;
    struct target_names sources; /* files that it was read from */
    int parts;
};

void target_free(struct target *target);

const struct target_line_type *target_line_type(const struct target *target, const char *kind);
/* How an event type looks on a kind of line: the entry for that kind before a
 * general one, then the one with that relation; NULL if the description lacks it. */
const struct target_event *target_event(const struct target *target, const char *kind,
                                        const char *type, enum relation relation);
/* What is said of a scope by its name; CATEGORY_NONE: nothing. */
uint8_t target_scope_category(const struct target *target, const char *name);
extern const char *const target_categories[CATEGORIES + 1]; /* their names, NULL behind the last */
/* The types that let go on who waits by it, as far as time goes. */
const struct target_names *target_ended_by(const struct target_event *event);
bool target_has_line_type(const struct target_names *names, const char *name);

/* Puts those lines whose kind is sorted into the order of their names, numbers in them by their
 * value, at the places that such lines have; the others stay. */
struct target_lines {
    const void *context;
    const struct target_line_type *(*kind)(const void *context, uint32_t line); /* or NULL */
    const char *(*name)(const void *context, uint32_t line);
};
void target_sort(uint32_t *lines, size_t count, const struct target_lines *look);

#endif
