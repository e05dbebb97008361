#include "render/state_band_key.h"

#include "render/palette.h"
#include "render/text_cache.h"

#include <math.h>

#define KEY_LINE_PT 16.0
#define KEY_GAP_PT 18.0 /* between entries */
#define KEY_SAMPLE_PT 12.0
#define KEY_LETTERS_PT 9.0

/* ---- words ---- */

/* What a thread does that is on its own line, by an enum band_measurement. */
static const char *const state_band_key_running[] = {[BAND_MEASURED_NONE] = "running or off-CPU",
                                                     [BAND_MEASURED_SOME] =
                                                         "running, or not measured",
                                                     [BAND_MEASURED_ALL] = "running"};

/* What a thread does that runs in an object, by the kinds of objects. */
static const char *const state_band_key_inside[] = {[0] = "inside an object",
                                                    [BAND_KEY_LOCKS] = "in a critical section",
                                                    [BAND_KEY_OTHERS] = "inside an object",
                                                    [BAND_KEY_LOCKS | BAND_KEY_OTHERS] =
                                                        "in a critical section or object"};

const char *state_band_name(unsigned state)
{
    return state == BAND_RUNS     ? state_band_key_running[BAND_MEASURED_NONE]
           : state == BAND_INSIDE ? "inside"
           : state == BAND_WAITS  ? thread_state_name(THREAD_STATE_BLOCKED)
           : state == BAND_ENDED  ? thread_state_name(THREAD_STATE_EXITED)
                                  : "";
}

const char *state_band_object_name(unsigned state, unsigned object)
{
    bool lock = object == BAND_KEY_LOCKS;
    return state == BAND_INSIDE ? (lock ? "held" : "in use")
           : state == BAND_WAITS
               ? (lock ? "held by a blocked thread" : "in use by a blocked thread")
               : (lock ? "free" : "not in use");
}

unsigned state_band_key_object(const struct trace_metadata *book, uint32_t line)
{
    const struct target_line_type *kind = metadata_line_type(book, line);
    return metadata_line_is_thread(book, line) ? 0
           : kind && (kind->category == CATEGORY_LOCK || kind->category == CATEGORY_SEMAPHORE)
               ? BAND_KEY_LOCKS
               : BAND_KEY_OTHERS;
}

unsigned state_band_key_objects(const struct trace_metadata *book, const struct state_bands *strip)
{
    unsigned objects = 0;
    for (uint32_t i = 0; i < strip->row_count; i++)
        objects |= state_band_key_object(book, strip->rows[i]);
    return objects;
}

unsigned state_band_palette_state(unsigned state)
{
    static const uint8_t of[BAND_CLASSES] = {[BAND_RUNS] = THREAD_STATE_RUNNING,
                                             [BAND_INSIDE] = PALETTE_INSIDE,
                                             [BAND_WAITS] = THREAD_STATE_BLOCKED,
                                             [BAND_ENDED] = THREAD_STATE_EXITED};
    return of[state];
}

/* ---- entries ---- */

struct state_band_key {
    cairo_t *cr; /* NULL: to be measured only */
    const struct state_band_style *look;
    double x, y; /* of the next entry */
};

static void state_band_key_set_ink(const struct state_band_key *key, double light, double dark)
{
    double v = key->look->dark ? dark : light;
    cairo_set_source_rgb(key->cr, v, v, v);
}

/* Begins a new line if the present one has no space for this width. */
static void state_band_key_wrap(struct state_band_key *key, double width)
{
    if (key->x > key->look->names_pt &&
        key->x + width > key->look->names_pt + key->look->width_pt) {
        key->x = key->look->names_pt;
        key->y += KEY_LINE_PT;
    }
}

