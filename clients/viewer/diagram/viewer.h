/* The viewer: one window on one run, live or not, composed of parts that own their data.
 *
 * It never holds the order. The link (server_link.h) requests windows of placed events; the diagram
 * (diagram_view.h) makes a scene of each response, which is stored in the scene cache
 * (scene_cache.h) and displayed through the viewport (viewport.h). A view state describes what is
 * visible; code that changes it records it in the history (history.h) and sends a notification
 * (notifications.h), to which viewer_window.c reacts. Everything runs in GTK's main thread, except
 * the opening of a source.
 *
 * A part accesses only its own members; link, scene cache, viewport, history, relations, search,
 * status and settings know only the parts that they are given. Code that connects several of them
 * takes the whole struct. A state that only one file reads and writes is an addon
 * (viewer_addons.h) and no member here. */
#ifndef CLIENTS_VIEWER_DIAGRAM_VIEWER_H
#define CLIENTS_VIEWER_DIAGRAM_VIEWER_H

#include "clients/viewer/diagram/breakpoints.h"
#include "clients/viewer/diagram/diagram_view.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/overview_map.h"
#include "clients/viewer/diagram/pointer_input.h"
#include "clients/viewer/diagram/scrolling.h"
#include "clients/viewer/diagram/selection.h"
#include "clients/viewer/diagram/time_scale.h"
#include "clients/viewer/state/highlights.h"
#include "clients/viewer/state/history.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/run_notes.h"
#include "clients/viewer/state/scene_cache.h"
#include "clients/viewer/state/search.h"
#include "clients/viewer/state/selection_relations.h"
#include "clients/viewer/state/server_link.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/state/viewer_addons.h"
#include "clients/viewer/state/viewer_settings.h"
#include "clients/viewer/state/viewport.h"

struct view {
    struct notifier notifier;
    struct viewer_settings viewer_settings;
    struct server_link server_link;
    struct scene_cache scene_cache;
    struct viewport viewport;
    struct view_history history;
    struct selection_relations selection_relations;
    struct viewer_search search;
    struct run_notes run_notes;
    struct highlights highlights;
    struct diagram_view diagram_view;
    struct selection_colors selection_colors;
    struct overview overview;
    struct overview_map overview_map;
    struct row_scrollbar row_scrollbar;
    struct pointer_input pointer;
    struct scrolling scroll;
    struct event_step event_step;
    struct breakpoint_marks breakpoint_marks;
    struct time_scale time_scale;
    struct status_line status_line;
    struct toast toast;
    GtkWidget *window, *canvas, *legend;
    /* private states of the files that draw overlays and make widgets */
    struct viewer_addons addons;
    GMenu *recent; /* window_menu.c */
    GSubprocess *exporting; /* clipboard_save.c */
    GtkWidget *stack; /* viewer_window.c, welcome_page.c: the diagram, or the page in its place */
    GtkWidget *panel, *panels; /* sidebar/: the side panel, and the stack of its pages */
};

/* Returns the metadata of the run. */
static inline struct trace_metadata *view_metadata(struct view *view)
{
    return server_link_metadata(&view->server_link);
}

#endif
