/* Where in a scene a time is.  Between two marks time is spread evenly; by order, too, where that is as good as it gets. */
#ifndef RENDER_TIMES_H
#define RENDER_TIMES_H

#include "render/scene.h"

/* Zero-initialised: of no scene. */
struct times {
    struct time_at {
        int64_t ns;
        double x_pt;
    } *at; /* by time; x never falls */
    uint32_t count;
    double left_pt, right_pt; /* of the scene */
};

void times_make(struct times *times, const struct scene *scene);
void times_free(struct times *times); /* empties it */
double times_x(const struct times *times, int64_t ns); /* no further than the scene's ends */
/* Of the first mark and the last; 0 and 0, if there is none. */
void times_span(const struct times *times, int64_t *from_ns, int64_t *to_ns);

#endif
