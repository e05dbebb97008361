/* The viewer: one window on one run, live or not.
 *
 * It never holds the order: it asks for windows of placed events (link.c), makes a scene of each answer
 * (stage.c) and paints it (canvas.c).  What is seen is a place; whatever changes it is an action
 * (action.c) and can be undone (history.c).  Everything runs in GTK's thread, but for the opening of a
 * source. */
#ifndef CLIENTS_VIEW_VIEW_H
#define CLIENTS_VIEW_VIEW_H

#include "clients/book/say.h"
#include "clients/source/label.h"
#include "clients/source/place.h"
#include "clients/source/source.h"
#include "clients/source/stands.h"
#include "clients/view/panels/panel.h"
#include "clients/view/ties.h"
#include "render/lettering.h"
#include "render/page.h"
#include "wire/placed.h"

#include <gtk/gtk.h>

#define NAMES_GAP_PX 18 /* beside the names: the arrows that scroll a line */
#define ZOOM_LEAST 0.3  /* below it, densities */
#define ZOOM_MOST 6.0
#define ZOOM_FIRST 1.3
#define ROWS_AT_ONCE 256u /* more lines are asked for in parts */

/* ---- the connection ---- */

struct link {
    struct source source;
    bool connected, has_run, opening;
    bool fresh; /* nothing of the run was shown yet */
    guint watch, more; /* more: messages that came and wait for their turn */
    struct sites *sites;
    uint32_t known;
    uint64_t labelled; /* generation of the book */
    uint64_t damage_told; /* 1 + events that were said to be unreadable; 0 nothing was said */
    char *what;             /* as it was asked for */
    char *names;            /* the list of runs as it comes */
    uint64_t count;         /* events in the log */
    uint64_t behind_ns;     /* how far the order is behind what programs have told */
    uint32_t last_id;       /* of the questions on earlier connections */
    GCancellable *cancel;
    gint64 map_us; /* when it was drawn last */
    guint patience;
    gint64 asked_us; /* since when a picture is waited for; 0: it is not */
    bool impatient;
};

/* ---- what is shown ---- */

#define TILES 32
#define TILE_PX 256

struct stage {
    struct shown_window window;
    struct inquiry placing, standing, counting; /* the window, stands, densities under way */
    struct stands stands; /* of the window's events to the selected one, as far as it was told */
    struct scene *scene;
    uint32_t row_base, row_total; /* rows above those in the scene, rows in all */
    bool coloured;          /* its events know how they stand to the selected one */
    struct ref coloured_by;
    struct shown_density far; /* rows as in far_rows */
    struct tile {
        cairo_surface_t *surface;
        int index; /* of TILE_PX, from the scene's left */
        double rise, zoom;
        guint64 serial; /* of the scene and all that stands out in it */
    } tiles[TILES];
    unsigned next_tile;
    guint64 serial;
};

/* Where something is to stay on the screen while the picture changes around it. */
struct hold {
    bool active;
    struct ref event;   /* line 0: the position */
    uint64_t position;
    double x_px, y_px;  /* y_px < 0: as it is */
};

struct history {
    struct place *back, *forth;
    uint32_t back_count, forth_count;
    const char *last; /* what was done last, so that many small steps are one */
    gint64 last_us;
};

struct finder {
    GtkWidget *entry, *expression, *where, *summary, *events_list;
    GListModel *events; /* all of the log, or the hits */
    struct ref *hits;       /* sorted by line and number */
    uint64_t *positions;    /* in the order of the log */
    struct ref *by_position;
    uint32_t hit_count;
    uint64_t count, looked;
    bool running, jump;
    struct inquiry searching, listing_sites;
    struct asked_site *sites; /* all of the run's, once they are wanted */
    uint32_t site_count;
    bool sites_here;
};

struct settings {
    struct look look;
    bool tint, reselect, panel, map, dark_follows; /* dark_follows: the desktop says */
    int names_px; /* 0: as wide as the longest */
    int width, height;
    char *editor;
    char **recent;
};

