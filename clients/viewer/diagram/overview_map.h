/* The map below the picture: densities of the whole run, and which part of it is seen. */
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
    bool by_time, asked_by_time; /* what is here, what was asked for */
    struct { /* the density as it was painted last; NULL: anew */
        cairo_surface_t *surface;
        int width, height, scale;
        bool dark;
    } image;
    uint32_t *strip_of, line_count; /* by line, from 1; 0 it is in none */
};

GtkWidget *overview_map_new(struct view *view);
void overview_map_request(struct view *view);

#endif
