/* The columns of a scene that is placed by time.
 *
 * A window's column is a stretch of time.  What happened in it stands side by side in the order of
 * its times, each time or tie of the order further right: a window's column with much in it becomes
 * several columns of the scene, which all have its number.  A long stretch with nothing in it is
 * one column, drawn as a jag. */
#ifndef RENDER_TIME_COLUMNS_H
#define RENDER_TIME_COLUMNS_H

#include "render/scene_builder.h"

/* Sorts the marks and gives each the index of its column of the scene.  Returns what each column
 * needs, for the caller to free, and their number; b->cells, by column, is freed with the
 * builder. */
struct extent *time_columns_build(struct builder *b, struct laid_out_event *marks, uint32_t count,
                                  uint32_t *columns);
/* How long so many columns of the window are, ns. */
int64_t time_columns_long(const struct builder *b, int64_t columns);
/* 1, 2 or 5 times a power of ten, at least `least`. */
int64_t time_columns_round(int64_t least);
/* "3.138 ms": in the unit of the time itself, with the digits that tell one stretch from the
 * next. */
void time_columns_print(int64_t ns, int64_t column_ns, char *text, size_t size);
/* Ticks where the columns begin, at round times. */
void time_columns_build_ruler(struct builder *b);

#endif
