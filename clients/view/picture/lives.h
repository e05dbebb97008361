/* From far away: in which state threads were as it was measured, on the rows of the strips: for what is drawn of it over
 * them (kinds.h) and below the picture. */
#ifndef CLIENTS_VIEW_PICTURE_LIVES_H
#define CLIENTS_VIEW_PICTURE_LIVES_H

#include "clients/view/parts/news.h"
#include "wire/strip.h"

struct view;

void lives_take(struct view *view, enum news news);
void lives_clear(struct view *view); /* another run */
/* Of the rows that are seen; NULL: it is not here, or not wanted.  Its range may be that of a moment ago. */
const struct shown_strip *lives_of(struct view *view);
/* The pixel of it in which a pixel of the strips begins; -1: none. */
int lives_pixel(const struct shown_strip *lives, const struct shown_strip *seen, uint32_t pixel);
/* Is it a row of threads? */
bool lives_has(const struct shown_strip *lives, uint32_t row);
const char *lives_problem(struct view *view); /* why it cannot be shown; NULL: it can */
bool lives_busy(struct view *view); /* is it asked for, or about to be? */
bool lives_runs(struct view *view); /* is it asked for, and nothing here yet? */

#endif