/* Adds an entry; state: of the palette, or PALETTE_STATES for an empty box. */
static void state_band_key_add(struct state_band_key *key, unsigned state, const char *text)
{
    double width = KEY_SAMPLE_PT + 5 + text_cache_width(NULL, text, KEY_LETTERS_PT, false);
    cairo_rectangle_t box = {key->x, key->y + 1, KEY_SAMPLE_PT, 10};
    state_band_key_wrap(key, width);
    box.x = key->x;
    box.y = key->y + 1;
    if (key->cr && state < PALETTE_STATES) {
        struct target_color c = palette_color(state, key->look->grey);
        cairo_set_source_rgb(key->cr, c.red, c.green, c.blue);
        cairo_rectangle(key->cr, box.x, box.y, box.width, box.height);
        cairo_fill(key->cr);
    } else if (key->cr) {
        cairo_set_source_rgb(key->cr, 0.55, 0.55, 0.55);
        cairo_set_line_width(key->cr, 1);
        cairo_rectangle(key->cr, box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1);
        cairo_stroke(key->cr);
    }
    if (key->cr) {
        state_band_key_set_ink(key, 0.2, 0.85);
        text_cache_show(key->cr, key->x + KEY_SAMPLE_PT + 5, key->y, text, KEY_LETTERS_PT, false);
    }
    key->x += width + KEY_GAP_PT;
}

static void state_band_key_add_threads(struct state_band_key *key)
{
    const struct state_band_style *look = key->look;
    state_band_key_add(key, THREAD_STATE_RUNNING, state_band_key_running[look->measured]);
    if (look->measured) {
        state_band_key_add(key, THREAD_STATE_RUNNABLE, thread_state_name(THREAD_STATE_RUNNABLE));
        state_band_key_add(key, THREAD_STATE_OFF_CPU, thread_state_name(THREAD_STATE_OFF_CPU));
    }
    state_band_key_add(key, PALETTE_INSIDE, state_band_key_inside[look->objects]);
    state_band_key_add(key, THREAD_STATE_BLOCKED, thread_state_name(THREAD_STATE_BLOCKED));
    if (look->measured)
        state_band_key_add(key, THREAD_STATE_CREATED, thread_state_name(THREAD_STATE_CREATED));
    state_band_key_add(key, THREAD_STATE_EXITED, thread_state_name(THREAD_STATE_EXITED));
}

/* Adds the states of objects, in a line of their own unless there is space for them. */
static void state_band_key_add_objects(struct state_band_key *key)
{
    static const unsigned states[] = {BAND_INSIDE, BAND_WAITS, BAND_CLASSES};
    bool locks = key->look->objects == BAND_KEY_LOCKS;
    const char *title = locks ? "locks:" : "objects:";
    double words = text_cache_width(NULL, title, KEY_LETTERS_PT, true) + 8, width = words;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        width += KEY_SAMPLE_PT + 5 + KEY_GAP_PT +
                 text_cache_width(NULL, state_band_object_name(states[i], key->look->objects),
                                  KEY_LETTERS_PT, false);
    state_band_key_wrap(key, width);
    if (key->cr) {
        state_band_key_set_ink(key, 0.2, 0.85);
        text_cache_show(key->cr, key->x, key->y, title, KEY_LETTERS_PT, true);
    }
    key->x += words;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        state_band_key_add(
            key, states[i] == BAND_CLASSES ? PALETTE_STATES : state_band_palette_state(states[i]),
            state_band_object_name(states[i], key->look->objects));
}

static double state_band_key_lay_out(cairo_t *cr, double y_pt, const struct state_band_style *look)
{
    struct state_band_key key = {.cr = cr, .look = look, .x = look->names_pt, .y = y_pt};
    state_band_key_add_threads(&key);
    if (look->objects)
        state_band_key_add_objects(&key);
    return key.y + KEY_LINE_PT - y_pt;
}

double state_band_key_pt(const struct state_band_style *look)
{
    return state_band_key_lay_out(NULL, 0, look) + 4;
}

void state_band_paint_key(cairo_t *cr, double y_pt, const struct state_band_style *look)
{
    state_band_key_lay_out(cr, y_pt, look);
}
