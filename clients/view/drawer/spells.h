/* Spells, as the table of that name tells them: a state of a thread, since when, how long; and as shares of pixels. */
#ifndef CLIENTS_VIEW_DRAWER_SPELLS_H
#define CLIENTS_VIEW_DRAWER_SPELLS_H

#include "clients/source/table.h"

#include <cairo.h>

enum spell_state {
    SPELL_START,
    SPELL_READY,
    SPELL_RUNNING,
    SPELL_BLOCKED,
    SPELL_SYSTEM,
    SPELL_TERMINATE,
    SPELL_UNKNOWN,
    SPELL_STATES
};

struct spell_row {
    uint32_t line, about; /* the thread; what it waits for, 0 nothing */
    unsigned state;
    int64_t from_ns, took_ns;
    struct table_place where; /* it began */
    const char *doubt; /* why it is not known who ended a wait; NULL: it is; of the table */
    const char *on; /* running: on which processor, where that is known; the table's, or NULL */
    struct ref event; /* with which it began */
};

const char *spells_word(unsigned state); /* "running" */
bool spells_row(const struct shown_table *table, uint32_t row,
                struct spell_row *spell); /* false: it is none */
/* "running since 1.250 ms, for 3.100 ms, from main (x.c:5) on"; new memory. */
char *spells_say(const struct table_names *names, const struct spell_row *spell);

/* Adds a stretch of a state to the shares of pixels 0 .. width - 1, SPELL_STATES of each. */
void spells_add(float *shares, int width, unsigned state, double from_px, double to_px);
bool spells_alike(const float *shares, int one, int other); /* do two pixels look the same? */
/* One above the other, as high as their shares; what is left is left out. */
void spells_paint(cairo_t *cr, const float *shares, double x, double y, double wide, double high,
                  bool grey);
/* What colours stand for; returns how wide that is. */
double spells_key(cairo_t *cr, double x, double y, bool dark, bool grey);

#endif
