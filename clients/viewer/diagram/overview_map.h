/* The overview map below the diagram: the density of events in the whole run, which is their number
 * in each pixel of each row, and the visible part. */
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
};

GtkWidget *overview_map_new(struct view *view);
/* Requests the density of all lines, several of them in a band if there are too many. */
void overview_map_request(struct view *view);

#endif
