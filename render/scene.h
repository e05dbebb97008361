/* A scene: the contents of a diagram window, in points, before painting.
 *
 * Built from placed events and the metadata that names things; independent of Cairo and of
 * terminals. Rows run down, columns run right; x and y count from the top left corner of the
 * drawing, including names. A vertical scene is drawn with x and y exchanged, so that lines and
 * time run down; its texts are upright. The scene owns everything in it.
 *
 * Column widths follow from their contents, so that no label overlaps a mark, an arrow head or
 * another label: the label of an event is in its own column and above its own row. */
#ifndef RENDER_SCENE_H
#define RENDER_SCENE_H

#include "clients/metadata/trace_metadata.h"
#include "wire/layout_results.h"

/* AWAY: the row's thread is on another line; WAITS: and waits there; END: the thread has ended,
 * only a stub of the row is drawn. */
enum scene_style {
    STYLE_NONE,
    STYLE_DASHED,
    STYLE_THIN,
    STYLE_SOLID,
    STYLE_ELSEWHERE,
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
    ARROW_ORDER, /* an order edge without a partner */
    ARROW_MIGRATE /* a task moves from one worker thread to another */
};

struct scene_row {
    char *own_label; /* of a line group, or NULL */
    uint32_t line; /* 0: not a line, but a worker thread, or a line group of them */
    double y_pt; /* of the trace line */
    const char *label;
    struct target_color color;
    /* the line of one thread, which shows where the thread is while it is on another line */
    bool away;
    bool heading; /* a heading of the rows below it, otherwise empty */
};

struct scene_column {
    int32_t column; /* the server's number; if placed by time, several columns may have the same */
    double x_pt; /* of the marks in its first slot */
    double left_pt, right_pt; /* its extent on either side */
    uint32_t slots; /* number of places side by side, see render/scene_builder.h */
    /* of a break left of it: 1 for each arrow that it cuts, more for a text, and BREAK_IN_DEADLOCK
     * for each step of a deadlock cycle */
    uint32_t break_cost;
};

#define BREAK_IN_DEADLOCK 1000000u

struct scene_segment {
    uint32_t row;
    double from_pt, to_pt;
    enum scene_style style;
    struct target_color color;
    bool is_long; /* blocked for longer than the threshold */
    /* AWAY, WAITS: */
    /* lines: where its thread is, and what it waits for there; 0: unknown, none */
    uint32_t on, about;
    const struct target_event *waits; /* the event by which it waits; NULL: it does not wait */
    int64_t ns; /* how long it waited; -1: it still waits, or the time is unknown */
    bool lasts; /* nothing more is known of the thread */
};

struct scene_mark {
    uint32_t row, column; /* indices */
    uint32_t slot;
    double x_pt, y_pt;
    enum target_shape shape;
    bool filled;
    struct target_color color;
    enum event_state state;
    uint32_t fold;
    bool waits; /* its line ends with it, and its thread waits for what it is about */
    bool undelivered; /* it could wake no thread: struck through */
    bool stuck; /* by it, its thread waits in a deadlock */
    const struct event_info *event; /* in the window */
    const struct target_event *look; /* or NULL */
};

struct scene_link {
    enum scene_arrow kind;
    /* the head is at 1; the painter accounts for the edges of marks */
    double x0_pt, y0_pt, x1_pt, y1_pt;
    bool head;
    bool contradictory;
    struct target_color color;
    uint32_t line; /* of a STUB or a VIA: the line that is not drawn */
    double bow_pt; /* not 0: leads between marks of one row, this far below it */
    const struct scene_mark *from, *to; /* of an ORDER */
};

/* A text box; y_pt is its top. */
struct scene_text {
    double x_pt, y_pt, width_pt, height_pt, size_pt;
    char *text;
    struct target_color color;
    bool bold;
    /* Text of what a thread waits for, above its row: it may be anywhere from x_pt to until_pt;
     * 0: only at x_pt. */
    double until_pt;
    bool followed; /* and is repeated right of until_pt */
};

struct scene_gap {
    uint32_t row;
    double x_pt; /* middle of the break */
    uint64_t count;
};

