#include "server/answer/table/spots.h"

#include "memory/memory.h"
#include "server/causes/pairs.h"
#include "server/run/places.h"

#include <stdlib.h>

enum column {
    WHAT,
    PLACE,
    UNTIL,
    OF,
    CALLS,
    SELF,
    CALLED,
    TOTAL,
    RAN,
    WAITED,
    WAITS,
    MADE,
    PATH,
    COLUMNS
};

uint32_t spots_place(struct spots *s, const struct run *run, struct table_place place)
{
    if (!place.address)
        return 0;
    struct place_key key = places_key(run, place.process, place.address);
    uintptr_t known = (uintptr_t)map_get(&s->numbers, key.space, key.offset);
    if (known)
        return (uint32_t)known;
    s->places = grow(s->places, &s->place_room, s->place_count + 1, sizeof *s->places);
    s->places[s->place_count++] = place;
    map_put(&s->numbers, key.space, key.offset, (void *)(uintptr_t)s->place_count);
    return (uint32_t)s->place_count;
}

struct spot *spots_at(struct spots *s, enum spot_is is, uint32_t place, uint32_t other)
{
    uint64_t a = (uint64_t)is << 32 | place;
    uintptr_t known = (uintptr_t)map_get(&s->index, a, other);
    if (known)
        return &s->items[known - 1];
    s->items = grow(s->items, &s->room, s->count + 1, sizeof *s->items);
    s->items[s->count++] =
        (struct spot){.is = (uint8_t)is, .place = place, .other = other, .longest = NO_POSITION};
    map_put(&s->index, a, other, (void *)(uintptr_t)s->count);
    return &s->items[s->count - 1];
}

static struct spot *nowhere(struct spots *s, enum spot_nowhere why)
{
    return spots_at(s, SPOT_NOWHERE, 0, why);
}

/* Of calls that are measured: as the tables tell it. */
static struct spot *within(struct spots *s, const struct table_view *view, uint32_t code)
{
    struct table_cell cell = table_step(view, code);
    if (cell.is != CELL_STEP || !cell.between.from.address) {
        if (cell.is == CELL_TEXT)
            free(cell.text);
        return nowhere(s, NOWHERE_SELF);
    }
    uint32_t function = spots_place(s, view->run, cell.between.from),
             after = spots_place(s, view->run, cell.between.to);
    return spots_at(s, SPOT_WITHIN, function, after);
}

struct spot *spots_step(struct spots *s, const struct table_view *view, uint32_t code)
{
    static const enum spot_is kinds[STEP_KINDS] = {[STEP_CODE] = SPOT_STEP,
                                                   [STEP_LATENCY] = SPOT_LATE,
                                                   [STEP_TIMER] = SPOT_TIMER,
                                                   [STEP_UNKNOWN] = SPOT_UNEXPLAINED};
    if (code == STEP_NOT_THERE || code > view->measured->steps.count)
        return nowhere(s, code == STEP_STARTING ? NOWHERE_STARTS
                          : code == STEP_OTHERS ? NOWHERE_OTHERS
                                                : NOWHERE_NOT_THERE);
    struct step step = steps_at(&view->measured->steps, code);
    if (step.is > STEP_UNKNOWN)
        return within(s, view, code);
    uint32_t from = spots_place(s, view->run, table_place(view, step.from)),
             to = spots_place(s, view->run, table_place(view, step.to));
    if (!from && !to)
        return nowhere(s, NOWHERE_NOT_THERE);
    return spots_at(s, kinds[step.is], from, step.is == STEP_CODE ? to : 0);
}

void spots_show(struct spot *spot, int64_t ns, uint64_t position, uint32_t thread)
{
    if (ns <= spot->longest_ns)
        return;
    spot->longest_ns = ns;
    spot->longest = position;
    spot->thread = thread;
}

/* ---- the table ---- */

static void add_columns(struct shown_table *t)
{
    static const struct {
        const char *name, *title;
        enum table_kind kind;
        bool hooks; /* only of programs that measure their calls */
    } columns[COLUMNS] = {[WHAT] = {"what", "what", TABLE_TEXT, false},
                          [PLACE] = {"place", "where", TABLE_PLACE, false},
                          [UNTIL] = {"until", "until", TABLE_PLACE, false},
                          [OF] = {"of", "of", TABLE_PLACE, false},
                          [CALLS] = {"calls", "calls", TABLE_COUNT, true},
                          [SELF] = {"self_ns", "self", TABLE_NS, true},
                          [CALLED] = {"called_ns", "called", TABLE_NS, true},
                          [TOTAL] = {"total_ns", "total", TABLE_NS, true},
                          [RAN] = {"ran_ns", "ran", TABLE_NS, false},
                          [WAITED] = {"waited_ns", "waited", TABLE_NS, false},
                          [WAITS] = {"waits", "waits", TABLE_COUNT, false},
                          [MADE] = {"made_ns", "made others wait", TABLE_NS, false},
                          [PATH] = {"path_ns", "on the path", TABLE_NS, false}};
    for (size_t i = 0; i < COLUMNS; i++)
        table_add_column(t, columns[i].name, columns[i].title, columns[i].kind,
                         columns[i].hooks ? "calls, as the program measured them" : NULL);
    for (size_t i = 0; i < COLUMNS; i++)
        t->columns[i].exact = true;
}

