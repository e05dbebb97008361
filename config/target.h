/* Target descriptions in memory (read by description_read.h, found by description_path.h): how an
 * environment's lines and events are named, drawn and checked. docs/config.md explains the
 * language.
 *
 * A description serves checks and drawing; the happened-before order never needs it. It is
 * immutable after reading, and threads can share it. */
#ifndef CONFIG_TARGET_H
#define CONFIG_TARGET_H

#include "base/arena.h"
#include "wire/event_types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum target_shape { SHAPE_NONE, SHAPE_CIRCLE, SHAPE_SQUARE };
/* DOTTED: for a type without partners; thin dotted arrows from the events that it comes after. */
enum target_arrow { ARROW_NONE, ARROW_TO_PARTNER, ARROW_FROM_PARTNER, ARROW_DOTTED };

struct target_color {
    double red, green, blue; /* 0 to 1 */
};

/* The category of an event or of a wait: what the time was spent for. */
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
    CATEGORY_CLOCK, /* a wait ended by a timeout */
    CATEGORY_SIGNAL, /* a signal handler, after which its thread continues to wait */
    /* of a library that serves the program; its time is not the program's own work */
    CATEGORY_EXTRA,
    CATEGORY_PARALLEL, /* of the program, while other threads ran, too */
    CATEGORY_LOCAL, /* of the program, while no other thread ran */
    CATEGORIES
};

/* Roles of event types in findings and the prediction of bugs, for an object or for its thread. */
enum target_role {
    ROLE_NONE,
    ROLE_REQUEST, /* its thread waits unless the request is granted at once */
    ROLE_DESTROY, /* the object that it is about is destroyed */
    ROLE_REUSE, /* the next event of its thread uses the object after it was destroyed */
    ROLE_HANDLER_BEGIN, /* events of its thread are of a signal handler, */
    ROLE_HANDLER_END, /* until this one */
    ROLE_SIGNAL_MASK, /* the signals that its thread blocks change */
    ROLE_VIOLATION, /* the program breaks a rule, which its annotation names: a finding */
    ROLE_BEGIN_PROCESS, /* the message with which another process, or program, begins */
    ROLE_LEAVE /* its process arrives at no line of a group any more */
};

/* The class of a wait: how far back the search for its cause goes. */
enum target_wait_class {
    WAITS_NOT,
    /* rendezvous: to the last synchronization of the two threads; the awaited one could have
     * arrived earlier */
    WAITS_MEETING,
    /* contention: to the begin of the wait; no thread could have arrived earlier */
    WAITS_EXCLUSION,
    WAITS_TIMER /* timeout: no search; time ends the wait */
};

struct target_line_type {
    char *name, *letter, *title;
    struct target_color color;
    bool shared; /* critical sections can overlap: the succession of events is not an order */
    bool threads; /* threads can be in it */
    bool drawn; /* false: only listed, never drawn */
    bool sorted; /* its lines are sorted by name */
    /* each is a thread's own, and shows where the thread is while it is on another line */
    bool away;
    /* calls on such objects are recorded in libraries, too, even if recording of libraries was not
     * requested */
    bool everywhere;
    bool inherited; /* only processes that inherit such an object from its creator can use it */
    bool members; /* it stands for the processes that declare it, and that arrive there together */
    bool by_name; /* any process can open such an object by its name */
    bool by_kernel; /* the kernel may wake its waiters, too, at the end of an asynchronous call */
    /* a program that need not be in the trace starts several at once; identified by their names */
    bool launched;
    bool remote; /* such objects lead to other hosts */
    bool numbered; /* lines of one name are distinguished by numbers: w, w#2 */
    /* a line without a name has that of the class that opened it in its constructor */
    bool by_constructor;
    uint8_t category; /* an enum target_category, of events on its lines or about them */
    int part; /* the last part of the description that mentions it */
};

struct target_names {
    char **items;
    size_t count;
};

/* A line of a description. */
struct target_place {
    const char *file;
    int line;
};

/* An event type on the kinds in `on` (none: on all kinds without an entry of their own for it). A
 * type may occur twice on a kind, with different relations. */