/* Placed by time: a long interval without events, compressed; a tick of the ruler. */
struct scene_jag {
    double x_pt, width_pt;
    int64_t ns;
};

struct scene_tick {
    double x_pt;
    char text[32];
};

/* A flag at a mark with a user note; the note's text is among `notes`, after its number. */
struct scene_flag {
    uint32_t row;
    double x_pt, y_pt; /* of the mark */
    bool left; /* there is text right of it: the flag points to the left */
    char number[12];
};

/* A bar that fills a part of the row of a worker thread. */
struct scene_bar {
    uint32_t row;
    double from_pt, to_pt;
    double share; /* the filled share of the time: the height of the bar */
    uint32_t task; /* line; 0: several, one after the other, or of a line group */
    int64_t ns; /* how long it ran there */
    char *text; /* its name, as far as it fits */
    struct target_color color;
};

struct scene_key { /* one entry of the legend */
    double x_pt, y_pt; /* center of the symbol */
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
    uint8_t relation; /* of a side: RELATION_CODE */
    struct target_color color;
};

struct scene {
    double width_pt, height_pt, names_pt; /* names_pt: where the columns begin */
    bool vertical;
    double row_pt, line_pt; /* distance of rows; offset of the trace line in its row */
    double ruler_pt; /* next to the rows */
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
    struct scene_text *notes; /* title, caption, legend texts */
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

struct scene_noted { /* a note at an event */
    struct event_id at;
    const char *text;
};

struct scene_heading { /* a heading, in a row of the window without a line */
    uint32_t row;
    const char *text;
};

struct worker_rows; /* render/scene_rows.h */
struct scene_options {
    const char *title, *caption; /* NULL: none */
    bool legend;
    bool order_arrows; /* for events if their description requests them */
    bool selected, second, relations, found, chain; /* what is highlighted in it, for the legend */
    double legend_width_pt; /* maximum width before line breaks; 0: the width of the drawing */
    bool vertical;
    uint64_t column_ns; /* placed by time: length of a column; there is a ruler above */
    bool squeeze; /* compress long intervals without events */
    int64_t threshold_ns; /* longer blocked intervals are emphasized; 0: none */
    const struct scene_noted *noted; /* flagged, numbered from 1 */
    uint32_t noted_count;
    const struct event_id *stuck; /* pairs, as in a paint_selection */
    uint32_t stuck_count; /* of refs */
    const struct scene_heading *headings;
    uint32_t heading_count;
    /* of two runs: selected is the divergence, pale are the equal events */
    bool differences;
    const struct worker_rows *carriers; /* rows below the others, placed by time; NULL: none */
    double row_pt; /* distance of rows; 0: the minimum */
    double minimum_width_pt; /* the last column is widened to reach it */
    /* Returns the width of text in points; NULL: a fixed 0.55 of the size per character. */
    double (*measure)(void *context, const char *text, double size_pt, bool bold);
    void *context;
};

#define SCENE_RULER_PT 14.0
#define SCENE_ROW_PT 26.0
#define SCENE_LANE_PT 100.0 /* distance of rows, if they run down */
#define SCENE_COLUMN_PT 15.0
#define SCENE_SLOT_PT 11.0
#define SCENE_MARK_PT 7.0 /* diameter */
#define SCENE_LABEL_PT 7.5 /* size of event labels */
#define SCENE_NAME_PT 9.0
#define SCENE_LABEL_MAX_PT 130.0

/* Builds a scene. Window and book must outlive it. */
struct scene *scene_build(const struct window_info *window, const struct trace_metadata *book,
                          const struct scene_options *options);
void scene_free(struct scene *scene);

/* Returns the mark nearest to a point, within `reach` points, or NULL. */
const struct scene_mark *scene_hit(const struct scene *scene, double x_pt, double y_pt,
                                   double reach_pt);
/* Returns the stub or dashed link nearest to a point, within reach, or NULL. */
const struct scene_link *scene_hit_link(const struct scene *scene, double x_pt, double y_pt,
                                        double reach_pt);
/* Formats a duration: "1.5 ms". */
void scene_duration(int64_t ns, char *s, size_t size);
/* Writes the scene as text, for golden files. */
void scene_print(const struct scene *scene, FILE *f);

#endif
