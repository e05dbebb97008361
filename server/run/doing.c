#include "server/run/doing.h"

#include "config/target.h"
#include "memory/map.h"
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

struct seat { /* where a thread is */
    uint32_t line, about;
    uint8_t presence;
    bool ends; /* it is blocked there without waiting for anything */
};

struct thread {
    struct seat *seats;
    size_t count, room;
    bool acts; /* it is one */
    bool ran;
};

/* What the descriptions say of a type on a kind. */
struct rule {
    bool here, own, waits, about;
    uint8_t presence, about_presence;
};

struct doings {
    const struct run *run;
    struct map rules; /* kind and type, relation -> struct rule */
    size_t targets;   /* descriptions there were when they were made */
    struct thread *threads; /* by line - 1 */
    size_t room;
    struct change {
        uint32_t line;
        bool thread;
        struct presences in; /* of one that is no thread's */
    } *changes;
    size_t change_count, change_room, asked; /* so many were asked for */
};

struct doings *doings_new(const struct run *run)
{
    struct doings *s = memory_zeroed(1, sizeof *s);
    s->run = run;
    return s;
}

static void forget_rules(struct doings *s)
{
    for (struct map_walk walk = {.map = &s->rules}; map_next(&walk);)
        free(walk.value);
    map_free(&s->rules);
    s->rules = (struct map){0};
}

void doings_free(struct doings *s)
{
    if (!s)
        return;
    forget_rules(s);
    for (size_t i = 0; i < s->room; i++)
        free(s->threads[i].seats);
    free(s->threads);
    free(s->changes);
    free(s);
}

/* ---- rules ---- */

static const struct rule *rule_of(struct doings *s, const struct event *e)
{
    uint64_t kind = order_line_kind(s->run->order, e->line), key = kind << 32 | e->type;
    if (s->targets != s->run->target_count)
        forget_rules(s);
    s->targets = s->run->target_count;
    struct rule *rule = map_get(&s->rules, key, e->relation);
    if (rule)
        return rule;
    const struct target_event *look =
        run_look(s->run, e->line, e->type, (enum relation)e->relation);
    rule = memory_zeroed(1, sizeof *rule);
    if (look)
        *rule = (struct rule){.here = look->has_presence,
                              .own = look->own,
                              .waits = look->waits,
                              .about = look->has_about,
                              .presence = (uint8_t)look->presence,
                              .about_presence = (uint8_t)look->about};
    map_put(&s->rules, key, e->relation, rule);
    return rule;
}

/* ---- threads ---- */

static struct thread *thread_of(struct doings *s, uint32_t line)
{
    s->threads = grow_zeroed(s->threads, &s->room, line, sizeof *s->threads);
    return &s->threads[line - 1];
}

static void stand_up(struct thread *t, uint32_t line)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->seats[i].line == line) {
            memmove(t->seats + i, t->seats + i + 1, (t->count - i - 1) * sizeof *t->seats);
            t->count--;
            return;
        }
}

/* It stays where it sat if it was there already: the one it came into last is behind the others. */
static void sit(struct thread *t, struct seat seat)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->seats[i].line == seat.line) {
            t->seats[i] = seat;
            return;
        }
    t->seats = grow(t->seats, &t->room, t->count + 1, sizeof *t->seats);
    t->seats[t->count++] = seat;
}

static void seat_thread(struct doings *s, uint32_t who, struct seat seat)
{
    if (!who || who & HIDDEN_LINE || who > order_lines(s->run->order))
        return;
    struct thread *t = thread_of(s, who);
    t->acts = true;
    t->ran |= seat.presence == PRESENCE_ACTIVE;
    if (seat.presence == PRESENCE_OUT)
        stand_up(t, seat.line);
    else
        sit(t, seat);
}

static struct doing thread_state(const struct thread *t, uint32_t own)
{
    struct doing state = {STRIP_CLASSES, 0};
    for (size_t i = 0; i < t->count; i++) {
        const struct seat *seat = &t->seats[i];
        bool elsewhere = seat->line != own;
        if (seat->presence == PRESENCE_BLOCKED && seat->ends) {
            if (t->ran)
                state = (struct doing){STRIP_ENDED, 0};
        } else if (seat->presence == PRESENCE_BLOCKED) {
            return (struct doing){STRIP_WAITS, seat->about};
        } else if (elsewhere) {
            state = (struct doing){STRIP_INSIDE, seat->line};
        } else if (seat->presence == PRESENCE_ACTIVE && state.class != STRIP_INSIDE) {
            state = (struct doing){STRIP_RUNS, 0};
        }
    }
    return state;
}

static struct doing line_state(struct presences in)
{
    uint8_t class = in.active || in.away ? STRIP_INSIDE : in.blocked ? STRIP_WAITS : STRIP_CLASSES;
    return (struct doing){class, 0};
}

/* ---- events ---- */

static void note(struct doings *s, uint32_t line, bool thread, struct presences in)
{
    s->changes = grow(s->changes, &s->change_room, s->change_count + 1, sizeof *s->changes);
    s->changes[s->change_count++] = (struct change){line, thread, in};
}

static void note_thread(struct doings *s, uint32_t line)
{
    if (line && line <= s->room && s->threads[line - 1].acts)
        note(s, line, true, (struct presences){0});
}

void doings_take(struct doings *s, const struct event *e)
{
    const struct rule *rule = rule_of(s, e);
    uint32_t who = rule->own ? e->line : e->thread;
    if (rule->here)
        seat_thread(s, who,
                    (struct seat){e->line, e->about ? e->about : e->line, rule->presence,
                                  rule->own && !rule->waits});
    if (rule->about && e->about)
        seat_thread(s, e->thread, (struct seat){e->about, e->about, rule->about_presence, false});
    note_thread(s, e->thread);
    if (who != e->thread)
        note_thread(s, who);
    bool acts = e->line <= s->room && s->threads[e->line - 1].acts;
    if (!(e->line & HIDDEN_LINE) && !acts)
        note(s, e->line, false, e->in);
}

bool doings_changed(struct doings *s, uint32_t *line, struct doing *state)
{
    if (s->asked == s->change_count) {
        s->asked = s->change_count = 0;
        return false;
    }
    const struct change *c = &s->changes[s->asked++];
    *line = c->line;
    *state = c->thread ? thread_state(&s->threads[c->line - 1], c->line) : line_state(c->in);
    return true;
}
