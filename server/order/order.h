/* The partial order of one run: accepts events in any arrival order and answers queries about them.
 *
 * An event is *delivered* once all its predecessors are delivered; delivered events form a log with
 * positions that are a linear extension of the order and never change.  The members of a
 * synchronization point (a sync pair, a group) have neighbouring positions.
 *
 * The predecessors of an event are the event before it on its line (only if the line is exclusive),
 * the events in `after`, the sends it receives, and on a shared line every earlier event of the
 * types in its type's `after` set, which hidden lines collect.
 *
 * An inconsistent event never stops the intake: the event that would close a cycle is set aside
 * (EVENT_CONTRADICTORY), reported once, and takes no part in the order.
 *
 * Intake follows the head-and-waiter scheme of centralised POET servers: each line's head waits on
 * one event at a time, so the wait-for graph has out-degree one and a cycle is found by walking it
 * from the edge that closes it.
 *
 * Delivered events are in blocks, and their positions in lists by line. A block store
 * (block_store.h) holds their finished parts; the newest blocks, the pending events and a bounded
 * cache are in memory. An order is saved as one run of bytes and some parts in the block store,
 * which grow with the lines, not with the events.
 *
 * Not thread-safe.  Running out of memory aborts.  The order knows no names, only codes.
 * */
#ifndef SERVER_ORDER_ORDER_H
#define SERVER_ORDER_ORDER_H

#include "server/order/block_store.h"
#include "wire/event_types.h"

#define NO_POSITION UINT64_MAX
#define AFTER_MAX 8u /* types that the events of one type come after, see order_after */

struct order;

/* An arriving event.  The caller owns the arrays.  The members that most events need come first,
 * in one cache line. */
struct arrival {
    struct event_id at;
    uint32_t type; /* code of the run */
    uint32_t about; /* line, 0 none */
    /* line of the acting task, 0: unknown; each event of a task happened after the task's previous
     * one, by its line, its pair or `after` */
    uint32_t thread;
    uint32_t site;
    int64_t time_ns;
    const struct event_id *partners; /* SYNC: 1; RECEIVE: any; else ignored */
    uint32_t partner_count;
    uint32_t batch; /* its source, see order_oldest_batch */
    /* of a keyed SEND: the number of its receives, 0: any; of a keyed RECEIVE: 1 if it is the last
     * with its keys; of a stream: bytes */
    uint32_t group_size;
    enum relation relation : 8;
    bool closes : 1; /* no event may follow on this line */
    /* Partners meet by key; always for a GROUP.  A RECEIVE may have many: then its partners are on
     * line 0, and their numbers stand for the second half of the key. */
    bool keyed : 1;
    /* keyed: key[0] is a stream, key[1] an offset in it, group_size the number of bytes sent or
     * received from there on; a RECEIVE happened after all sends of its bytes */
    bool stream : 1;
    bool sends : 1; /* a RECEIVE that is received in turn */
    uint8_t doubt; /* an enum untraced_reason: why it is uncertain */
    uint8_t waits; /* used by the order itself while the arrival is pending */
    struct event_id after[2]; /* line 0: none */
    uint64_t key[2];
};

/* A delivered event. line 0: it cannot be read, since the trace file is damaged there. */
struct order_event {
    uint64_t number;
    int64_t time_ns;
    uint64_t point; /* first position of its point */
    uint32_t line, thread, about, site;
    uint32_t type;
    uint32_t edge_count; /* incoming: sends first, then order edges */
    uint32_t send_count; /* how many of them are sends that it receives */
    uint8_t relation, state;
    bool partner_lost; /* a partner will never arrive */
    bool opened; /* its last edge is from the event that opened its line */
    bool after_gap; /* numbers before it on its line were lost */
    bool sends; /* it may have receives */
    uint8_t doubt; /* an enum untraced_reason: why it is uncertain */
    struct occupants in; /* on its line, after it; at most 255 each */
};

struct inconsistency {
    struct event_id at, with; /* with.line 0: none */
    const char *why; /* a constant */
};

struct order_figures {
    uint64_t events, hidden_events, pending, lost, contradictions, duplicates;
    uint64_t found; /* lost numbers that were found missing without a report of the loss */
    uint64_t damaged; /* parts found unreadable so far */
    uint64_t doubtful; /* uncertain events: they may have more predecessors than are recorded */
};

