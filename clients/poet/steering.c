#include "clients/poet/steering.h"

#include <string.h>

#define LATE_MOST 3u

static const struct table_cell *cell(const struct shown_table *t, uint32_t row, const char *name)
{
    static const struct table_cell nothing;
    uint32_t column = table_find(t, name);
    return column < t->column_count ? &table_cells(t, row)[column] : &nothing;
}

uint32_t steering_find(const struct shown_table *t, int64_t number)
{
    for (uint32_t i = 0; i < t->row_count; i++) {
        const struct table_cell *c = cell(t, i, "number");
        if (!t->rows[i].depth && c->is == CELL_NUMBER && c->number == number)
            return i;
    }
    return t->row_count;
}

static const struct shown_module *module_of(const struct book *book, struct table_place place)
{
    if (place.process >= book->process_count)
        return NULL;
    const struct shown_process *p = &book->processes[place.process];
    for (uint32_t i = 0; i < p->module_count; i++)
        if (place.address - p->modules[i].start < p->modules[i].end - p->modules[i].start)
            return &p->modules[i];
    return NULL;
}

/* ---- points ---- */

struct making {
    struct steering *s;
    const struct book *book;
    const struct shown_table *table;
    const char *why;
};

/* A point of an event of a row, "begin", "then" or "" the first; its bit, 0 with a reason. */
static uint32_t add(struct making *m, uint32_t row, const char *which, enum steer_until until)
{
    struct steer_head *h = &m->s->head;
    char type[40], where[40];
    snprintf(type, sizeof type, "%s%stype", which, *which ? "_" : "");
    snprintf(where, sizeof where, "%s%swhere", which, *which ? "_" : "");
    const struct table_cell *t = cell(m->table, row, type), *w = cell(m->table, row, where);
    const struct shown_module *module = w->is == CELL_PLACE ? module_of(m->book, w->place) : NULL;
    if (t->is != CELL_TEXT || !module) {
        m->why = "where it is in the code is not known";
        return 0;
    }
    const char *slash = strrchr(module->path, '/'),
               *program = m->book->processes[w->place.process].path;
    struct steer_point p = {.address = w->place.address - module->bias, .until = until, .count = 1};
    strncpy(p.type, t->text, sizeof p.type - 1);
    strncpy(p.file, slash ? slash + 1 : module->path, sizeof p.file - 1);
    m->s->libraries |= strcmp(module->path, program) != 0;
    for (uint32_t i = 0; i < h->point_count; i++)
        if (strcmp(h->points[i].type, p.type) == 0 && strcmp(h->points[i].file, p.file) == 0 &&
            h->points[i].address == p.address && h->points[i].until == p.until)
            return 1u << i;
    if (h->point_count == STEER_POINTS) {
        m->why = "it has too many parts";
        return 0;
    }
    h->points[h->point_count] = p;
    return 1u << h->point_count++;
}

static void make_circle(struct making *m, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end && !m->why; i++)
        add(m, i, "begin", STEER_CYCLE);
}

bool steering_make(struct steering *s, const struct book *book, const struct shown_table *t,
                   uint32_t row, const char **why)
{
    struct making m = {.s = s, .book = book, .table = t};
    uint32_t end = row + 1;
    while (end < t->row_count && t->rows[end].depth)
        end++;
    *s = (struct steering){.head = {.magic = STEER_MAGIC,
                                    .version = STEER_VERSION,
                                    .hold_ms = STEER_HOLD_MS,
                                    .late_most = LATE_MOST}};
    make_circle(&m, row + 1, end);
    *why = m.why;
    return !m.why;
}

uint32_t steering_freed(const struct steer_head *h)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < h->point_count; i++)
        all += atomic_load(&h->points[i].freed);
    return all;
}

uint32_t steering_late(const struct steer_head *h)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < h->point_count; i++)
        all += atomic_load(&h->points[i].late);
    return all;
}
