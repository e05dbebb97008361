/* Spots: what each place of the code took, each figure in one of them alone, for the table of the
 * source.
 *
 * A spot is a place, or the way from one to another, and what happened there: a function's own
 * code, a call, a wait, what a thread did between two events.  So each figure summed up over all
 * spots is what the other tables say in all. */
#ifndef SERVER_QUERIES_TABLES_LINE_SPOTS_H
#define SERVER_QUERIES_TABLES_LINE_SPOTS_H

#include "server/queries/tables/table_query.h"

enum line_spot_kind {
    LINE_SPOT_SELF, /* the function at `place`: the line within it is not known */
    LINE_SPOT_CALL, /* of the function `other`, from `place` */
    LINE_SPOT_WAIT, /* at `place`, in an event of the type `other` */
    LINE_SPOT_STEP, /* from `place` to `other` */
    /* in the function at `place`, after the call at `other`, 0: before the first */
    LINE_SPOT_WITHIN,
    LINE_SPOT_LATE, /* let go at `place`, and not gone on yet */
    LINE_SPOT_TIMEOUT, /* waiting there for a time */
    LINE_SPOT_UNATTRIBUTED,
    LINE_SPOT_NOWHERE, /* no place is known of it: `other` says why, an enum line_spot_nowhere */
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
    bool timed, landed; /* self; total are known */
    uint32_t place, other; /* numbers of places, 0 not known; other: see above */
    uint32_t thread; /* of the longest */
    uint64_t calls, waits;
    int64_t self_ns, called_ns, total_ns; /* called: self of what was called there */
    int64_t ran_ns, waited_ns, made_ns, path_ns;
    int64_t longest_ns;
    uint64_t longest; /* position of an event; NO_POSITION: none */
};

/* Zero-initialised: none. */
struct line_spots {
    struct line_spot *items;
    size_t count, room;
    struct map index;
    struct table_place *places; /* by number - 1 */
    size_t place_count, place_room;
    struct map numbers;
};

/* The number of a place, in whatever process; 0 of none. */
uint32_t line_spots_place(struct line_spots *spots, const struct run *run,
                          struct table_place place);
/* Made on first use, and there until the next is made. */
struct line_spot *line_spots_at(struct line_spots *spots, enum line_spot_kind is, uint32_t place,
                                uint32_t other);
/* That of a step as charges and paths know it (server/analysis/segment_ids.h). */
struct line_spot *line_spots_step(struct line_spots *spots, const struct table_view *view,
                                  uint32_t step);
/* An event that it is shown by, if it is the longest so far. */
void line_spots_show(struct line_spot *spot, int64_t ns, uint64_t position, uint32_t thread);
/* Columns, rows, and their sums below. */
void line_spots_fill(const struct line_spots *spots, const struct table_view *view,
                     struct result_table *table);
void line_spots_free(struct line_spots *spots); /* empties it */

#endif