struct order *order_new(void); /* everything in memory */
struct order *order_new_on(struct block_store shelf); /* the order frees the store */
/* Sets about how many bytes of packed blocks are kept in memory for reading; 256 MiB at first. */
void order_cache(struct order *order, size_t bytes);
void order_release_caches(struct order *order); /* frees what can be read again */
void order_free(struct order *order);

/* Creates a line; numbers count from 1, hidden ones from HIDDEN_LINE + 1. */
uint32_t order_line(struct order *order, bool shared, uint32_t kind);
/* Closes a line: no event may follow the one with this number, which may still be to arrive. 0: the
 * line has no events. */
void order_close(struct order *order, uint32_t line, uint64_t last);
void order_opened_by(struct order *order, uint32_t line, struct event_id by);
/* Declares that events of `type` on shared lines come after all earlier ones of `earlier`. Returns
 * false if `type` comes after too many types. */
bool order_after(struct order *order, uint32_t type, uint32_t earlier);
/* Sets the occupancy of a thread after an event of `type`, with a partner or without, on a line
 * of `kind`. own: for the line's own thread rather than the acting one. */
void order_effect(struct order *order, uint32_t kind, uint32_t type, bool paired,
                  enum occupancy presence, bool own);
/* Sets the occupancy of the acting thread in the line that the event is about; the number of the
 * event by which it entered is not stored there (0). */
void order_effect_about(struct order *order, uint32_t kind, uint32_t type, bool paired,
                        enum occupancy presence);

/* Sets the callback that supplies the effects of a kind and a type when they first occur
 * together; it calls order_effect() for each effect.  Effects set before are discarded. */
void order_set_effect_source(struct order *order,
                             void (*ask)(void *context, uint32_t kind, uint32_t type),
                             void *context);

/* Sets whether events from here on are re-read from a journal of which the order knows a part:
 * events that it knows are not duplicates then. */
void order_read_again(struct order *order, bool again);
/* Accepts an event; returns false if it was known and is dropped. */
bool order_insert(struct order *order, const struct arrival *arrival);
/* Accepts both ends of a sync pair at once. */
void order_insert_pair(struct order *order, const struct arrival *a, const struct arrival *b);
/* Between the two calls only events that need not wait are delivered; order_unpin() delivers the
 * rest, which is faster for many arrivals together than for single ones. */
void order_pin(struct order *order);
void order_unpin(struct order *order);
/* Records that numbers first .. first + count - 1 will never arrive. */
void order_note_loss(struct order *order, uint32_t line, uint64_t first, uint64_t count);
/* Records that no more events arrive on these lines: gaps before pending events are lost. */
void order_end_of_input(struct order *order, const uint32_t *lines, size_t count);
/* Records that more events may arrive on this line after all. */
void order_resume_input(struct order *order, uint32_t line);
/* From now on, work that may have to look at many events (an arrival that others wait for, lines
 * that have ended) is deferred to order_step(), which does it in steps of about `looks` events
 * and returns true when no work is left. */
void order_set_wait_for_missing(struct order *order);
bool order_step(struct order *order, uint64_t looks);
/* Ends the intake: no peer is left that could add events, and all lines have ended.  An event
 * that waits by a key for a partner that never arrived is delivered, as uncertain. */
void order_finish(struct order *order);

/* Streams of bytes between hosts.  Each end is reported before the first event that sends or
 * receives.  Once both ends are known, a receive waits for its missing sends.  Before that, it
 * waits until the missing end is reported or order_stream_alone() is called; then it is
 * delivered as uncertain, as are all events to and from that address until an end reports that
 * address as its own.  Work that these calls cause is done by the next order_unpin() or
 * order_step(). */
struct stream_place {
    uint64_t high, low; /* address */
    uint16_t port;
};
enum stream_end { END_READS, END_WRITES, END_LEAVES /* it does not write any more, others may */ };
struct stream_report {
    uint64_t stream;
    enum stream_end end;
    struct stream_place here, there; /* of the reporting end, of the other end */
    /* of the reporting end; 0 unknown.  Once all writers have ended, no receive waits for them */
    uint32_t line;
};
void order_stream_end(struct order *order, const struct stream_report *report);
/* Returns whether `stream` is a stream between hosts; *of_order is set to their number. */
bool order_stream_known(const struct order *order, uint64_t stream, size_t *of_order);
/* Records that no event sends the bytes from `first` up to `end`. doubt: the enum
 * untraced_reason why; 0: they were not sent. */