struct view {
    GtkApplication *application;
    GtkWidget *window, *stack, *canvas, *grid, *map, *down, *status, *progress, *title, *subtitle,
        *runs, *follow_button, *panel, *panel_stack, *empty_title, *empty_text, *time_scale, *time_box,
        *time_label, *banner, *banner_text, *banner_button, *paned;
    GtkAdjustment *down_at;
    struct link link;
    struct stage stage;
    struct place place;
    struct hold hold;
    struct history history;
    struct finder finder;
    struct settings settings;
    struct shown_density density; /* of the map */
    struct inquiry mapping, stepping;
    struct ties ties;
    GMenu *recent; /* of the menu */
    bool moving;      /* we set widgets ourselves */
    guint reselect_timer, quiet_timer, pulse, orienting;
    char *said;       /* in the status line; NULL: nothing yet */
    bool says_behind; /* there, too: how far the order is behind */
    double time_before; /* the scale that was chosen last */
    double pointer_x, pointer_y; /* on the canvas; -1 outside */
    struct view_drag {
        enum { DRAG_NOTHING, DRAG_PICTURE, DRAG_NAMES, DRAG_ROW } what;
        double x, y;
        uint32_t row;
    } drag;
    GtkWidget *legend;
    struct printing *printing; /* print.c */
    struct fetch *fetch;       /* fetch.c */
    GSubprocess *exporting;
    enum banner { BANNER_NOTHING, BANNER_OPEN, BANNER_ARRANGE } banner_for;
};

/* link.c: the connection */
void link_open(struct view *view, const char *what); /* NULL: the default endpoint; goes on by itself */
void link_close(struct view *view);
void link_give_up(struct view *view); /* waits for no picture any more */

void link_select(struct view *view, const char *run);
void link_runs(struct view *view); /* which ones there are */

/* ask.c: asking on it, and what pictures are made of */
/* Frees body, NULL: it is empty.  The parts of the answer go to `take`, with `user`; 0: there is no connection. */
uint32_t link_ask(struct view *view, enum ask what, struct out *body, source_take *take, void *user);
/* Asks for a window; frees what request has of its own.  A part of the answer: false: there is no window in it. */
void inquiry_window(struct view *view, struct inquiry *inquiry, struct window_request *request,
                    source_take *take);
bool inquiry_window_read(const struct answer *answer, struct shown_window *window);
void link_window(struct view *view); /* for the place */
void link_colour(struct view *view); /* how all that is seen stands to the selected event */

/* stage.c: the scene, and where it is */
void stage_take(struct view *view, struct shown_window *window);
void stage_coloured(struct view *view); /* the stands are known */
void stage_free(struct stage *stage);
void stage_stale(struct view *view); /* the same scene looks different now */
void stage_rebuild(struct view *view);
bool stage_vertical(const struct view *view); /* do lines run down? */
double stage_along_px(const struct view *view);  /* of the canvas, along the lines */
double stage_across_px(const struct view *view);
double stage_row_pt(const struct view *view);  /* from row to row */
double stage_line_pt(const struct view *view); /* of the line in its row */
double stage_left(const struct view *view); /* x in the scene at the left edge of the columns */
void stage_set_left(struct view *view, double x_pt);
double stage_width(const struct view *view);  /* of the columns seen, in points */
double stage_names_px(const struct view *view);
double stage_height_pt(const struct view *view); /* of all rows */
const struct scene_mark *stage_mark(const struct view *view, struct ref at); /* NULL: not there */
const struct scene_mark *stage_hit(const struct view *view, double x_px, double y_px);
const struct scene_link *stage_hit_link(const struct view *view, double x_px, double y_px);
int stage_row_at(const struct view *view, double y_px); /* index in the scene; -1 none */
double stage_x_px(const struct view *view, const struct scene_mark *mark);
double stage_y_px(const struct view *view, uint32_t row);
uint32_t stage_columns(const struct view *view); /* that fit, about */
bool stage_sees(const struct view *view, const struct scene_mark *mark);
void stage_positions(const struct view *view, uint64_t *first, uint64_t *last); /* that are seen */
struct paint_selection stage_selection(const struct view *view);
struct paint_theme stage_theme(const struct view *view);

