/* The map below the picture: densities of the whole run, and which part of it is seen. */
#ifndef CLIENTS_VIEW_PICTURE_MAP_H
#define CLIENTS_VIEW_PICTURE_MAP_H

#include "clients/view/parts/inquiry.h"
#include "wire/placed.h"
#include "wire/shown.h"

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
