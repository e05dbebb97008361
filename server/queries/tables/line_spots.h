/* Spots: the costs of each place of the code, each value in exactly one of them, for the table of
 * the source.
 *
 * A spot is a place, or a path from one place to another, and what happened there: a function's own
 * code, a call, a wait, what a thread did between two events.  Therefore the sum of a value
 * over all spots equals the total of the other tables. */
#ifndef SERVER_QUERIES_TABLES_LINE_SPOTS_H
#define SERVER_QUERIES_TABLES_LINE_SPOTS_H

#include "server/queries/tables/table_query.h"

enum line_spot_kind {
    LINE_SPOT_SELF, /* the function at `place`: the source line within it is not known */
    LINE_SPOT_CALL, /* a call of the function `other` from `place` */
    LINE_SPOT_WAIT, /* a wait at `place`, in an event of the type `other` */
    LINE_SPOT_STEP, /* code from `place` to `other` */
    /* in the function at `place`, after the call at `other`; 0: before the first */
    LINE_SPOT_WITHIN,
    LINE_SPOT_LATE, /* wake-up latency at `place` */
    LINE_SPOT_TIMEOUT, /* timeout at `place` */
    LINE_SPOT_UNATTRIBUTED,
    LINE_SPOT_NOWHERE, /* the place is unknown: `other` says why, an enum line_spot_nowhere */
    LINE_SPOT_KINDS
};

enum line_spot_nowhere {
    SPOT_NOWHERE_NOT_THERE,
    SPOT_NOWHERE_STARTS,
    SPOT_NOWHERE_OTHERS,
    SPOT_NOWHERE_SELF
};

struct line_spot {
    uint8_t is; /* an enum line_spot_kind */
    bool timed, landed; /* self time is known; total time is known */
    uint32_t place, other; /* numbers of places, 0 unknown; other: see above */
    uint32_t thread; /* thread of the longest */
    uint64_t calls, waits;
    int64_t self_ns, called_ns, total_ns; /* called_ns: self time of the callees */
    int64_t ran_ns, waited_ns, made_ns, path_ns;
    int64_t longest_ns;
    uint64_t longest; /* position of an event; NO_POSITION: none */
};

/* A zero-initialized struct is empty. */
struct line_spots {
    struct line_spot *items;
    size_t count, room;
    struct map index;
    struct table_place *places; /* by number - 1 */
    size_t place_count, place_room;
    struct map numbers;
};

/* Returns the number of a place, the same for all processes; 0 for none. */
uint32_t line_spots_place(struct line_spots *spots, const struct run *run,
                          struct table_place place);
/* Returns a spot, made on first use; valid until the next one is made. */
struct line_spot *line_spots_at(struct line_spots *spots, enum line_spot_kind is, uint32_t place,
                                uint32_t other);
/* Returns the spot of a code segment as numbered in attributions and paths
 * (server/analysis/segment_sums.h). */
struct line_spot *line_spots_step(struct line_spots *spots, const struct table_view *view,
                                  uint32_t step);
/* Sets the event that represents the spot, if it is the longest so far. */
void line_spots_show(struct line_spot *spot, int64_t ns, uint64_t position, uint32_t thread);
/* Adds columns, rows, and their totals. */
void line_spots_fill(const struct line_spots *spots, const struct table_view *view,
                     struct result_table *table);
void line_spots_free(struct line_spots *spots); /* frees the memory; it is empty then */

#endif
