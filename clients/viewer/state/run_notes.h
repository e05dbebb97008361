/* The user notes of the displayed run, and their positions in it. */
#ifndef CLIENTS_VIEWER_STATE_RUN_NOTES_H
#define CLIENTS_VIEWER_STATE_RUN_NOTES_H

#include "clients/connection/note_file.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/notifications.h"
#include "render/scene.h"

#include <cairo.h>

struct run_notes {
    struct server_link *link; /* borrowed, like the following */
    const struct notifier *notifier; /* receives NOTIFY_NOTES */
    struct note_file notes;
    struct scene_noted *scene; /* the same, for a scene */
    struct note_moment {
        uint64_t position; /* in the log; NO_POSITION: unknown, or there is no such event */
        int64_t time_ns;
        bool asked;
    } *moments;
    /* private */
    struct request_slot slot;
    uint32_t asked_index; /* index of the pending request */
};

/* Opens the notes of another run. Returns false with the reason in *error if they are
 * damaged. */
bool run_notes_open(struct run_notes *noted, struct error *error);
enum notes_kept run_notes_set(struct run_notes *noted, struct event_id at, const char *text,
                              struct error *error); /* as note_file_set() */

/* A visible part of the run: between two positions of the log, or two times. */
struct run_notes_range {
    bool by_time;
    double from, to;
};

/* Draws flags where marks are not drawn, in the overview map and in the zoomed-out view: across
 * pixels x_px to x_px + width_px, which show that part. */
void run_notes_draw_flags(const struct run_notes *noted, cairo_t *cr,
                          const struct run_notes_range *span, double x_px, double width_px);

#endif
