/* The partial order of one run: intake in any arrival order, then questions.
 *
 * Events are accepted as they come.  An event is *delivered* once all it follows
 * is delivered; delivered events form a log whose positions are a linear
 * extension of the order and never change.  The members of a point (a sync pair,
 * a group) have neighbouring positions.
 *
 * What an event follows: its predecessor on its line (an order only where the line is
 * exclusive), the events in `after`, the sends it receives, and on a shared line every
 * earlier event of the types in its type's `after` set, which hidden lines collect.
 *
 * A contradiction never stops anything: the event that closes it is set aside
 * (EVENT_CONTRADICTORY), reported once, and takes no part in the order.
 *
 * Intake follows the head-and-waiter scheme of centralised POET servers: each line's
 * head waits on one event at a time, so the wait-for graph has out-degree one and
 * a cycle is found by walking it from the edge that closes it.
 *
 * What is delivered lies in blocks and in series of positions by line, whose finished parts go to a
 * shelf (shelf.h); in memory are the newest blocks, what is pending, and a bounded cache.  An order
 * is saved as one run of bytes and some parts on the shelf, which grow with the lines, not with the
 * events.
 *
 * Not thread-safe.  Running out of memory aborts.  Knows no names, only codes.
 */
#ifndef SERVER_ORDER_ORDER_H
#define SERVER_ORDER_ORDER_H

#include "server/order/block_store.h"
#include "wire/event_types.h"

#define NO_POSITION UINT64_MAX
#define AFTER_MAX 8u /* types that the events of one type come after, see order_after */

struct order;

/* One event as it comes in.  Arrays belong to the caller.  What most events need comes first, in
 * one of the processor's cache lines. */
struct arrival {
    struct event_id at;
    uint32_t type; /* code of the run */
    uint32_t about; /* line, 0 none */
    uint32_t thread; /* own line of the task that acts, 0 unknown; each of a task's events is
                      * after its previous one, by its line, its pair or `after` */
    uint32_t site;
    int64_t time_ns;
    const struct event_id *partners; /* SYNC: 1; RECEIVE: any; else ignored */
    uint32_t partner_count;
    uint32_t batch; /* where it came from, see order_oldest_batch */
    uint32_t group_size; /* of a keyed SEND: how many receives it has, 0 any number; of a
                          * keyed RECEIVE: 1 if it is the last with its keys; of a stream: bytes */
    enum relation relation : 8;
    bool closes : 1; /* nothing may follow on this line */
    bool keyed : 1; /* partners meet by key; always for a GROUP.  A RECEIVE may have many: then its
                     * partners are on line 0, and their numbers stand for the second half of the key */
    bool
        stream : 1; /* keyed: key[0] is a stream, key[1] a byte of it, group_size how many bytes were
                      * sent or received from there on; a RECEIVE is after all sends of its bytes */
    bool sends : 1; /* a RECEIVE that is received in turn */
    uint8_t doubt; /* an enum untraced_reason: why more may be before it than is told */
    uint8_t waits; /* what the order itself notes of it while it waits */
    struct event_id after[2]; /* line 0: none */
    uint64_t key[2];
};

/* One delivered event.  line 0: it cannot be read, the trace file is damaged there. */
struct order_event {
    uint64_t number;
    int64_t time_ns;
    uint64_t point; /* first position of its point */
    uint32_t line, thread, about, site;
    uint32_t type;
    uint32_t edge_count; /* incoming: sends first, then order edges */
    uint32_t send_count; /* how many of them are sends that it receives */
    uint8_t relation, state;
    bool partner_lost; /* a partner will never come */
    bool opened; /* its last edge is what its line was opened by */
    bool after_gap; /* numbers before it on its line were lost */
    bool sends; /* it may have receives */
    uint8_t doubt; /* an enum untraced_reason: why more may be before it than is told */
    struct occupants in; /* on its line, after it; at most 255 each */
};

struct inconsistency {
    struct event_id at, with; /* with.line 0: nobody */
    const char *why; /* a constant */
};

struct order_figures {
    uint64_t events, hidden_events, pending, lost, contradictions, duplicates;
    uint64_t found; /* of those lost: numbers that nobody told to be */
    uint64_t damaged; /* parts found unreadable so far */
    uint64_t doubtful; /* events before which more may be than is told */
};

