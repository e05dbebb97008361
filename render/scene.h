/* A scene: what a picture of a window holds, in points, before anything is painted.
 *
 * Built from placed events and the book that names things; knows neither Cairo nor a
 * terminal.  Rows run down, columns run right; x and y count from the top left
 * corner of the drawing, names and all.  A vertical scene is drawn with x and y exchanged, so that
 * lines run down and time with them; its texts stand upright.  Everything belongs to the scene.
 *
 * Column widths follow from what stands in them, so that no label can meet a mark, an
 * arrow head or another label: a label of an event lies in its own column and above
 * its own row. */
#ifndef RENDER_SCENE_H
#define RENDER_SCENE_H

#include "clients/metadata/trace_metadata.h"
#include "wire/layout_results.h"

/* AWAY: the row's thread is on another line; WAITS: and waits there; END: it has ended, of the row
 * there is nothing but a stub. */
enum scene_style {
    STYLE_NONE,
    STYLE_DASHED,
    STYLE_THIN,
    STYLE_SOLID,
    STYLE_AWAY,
    STYLE_WAITS,
    STYLE_END
};
enum scene_arrow {
    ARROW_SYNC,
    ARROW_ASYNC,
    ARROW_GROUP,
    ARROW_STUB,
    ARROW_CROSSING,
    ARROW_VIA,
    ARROW_ORDER, /* before, without being a partner */
    ARROW_MIGRATE /* a task goes from one carrier to another */
};

struct scene_row {
    char *own_label; /* of a cluster, or NULL */
    uint32_t line; /* 0: of none, but of a carrier, or of a cluster of them */
    double y_pt; /* of the trace line */
    const char *label;
    struct target_color colour;
    bool away; /* of one thread, and shows where that is while it is on another line */
    bool heading; /* of the rows below it: nothing else is in it */
};

struct scene_column {
    int32_t column; /* as the server counts; placed by time some may have the same */
    double x_pt; /* of the marks in its first slot */
    double left_pt, right_pt; /* what it takes up on either side */
    uint32_t slots; /* places side by side, see render/scene_slots.h */
};

struct scene_segment {
    uint32_t row;
    double from_pt, to_pt;
    enum scene_style style;
    struct target_color colour;
    bool is_long; /* blocked for longer than the threshold */
    /* AWAY, WAITS: */
    uint32_t on,
        about; /* lines: where its thread is, and what it waits for there; 0 not known, none */
    const struct target_event *waits; /* by this event; NULL: it does not */
    int64_t ns; /* how long it waited; -1 it still does, or that is not known */
    bool lasts; /* nothing more is known of the thread */
};

struct scene_mark {
    uint32_t row, column; /* indices */
    uint32_t slot;
    double x_pt, y_pt;
    enum target_shape shape;
    bool filled;
    struct target_color colour;
    enum event_state state;
    uint32_t fold;
    bool waits; /* its line ends with it, and its thread waits for what it is about */
    bool unheard; /* it could wake nobody: struck through */
    bool stuck; /* by it its thread waits in a deadlock */
    const struct event_info *event; /* in the window */
    const struct target_event *look; /* or NULL */
};

struct scene_link {
    enum scene_arrow kind;
    double x0_pt, y0_pt, x1_pt, y1_pt; /* head at 1; edges of marks are left to the painter */
    bool head;
    bool contradictory;
    struct target_color colour;
    uint32_t line; /* of a STUB, a VIA: the line that is not drawn */
    double bow_pt; /* not 0: from a mark of a row to one of the same row, so far below it */
    const struct scene_mark *from, *to; /* of an ORDER */
};

/* A box of text; y_pt is its top. */
struct scene_text {
    double x_pt, y_pt, width_pt, height_pt, size_pt;
    char *text;
    struct target_color colour;
    bool bold;
    /* What a thread waits for, above its row: may stand anywhere from x_pt to until_pt, 0 only
     * where it is. */
    double until_pt;
    bool followed; /* and stands there again, right of until_pt */
};

struct scene_gap {
    uint32_t row;
    double x_pt; /* middle of the break */
    uint64_t count;
};

/* Placed by time: a long stretch without events, squeezed; a tick of the ruler. */
struct scene_jag {
    double x_pt, width_pt;
    int64_t ns;
};

struct scene_tick {
    double x_pt;
    char text[32];
};

/* A flag at a mark that somebody has written a note at; its text stands among the notes, behind its
 * number. */
struct scene_flag {
    uint32_t row;
    double x_pt, y_pt; /* of the mark */
    bool left; /* words stand right of it: it waves to the left */
    char number[12];
};