/* canvas.c: painting it, and the pointer */
GtkWidget *canvas_new(struct view *view);
/* As it is on the screen, whichever way the lines run; width and height are those of the canvas. */
void canvas_draw(struct view *view, cairo_t *cr, int width, int height);
void canvas_bars(struct view *view); /* the scroll bar, after a change */

/* density.c: the run from far away */
void far_ask(struct view *view);
void far_draw(struct view *view, cairo_t *cr, int width, int height);
void far_enter(struct view *view);
void far_zoom(struct view *view, double factor, double x_px);
void far_pan(struct view *view, double x_px);
uint64_t far_position(const struct view *view, double x_px);
GtkWidget *map_new(struct view *view);
void map_ask(struct view *view);

/* navigate.c: changes of place */
void motion_pan(struct view *view, double x_px, double y_px);
void motion_page(struct view *view, int pages);
void motion_start(struct view *view);
void motion_follow(struct view *view, bool follow);
void motion_zoom(struct view *view, double factor, double x_px, double y_px);
void motion_fit(struct view *view); /* the whole run */
void motion_to_event(struct view *view, struct ref at, uint64_t position);
void motion_to_time(struct view *view, int64_t ns);
void motion_to_position(struct view *view, uint64_t position);
void motion_select(struct view *view, struct ref at, bool second);
void motion_along(struct view *view, int step);   /* the selected event, along its line */
void motion_across(struct view *view, int rows);  /* to the neighbouring line */
void motion_partner(struct view *view);
void motion_step(struct view *view, enum asked_step step); /* from the selected event */
void motion_recorded(struct view *view, int step); /* along the recorded order */
void motion_recorded_into(struct view *view, int step); /* into clusters, too: opens them */
void motion_line(struct view *view, uint32_t line, int events); /* scrolls one line */
void motion_time(struct view *view, double scale); /* 0: by order */
void motion_settle(struct view *view); /* a window came: holds, follows, ends */
void motion_keep_selected(struct view *view); /* the picture will change around it */

/* rows.c: which lines are shown, and how they are arranged */
void rows_all(struct view *view);
void rows_hide(struct view *view, uint32_t line);
void rows_only(struct view *view);
void rows_shift(struct view *view, uint32_t line, int by);
void rows_drop(struct view *view, uint32_t line, uint32_t before); /* before line 0: last */
void rows_least_crossing(struct view *view);
void rows_join(struct view *view, uint32_t line); /* with the row above */
void rows_split(struct view *view, uint32_t line);
bool rows_joined(const struct view *view, uint32_t line); /* is it in a cluster? */
enum rows_rule { ROWS_BY_PROCESS, ROWS_BY_KIND, ROWS_BY_NAME, ROWS_BY_DESCRIPTION };
void rows_cluster_pattern(struct view *view, const char *pattern); /* as of fnmatch, on names */
void rows_hide_pattern(struct view *view, const char *pattern);
void rows_default(struct view *view); /* the clusters of the descriptions, if they have any */
void rows_cluster(struct view *view, enum rows_rule rule);
/* Of very many lines, until they are arranged, those have rows that have events in the window. */
bool rows_by_events(const struct view *view);
void rows_taken(struct view *view, const struct shown_window *window); /* it is to be shown */
/* As for a window, but those that are shown where otherwise all were meant; false: none are. */
bool rows_for_density(struct view *view, struct window_request *request);
void rows_for_request(struct view *view, struct window_request *request);

/* history.c */
void history_mark(struct view *view, const char *what); /* before a change */
void history_undo(struct view *view);
void history_redo(struct view *view);
void history_clear(struct view *view);