struct order *order_new(void); /* everything in memory */
struct order *order_new_on(struct block_store shelf); /* the order frees the shelf */
/* Bytes of packed blocks kept in memory for reading, about; 256 MiB at first. */
void order_cache(struct order *order, size_t bytes);
void order_release_caches(struct order *order); /* lets go of what can be read again */
void order_free(struct order *order);

/* Makes a line; numbers count from 1, hidden ones from HIDDEN_LINE + 1. */
uint32_t order_line(struct order *order, bool shared, uint32_t kind);
/* The line ends with the event of this number, or has ended: nothing comes after it.  0: it has
 * none. */
void order_close(struct order *order, uint32_t line, uint64_t last);
void order_opened_by(struct order *order, uint32_t line, struct event_id by);
/* Events of `type` on shared lines come after all earlier ones of `earlier`; false: of too many. */
bool order_after(struct order *order, uint32_t type, uint32_t earlier);
/* Where a thread is after an event of `type`, with a partner or without, on a line
 * of `kind`; own: the line's own thread rather than the acting one. */
void order_effect(struct order *order, uint32_t kind, uint32_t type, bool paired,
                  enum occupancy presence, bool own);
/* And where the acting one is on the line that the event is about; since when is not kept there
 * (number 0). */
void order_effect_about(struct order *order, uint32_t kind, uint32_t type, bool paired,
                        enum occupancy presence);

/* Who is asked for the effects of a kind and a type when they occur together first, and tells by
 * order_effect those there are.  What was told before is forgotten. */
void order_set_effect_source(struct order *order,
                             void (*ask)(void *context, uint32_t kind, uint32_t type),
                             void *context);

/* Whether events from here on are read again from a journal of which the order knows a part: those
 * that it knows are no duplicates. */
void order_read_again(struct order *order, bool again);
/* Accepts an event; false if it was known and is dropped. */
bool order_insert(struct order *order, const struct arrival *arrival);
/* The same for both ends of a sync pair at once. */
void order_insert_pair(struct order *order, const struct arrival *a, const struct arrival *b);
/* In between nothing but what need not wait is delivered; release delivers the rest, which is
 * quicker for many arrivals together than for one by one. */
void order_pin(struct order *order);
void order_unpin(struct order *order);
/* Tells that an arrival will come soon, so that what it needs is fetched into the processor's
 * caches meanwhile; changes nothing.  The stages are to be called one after the other, some
 * arrivals apart (group prefetching, Chen, Ailamaki, Gibbons and Mowry 2004). */
enum prefetch_kind { PREFETCH_LINES, PREFETCH_POSITIONS, PREFETCH_ROWS };
void order_prefetch(const struct order *order, const struct arrival *arrival,
                    enum prefetch_kind stage);
/* Numbers first .. first + count - 1 will never come. */
void order_note_loss(struct order *order, uint32_t line, uint64_t first, uint64_t count);
/* Nothing more comes on these lines: gaps before pending events are lost. */
void order_end_of_input(struct order *order, const uint32_t *lines, size_t count);
/* Something may come on this line again. */
void order_resume_input(struct order *order, uint32_t line);
/* From now on what may have to look at many events (an arrival that others wait for, lines that are
 * gone) is put off, and order_step does it, in steps of about `looks` events.  True when nothing is
 * left. */
void order_set_wait_for_missing(struct order *order);
bool order_step(struct order *order, uint64_t looks);
/* Nobody is there any more who could tell something: who waits by a key for somebody that never
 * came is let go, as doubtful.  All lines are gone. */
void order_finish(struct order *order);

/* Streams of bytes between hosts.  Each end is told, before the first event that sends or
 * receives.  Who receives waits for sends that are missing once both ends are told; before, until
 * the missing one is, or order_stream_alone is called: then it is let go, as doubtful, as is all
 * that goes to or comes from that address, until somebody tells that it is his.  What these set
 * going is done with the next order_unpin, or order_step. */
