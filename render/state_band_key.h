/* Key of state bands: the words for their states, of threads and of objects, and their colors. */
#ifndef RENDER_STATE_BAND_KEY_H
#define RENDER_STATE_BAND_KEY_H

#include "render/state_band_paint.h"

/* Kinds of objects among the rows. */
enum {
    BAND_KEY_LOCKS = 1, /* locks and semaphores: they are held */
    BAND_KEY_OTHERS = 2 /* such as coroutines: they are in use */
};

/* Returns the kind of an object, or 0 for a thread. */
unsigned state_band_key_object(const struct trace_metadata *book, uint32_t line);
/* Returns the kinds of objects among the rows. */
unsigned state_band_key_objects(const struct trace_metadata *book, const struct state_bands *strip);

unsigned
state_band_palette_state(unsigned state); /* of an enum band_state: the state of its color */
/* Returns the word for an enum band_state of a thread: "blocked". */
const char *state_band_name(unsigned state);
/* Returns the word for an enum band_state of an object: "held". */
const char *state_band_object_name(unsigned state, unsigned object);

/* Returns the height of the key, which has as many lines as its width requires. */
double state_band_key_pt(const struct state_band_style *look);
void state_band_paint_key(cairo_t *cr, double y_pt, const struct state_band_style *look);

#endif
