/* Conversion between times and x in a scene. Time is interpolated linearly between two marks, also
 * if the scene is placed by order, where that is an approximation. */
#ifndef RENDER_SCENE_TIMES_H
#define RENDER_SCENE_TIMES_H

#include "render/scene.h"

/* A zeroed one belongs to no scene. */
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
/* Gets the times of the first and the last mark; 0 and 0, if there are none. */
void scene_times_span(const struct scene_times *times, int64_t *from_ns, int64_t *to_ns);

#endif