void order_stream_gap(struct order *order, uint64_t stream, uint64_t first, uint64_t end,
                      uint8_t doubt);
/* Finds a stream of which only one end has been reported for `timeout_ns`, by the times of
 * these calls.  Each stream is found once. */
bool order_stream_late(struct order *order, uint64_t now_ns, uint64_t timeout_ns, uint64_t *stream);
void order_stream_alone(struct order *order, uint64_t stream);

/* Reports an inconsistency that was found outside the order. */
void order_report(struct order *order, struct event_id at, struct event_id with, const char *why);

/* Returns the least batch of the pending events; UINT32_MAX if none is pending. */
uint32_t order_oldest_batch(const struct order *order);
/* Returns the number of arrivals pending in memory; those spilled to the block store are not
 * counted. */
uint64_t order_waiting(const struct order *order);
/* Saves what is needed to continue from here and is not in the block store; the caller frees the
 * result.  Only lines that changed since the last save, and lines near them, are written (to the
 * block store, several together). */
uint8_t *order_save(struct order *order, size_t *size);
/* Saving in steps, between which the order may grow: the saved state is that of the begin.  A
 * step takes about a millisecond at most. */
/* Packs blocks before a save begins, so that this is quick; returns true when none is left. */
bool order_save_prepare(struct order *order);
void order_save_begin(struct order *order);
bool order_save_step(struct order *order); /* true when it may end */
uint8_t *order_save_end(struct order *order, size_t *size);
/* Abandons a save; the next one saves what this one would have saved. */
void order_save_drop(struct order *order);
/* Before a save ends: visits the places of all parts that belong to it. After it:
 * order_saved_bytes() returns how many bytes it wrote to parts. */
void order_saved_parts(const struct order *order, void (*visit)(void *context, uint64_t place),
                       void *context);
uint64_t order_saved_bytes(const struct order *order);
/* Makes the next save write again what was put into the block store before this place. */
void order_renew(struct order *order, uint64_t place);
/* Restores a saved order into one that has the same lines, types and effects, but no events yet.
 * Returns false if the bytes are damaged; the order must be freed then. */
bool order_restore(struct order *order, const uint8_t *bytes, size_t size);

/* Discards the oldest part of the log, up to a position at most.  Discarded events have no
 * position any more; queries about them return ORDER_UNKNOWN. */
void order_discard(struct order *order, uint64_t position);
/* Discarding in steps: the events are discarded at the begin, and each step frees what belonged
 * to them, for about a millisecond at most; returns true when all is done.  The order may be
 * used between steps. */
void order_discard_begin(struct order *order, uint64_t position);
bool order_discard_step(struct order *order);
/* Returns the greatest known number of a line: delivered, lost or pending. */
uint64_t order_line_highest(const struct order *order, uint32_t line);
uint64_t order_first(const struct order *order); /* first position that is kept */
uint64_t order_line_first(const struct order *order, uint32_t line); /* first kept ordinal */
bool order_is_discarded(const struct order *order, struct event_id at);

/* Queries. */
/* delivered events in all states, including hidden ones */
uint64_t order_count(const struct order *order);
struct order_event order_event(const struct order *order, uint64_t position);
/* Reads consecutive events, at least one and at most `most`, without setting `in`. Returns their
 * number. */
size_t order_read(const struct order *order, uint64_t position, size_t most,
                  struct order_event *events);
/* When and where an event is. */
struct event_time {
    int64_t time_ns;
    uint32_t line, thread;
};
/* Reads the times of consecutive events, as order_read() does. */
size_t order_read_times(const struct order *order, uint64_t position, size_t most,
                        struct event_time *events);
/* Returns `in` of an event. */
struct occupants order_occupants(const struct order *order, uint64_t position);
uint64_t order_position(const struct order *order, struct event_id at); /* or NO_POSITION */
/* Returns the position of the previous event on its line, or NO_POSITION. */
uint64_t order_previous(const struct order *order, uint64_t position);
/* Returns the position from which an event's i-th edge comes; i < edge_count. */
uint64_t order_edge(const struct order *order, uint64_t position, uint32_t i);
/* Returns the position of the last event before `position`, but not before `least`, that is about a
 * wanted line (wanted[line - 1], for lines up to `lines`), or NO_POSITION. */
uint64_t order_about_before(const struct order *order, uint64_t position, uint64_t least,
                            const uint8_t *wanted, uint32_t lines);
