/* Task frames: which task a thread is in. */
#include "clients/libpoet/openmp/task_frames.h"

#include "clients/libpoet/key_mixing.h"

#include <stdatomic.h>
#include <stddef.h>

static __thread struct task_frame *now __attribute__((tls_model("initial-exec")));
static __thread struct task_frame outside
    __attribute__((tls_model("initial-exec"))); /* of every team */

static __thread bool pooled
    __attribute__((tls_model("initial-exec"))); /* a worker of the runtime */

/* Reports the thread as idle if it waits in its frame, or is a worker that is in no team. */
static void task_frame_report_rest(void) { poet_rests(now ? now->waits : pooled || outside.waits); }

void task_frame_set_pooled(void) { pooled = true; }

struct task_frame *task_frame_current(void)
{
    if (now)
        return now;
    if (!outside.id)
        outside.id = task_frame_unique();
    return &outside;
}

uint64_t task_frame_unique(void)
{
    static _Atomic uint64_t frames;
    return key_mix(atomic_fetch_add(&frames, 1) + 1, 0x656d617266u);
}

struct task_frame *task_frame_begin(struct task_frame *frame, uint64_t id, struct task_group *group)
{
    struct task_frame *outer = now;
    *frame = (struct task_frame){.id = id, .group = group};
    now = frame;
    task_frame_report_rest();
    return outer;
}

void task_frame_end(struct task_frame *frame, struct task_frame *outer)
{
    task_depends_free(frame->depends);
    frame->depends = NULL;
    now = outer;
    task_frame_report_rest();
}

void task_frame_wait_begin(enum omp_event by, poet_line_t line, const void *site)
{
    struct task_frame *f = task_frame_current();
    f->waits = true;
    f->waits_by = by;
    f->waits_for = line;
    f->waits_at = site;
    task_frame_report_rest();
}

void task_frame_wait_end(void)
{
    task_frame_current()->waits = false;
    task_frame_report_rest();
}

bool task_frame_is_waiting(enum omp_event by)
{
    return task_frame_current()->waits && task_frame_current()->waits_by == by;
}

struct task_frame *task_frame_resume(struct task_frame *frame)
{
    struct task_frame *before = now;
    now = frame;
    task_frame_report_rest();
    return before;
}