struct stream_place {
    uint64_t high, low; /* address */
    uint16_t port;
};
enum stream_end { END_READS, END_WRITES, END_LEAVES /* it does not write any more, others may */ };
struct stream_report {
    uint64_t stream;
    enum stream_end end;
    struct stream_place here, there; /* of who tells it, of the other */
    /* of who tells it; 0 not known.  Once all who write are gone nobody waits for them */
    uint32_t line;
};
void order_stream_end(struct order *order, const struct stream_report *told);
/* Whether that is one of them, of which there are `of_order`. */
bool order_stream_known(const struct order *order, uint64_t stream, size_t *of_order);
/* No event sends its bytes from `first` up to `end`: doubt (an enum untraced_reason) who did; 0:
 * nobody. */
void order_stream_gap(struct order *order, uint64_t stream, uint64_t first, uint64_t end,
                      uint8_t doubt);
/* A stream of which one end has been told for so long, by the times of these calls, and the other
 * is not; each is found once. */
bool order_stream_late(struct order *order, uint64_t now_ns, uint64_t patience_ns,
                       uint64_t *stream);
void order_stream_alone(struct order *order, uint64_t stream);

/* Reports a contradiction that was seen outside. */
void order_report(struct order *order, struct event_id at, struct event_id with, const char *why);

/* Least batch of what is pending; UINT32_MAX if nothing is. */
uint32_t order_oldest_batch(const struct order *order);
/* How many arrivals wait in memory; those that wait on the shelf are not counted. */
uint64_t order_waiting(const struct order *order);
/* Saves what is needed to go on from here, beside what is on the shelf; caller frees.  Of the lines
 * only those are written (to the shelf, some together) that changed since they were last, or lie
 * near such ones. */
uint8_t *order_save(struct order *order, size_t *size);
/* The same in steps, between which the order may go on: what is saved is as it was when it began.
 * A step takes about a millisecond at most. */
bool order_save_prepare(
    struct order *order); /* before it begins, so that this is quick; true: no more to do */
void order_save_begin(struct order *order);
bool order_save_step(struct order *order); /* true when it may end */
uint8_t *order_save_end(struct order *order, size_t *size);
void order_save_drop(
    struct order *order); /* instead: what it would have saved is saved by the next one */
/* Before it ends: the places of the parts that hold the lines; after: bytes that were put there. */
void order_saved_parts(const struct order *order, void (*visit)(void *context, uint64_t place),
                       void *context);
uint64_t order_saved_bytes(const struct order *order);
/* What was put before this place on the shelf is put there anew by the next save. */
void order_renew(struct order *order, uint64_t place);
/* Gets it back into an order that has the same lines, types and effects, but no events yet.  False:
 * the bytes are damaged, and the order is to be freed. */
bool order_restore(struct order *order, const uint8_t *bytes, size_t size);

/* Forgets the oldest part of the log, up to a position at most.  Forgotten events have no
 * position any more; questions about them have the answer ORDER_UNKNOWN. */
void order_discard(struct order *order, uint64_t position);
/* The same in steps: they are forgotten once it begins, and a step clears up behind them, for about
 * a millisecond at most; true when all is done.  Between steps all goes on. */
void order_discard_begin(struct order *order, uint64_t position);
bool order_discard_step(struct order *order);
/* Greatest number known of a line: delivered, lost or waiting. */
uint64_t order_line_highest(const struct order *order, uint32_t line);
uint64_t order_first(const struct order *order); /* first position that is kept */
uint64_t order_line_first(const struct order *order, uint32_t line); /* first kept ordinal */
bool order_is_discarded(const struct order *order, struct event_id at);

/* Looking. */
uint64_t order_count(const struct order *order); /* delivered, all states, hidden ones too */
struct order_event order_event(const struct order *order, uint64_t position);
/* The same of some events one after the other, at most so many, and at least one; `in` is left as
 * it is.  Returns how many. */
size_t order_read(const struct order *order, uint64_t position, size_t most,
                  struct order_event *events);
uint64_t order_position(const struct order *order, struct event_id at); /* or NO_POSITION */
uint64_t order_previous(const struct order *order,
                        uint64_t position); /* on its line, or NO_POSITION */
/* Position of its i-th edge; i < edge_count. */
uint64_t order_edge(const struct order *order, uint64_t position, uint32_t i);
/* The last event before a position, and not before `least`, that is about one of the wanted lines
 * (by line - 1, so many of them), or NO_POSITION. */
