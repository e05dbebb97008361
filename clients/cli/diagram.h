/* A diagram of a source: what it is to show (diagram_options.c parses the options), and the window
 * requested for it. */
#ifndef CLIENTS_CLI_DIAGRAM_H
#define CLIENTS_CLI_DIAGRAM_H

#include "clients/cli/command.h"
#include "clients/cli/command_source.h"
#include "clients/connection/note_file.h"
#include "clients/connection/view_state.h"
#include "render/scene.h"
#include "render/scene_rows.h"
#include "wire/layout_results.h"
#include "wire/table_rows.h"

#include <argp.h>

struct event_diagram {
    const struct command *command; /* for messages about options */
    struct table_end from, to; /* open: not requested */
    bool may_be_empty; /* a range without events is not reported: the window is empty */
    struct event_id around; /* line 0: not requested */
    unsigned last; /* columns at the end, 0: not requested */
    const char *text; /* around the first event with this annotation */
    const char *clusters[32]; /* as written with --group */
    unsigned cluster_count;
    uint8_t *joined; /* by row */
    uint64_t column_ns; /* --time: not 0 */
    bool by_time, scaled; /* scaled: the length of a column was given */
    int64_t duration_ns; /* of the range, if by time and not scaled */
    const char *lines; /* list of lines, NULL: all */
    int fold; /* -1: by size, 0: off, 1: on */
    enum labels labels;
    const char *caption;
    bool no_title, no_legend, no_order_arrows, no_notes, all, vertical;
    const char *view; /* a saved view that determines all of the above */
    struct view_state place; /* read from it */
    struct event_id *chain; /* between its two selected events */
    uint32_t chain_count;
    /* pairs: a thread in a deadlock, and what it waits for; as in a paint_selection */
    struct event_id *stuck;
    uint32_t stuck_count; /* of events */
    struct view_style look;
    struct window_request request; /* the last request */
    struct window_info window; /* the response */
    struct note_file notes; /* at events of the run */
    struct scene_noted *noted; /* the same, for the scene */
    uint32_t *rows;
    uint32_t row_count;
    bool processors; /* show worker threads */
    struct worker_rows carriers; /* the response */
    char title[256];
};

/* Requests other columns of the same diagram. */
bool event_diagram_columns(const struct command *command, struct event_diagram *picture,
                           struct command_source *subject, int32_t from, uint32_t columns);
/* Sends that request only: the current window remains until command_source_request_done() is
 * called. */
void event_diagram_send_request(struct event_diagram *picture, struct command_source *subject,
                                int32_t from, uint32_t columns, struct command_request *pending);
/* Returns which lines must be known for it: patterns are matched with the names of all. */
enum session_lines event_diagram_set_rows(const struct event_diagram *picture);
/* Requests the window. Returns false after reporting an error. */
bool event_diagram_request(const struct command *command, struct event_diagram *picture,
                           struct command_source *subject);
void event_diagram_free(struct event_diagram *picture);

/* ---- windows and ranges (diagram_range.c): around an event, from one event or time to another,
 * the last columns, or the whole run ---- */

/* Sends the request for a window, with the rows of the diagram. */
void diagram_window_send(struct event_diagram *picture, struct command_source *subject,
                         struct window_request *request, struct command_request *pending);
/* Does this, and waits for the window. Returns false after reporting an error. */
bool diagram_window_request(const struct command *command, struct event_diagram *picture,
                            struct command_source *subject, struct window_request *request);

#define COLUMNS_UNASKED 4000 /* requested by default; far more than fit on the default pages */

/* Returns whether a range was requested rather than the whole run. */
bool diagram_range_is_set(const struct event_diagram *picture);
/* Returns whether it was requested by times alone. */
bool diagram_range_is_of_times(const struct event_diagram *picture);
/* Returns a part of the title, ", 1.2 ms – 3 ms"; "" if the range is not one of times. The caller
 * frees it. */
char *diagram_range_text(const struct event_diagram *picture);
/* Requests the window of the range. Returns false after reporting an error. */
bool diagram_range_request(const struct command *command, struct event_diagram *picture,
                           struct command_source *subject);

/* ---- diagram options ---- */

/* The options that `export` and `show` share, a child of their tables; its input is a struct
 * event_diagram. */
extern const struct argp picture_options;

#endif