/* Returns the position of the previous event on its line by the same thread, at most `most` events
 * back, or NO_POSITION. */
uint64_t order_previous_of_thread(const struct order *order, uint64_t position, uint32_t most);
/* Adds to counts, by type, the events from one position up to another, except hidden ones. */
void order_count_types(const struct order *order, uint64_t from, uint64_t end, uint64_t *counts,
                       uint32_t types);
/* Sets last[line - 1] to 1 + the position of the thread's last ordered event from one position
 * up to another; entries of threads without one are unchanged.  Inconsistent events are skipped. */
void order_last_of_threads(const struct order *order, uint64_t from, uint64_t end, uint64_t *last,
                           uint32_t lines);
/* Calls visit for each receive of a send. */
void order_receives(const struct order *order, uint64_t send,
                    void (*visit)(void *context, uint64_t receive), void *context);
bool order_sends(const struct order *order, uint64_t position); /* may it have receives? */
/* Returns how many sends an event receives: these are its first edges. */
uint32_t order_received(const struct order *order, uint64_t position);
uint32_t order_line_count(const struct order *order); /* 1 .. result */
/* Returns whether the line has ended, all its events are discarded, and it was evicted from
 * memory. */
bool order_line_is_evicted(const struct order *order, uint32_t line);
uint32_t order_hidden_lines(const struct order *order); /* HIDDEN_LINE + 1 .. */
bool order_line_shared(const struct order *order, uint32_t line);
bool order_line_closed(const struct order *order, uint32_t line);
uint32_t order_line_kind(const struct order *order, uint32_t line);
/* Replaces kind and sharing that another process declared; a line that has events keeps its
 * sharing. */
void order_line_is(struct order *order, uint32_t line, bool shared, uint32_t kind);
/* Changes the kind of a line for events from here on. */
void order_line_becomes(struct order *order, uint32_t line, uint32_t kind);
struct event_id order_line_opened_by(const struct order *order, uint32_t line);
uint64_t order_line_events(const struct order *order, uint32_t line); /* delivered */
uint64_t order_line_at(const struct order *order, uint32_t line, uint64_t ordinal); /* kept ones */
/* Returns the ordinal of the line's first event at or after a position. */
uint64_t order_line_from(const struct order *order, uint32_t line, uint64_t position);
/* Gets the i-th gap of a line, oldest first, with count 0 if its numbers were not lost, but are not
 * in this part of an execution; returns false past the last. */
bool order_line_gap(const struct order *order, uint32_t line, size_t i, uint64_t *first,
                    uint64_t *count);
/* Reads the whole block store, to find the parts that are unreadable. */
void order_verify(struct order *order);
/* Visits the ranges of a line's numbers that are known to be in unreadable parts. */
void order_unreadable(const struct order *order, uint32_t line,
                      void (*visit)(void *context, uint64_t first, uint64_t count), void *context);
/* Returns the number of these events on visible lines. */
uint64_t order_unreadable_events(const struct order *order);
uint64_t order_first_damage(const struct order *order); /* place in the block store, 0: none */
/* Gets the i-th occupant of a line at its end. since: number of the event with which it entered.
 * Returns false past the last. */
bool order_line_inside(const struct order *order, uint32_t line, size_t i, uint32_t *thread,
                       enum occupancy *presence, uint64_t *since);
/* Returns the position of the last event, on any line, of the thread with this line, or
 * NO_POSITION. */
uint64_t order_thread_last(const struct order *order, uint32_t line);
/* Returns the position of the last member of the point at `position`. */
uint64_t order_point_end(const struct order *order, uint64_t position);
/* Returns the greatest time between two members of a point so far, ns by their own clocks. */
uint64_t order_point_spread_ns(const struct order *order);
struct order_figures order_figures(const struct order *order);
const struct inconsistency *order_inconsistencies(const struct order *order, size_t *count);
/* Calls visit for arrivals that are pending and not spilled, at most `most`, in the order of
 * arrival. */
void order_pending(const struct order *order, uint64_t most,
                   void (*visit)(void *context, const struct arrival *), void *context);
/* Returns a pending arrival; NULL if it is not pending, or spilled. */
const struct arrival *order_pending_at(const struct order *order, struct event_id at);
/* Iteration over the pending events in the order of arrival.  It visits events that arrive
 * meanwhile, too, and skips events that are no longer pending.  A walk must be ended before the
 * order is freed. */