static struct table_cell what(const struct spot *spot)
{
    static const char *const words[SPOT_KINDS] = {[SPOT_SELF] = "self",
                                                  [SPOT_CALL] = "call",
                                                  [SPOT_WAIT] = "wait",
                                                  [SPOT_STEP] = "step",
                                                  [SPOT_WITHIN] = "within",
                                                  [SPOT_LATE] = "going on",
                                                  [SPOT_TIMER] = "until its time",
                                                  [SPOT_UNEXPLAINED] = "unexplained"};
    static const char *const nowhere[] = {[NOWHERE_NOT_THERE] = "not known, or not there yet",
                                          [NOWHERE_STARTS] = "not begun yet",
                                          [NOWHERE_OTHERS] = "others",
                                          [NOWHERE_SELF] = "calls whose place is not known"};
    return cell_text(spot->is == SPOT_NOWHERE ? nowhere[spot->other] : words[spot->is]);
}

static struct table_cell place(const struct spots *s, uint32_t number)
{
    return number ? cell_place(s->places[number - 1]) : (struct table_cell){0};
}

static void set_calls(const struct spot *spot, struct table_cell *cells)
{
    if (spot->is == SPOT_CALL)
        cells[CALLS] = cell_number((int64_t)spot->calls);
    if (spot->is == SPOT_CALL && spot->timed)
        cells[CALLED] = cell_number(spot->called_ns);
    if (spot->is == SPOT_CALL && spot->landed)
        cells[TOTAL] = cell_number(spot->total_ns);
    if (spot->is != SPOT_CALL && spot->timed)
        cells[SELF] = cell_number(spot->self_ns);
}

static void set_times(const struct spot *spot, struct table_cell *cells)
{
    if (spot->is == SPOT_SELF || spot->is == SPOT_CALL)
        return;
    if (spot->is == SPOT_WAIT) {
        cells[WAITED] = cell_number(spot->waited_ns);
        cells[WAITS] = cell_number((int64_t)spot->waits);
        return;
    }
    cells[RAN] = cell_number(spot->ran_ns);
    cells[MADE] = cell_number(spot->made_ns);
    cells[PATH] = cell_number(spot->path_ns);
}

static void add_row(const struct spots *s, const struct table_view *view, const struct spot *spot,
                    struct shown_table *t)
{
    struct table_cell *cells = table_add_row(t, 0, table_event(view, spot->longest));
    if (!cells)
        return;
    cells[WHAT] = what(spot);
    cells[PLACE] = place(s, spot->place);
    if (spot->is == SPOT_STEP || spot->is == SPOT_WITHIN)
        cells[UNTIL] = place(s, spot->other);
    if (spot->is == SPOT_CALL)
        cells[OF] = place(s, spot->other);
    if (spot->is == SPOT_WAIT)
        cells[OF] = cell_text(run_type_name(view->run, spot->other));
    set_calls(spot, cells);
    set_times(spot, cells);
    table_row_line(t, spot->thread);
}

/* Each column's own, over all rows. */
static void set_total(struct shown_table *t)
{
    struct table_cell *total = table_make_total(t);
    for (uint32_t i = 0; i < t->row_count; i++)
        for (uint32_t k = CALLS; k < COLUMNS; k++) {
            const struct table_cell *cell = &table_cells(t, i)[k];
            int64_t before = total[k].is ? total[k].number : 0, now;
            if (cell->is == CELL_NUMBER && k != TOTAL)
                total[k] = cell_number(
                    __builtin_add_overflow(before, cell->number, &now) ? INT64_MAX : now);
        }
}

void spots_fill(const struct spots *s, const struct table_view *view, struct shown_table *t)
{
    add_columns(t);
    for (size_t i = 0; i < s->count; i++)
        add_row(s, view, &s->items[i], t);
    set_total(t);
}

void spots_free(struct spots *s)
{
    free(s->items);
    free(s->places);
    map_free(&s->index);
    map_free(&s->numbers);
    *s = (struct spots){0};
}