/* Something that fills a part of the row of a carrier. */
struct scene_bar {
    uint32_t row;
    double from_pt, to_pt;
    double share; /* how much of the time there is filled: how high it is */
    uint32_t task; /* line; 0: several, one after the other, or of a cluster */
    int64_t ns; /* how long it was there */
    char *text; /* as much of its name as fits */
    struct target_color colour;
};

struct scene_key { /* one entry of the legend */
    double x_pt, y_pt; /* centre of the symbol */
    enum scene_symbol {
        KEY_MARK,
        KEY_LINE,
        KEY_ARROW,
        KEY_RING,
        KEY_SIDE,
        KEY_BAR,
        KEY_NOTHING
    } symbol;
    enum target_shape shape; /* of a mark */
    bool filled, struck;
    enum event_state state;
    enum scene_style style; /* of a line */
    enum scene_arrow arrow;
    uint8_t stands; /* of a side: RELATION_CODE */
    struct target_color colour;
};

struct scene {
    double width_pt, height_pt, names_pt; /* names_pt: where the columns begin */
    bool vertical;
    double row_pt, line_pt; /* from row to row; of the trace line in its row */
    double ruler_pt; /* beside the rows */
    double top_pt, bottom_pt; /* of the rows */
    struct scene_row *rows;
    uint32_t row_count;
    struct scene_column *columns;
    uint32_t column_count;
    struct scene_segment *segments;
    uint32_t segment_count;
    struct scene_mark *marks;
    uint32_t mark_count;
    struct scene_link *links;
    uint32_t link_count;
    struct scene_text *texts; /* labels of events */
    uint32_t text_count;
    struct scene_text *notes; /* title, caption, legend words */
    uint32_t note_count;
    struct scene_gap *gaps;
    uint32_t gap_count;
    struct scene_key *keys;
    uint32_t key_count;
    struct scene_jag *jags;
    uint32_t jag_count;
    struct scene_tick *ticks;
    uint32_t tick_count;
    struct scene_flag *flags;
    uint32_t flag_count;
    struct scene_bar *bars;
    uint32_t bar_count;
};

struct scene_noted { /* what was written at an event */
    struct event_id at;
    const char *text;
};

struct scene_heading { /* in a row of the window that is of no line */
    uint32_t row;
    const char *text;
};

struct worker_rows; /* render/worker_rows.h */
struct scene_options {
    const char *title, *caption; /* NULL none */
    bool legend;
    bool order_arrows; /* of events whose description asks for them */
    bool selected, second, stands, found, chain; /* what stands out in it, for the legend */
    double legend_width_pt; /* where it is broken into lines; 0: at the width of the drawing */
    bool vertical;
    uint64_t column_ns; /* placed by time: so long is a column; a ruler stands above */
    bool squeeze; /* long stretches without events */
    int64_t threshold_ns; /* blocked stretches that are longer stand out; 0 none */
    const struct scene_noted *noted; /* flagged, by their numbers from 1 on */
    uint32_t noted_count;
    const struct event_id *stuck; /* pairs, as of a paint_selection */
    uint32_t stuck_count; /* of refs */
    const struct scene_heading *headings;
    uint32_t heading_count;
    /* of two runs: selected is where they come apart, and pale is what is equal */
    bool differences;
    const struct worker_rows *carriers; /* rows below the others, placed by time; NULL none */
    double row_pt; /* from row to row; 0: as small as it goes */
    double minimum_width_pt; /* the last column is widened to reach it */
    /* Width of text in points; NULL: a fixed 0.55 of the size per character. */
    double (*measure)(void *context, const char *text, double size_pt, bool bold);
    void *context;
};

#define SCENE_RULER_PT 14.0
#define SCENE_ROW_PT 26.0
#define SCENE_LANE_PT 100.0 /* from row to row, if they run down */
#define SCENE_COLUMN_PT 15.0
#define SCENE_SLOT_PT 11.0
#define SCENE_MARK_PT 7.0 /* across */
#define SCENE_LABEL_PT 7.5 /* size of event labels */
#define SCENE_NAME_PT 9.0
#define SCENE_LABEL_MAX_PT 130.0

/* Window and book must outlive the scene. */
struct scene *scene_build(const struct window_info *window, const struct trace_metadata *book,
                          const struct scene_options *options);
void scene_free(struct scene *scene);

/* The mark nearest to a point, within reach points; NULL if none. */
const struct scene_mark *scene_hit(const struct scene *scene, double x_pt, double y_pt,
                                   double reach_pt);
/* The stub or dashed link nearest to a point, within reach; NULL if none. */
const struct scene_link *scene_hit_link(const struct scene *scene, double x_pt, double y_pt,
                                        double reach_pt);
/* "1.5 ms" */
void scene_duration(int64_t ns, char *s, size_t size);
/* Writes the scene as text, for golden files. */
void scene_print(const struct scene *scene, FILE *f);

#endif