uint64_t order_about_before(const struct order *order, uint64_t position, uint64_t least,
                            const uint8_t *wanted, uint32_t lines);
/* The event before it on its line of the same thread, no more than so many events back, or
 * NO_POSITION. */
uint64_t order_previous_of_thread(const struct order *order, uint64_t position, uint32_t most);
/* Adds to counts, by type, the events from one position up to another, hidden ones left out. */
void order_count_types(const struct order *order, uint64_t from, uint64_t end, uint64_t *counts,
                       uint32_t types);
/* Of the events from one position up to another that are in the order: 1 + the position of each
 * thread's last one, by line
 * - 1, so many of them; of others as it was. */
void order_last_of_threads(const struct order *order, uint64_t from, uint64_t end, uint64_t *last,
                           uint32_t lines);
/* Calls visit for each receive of a send. */
void order_receives(const struct order *order, uint64_t send,
                    void (*visit)(void *context, uint64_t receive), void *context);
bool order_sends(const struct order *order, uint64_t position); /* may it have receives? */
uint32_t order_received(const struct order *order,
                        uint64_t position); /* how many sends, its first edges */
uint32_t order_line_count(const struct order *order); /* 1 .. result */
/* It ended, all its events are forgotten, and next to nothing is kept of it. */
bool order_line_is_evicted(const struct order *order, uint32_t line);
uint32_t order_hidden_lines(const struct order *order); /* HIDDEN_LINE + 1 .. */
bool order_line_shared(const struct order *order, uint32_t line);
bool order_line_closed(const struct order *order, uint32_t line);
uint32_t order_line_kind(const struct order *order, uint32_t line);
/* The same in place of what somebody else said it was; once it has events it stays shared or
 * not. */
void order_line_is(struct order *order, uint32_t line, bool shared, uint32_t kind);
void order_line_becomes(struct order *order, uint32_t line,
                        uint32_t kind); /* for what comes from here on */
struct event_id order_line_opened_by(const struct order *order, uint32_t line);
uint64_t order_line_events(const struct order *order, uint32_t line); /* delivered */
uint64_t order_line_at(const struct order *order, uint32_t line, uint64_t ordinal); /* kept ones */
/* Ordinal of the line's first event at or after a position. */
uint64_t order_line_from(const struct order *order, uint32_t line, uint64_t position);
/* Gaps of a line, oldest first; false past the last. */
bool order_line_gap(const struct order *order, uint32_t line, size_t i, uint64_t *first,
                    uint64_t *count);
/* Reads all that is on the shelf, to find out what cannot be read. */
void order_verify(struct order *order);
/* Stretches of a line's numbers that are known to lie in parts that cannot be read. */
void order_unreadable(const struct order *order, uint32_t line,
                      void (*visit)(void *context, uint64_t first, uint64_t count), void *context);
uint64_t order_unreadable_events(const struct order *order); /* of all lines but the hidden ones */
uint64_t order_first_damage(const struct order *order); /* place on the shelf, 0 none */
/* Who is in a line at its end; since: number of the event by which it came in.  False
 * past the last. */
bool order_line_inside(const struct order *order, uint32_t line, size_t i, uint32_t *thread,
                       enum occupancy *presence, uint64_t *since);
/* Position of the last event, on any line, of the thread whose own line this is. */
uint64_t order_thread_last(const struct order *order, uint32_t line);
/* Last member's position of the point at `position`. */
uint64_t order_point_end(const struct order *order, uint64_t position);
struct order_figures order_figures(const struct order *order);
const struct inconsistency *order_inconsistencies(const struct order *order, size_t *count);
/* Calls visit for arrivals that wait and are not spilled, at most so many, those that came
 * first. */
void order_pending(const struct order *order, uint64_t most,
                   void (*visit)(void *context, const struct arrival *), void *context);
const struct arrival *order_pending_at(const struct order *order,
                                       struct event_id at); /* NULL: it does not wait */
/* The same one by one, in the order of their coming; what comes meanwhile is met, too, and nothing
 * is met that does not wait any more.  A walk is to be ended before the order is freed. */
