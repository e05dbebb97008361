/* Two runs in one picture, where they come apart: the rows of the first one above those of the second, with what is equal in
 * the same column (clients/plan/beside.h).
 *
 * It has some columns before the first difference and some behind it, and the lines that take part there. */
#ifndef CLIENTS_POET_HALVES_H
#define CLIENTS_POET_HALVES_H

#include "clients/book/both.h"
#include "clients/plan/beside.h"
#include "render/paint.h"
#include "render/scene.h"
#include "wire/placed.h"

struct halves_line; /* private: by line, what is known of it left of the picture */
struct halves_hidden; /* private: an event of a hidden line, and what is before it */

struct halves {
    struct both both;
    const struct beside *beside;
    struct ref
        at[2]; /* where they come apart, as in `both`; line 0: the other run has nothing there */
    int32_t from, to; /* columns */
    struct shown_window window;
    struct scene_heading headings[2];
    struct ref *equal; /* by line and number */
    uint32_t equal_count;
    struct ref *stuck; /* pairs, as of a paint_selection: the caller's */
    uint32_t stuck_count;
    struct scene_noted noted[2];
    uint32_t noted_count;
    uint32_t left_lines; /* that take part, and for which there is no room */
    struct halves_line *lines;
    uint8_t *part; /* by line: an enum opposite_part */
    size_t line_room;
    struct halves_hidden *hidden;
    uint32_t hidden_count;
};

/* at: of each run, as it is called there; one of them has a line.  Books and beside, which is aligned, must outlive this. */
void halves_begin(struct halves *halves, const struct book *first, const struct book *second,
                  const struct beside *beside, const struct ref at[2]);
/* An event of run 0 or 1, in the order of its log; what is kept of it is taken out of it. */
void halves_take(struct halves *halves, unsigned run, struct shown_event *event);
/* Behind all of them: what the halves are called, and what is said of each place (new memory, NULL: nothing). */
void halves_finish(struct halves *halves, const char *const headings[2], char *const said[2]);
void halves_free(struct halves *halves); /* empties it */

/* Into options that have title, caption and measure; and what stands out when it is painted. */
void halves_options(const struct halves *halves, struct scene_options *options);
struct paint_selection halves_selection(const struct halves *halves);

#endif
