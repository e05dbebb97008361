/* What threads did, below a picture from far away: shares of the same pixels, as the server sums them, so that they are
 * true for runs of any size. */
#ifndef CLIENTS_VIEW_DRAWER_AFAR_H
#define CLIENTS_VIEW_DRAWER_AFAR_H

#include "clients/view/parts/inquiry.h"
#include "wire/strip.h"

#include <cairo.h>
#include <glib.h>
#include <stdio.h>

struct view;

/* Zeroed but for `told` and `view`: never asked. */
struct afar {
    struct view *view; /* borrowed */
    void (*told)(struct view *view); /* another one is here */
    struct inquiry asked;
    struct shown_strip strip; /* the newest, */
    char *problem; /* why there is none; NULL: there is one, or none was asked for */
    GArray *rows; /*   and which rows of it are shown: uint32_t */
    GHashTable
        *lived; /* first lines of rows in which something was seen: they stay where nothing is */
    int64_t from, to; /* as it was asked for last */
    uint32_t pixels;
};

bool afar_wanted(const struct view *view); /* is the picture one from far away, by time? */
bool afar_stale(const struct afar *afar); /* the picture is of another time, or as wide, by now */
void afar_ask(struct afar *afar);
void afar_clear(struct afar *afar); /* another run, or the end */

int afar_rows(const struct afar *afar);
/* The n-th from the top; y, high: of its band. */
void afar_draw(const struct afar *afar, cairo_t *cr, int n, double y, double high);
const char *afar_label(const struct afar *afar, int n);
/* "T:main: blocked 62 %, running 30 %" of a place, the caller's; NULL: there is nothing. */
char *afar_say(const struct afar *afar, int n, double x_px);
void afar_print(const struct afar *afar, FILE *f); /* as bands_print */

#endif
