/* The overview map below the diagram: densities of the whole run, and the visible part. */
#ifndef CLIENTS_VIEWER_DIAGRAM_OVERVIEW_MAP_H
#define CLIENTS_VIEWER_DIAGRAM_OVERVIEW_MAP_H

#include "clients/viewer/state/request_slot.h"
#include "wire/layout_results.h"
#include "wire/trace_view.h"

#include <gtk/gtk.h>

struct view;

struct overview_map {
    GtkWidget *widget;
    struct request_slot asked;
    struct density_info density;
    bool by_time, asked_by_time; /* present; requested */
    struct { /* the painted density; NULL: outdated */
        cairo_surface_t *surface;
        int width, height, scale;
        bool dark;
    } image;
    uint32_t *strip_of, line_count; /* by line, from 1; 0: in no band */
};

GtkWidget *overview_map_new(struct view *view);
void overview_map_request(struct view *view);

#endif
