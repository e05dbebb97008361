#define _GNU_SOURCE
#include "clients/poet/steering.h"

#include "wire/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

bool steering_point(struct steer_point *p, const struct book *book, struct table_place place,
                    const char *type)
{
    const struct shown_module *module = module_of(book, place);
    if (!module)
        return false;
    const char *slash = strrchr(module->path, '/');
    p->address = place.address - module->bias;
    strncpy(p->type, type, sizeof p->type - 1);
    strncpy(p->file, slash ? slash + 1 : module->path, sizeof p->file - 1);
    return true;
}

struct steer_head steering_nowhere(void)
{
    return (struct steer_head){.magic = STEER_MAGIC,
                               .version = STEER_VERSION,
                               .hold_ms = STEER_HOLD_MS,
                               .late_most = LATE_MOST};
}

static bool write_file(const char *path, struct steer_head **led)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    void *map = MAP_FAILED;
    if (fd >= 0 && posix_fallocate(fd, 0, sizeof **led) == 0)
        map = mmap(NULL, sizeof **led, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (map != MAP_FAILED)
        *led = map;
    return map != MAP_FAILED;
}

bool steering_file(const struct command *command, char *path, size_t size, struct steer_head **led)
{
    char directory[256];
    struct error error;
    *path = 0;
    if (!endpoint_directory(directory, sizeof directory, &error)) {
        command_fail(command, "%s", error.text);
        return false;
    }
    snprintf(path, size, "%s/poet-%d.steer", directory, (int)getpid());
    if (write_file(path, led))
        return true;
    command_fail(command, "%s: %s", path, strerror(errno));
    return false;
}

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
    struct steer_point p = {.until = until, .count = 1};
    if (t->is != CELL_TEXT || w->is != CELL_PLACE ||
        !steering_point(&p, m->book, w->place, t->text)) {
        m->why = "where it is in the code is not known";
        return 0;
    }
    const char *program = m->book->processes[w->place.process].path;
    m->s->libraries |= strcmp(module_of(m->book, w->place)->path, program) != 0;
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

/* Who comes there is held until what these bits point at was done, or is being waited at. */
static void hold(struct making *m, uint32_t row, const char *which, enum steer_until until,
                 uint32_t others, uint32_t count, uint32_t most)
{
    uint32_t bit = m->why ? 0 : add(m, row, which, until);
    for (uint32_t i = 0; i < STEER_POINTS; i++)
        if (bit >> i & 1) {
            m->s->head.points[i].others |= others;
            m->s->head.points[i].count = count;
            m->s->head.points[i].most = most;
        }
}

/* Notes the points of a signal, whose bit this is, and of its wait, the next point that was
 * made. */
static void note_signal(struct making *m, uint32_t signal, uint32_t wait)
{
    const struct steer_head *h = &m->s->head;
    if (m->why || wait >= h->point_count)
        return;
    m->s->wait = h->points[wait];
    for (uint32_t i = 0; i < STEER_POINTS; i++)
        if (signal >> i & 1)
            m->s->signal = h->points[i];
}

/* Of two that wait the other one first: at times, since it is not known which is called. */
static void let_come_first(struct making *m, uint32_t row, uint32_t other, uint32_t rule)
{
    uint32_t before = m->s->head.point_count;
    hold(m, row, "begin", STEER_WAITING, add(m, other, "then", STEER_NOBODY), 1, 1);
    for (uint32_t i = before > rule ? before : rule + 1; i < m->s->head.point_count; i++)
        m->s->head.points[i].at_times = 1;
}

/* (The first rule is the one by which it is seen whether it happened.) */
static void make_points(struct making *m, const char *kind, uint32_t first, uint32_t end)
{
    uint32_t second = first + 1 < end ? first + 1 : first, others = 0;
    if (strcmp(kind, "inversion") == 0) {
        for (uint32_t i = first; i < end; i++)
            hold(m, i, "begin", STEER_CYCLE, 0, 1, 0);
    } else if (strcmp(kind, "lost") == 0) {
        others = add(m, second, "", STEER_NOBODY);
        uint32_t signal = m->s->head.point_count;
        hold(m, first, "then", STEER_DONE, others, 1, 0);
        note_signal(m, others, signal);
    } else if (strcmp(kind, "missed") == 0) {
        for (uint32_t i = second; i < end; i++)
            if (cell(m->table, i, "then_event")->is == CELL_EVENT)
                others |= add(m, i, "then", STEER_NOBODY);
        uint32_t rule = m->s->head.point_count;
        hold(m, first, "begin", STEER_WAITING, others, end - second, 1);
        if (!m->why && end - second == 2 && cell(m->table, end - 1, "then_event")->is == CELL_EVENT)
            let_come_first(m, second, end - 1, rule);
    } else if (strcmp(kind, "message") == 0) {
        others = add(m, second, "", STEER_NOBODY);
        hold(m, first, "", STEER_DONE, others, 1, 1);
    } else {
        others = add(m, second, strcmp(kind, "unheard") == 0 ? "then" : "", STEER_NOBODY);
        bool between = strcmp(kind, "between") == 0;
        hold(m, first, "begin", between ? STEER_ANEW : STEER_DONE, others, 1, 1);
        if (between && !m->why)
            hold(m, second, "begin", STEER_DONE, add(m, first, "", STEER_NOBODY), 1, 0);
    }
}

bool steering_make(struct steering *s, const struct book *book, const struct shown_table *t,
                   uint32_t row, const char **why)
{
    struct making m = {.s = s, .book = book, .table = t};
    uint32_t end = row + 1;
    while (end < t->row_count && t->rows[end].depth)
        end++;
    *s = (struct steering){.head = steering_nowhere()};
    make_points(&m, cell(t, row, "kind")->text, row + 1, end);
    *why = m.why;
    return !m.why;
}

/* (What ends the program at once lets nobody see that it was let go.) */
bool steering_happened(const struct steer_head *h)
{
    uint32_t done = 0;
    for (uint32_t i = 0; i < h->point_count; i++) {
        const struct steer_point *p = &h->points[i];
        if (p->until == STEER_NOBODY)
            continue;
        for (uint32_t k = 0; k < h->point_count; k++)
            done += p->others >> k & 1 ? atomic_load(&h->points[k].done) : 0;
        return atomic_load(&p->freed) ||
               (done >= p->count && p->others && atomic_load(&p->came) > p->skip &&
                !atomic_load(&p->late));
    }
    return false;
}
