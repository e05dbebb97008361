#include "clients/cli/thread_slices.h"

#include "config/target.h"
#include "base/alloc.h"
#include "render/legend.h"
#include "wire/thread_state_names.h"

#include <stdlib.h>
#include <string.h>

struct placement_seat { /* presence of a thread in a line */
    uint32_t line, about;
    uint8_t presence;
    bool waits, releases, own;
};

struct open_names {
    char **items;
    size_t count;
};

struct thread_slice_stack {
    struct placement_seat *seats;
    size_t count;
    struct open_names open; /* slices, outermost first */
    bool acts, ran;
};

struct thread_slices {
    const struct trace_metadata *book;
    tracks_tell *tell;
    void *context;
    struct thread_slice_stack *of; /* by line - 1 */
    uint32_t count;
};

struct thread_slices *thread_slices_new(const struct trace_metadata *book, tracks_tell *tell,
                                        void *context)
{
    struct thread_slices *t = xcalloc(1, sizeof *t);
    *t = (struct thread_slices){book, tell, context, NULL, book->line_count};
    t->of = xcalloc(t->count + 1, sizeof *t->of);
    return t;
}

/* ---- names of slices ---- */

static void add_name(struct open_names *names, char *name)
{
    names->items = xreallocarray(names->items, names->count + 1, sizeof *names->items);
    names->items[names->count++] = name;
}

static void free_names(struct open_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
    *names = (struct open_names){0};
}

static void name_own(const struct thread_slices *t, const struct thread_slice_stack *track,
                     const struct placement_seat *seat, struct open_names *names)
{
    if (seat->presence == OCCUPANCY_ACTIVE)
        add_name(names, xstrdup(thread_state_name(THREAD_STATE_RUNNING)));
    else if (seat->presence == OCCUPANCY_BLOCKED && seat->waits)
        add_name(names, seat->about ? xasprintf("blocked: %s", metadata_label(t->book, seat->about))
                                    : xstrdup(thread_state_name(THREAD_STATE_BLOCKED)));
    else if (seat->presence == OCCUPANCY_BLOCKED)
        add_name(names,
                 xstrdup(track->ran ? thread_state_name(THREAD_STATE_EXITED) : "not started"));
}

static void name_elsewhere(const struct thread_slices *t, const struct placement_seat *seat,
                           struct open_names *names)
{
    bool blocked = seat->presence == OCCUPANCY_BLOCKED;
    if (!blocked || !seat->releases)
        add_name(names, xasprintf("in %s", metadata_label(t->book, seat->line)));
    if (blocked)
        add_name(names, xasprintf("blocked: %s",
                                  metadata_label(t->book, seat->about ? seat->about : seat->line)));
}

static struct open_names wanted_names(const struct thread_slices *t,
                                      const struct thread_slice_stack *track)
{
    struct open_names names = {0};
    for (size_t i = 0; i < track->count; i++)
        if (track->seats[i].own)
            name_own(t, track, &track->seats[i], &names);
        else
            name_elsewhere(t, &track->seats[i], &names);
    return names;
}

/* Closes the open slices from the first one that differs from `names`, then opens the new ones;
 * takes over the names. */
static void thread_slices_set_open_names(struct thread_slices *t, uint32_t line,
                                         struct open_names names)
{
    struct thread_slice_stack *track = &t->of[line - 1];
    size_t same = 0;
    while (same < names.count && same < track->open.count &&
           strcmp(names.items[same], track->open.items[same]) == 0)
        same++;
    for (size_t i = track->open.count; i > same; i--)
        t->tell(t->context, line, NULL);
    for (size_t i = same; i < names.count; i++)
        t->tell(t->context, line, names.items[i]);
    free_names(&track->open);
    track->open = names;
}

/* ---- events ---- */

static void thread_slices_move_seat(struct thread_slice_stack *track, struct placement_seat seat)
{
    size_t i = 0;
    while (i < track->count && track->seats[i].line != seat.line)
        i++;
    if (seat.presence == OCCUPANCY_OUT) {
        if (i < track->count)
            memmove(track->seats + i, track->seats + i + 1,
                    (--track->count - i) * sizeof *track->seats);
        return;
    }
    if (i == track->count)
        track->seats = xreallocarray(track->seats, ++track->count, sizeof *track->seats);
    track->seats[i] = seat;
    track->ran |= seat.presence == OCCUPANCY_ACTIVE;
}

static void thread_slices_place_thread(struct thread_slices *t, uint32_t thread,
                                       struct placement_seat seat)
{
    if (!thread || thread > t->count)
        return;
    struct thread_slice_stack *track = &t->of[thread - 1];
    seat.own = seat.line == thread;
    track->acts = true;
    thread_slices_move_seat(track, seat);
    thread_slices_set_open_names(t, thread, wanted_names(t, track));
}

/* Names the slice of a line that belongs to no thread by the threads that are in it. */
static void thread_slices_set_use(struct thread_slices *t, const struct event_info *e)
{
    struct open_names names = {0};
    if (e->in.active || e->in.away)
        add_name(&names, xstrdup("in use"));
    else if (e->in.blocked)
        add_name(&names, xstrdup(legend_style_words[STYLE_DASHED]));
    thread_slices_set_open_names(t, e->at.line, names);
}

void thread_slices_add_event(struct thread_slices *t, const struct event_info *e)
{
    const struct target_event *look = event_style(t->book, e);
    uint32_t line = e->at.line;
    if (look && look->has_presence)
        thread_slices_place_thread(t, look->own ? line : e->thread,
                                   (struct placement_seat){.line = line,
                                                           .about = e->about,
                                                           .presence = (uint8_t)look->presence,
                                                           .waits = look->waits,
                                                           .releases = look->releases});
    if (look && look->has_about && e->about)
        thread_slices_place_thread(
            t, e->thread,
            (struct placement_seat){.line = e->about, .presence = (uint8_t)look->about});
    if (line && line <= t->count && !t->of[line - 1].acts)
        thread_slices_set_use(t, e);
}

void thread_slices_close(struct thread_slices *t, uint32_t line)
{
    thread_slices_set_open_names(t, line, (struct open_names){0});
}

bool thread_slices_open(const struct thread_slices *t, uint32_t line)
{
    return t->of[line - 1].open.count > 0;
}

void thread_slices_free(struct thread_slices *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        free_names(&t->of[i].open);
        free(t->of[i].seats);
    }
    free(t->of);
    free(t);
}
