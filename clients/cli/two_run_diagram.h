/* Two runs in one picture, where they come apart: the rows of the first one above those of the
 * second, with what is equal in the same column (clients/schedule/trace_alignment.h).
 *
 * It has some columns before the first difference and some behind it, and the lines that take part
 * there. */
#ifndef CLIENTS_CLI_TWO_RUN_DIAGRAM_H
#define CLIENTS_CLI_TWO_RUN_DIAGRAM_H

#include "clients/metadata/merged_metadata.h"
#include "clients/schedule/trace_alignment.h"
#include "render/scene_paint.h"
#include "render/scene.h"
#include "wire/layout_results.h"

struct two_run_line; /* private: by line, what is known of it left of the picture */
struct two_run_hidden_line; /* private: an event of a hidden line, and what is before it */

struct two_run_diagram {
    struct merged_metadata both;
    const struct trace_alignment *beside;
    /* where they come apart, as in `both`; line 0: the other run has nothing there */
    struct event_id at[2];
    int32_t from, to; /* columns */
    struct window_info window;
    struct scene_heading headings[2];
    struct event_id *equal; /* by line and number */
    uint32_t equal_count;
    struct event_id *stuck; /* pairs, as of a paint_selection: the caller's */
    uint32_t stuck_count;
    struct scene_noted noted[2];
    uint32_t noted_count;
    uint32_t left_lines; /* that take part, and for which there is no room */
    struct two_run_line *lines;
    uint8_t *part; /* by line: an enum row_match */
    size_t line_room;
    struct two_run_hidden_line *hidden;
    uint32_t hidden_count;
};

/* at: of each run, as it is called there; one of them has a line.  Books and beside, which is
 * aligned, must outlive this. */
void two_run_diagram_begin(struct two_run_diagram *halves, const struct trace_metadata *first,
                           const struct trace_metadata *second,
                           const struct trace_alignment *beside, const struct event_id at[2]);
/* An event of run 0 or 1, in the order of its log; what is kept of it is taken out of it. */
void two_run_diagram_add_event(struct two_run_diagram *halves, unsigned run,
                               struct event_info *event);
/* Behind all of them: what the halves are called, and what is said of each place (new memory, NULL:
 * nothing). */
void two_run_diagram_finish(struct two_run_diagram *halves, const char *const headings[2],
                            char *const said[2]);
void two_run_diagram_free(struct two_run_diagram *halves); /* empties it */

/* Into options that have title, caption and measure; and what stands out when it is painted. */
void two_run_diagram_options(const struct two_run_diagram *halves, struct scene_options *options);
struct paint_selection two_run_diagram_selection(const struct two_run_diagram *halves);

#endif
