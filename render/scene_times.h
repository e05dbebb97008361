/* Where in a scene a time is.  Between two marks time is spread evenly; by order, too, where that
 * is as good as it gets. */
#ifndef RENDER_SCENE_TIMES_H
#define RENDER_SCENE_TIMES_H

#include "render/scene.h"

/* Zero-initialised: of no scene. */
struct scene_times {
    struct time_at {
        int64_t ns;
        double x_pt;
    } *at; /* by time; x never falls */
    uint32_t count;
    double left_pt, right_pt; /* of the scene */
};

void scene_times_make(struct scene_times *times, const struct scene *scene);
void scene_times_free(struct scene_times *times); /* empties it */
double scene_times_x(const struct scene_times *times,
                     int64_t ns); /* no further than the scene's ends */
/* Of the first mark and the last; 0 and 0, if there is none. */
void scene_times_span(const struct scene_times *times, int64_t *from_ns, int64_t *to_ns);

#endif