struct pending_walk {
    struct order *order; /* NULL: not begun */
    struct pending *at;
    struct pending_walk *others;
};
void pending_walk_begin(struct order *order, struct pending_walk *walk);
bool pending_walk_next(struct pending_walk *walk, struct event_id *at); /* false at the end */
void pending_walk_end(struct pending_walk *walk);

/* How A stands to B.  Three searches take turns.  Two begin at the later event: one follows the
 * order back line by line and is quick where few lines meet, the other reads the log backwards and
 * is quick where many do.  Both keep how far the past reaches on each line: the vector of Fidge
 * (1988) and Mattern (1989) of one event, computed when asked.  The third begins at the earlier
 * event and goes ahead to where it meets the first (Pohl 1971). */
enum causal_relation order_compare(const struct order *order, struct event_id a, struct event_id b);

/* The same in steps, for one pair after the other; the order may grow between steps, but not
 * forget. */
struct comparison;
struct comparison *comparison_new(const struct order *order);
void comparison_begin(struct comparison *comparison, struct event_id a, struct event_id b);
bool comparison_step(struct comparison *comparison, uint64_t budget); /* true when it is done */
enum causal_relation comparison_answer(const struct comparison *comparison);
/* Why it is UNKNOWN: bits of enum untraced_reason and enum unanswered_reason; else 0. */
uint32_t comparison_reasons(const struct comparison *comparison);
void comparison_free(struct comparison *comparison);

/* Doubts: events before which more may be than is told.  If two events are not ordered, and a
 * doubtful one is before (or is) one of them and not the other, that one may come after the other.
 * Which doubtful events are before each event is found in one pass over the log, when first
 * asked. */
/* Goes on with it for about `budget` events; true once all before position `end` is known. */
bool order_uncertainty_step(const struct order *order, uint64_t end, uint64_t budget);
/* Of two events that are not ordered by what is known, once that is known of both: bits of enum
 * untraced_reason, why they may be ordered all the same; 0: they are concurrent. */
uint32_t order_uncertainty_between(const struct order *order, uint64_t a, uint64_t b);
/* The number of the set of doubts of an event, once that is known of it: two events have the same
 * doubts if these are equal; UINT32_MAX: that cannot be told. */
uint32_t order_uncertainty_of(const struct order *order, uint64_t position);
/* What is in such a set of one reason, as a number: of two sets it is the same if no doubt with
 * this reason is in only one of them (else, by a chance of 2^-64); 0: there is none. */
uint64_t order_uncertainty_kind(const struct order *order, uint32_t set, uint32_t reason);
/* How many of the events of an exclusive line, ordinals from .. end - 1, have the same doubts as
 * the event at a position. */
uint64_t order_uncertainty_alike(const struct order *order, uint32_t line, uint64_t from,
                                 uint64_t end, uint64_t position);

/* How far the past or the future of an event reaches on every line. */
struct cone;
/* As far as a position: what is before it (after it, for the future) is not looked at. */
struct cone *cone_new(const struct order *order, uint64_t position, bool future, uint64_t limit);
void cone_free(struct cone *reach);
/* Goes on for about `budget` events; true when it is done.  The order may grow meanwhile. */
bool cone_step(struct cone *reach, uint64_t budget);
/* On an exclusive line, once done: position of its greatest event before (least event after)
 * the event, or the event's own; NO_POSITION if there is none. */
uint64_t cone_contains_on_line(const struct cone *reach, uint32_t line);
/* Is the event at this position in it?  For lines of any kind, once done. */
bool cone_contains(const struct cone *reach, uint64_t position);

/* A chain of events that makes a before b, by the fewest steps from line to line: a, then the
 * two ends of each such step, then b, each once.  Returns how many (caller frees *chain), 0 if a is
 * not before b. */
size_t order_causal_chain(const struct order *order, struct event_id a, struct event_id b,
                          struct event_id **chain);

/* The same in steps, for an event a that is before b. */
struct causal_chain;
struct causal_chain *causal_chain_new(const struct order *order, struct event_id a,
                                      struct event_id b);
bool causal_chain_step(struct causal_chain *chain, uint64_t budget); /* true when it is done */
size_t causal_chain_find(struct causal_chain *chain, struct event_id **events);
void causal_chain_free(struct causal_chain *chain);

#endif