struct pending_walk {
    struct order *order; /* NULL: not begun */
    struct pending *at;
    struct pending_walk *others;
};
void pending_walk_begin(struct order *order, struct pending_walk *walk);
bool pending_walk_next(struct pending_walk *walk, struct event_id *at); /* false at the end */
void pending_walk_end(struct pending_walk *walk);

/* Returns how A is related to B. Three searches alternate.  Two begin at the later event: one
 * follows the order back line by line and is fast if few lines synchronize, the other reads the
 * log backwards and is fast if many do.  Both keep how far the causal past reaches on each line:
 * the vector clock (Fidge 1988, Mattern 1989) of one event, computed on demand.  The third
 * begins at the earlier event and searches forwards until it meets the first (Pohl 1971). */
enum causal_relation order_compare(const struct order *order, struct event_id a, struct event_id b);

/* Comparison in steps, for one pair after the other.  The order may grow between steps, but not
 * discard events. */
struct comparison;
struct comparison *comparison_new(const struct order *order);
void comparison_begin(struct comparison *comparison, struct event_id a, struct event_id b);
bool comparison_step(struct comparison *comparison, uint64_t budget); /* true when it is done */
enum causal_relation comparison_answer(const struct comparison *comparison);
/* Returns why the answer is UNKNOWN: bits of enum untraced_reason and enum unanswered_reason;
 * else 0. */
uint32_t comparison_reasons(const struct comparison *comparison);
void comparison_free(struct comparison *comparison);

/* Uncertain events may have more predecessors than are recorded.  If two events are not ordered,
 * and an uncertain event is (or happened before) one of them and did not happen before the
 * other, that one may have happened after the other.  One pass over the log, on the first query,
 * finds the uncertain events in the past of each event. */
/* Continues this pass for about `budget` events; returns true once it has reached position
 * `end`. */
bool order_uncertainty_step(const struct order *order, uint64_t end, uint64_t budget);
/* Returns why two events that no known chain orders may be ordered: bits of enum
 * untraced_reason; 0: they are concurrent.  The pass must have reached both. */
uint32_t order_uncertainty_between(const struct order *order, uint64_t a, uint64_t b);
/* Returns the number of the set of uncertain events in the past of an event that the pass has
 * reached.  Equal numbers mean equal sets; UINT32_MAX: unknown. */
uint32_t order_uncertainty_of(const struct order *order, uint64_t position);
/* Returns a hash of the uncertain events with one reason in such a set; 0: there are none.  Two
 * sets have the same hash if they have the same uncertain events with this reason (otherwise
 * with probability 2^-64). */
uint64_t order_uncertainty_kind(const struct order *order, uint32_t set, uint32_t reason);
/* Returns how many events of an exclusive line, ordinals from .. end - 1, have the same set of
 * uncertain events as the event at a position. */
uint64_t order_uncertainty_alike(const struct order *order, uint32_t line, uint64_t from,
                                 uint64_t end, uint64_t position);

/* The causal past or future of an event, as its extent on every line. */
struct cone;
/* Begins a cone. limit: events before it (after it, for the future) are not considered. */
struct cone *cone_new(const struct order *order, uint64_t position, bool future, uint64_t limit);
void cone_free(struct cone *reach);
/* Continues for about `budget` events; returns true when done.  The order may grow meanwhile. */
bool cone_step(struct cone *reach, uint64_t budget);
/* Returns, once done, the position on an exclusive line of the last event that happened before
 * (first that happened after) the event, or the event's own; NO_POSITION if there is none. */
uint64_t cone_contains_on_line(const struct cone *reach, uint32_t line);
/* Returns, once done, whether the event at this position is in the cone, for lines of any kind. */
bool cone_contains(const struct cone *reach, uint64_t position);

/* Finds a causal chain from a to b with the fewest steps from line to line: a, then the two ends
 * of each such step, then b, each once.  Returns its length (the caller frees *chain), 0 if a
 * did not happen before b. */
size_t order_causal_chain(const struct order *order, struct event_id a, struct event_id b,
                          struct event_id **chain);

/* Finding a causal chain in steps, for an event a that happened before b. */
struct causal_chain;
struct causal_chain *causal_chain_new(const struct order *order, struct event_id a,
                                      struct event_id b);
bool causal_chain_step(struct causal_chain *chain, uint64_t budget); /* true when it is done */
size_t causal_chain_find(struct causal_chain *chain, struct event_id **events);
void causal_chain_free(struct causal_chain *chain);

#endif
