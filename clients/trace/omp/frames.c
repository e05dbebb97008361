/* Where a thread is among tasks. */
#include "clients/trace/omp/frames.h"

#include "clients/trace/mix.h"

#include <stdatomic.h>
#include <stddef.h>

static __thread struct frame *now __attribute__((tls_model("initial-exec")));
static __thread struct frame outside __attribute__((tls_model("initial-exec"))); /* of every team */

static __thread bool pooled __attribute__((tls_model("initial-exec"))); /* a worker of the runtime */

/* Does it wait where it is, or is it a worker that is in no team? */
static void say_whether_it_rests(void)
{
    poet_rests(now ? now->waits : pooled || outside.waits);
}

void frame_pooled(void) { pooled = true; }

struct frame *frame_here(void)
{
    if (now)
        return now;
    if (!outside.id)
        outside.id = frame_unique();
    return &outside;
}

uint64_t frame_unique(void)
{
    static _Atomic uint64_t frames;
    return mix(atomic_fetch_add(&frames, 1) + 1, 0x656d617266u);
}

struct frame *frame_begin(struct frame *frame, uint64_t id, struct group *group)
{
    struct frame *outer = now;
    *frame = (struct frame){.id = id, .group = group};
    now = frame;
    say_whether_it_rests();
    return outer;
}

void frame_end(struct frame *frame, struct frame *outer)
{
    depends_free(frame->depends);
    frame->depends = NULL;
    now = outer;
    say_whether_it_rests();
}

void frame_waits(enum event by, poet_line_t line, const void *site)
{
    struct frame *f = frame_here();
    f->waits = true;
    f->waits_by = by;
    f->waits_for = line;
    f->waits_at = site;
    say_whether_it_rests();
}

void frame_goes_on(void)
{
    frame_here()->waits = false;
    say_whether_it_rests();
}

bool frame_is_waiting(enum event by) { return frame_here()->waits && frame_here()->waits_by == by; }

struct frame *frame_resume(struct frame *frame)
{
    struct frame *before = now;
    now = frame;
    say_whether_it_rests();
    return before;
}
