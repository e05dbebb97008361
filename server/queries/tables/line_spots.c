#include "server/queries/tables/line_spots.h"

#include "base/alloc.h"
#include "server/analysis/segment_sums.h"
#include "server/run/call_sites.h"

#include <stdlib.h>

enum spots_column {
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

uint32_t line_spots_place(struct line_spots *s, const struct run *run, struct table_place place)
{
    if (!place.address)
        return 0;
    struct call_site_key key = call_sites_key(run, place.process, place.address);
    return 1 + (uint32_t)MAP_INDEX(&s->numbers, key.space, key.offset, s->places, s->place_count,
                                   s->place_room, place);
}

struct line_spot *line_spots_at(struct line_spots *s, enum line_spot_kind is, uint32_t place,
                                uint32_t other)
{
    uint64_t a = (uint64_t)is << 32 | place;
    return MAP_ITEM(&s->index, a, other, s->items, s->count, s->room,
                    (struct line_spot){
                        .is = (uint8_t)is, .place = place, .other = other, .longest = NO_POSITION});
}

static struct line_spot *line_spots_get_nowhere(struct line_spots *s, enum line_spot_nowhere why)
{
    return line_spots_at(s, LINE_SPOT_NOWHERE, 0, why);
}

/* Returns the spot of a code segment within a measured call, named as in the other tables. */
static struct line_spot *line_spots_get_within_call(struct line_spots *s,
                                                    const struct table_view *view, uint32_t code)
{
    struct table_cell cell = table_step(view, code);
    if (cell.is != CELL_STEP || !cell.between.from.address) {
        if (cell.is == CELL_TEXT)
            free(cell.text);
        return line_spots_get_nowhere(s, SPOT_NOWHERE_SELF);
    }
    uint32_t function = line_spots_place(s, view->run, cell.between.from),
             after = line_spots_place(s, view->run, cell.between.to);
    return line_spots_at(s, LINE_SPOT_WITHIN, function, after);
}

struct line_spot *line_spots_step(struct line_spots *s, const struct table_view *view,
                                  uint32_t code)
{
    static const enum line_spot_kind kinds[STEP_KINDS] = {[STEP_CODE] = LINE_SPOT_STEP,
                                                          [STEP_LATENCY] = LINE_SPOT_LATE,
                                                          [STEP_TIMEOUT] = LINE_SPOT_TIMEOUT,
                                                          [STEP_UNKNOWN] = LINE_SPOT_UNATTRIBUTED};
    if (code == STEP_NOT_THERE || code > view->measured->steps.count)
        return line_spots_get_nowhere(s, code == STEP_STARTING ? SPOT_NOWHERE_STARTS
                                         : code == STEP_OTHERS ? SPOT_NOWHERE_OTHERS
                                                               : SPOT_NOWHERE_NOT_THERE);
    struct code_segment_key step = code_segments_at(&view->measured->steps, code);
    if (step.is > STEP_UNKNOWN)
        return line_spots_get_within_call(s, view, code);
    uint32_t from = line_spots_place(s, view->run, table_place(view, step.from)),
             to = line_spots_place(s, view->run, table_place(view, step.to));
    if (!from && !to)
        return line_spots_get_nowhere(s, SPOT_NOWHERE_NOT_THERE);
    return line_spots_at(s, kinds[step.is], from, step.is == STEP_CODE ? to : 0);
}

void line_spots_show(struct line_spot *spot, int64_t ns, uint64_t position, uint32_t thread)
{
    if (ns <= spot->longest_ns)
        return;
    spot->longest_ns = ns;
    spot->longest = position;
    spot->thread = thread;
}

/* ---- table ---- */

static void add_columns(struct result_table *t)
{
    static const struct {
        const char *name, *title;
        enum table_kind kind;
        bool hooks; /* only for programs that measure their calls */
    } columns[COLUMNS] = {[WHAT] = {"kind", NULL, TABLE_TEXT, false},
                          [PLACE] = {"place", "location", TABLE_PLACE, false},
                          [UNTIL] = {"until", NULL, TABLE_PLACE, false},
                          [OF] = {"of", NULL, TABLE_PLACE, false},
                          [CALLS] = {"calls", NULL, TABLE_COUNT, true},
                          [SELF] = {"self_ns", NULL, TABLE_NS, true},
                          [CALLED] = {"called_ns", NULL, TABLE_NS, true},
                          [TOTAL] = {"total_ns", NULL, TABLE_NS, true},
                          [RAN] = {"ran_ns", NULL, TABLE_NS, false},
                          [WAITED] = {"waited_ns", NULL, TABLE_NS, false},
                          [WAITS] = {"waits", NULL, TABLE_COUNT, false},
                          [MADE] = {"caused_wait_ns", "delay caused to others", TABLE_NS, false},
                          [PATH] = {"path_ns", "on critical path", TABLE_NS, false}};
    for (size_t i = 0; i < COLUMNS; i++)
        table_add_column(t, columns[i].name, columns[i].title, columns[i].kind,
                         columns[i].hooks ? "instrumented calls" : NULL);
    for (size_t i = 0; i < COLUMNS; i++)
        t->columns[i].exact = true;
}

static struct table_cell line_spots_kind_cell(const struct line_spot *spot)
{
    static const char *const words[LINE_SPOT_KINDS] = {
        [LINE_SPOT_SELF] = "self",       [LINE_SPOT_CALL] = "call",
        [LINE_SPOT_WAIT] = "wait",       [LINE_SPOT_STEP] = "step",
        [LINE_SPOT_WITHIN] = "inside",   [LINE_SPOT_LATE] = "wake-up latency",
        [LINE_SPOT_TIMEOUT] = "timeout", [LINE_SPOT_UNATTRIBUTED] = "unattributed"};
    static const char *const nowhere[] = {[SPOT_NOWHERE_NOT_THERE] =
                                              "unknown or before thread start",
                                          [SPOT_NOWHERE_STARTS] = "before thread start",
                                          [SPOT_NOWHERE_OTHERS] = "others",
                                          [SPOT_NOWHERE_SELF] = "calls at unknown location"};
    return table_cell_text(spot->is == LINE_SPOT_NOWHERE ? nowhere[spot->other] : words[spot->is]);
}

static struct table_cell line_spots_place_cell(const struct line_spots *s, uint32_t number)
{
    return number ? table_cell_place(s->places[number - 1]) : (struct table_cell){0};
}

static void set_calls(const struct line_spot *spot, struct table_cell *cells)
{
    if (spot->is == LINE_SPOT_CALL)
        cells[CALLS] = table_cell_number((int64_t)spot->calls);
    if (spot->is == LINE_SPOT_CALL && spot->timed)
        cells[CALLED] = table_cell_number(spot->called_ns);
    if (spot->is == LINE_SPOT_CALL && spot->landed)
        cells[TOTAL] = table_cell_number(spot->total_ns);
    if (spot->is != LINE_SPOT_CALL && spot->timed)
        cells[SELF] = table_cell_number(spot->self_ns);
}

static void set_times(const struct line_spot *spot, struct table_cell *cells)
{
    if (spot->is == LINE_SPOT_SELF || spot->is == LINE_SPOT_CALL)
        return;
    if (spot->is == LINE_SPOT_WAIT) {
        cells[WAITED] = table_cell_number(spot->waited_ns);
        cells[WAITS] = table_cell_number((int64_t)spot->waits);
        return;
    }
    cells[RAN] = table_cell_number(spot->ran_ns);
    cells[MADE] = table_cell_number(spot->made_ns);
    cells[PATH] = table_cell_number(spot->path_ns);
}

static void add_row(const struct line_spots *s, const struct table_view *view,
                    const struct line_spot *spot, struct result_table *t)
{
    struct table_cell *cells = table_add_row(t, 0, table_event(view, spot->longest));
    if (!cells)
        return;
    cells[WHAT] = line_spots_kind_cell(spot);
    cells[PLACE] = line_spots_place_cell(s, spot->place);
    if (spot->is == LINE_SPOT_STEP || spot->is == LINE_SPOT_WITHIN)
        cells[UNTIL] = line_spots_place_cell(s, spot->other);
    if (spot->is == LINE_SPOT_CALL)
        cells[OF] = line_spots_place_cell(s, spot->other);
    if (spot->is == LINE_SPOT_WAIT)
        cells[OF] = table_cell_text(run_type_name(view->run, spot->other));
    set_calls(spot, cells);
    set_times(spot, cells);
    table_row_line(t, spot->thread);
}

/* Sets the total of each column over all rows. */
static void set_total(struct result_table *t)
{
    struct table_cell *total = table_make_total(t);
    for (uint32_t i = 0; i < t->row_count; i++)
        for (uint32_t k = CALLS; k < COLUMNS; k++) {
            const struct table_cell *cell = &result_table_cells(t, i)[k];
            int64_t before = total[k].is ? total[k].number : 0, now;
            if (cell->is == CELL_NUMBER && k != TOTAL)
                total[k] = table_cell_number(
                    __builtin_add_overflow(before, cell->number, &now) ? INT64_MAX : now);
        }
}

void line_spots_fill(const struct line_spots *s, const struct table_view *view,
                     struct result_table *t)
{
    add_columns(t);
    for (size_t i = 0; i < s->count; i++)
        add_row(s, view, &s->items[i], t);
    set_total(t);
}

void line_spots_free(struct line_spots *s)
{
    free(s->items);
    free(s->places);
    map_free(&s->index);
    map_free(&s->numbers);
    *s = (struct line_spots){0};
}