/* hover.c: what is said of whatever the pointer is over; the caller's */
char *hover_event(struct view *view, const struct shown_event *event);
char *hover_stretch(struct view *view, uint32_t row, double x_pt); /* NULL: nothing worth a word */
const char *hover_since(const struct view *view, const struct shown_event *event); /* what the time before it was */

/* panels/: what of them others ask for */
void event_edit(struct view *view); /* the source of the selected event */
const struct shown_event *waiting_oldest(struct view *view); /* the event that waits longest; NULL none */
void bookmarks_add(struct view *view);
bool bookmarks_go(struct view *view, uint64_t number); /* from 1; false: there is no such one */
bool bookmarks_ends(struct view *view, struct ref ends[2]); /* the first and the last; false: there are not two */
GtkWidget *events_new(struct view *view);
void events_count(struct view *view); /* the log has grown, or there are other hits */
void events_select(struct view *view);
void events_clear(struct view *view);
void find_start(struct view *view); /* for what is in the entry */
void find_focus(struct view *view);
void find_next(struct view *view, int step);

/* action.c: everything that can be done, with keys and menu */
void actions_install(struct view *view);
GMenuModel *actions_menu(struct view *view);
void actions_recent(struct view *view); /* what was opened before, in the menu */
void actions_update(struct view *view);

/* save.c: out of the viewer */
void save_diagram(struct view *view);
void save_export(struct view *view, const char *file, bool whole);
void save_copy_image(struct view *view);
void save_copy_command(struct view *view);

/* fetch.c: the trace itself */
void fetch_trace(struct view *view);
void fetch_trace_to(struct view *view, const char *file);
bool fetch_runs(const struct view *view);
void fetch_cancel(struct view *view); /* what was written of it goes */

/* print.c: what is seen, once more */
void print_paper(struct view *view);
void print_to_clipboard(struct view *view);
void print_to_file(struct view *view, const char *file); /* a scene, as text */

/* views.c: views in files */
bool views_write(struct view *view, const char *file, bool whole);
void views_save(struct view *view);
void views_load(struct view *view);
char *views_directory(void); /* the caller's */
void views_keep_arrangement(struct view *view); /* for the next run of the program */
bool views_offer_arrangement(struct view *view);
void views_apply_arrangement(struct view *view);

/* legend.c */
GtkWidget *legend_new(struct view *view);
void legend_show(struct view *view);

/* settings.c */
void settings_load(struct settings *settings);
void settings_save(struct view *view);
void settings_remember(struct view *view, const char *what);
void settings_dialog(struct view *view);
void settings_apply(struct view *view);

/* window.c */
void window_new(GtkApplication *application, const char *source, const char *script);
void window_say(struct view *view, const char *format, ...) G_GNUC_PRINTF(2, 3);
void window_behind(struct view *view); /* link.behind_ns has changed */
void window_trouble(struct view *view, const char *button, const char *format, ...) G_GNUC_PRINTF(3, 4);
void window_offer(struct view *view, const char *button, const char *text);
void window_titles(struct view *view);
void window_empty(struct view *view, const char *title, const char *text); /* NULL: the picture */
void window_busy(struct view *view, const char *what, double share); /* NULL: no more */
GtkWidget *window_icon_button(const char *icon, const char *action, const char *tooltip);
void window_closes_on_escape(GtkWidget *window);
/* A dialog that begins in the working directory; name: proposed for a file to be saved, or NULL. */
GtkFileChooser *window_chooser(struct view *view, const char *title, GtkFileChooserAction action,
                               const char *name);
void window_open_dialog(struct view *view);
void window_connect_dialog(struct view *view);
void window_go_dialog(struct view *view);
void window_cluster_dialog(struct view *view);
void window_hide_dialog(struct view *view);
void window_go(struct view *view, const char *where);

/* script.c */
void script_run(struct view *view, const char *file);

/* The book of the run. */
static inline struct book *the_book(struct view *view) { return &view->link.source.book; }

#endif
