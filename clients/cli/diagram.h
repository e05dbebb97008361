/* A picture of a source: what is wanted of it (diagram_options.h reads the options), and the window
 * that is asked for. */
#ifndef CLIENTS_CLI_DIAGRAM_H
#define CLIENTS_CLI_DIAGRAM_H

#include "clients/cli/command.h"
#include "clients/cli/command_source.h"
#include "clients/connection/note_file.h"
#include "clients/connection/view_state.h"
#include "render/worker_rows.h"
#include "render/scene.h"
#include "wire/layout_results.h"

struct event_diagram {
    const struct command *command; /* for complaints about options */
    struct event_id from, to, around; /* line 0: not asked for */
    unsigned last; /* columns at the end, 0 not asked for */
    const char *text; /* around the first event that bears it */
    const char *clusters[32]; /* as written with --group */
    unsigned cluster_count;
    uint8_t *joined; /* by row */
    uint64_t column_ns; /* --time: not 0 */
    bool by_time, scaled; /* scaled: it was said how long a column is */
    const char *lines; /* list of lines, NULL all */
    int fold; /* -1 by size, 0 off, 1 on */
    enum labels labels;
    const char *caption;
    bool no_title, no_legend, no_order_arrows, no_notes, all, vertical;
    const char *view; /* a file that says all of the above */
    struct view_state place; /* out of it */
    struct event_id *chain; /* between its two selected events */
    uint32_t chain_count;
    struct event_id
        *stuck; /* pairs: who waits in a deadlock, and what for; as of a paint_selection */
    uint32_t stuck_count; /* of refs */
    struct view_style look;
    struct window_request request; /* what was asked for last */
    struct window_info window; /* the answer */
    struct note_file notes; /* written at events of the run */
    struct scene_noted *noted; /* the same, for the scene */
    uint32_t *rows;
    uint32_t row_count;
    bool processors; /* which carrier ran what is wanted */
    struct worker_rows carriers; /* the answer */
    char title[256];
};

/* The same picture, other columns. */
bool event_diagram_columns(const struct command *command, struct event_diagram *picture,
                           struct command_source *subject, int32_t from, uint32_t columns);
/* The same in two steps: the window that there is stays until command_source_request_done() is
 * called. */
void event_diagram_send_request(struct event_diagram *picture, struct command_source *subject,
                                int32_t from, uint32_t columns, struct command_request *question);
/* Which lines must be known for it: patterns are matched with the names of all. */
enum session_lines event_diagram_set_rows(const struct event_diagram *picture);
/* A range was asked for, not all that there is. */
bool event_diagram_has_range(const struct event_diagram *picture);
#define EVENT_DIAGRAM_NOTE_BYTES 400
/* How many events were discarded, how many lines have no row, and why: a line of text in `text`, or
 * "" if none were and all have one. */
void event_diagram_note(const struct event_diagram *picture, char *text, size_t size);
/* Asks for the window.  False with a complaint. */
bool event_diagram_request(const struct command *command, struct event_diagram *picture,
                           struct command_source *subject);
void event_diagram_free(struct event_diagram *picture);

#endif