struct target_event {
    char *name, *label, *text;
    char *undelivered; /* the text if it certainly woke no thread, since none waited; or NULL */
    char *all; /* the text if it unblocks all waiters, not just one; or NULL */
    char *group; /* its place in a legend, or NULL */
    struct target_names on;
    enum target_shape shape;
    bool filled;
    struct target_color color;
    enum relation relation; /* RELATION_COUNT: any */
    struct target_names partners; /* types that its partner may have; none: any */
    enum target_arrow arrow;
    /* on a line other than its thread's own, the thread's name is drawn next to the mark */
    bool shows_thread;
    bool ends; /* ends the line: only a stub is drawn after it */
    struct target_names after; /* on a shared line: it comes after these */
    /* what may precede it on its line, and in its thread */
    struct target_precedence {
        struct target_names types;
        bool first; /* it may be the first event */
        bool any; /* any type may precede it */
    } on_line, in_thread;
    /* signal handlers may run between the event by which its thread waited and this one */
    bool handlers;
    bool interrupted; /* and this is an event by which a thread waits for such a one */
    bool opens, closes;
    bool waits; /* its thread is blocked until a later event */
    bool waits_checked; /* as it was when recorded: the rules use this */
    bool releases; /* and the thread releases the line meanwhile, so that others can enter it */
    /* the thread has left the line for another one, and still holds the line's lock */
    bool keeps;
    bool timed; /* or until a timeout */
    bool awaits_child; /* it waits for the end of a process that its own process created */
    uint8_t role; /* an enum target_role */
    bool rests; /* waits for work, as is normal for its thread: no diagnosis is based on it */
    /* types about the same object, or on its line, that unblock the thread */
    struct target_names woken_by;
    /* types by which a thread becomes one of those that must all arrive */
    struct target_names expects;
    /* types that end such a wait as far as its duration is concerned; none: woken_by */
    struct target_names causes;
    uint8_t waits_as; /* an enum target_wait_class */
    uint8_t category; /* an enum target_category; if NONE, that of the kind applies */
    bool has_presence, own;
    enum occupancy presence;
    bool has_about;
    enum occupancy about; /* occupancy of the acting thread on the line that the event is about */
    struct target_place source; /* that mentions it last */
    int part;
};

struct target_line_group {
    char *name, *kind, *match; /* kind, or a pattern (fnmatch) on names; the other is NULL */
    int part;
};

/* Functions and named scopes of a program, including everything called in them. */
struct target_scope {
    char *match; /* a pattern (fnmatch) on names */
    uint8_t category; /* an enum target_category */
    int part;
};

/* A pattern of events (event_pattern.h) of the environment's library. */
struct target_pattern {
    char *name, *title, *text;
    struct target_place source;
    int part;
};

/* An assertion: it must hold in every run (assertion_file.h). */
struct target_assertion {
    char *name, *text; /* text: a pattern of events */
    uint8_t kind; /* an enum assertion_kind */
    int most;
    struct target_place source;
    int part;
};

struct target_metric; /* metric_rules.h */

struct target {
    struct arena texts; /* owns all names and texts here, and lists of them */
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
    struct target_pattern *patterns;
    size_t pattern_count;
    struct target_assertion *assertions;
    size_t assertion_count;
    struct target_metric *meters;
    size_t meter_count;
    struct target_names sources; /* files that it was read from */
    int parts;
};

void target_free(struct target *target);

const struct target_line_type *target_line_type(const struct target *target, const char *kind);
/* Returns the entry of an event type on a kind of line: an entry for that kind before a general
 * one, then one with that relation; NULL if the description has none. */
const struct target_event *target_event(const struct target *target, const char *kind,
                                        const char *type, enum relation relation);
/* Returns the category of a scope by its name; CATEGORY_NONE if the description has none. */
uint8_t target_scope_category(const struct target *target, const char *name);
extern const char *const target_categories[CATEGORIES + 1]; /* their names, NULL-terminated */
/* Returns the types that unblock a thread that waits by this event, as far as durations are
 * concerned. */
const struct target_names *target_ended_by(const struct target_event *event);
bool target_has_line_type(const struct target_names *names, const char *name);

/* Sorts the lines of a `sorted` kind by name, with numbers in names by value, within the
 * places that such lines occupy; all others keep their places. */
struct target_lines {
    const void *context;
    const struct target_line_type *(*kind)(const void *context, uint32_t line); /* or NULL */
    const char *(*name)(const void *context, uint32_t line);
};
void target_sort(uint32_t *lines, size_t count, const struct target_lines *look);

#endif
