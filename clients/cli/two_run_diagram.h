/* A diagram of two runs at their divergence: the rows of the first run above those of the second,
 * with equal events in the same column (clients/schedule/trace_alignment.h).
 *
 * The rows are those of the first run, then as many that only the second has; the latter are in the
 * order of the matching ones of the first, and have the same names. If there are more, those that
 * differ come before the first ones.
 *
 * It has some columns before the first difference and some after it, and the lines involved
 * there. */
#ifndef CLIENTS_CLI_TWO_RUN_DIAGRAM_H
#define CLIENTS_CLI_TWO_RUN_DIAGRAM_H

#include "clients/metadata/trace_metadata.h"
#include "clients/schedule/trace_alignment.h"
#include "render/scene.h"
#include "render/scene_paint.h"
#include "wire/layout_results.h"

struct two_run_line; /* private: by line, the state left of the diagram */
struct two_run_hidden_line; /* private: an event of a hidden line, and its predecessors */

struct two_run_diagram {
    struct merged_metadata both;
    const struct trace_alignment *beside;
    /* the divergence, as in `both`; line 0: the other run has nothing there */
    struct event_id at[2];
    int32_t from, to; /* columns */
    struct window_info window;
    struct scene_heading headings[2];
    struct event_id *equal; /* by line and number */
    uint32_t equal_count;
    struct event_id *stuck; /* pairs, as in a paint_selection: the caller's */
    uint32_t stuck_count;
    struct scene_noted noted[2];
    uint32_t noted_count;
    uint32_t left_lines; /* lines involved for which there is no space */
    struct two_run_line *lines;
    uint8_t *part; /* private: by line */
    size_t line_room;
    struct two_run_hidden_line *hidden;
    uint32_t hidden_count;
};

/* at: of each run, with its own numbers; at least one has a line. The metadata and the alignment
 * must be complete, and must outlive this. */
void two_run_diagram_begin(struct two_run_diagram *halves, const struct trace_metadata *first,
                           const struct trace_metadata *second,
                           const struct trace_alignment *beside, const struct event_id at[2]);
/* Adds an event of run 0 or 1, in the order of its log; takes over its contents. */
void two_run_diagram_add_event(struct two_run_diagram *halves, unsigned run,
                               struct event_info *event);
/* Call after all events: names of the halves, and a text about each divergence (new memory, NULL:
 * none). */
void two_run_diagram_finish(struct two_run_diagram *halves, const char *const headings[2],
                            char *const texts[2]);
void two_run_diagram_free(struct two_run_diagram *halves); /* leaves it empty */

/* Sets scene options that have title, caption and measure; and returns what is highlighted. */
void two_run_diagram_options(const struct two_run_diagram *halves, struct scene_options *options);
struct paint_selection two_run_diagram_selection(const struct two_run_diagram *halves);

#endif
