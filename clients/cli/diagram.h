/* A diagram of a source: what it is to show (diagram_options.h parses the options), and the window
 * requested for it. */
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
    const struct command *command; /* for messages about options */
    struct event_id from, to, around; /* line 0: not requested */
    unsigned last; /* columns at the end, 0: not requested */
    const char *text; /* around the first event with this annotation */
    const char *clusters[32]; /* as written with --group */
    unsigned cluster_count;
    uint8_t *joined; /* by row */
    uint64_t column_ns; /* --time: not 0 */
    bool by_time, scaled; /* scaled: the length of a column was given */
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
/* Returns whether a range was requested rather than the whole run. */
bool event_diagram_has_range(const struct event_diagram *picture);
#define EVENT_DIAGRAM_NOTE_BYTES 400
/* Formats one line about discarded events and about lines without a row, with the reason, into
 * `text`, or "" if there are none. */
void event_diagram_note(const struct event_diagram *picture, char *text, size_t size);
/* Requests the window. Returns false after reporting an error. */
bool event_diagram_request(const struct command *command, struct event_diagram *picture,
                           struct command_source *subject);
void event_diagram_free(struct event_diagram *picture);

#endif
