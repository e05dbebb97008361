#include "clients/poet/tracks.h"

#include "config/target.h"
#include "memory/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct seat { /* where a thread is, how, and what for */
    uint32_t line, about;
    uint8_t presence;
    bool waits, releases, own;
};

struct names {
    char **items;
    size_t count;
};

struct track {
    struct seat *seats;
    size_t count;
    struct names open; /* slices, outermost first */
    bool acts, ran;
};

struct tracks {
    const struct book *book;
    tracks_tell *tell;
    void *context;
    struct track *of; /* by line - 1 */
    uint32_t count;
};

struct tracks *tracks_new(const struct book *book, tracks_tell *tell, void *context)
{
    struct tracks *t = memory_zeroed(1, sizeof *t);
    *t = (struct tracks){book, tell, context, NULL, book->line_count};
    t->of = memory_zeroed(t->count + 1, sizeof *t->of);
    return t;
}

/* ---- which slices there are to be ---- */

static void add_name(struct names *names, char *name)
{
    names->items = memory_resized(names->items, names->count + 1, sizeof *names->items);
    names->items[names->count++] = name;
}

static void free_names(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
    *names = (struct names){0};
}

static void name_own(const struct tracks *t, const struct track *track, const struct seat *seat,
                     struct names *names)
{
    if (seat->presence == PRESENCE_ACTIVE)
        add_name(names, memory_copied("runs"));
    else if (seat->presence == PRESENCE_BLOCKED && seat->waits)
        add_name(names, seat->about ? memory_printed("waits: %s", book_label(t->book, seat->about))
                                    : memory_copied("waits"));
    else if (seat->presence == PRESENCE_BLOCKED)
        add_name(names, memory_copied(track->ran ? "has ended" : "not begun"));
}

static void name_elsewhere(const struct tracks *t, const struct seat *seat, struct names *names)
{
    bool blocked = seat->presence == PRESENCE_BLOCKED;
    if (!blocked || !seat->releases)
        add_name(names, memory_printed("in %s", book_label(t->book, seat->line)));
    if (blocked)
        add_name(names, memory_printed("waits: %s", book_label(t->book, seat->about ? seat->about
                                                                                    : seat->line)));
}

static struct names wanted_names(const struct tracks *t, const struct track *track)
{
    struct names names = {0};
    for (size_t i = 0; i < track->count; i++)
        if (track->seats[i].own)
            name_own(t, track, &track->seats[i], &names);
        else
            name_elsewhere(t, &track->seats[i], &names);
    return names;
}

/* What is open and is not to be any more is closed, with what is in it; then what is new is opened. */
static void change(struct tracks *t, uint32_t line, struct names names)
{
    struct track *track = &t->of[line - 1];
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

static void sit(struct track *track, struct seat seat)
{
    size_t i = 0;
    while (i < track->count && track->seats[i].line != seat.line)
        i++;
    if (seat.presence == PRESENCE_OUT) {
        if (i < track->count)
            memmove(track->seats + i, track->seats + i + 1,
                    (--track->count - i) * sizeof *track->seats);
        return;
    }
    if (i == track->count)
        track->seats = memory_resized(track->seats, ++track->count, sizeof *track->seats);
    track->seats[i] = seat;
    track->ran |= seat.presence == PRESENCE_ACTIVE;
}

static void seat_thread(struct tracks *t, uint32_t who, struct seat seat)
{
    if (!who || who > t->count)
        return;
    struct track *track = &t->of[who - 1];
    seat.own = seat.line == who;
    track->acts = true;
    sit(track, seat);
    change(t, who, wanted_names(t, track));
}

/* Of a line that belongs to no thread: whether anybody is in it. */
static void look_in(struct tracks *t, const struct shown_event *e)
{
    struct names names = {0};
    if (e->in.active || e->in.away)
        add_name(&names, memory_copied("in use"));
    else if (e->in.blocked)
        add_name(&names, memory_copied("only blocked threads"));
    change(t, e->at.line, names);
}

void tracks_take(struct tracks *t, const struct shown_event *e)
{
    const struct target_event *look = book_look(t->book, e);
    uint32_t line = e->at.line;
    if (look && look->has_presence)
        seat_thread(t, look->own ? line : e->thread,
                    (struct seat){.line = line,
                                  .about = e->about,
                                  .presence = (uint8_t)look->presence,
                                  .waits = look->waits,
                                  .releases = look->releases});
    if (look && look->has_about && e->about)
        seat_thread(t, e->thread,
                    (struct seat){.line = e->about, .presence = (uint8_t)look->about});
    if (line && line <= t->count && !t->of[line - 1].acts)
        look_in(t, e);
}

void tracks_close(struct tracks *t, uint32_t line) { change(t, line, (struct names){0}); }

bool tracks_open(const struct tracks *t, uint32_t line) { return t->of[line - 1].open.count > 0; }

void tracks_free(struct tracks *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        free_names(&t->of[i].open);
        free(t->of[i].seats);
    }
    free(t->of);
    free(t);
}
