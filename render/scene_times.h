/* Times in a scene: conversion between times and x, and the columns of a scene that is placed by
 * time. */
#ifndef RENDER_SCENE_TIMES_H
#define RENDER_SCENE_TIMES_H

#include "render/scene.h"

struct builder;
struct extent;
struct laid_out_event;

/* ---- times and x ---- */

/* Time is interpolated linearly between two marks, also if the scene is placed by order, where that
 * is an approximation. A zeroed one belongs to no scene. */
struct scene_times {
    struct time_at {
        int64_t ns;
        double x_pt;
    } *at; /* by time; x never decreases */
    uint32_t count;
    double left_pt, right_pt; /* of the scene */
};

void scene_times_make(struct scene_times *times, const struct scene *scene);
void scene_times_free(struct scene_times *times); /* leaves it empty */
double scene_times_x(const struct scene_times *times, int64_t ns); /* clamped to the scene */
/* Returns the time at an x: that of the first or last mark beyond them; 0: no marks. */
int64_t scene_times_ns(const struct scene_times *times, double x_pt);
/* Gets the times of the first and the last mark; 0 and 0, if there are none. */
void scene_times_span(const struct scene_times *times, int64_t *from_ns, int64_t *to_ns);

/* ---- the columns of a scene that is placed by time ---- */

/* A window's column is a time interval. The scene has the events of one side by side in the order
 * of their times, each later time or order further right: a window's column with many events
 * becomes several columns of the scene, which all have its number. A long interval without events
 * is one column, drawn as a jag. */

/* Sorts the marks and gives each the index of its column of the scene. Returns the extent of each
 * column, which the caller frees, and their number; b->cells, by column, is freed with the
 * builder. */
struct extent *time_columns_build(struct builder *b, struct laid_out_event *marks, uint32_t count,
                                  uint32_t *columns);
/* Returns the duration of `columns` columns of the window, ns. */
int64_t time_columns_long(const struct builder *b, int64_t columns);
/* Returns 1, 2 or 5 times a power of ten, at least `least`. */
int64_t time_columns_round(int64_t least);
/* Formats a time: "3.138 ms", in a unit that suits the time, with enough digits to distinguish
 * adjacent columns. */
void time_columns_print(int64_t ns, int64_t column_ns, char *text, size_t size);
/* Adds ticks where the columns begin, at round times. */
void time_columns_build_ruler(struct builder *b);

#endif
