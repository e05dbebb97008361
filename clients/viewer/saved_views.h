/* Saving and loading views in files; and the arrangement of lines, which is kept for the next run
 * of the program. */
#ifndef CLIENTS_VIEWER_SAVED_VIEWS_H
#define CLIENTS_VIEWER_SAVED_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

struct view_style;
struct view;

/* Saves the visible view. Returns false on failure, which was reported. */
bool saved_views_write(struct view *view, const char *file);
/* Saves with that appearance; columns: this many from the begin of the run, 0: the visible ones. */
bool saved_views_write_as(struct view *view, const char *file, const struct view_style *look,
                          uint32_t columns);
void saved_views_save(struct view *view); /* asks for the file */
void saved_views_load(struct view *view);
char *saved_views_directory(void); /* the caller frees it */
void saved_views_keep_arrangement(struct view *view); /* for the next run of the program */
void saved_views_offer_arrangement(struct view *view);
void saved_views_apply_arrangement(struct view *view);

#endif
