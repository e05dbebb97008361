/* Exports of a diagram: the settings (part of the run, format), the command `poet export`, which
 * saves it from a view in a file, and copying to the clipboard.
 *
 * The last choice is kept in the group `save` of $XDG_CONFIG_HOME/poet/view.conf, next to the
 * settings. */
#ifndef CLIENTS_VIEWER_DIAGRAM_EXPORT_H
#define CLIENTS_VIEWER_DIAGRAM_EXPORT_H

#include <gio/gio.h>
#include <gtk/gtk.h>
#include <stdbool.h>

struct view;

enum export_format { EXPORT_PDF, EXPORT_SVG, EXPORT_PNG, EXPORT_TEXT, EXPORT_PAGE };
enum export_range {
    EXPORT_SEEN,
    EXPORT_WHOLE,
    EXPORT_TIMES,
    EXPORT_SELECTED,
    EXPORT_NOTES,
    EXPORT_LAST
};
enum export_size { EXPORT_AS_DRAWN, EXPORT_WIDTH, EXPORT_PAPER };
#define EXPORT_FORMATS 5
#define EXPORT_RANGES 6
#define EXPORT_SIZES 3
#define EXPORT_PAPERS 4

struct diagram_export {
    enum export_format format; /* of a preview; otherwise the file name determines it */
    enum export_range range;
    enum export_size size;
    int paper; /* index in export_papers */
    char *last; /* as typed: number of columns */
    char *width; /* as typed: in mm, or with a unit */
    char *caption; /* "": none; not kept, since it belongs to one diagram */
    bool grey, dark, title, legend, notes;
};

/* The argument of `poet export --paper`; the displayed name; the size. */
struct export_paper {
    const char *name, *words, *size;
};
extern const struct export_paper export_papers[EXPORT_PAPERS];

/* Loads the last choice. */
void diagram_export_load(struct diagram_export *diagram);
void diagram_export_save(const struct diagram_export *diagram);
/* Frees its members, and leaves it empty. */
void diagram_export_free(struct diagram_export *diagram);

/* Returns NULL, or why there is no such range in this view. */
const char *diagram_export_range_problem(const struct view *view, enum export_range range);
/* Returns NULL, or what is wrong with a typed number. */
const char *diagram_export_last_problem(const char *last);
const char *diagram_export_width_problem(const char *width);
/* Returns ".pdf". */
const char *diagram_export_suffix(enum export_format format);
bool diagram_export_suffix_of(const char *file, enum export_format *format);

/* Starts the command, with its error messages in a pipe. *view_file: a temporary view file, to be
 * deleted when the command has ended; the caller frees the name. few: for a preview of a whole run,
 * maximum number of columns; 0: no limit. Returns NULL on failure. */
GSubprocess *diagram_export_start(struct view *view, const struct diagram_export *diagram,
                                  const char *file, unsigned few, char **view_file, GError **error);
/* Returns the command's error message without its name: a part of the text. */
const char *diagram_export_strip_prefix(const char *complaints);

/* ---- saving ---- */

/* These report the result in the status line. */
void save_diagram_as(struct view *view, const struct diagram_export *diagram, const char *file);
/* Saves a part of the run with its present appearance. */
void save_diagram(struct view *view, const char *file, enum export_range range);
/* Asks for a file, to which the visible part, or a whole short run, is saved as one web page. */
void save_ask_html(struct view *view);
bool save_is_running(const struct view *view);
void save_cancel(struct view *view);

/* ---- copies in the clipboard ---- */

void save_copy_image(struct view *view);
/* Copies the command that exports the view. */
void save_copy_command(struct view *view);
/* Copies the id of the selected event, "2:17". */
void save_copy_id(struct view *view);

/* ---- export preview ---- */

struct diagram_export;
struct export_preview;

struct export_preview *export_preview_new(struct view *view);
void export_preview_free(struct export_preview *preview); /* its widget may already be destroyed */
/* owned by the container it is added to */
GtkWidget *export_preview_widget(struct export_preview *preview);
/* Shows a preview of the diagram soon; NULL: shows nothing, since the settings are invalid. */
void export_preview_request(struct export_preview *preview, const struct diagram_export *diagram);

#endif
