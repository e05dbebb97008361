#define _GNU_SOURCE
#include "clients/cli/hold_points.h"

#include "base/alloc.h"
#include "clients/connection/finding_text.h"
#include "wire/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LATE_MOST 3u

static const struct table_cell *hold_points_find_cell(const struct result_table *t, uint32_t row,
                                                      const char *name)
{
    static const struct table_cell nothing;
    uint32_t column = result_table_find_column(t, name);
    return column < t->column_count ? &result_table_cells(t, row)[column] : &nothing;
}

uint32_t hold_points_find(const struct result_table *t, int64_t number)
{
    for (uint32_t i = 0; i < t->row_count; i++) {
        const struct table_cell *c = hold_points_find_cell(t, i, "number");
        if (!t->rows[i].depth && c->is == CELL_NUMBER && c->number == number)
            return i;
    }
    return t->row_count;
}

unsigned *hold_points_numbers(const struct result_table *t, unsigned *count)
{
    unsigned *numbers = xcalloc(t->row_count + 1, sizeof *numbers);
    *count = 0;
    for (uint32_t i = 0; i < t->row_count; i++) {
        const struct table_cell *c = hold_points_find_cell(t, i, "number");
        if (!t->rows[i].depth && c->is == CELL_NUMBER)
            numbers[(*count)++] = (unsigned)c->number;
    }
    return numbers;
}

static const struct module_info *hold_points_module(const struct trace_metadata *book,
                                                    struct table_place place)
{
    if (place.process >= book->process_count)
        return NULL;
    const struct process_info *p = &book->processes[place.process];
    for (uint32_t i = 0; i < p->module_count; i++)
        if (place.address - p->modules[i].start < p->modules[i].end - p->modules[i].start)
            return &p->modules[i];
    return NULL;
}

/* ---- points ---- */

bool hold_points_point(struct hold_point *p, const struct trace_metadata *book,
                       struct table_place place, const char *type)
{
    const struct module_info *module = hold_points_module(book, place);
    if (!module)
        return false;
    const char *slash = strrchr(module->path, '/');
    p->address = place.address - module->bias;
    strncpy(p->type, type, sizeof p->type - 1);
    strncpy(p->file, slash ? slash + 1 : module->path, sizeof p->file - 1);
    return true;
}

struct schedule_control hold_points_unresolved(void)
{
    return (struct schedule_control){.magic = SCHEDULE_CONTROL_MAGIC,
                                     .version = SCHEDULE_CONTROL_VERSION,
                                     .hold_ms = SCHEDULE_CONTROL_HOLD_MS,
                                     .late_most = LATE_MOST};
}

static bool write_file(const char *path, struct schedule_control **led)
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

bool hold_points_file(const struct command *command, char *path, size_t size,
                      struct schedule_control **led)
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

struct hold_points_builder {
    struct hold_points *s;
    const struct trace_metadata *book;
    const struct result_table *table;
    const char *why;
};

/* Adds a point for an event of a row: "request", "second", or "" for the first one. Returns its
 * bit; 0 with the reason in m->why. */
static uint32_t hold_points_add_point(struct hold_points_builder *m, uint32_t row,
                                      const char *which, enum hold_until until)
{
    struct schedule_control *h = &m->s->head;
    char type[40], where[40];
    snprintf(type, sizeof type, "%s%stype", which, *which ? "_" : "");
    snprintf(where, sizeof where, "%s%slocation", which, *which ? "_" : "");
    const struct table_cell *t = hold_points_find_cell(m->table, row, type),
                            *w = hold_points_find_cell(m->table, row, where);
    struct hold_point p = {.until = until, .count = 1};
    const char *performed = t->is == CELL_TEXT ? t->text : "";
    if (strcmp(performed, "sem_acquired") == 0 && strcmp(which, "second") == 0)
        performed = "wait"; /* the event at which it blocks */
    if (t->is != CELL_TEXT || w->is != CELL_PLACE ||
        !hold_points_point(&p, m->book, w->place, performed)) {
        m->why = "an event has no known call site";
        return 0;
    }
    const char *program = m->book->processes[w->place.process].path;
    m->s->libraries |= strcmp(hold_points_module(m->book, w->place)->path, program) != 0;
    for (uint32_t i = 0; i < h->point_count; i++)
        if (strcmp(h->points[i].type, p.type) == 0 && strcmp(h->points[i].file, p.file) == 0 &&
            h->points[i].address == p.address && h->points[i].until == p.until)
            return 1u << i;
    if (h->point_count == SCHEDULE_CONTROL_POINTS) {
        m->why = "too many hold points";
        return 0;
    }
    h->points[h->point_count] = p;
    return 1u << h->point_count++;
}

/* Adds a point that holds threads until the events of the points `others` (bits) were performed, or
 * threads wait there. */
static void hold_points_set_hold(struct hold_points_builder *m, uint32_t row, const char *which,
                                 enum hold_until until, uint32_t others, uint32_t count,
                                 uint32_t most)
{
    uint32_t bit = m->why ? 0 : hold_points_add_point(m, row, which, until);
    for (uint32_t i = 0; i < SCHEDULE_CONTROL_POINTS; i++)
        if (bit >> i & 1) {
            m->s->head.points[i].others |= others;
            m->s->head.points[i].count = count;
            m->s->head.points[i].most = most;
        }
}

/* Notes the points of a signal (its bit) and of its wait (its index). */
static void hold_points_note_signal(struct hold_points_builder *m, uint32_t signal, uint32_t wait)
{
    const struct schedule_control *h = &m->s->head;
    if (m->why || wait >= h->point_count)
        return;
    m->s->wait = h->points[wait];
    for (uint32_t i = 0; i < SCHEDULE_CONTROL_POINTS; i++)
        if (signal >> i & 1)
            m->s->signal = h->points[i];
}

/* Holds one of two waiters until the other one waits; not in each attempt, since it is not known
 * which of them the signal wakes. */
static void hold_points_hold_waiter(struct hold_points_builder *m, uint32_t row, uint32_t other,
                                    uint32_t rule)
{
    uint32_t before = m->s->head.point_count;
    hold_points_set_hold(m, row, "request", HOLD_UNTIL_WAITING,
                         hold_points_add_point(m, other, "second", HOLD_UNTIL_NOT_HELD), 1, 1);
    for (uint32_t i = before > rule ? before : rule + 1; i < m->s->head.point_count; i++)
        m->s->head.points[i].at_times = 1;
}

/* Holds the thread in the critical section that its handler must not interrupt, and the sender
 * until it is there.  A signal from elsewhere arrives there by chance only. */
static void hold_points_make_handler(struct hold_points_builder *m, uint32_t first, uint32_t end)
{
    bool sent = first + 1 < end;
    uint32_t others = sent ? hold_points_add_point(m, first, "", HOLD_INTERRUPTIBLE)
                           : hold_points_add_point(m, first, "second", HOLD_UNTIL_NOT_HELD);
    if (sent)
        hold_points_set_hold(m, first + 1, "", HOLD_UNTIL_WAITING, others, 1, 1);
    else
        m->s->unsure =
            "no thread of the program sent the signal, so that it arrives by chance only";
    if (sent && !m->why)
        others = hold_points_add_point(m, first + 1, "", HOLD_UNTIL_WAITING);
    hold_points_set_hold(m, first, "", HOLD_INTERRUPTIBLE, others, 1, 1);
}

/* Returns the row of a thread that acquires its first object by running an initializer; or end. */
static uint32_t hold_points_find_initializer(const struct hold_points_builder *m, uint32_t row,
                                             uint32_t end)
{
    for (; row < end; row++) {
        const struct table_cell *t = hold_points_find_cell(m->table, row, "type");
        if (t->is == CELL_TEXT && strcmp(t->text, "initialize") == 0)
            break;
    }
    return row;
}

/* Holds each thread of a cycle at its request.  If one of two threads runs an initializer, the
 * other one begins after that, and waits for it. */
static void hold_points_make_cycle(struct hold_points_builder *m, uint32_t first, uint32_t end)
{
    uint32_t runs = hold_points_find_initializer(m, first, end),
             other = runs == first ? first + 1 : first;
    if (runs == end || end - first != 2) {
        for (uint32_t i = first; i < end; i++)
            hold_points_set_hold(m, i, "request", HOLD_UNTIL_CYCLE, 0, 1, 0);
        return;
    }
    hold_points_set_hold(m, other, "", HOLD_UNTIL_DONE,
                         hold_points_add_point(m, runs, "", HOLD_UNTIL_NOT_HELD), 1, 0);
    hold_points_set_hold(m, runs, "request", HOLD_UNTIL_WAITING,
                         hold_points_add_point(m, other, "second", HOLD_UNTIL_NOT_HELD), 1, 0);
}

/* The first point that holds threads must be the one that decides whether the interleaving
 * occurred: see hold_points_order_occurred(). */
static void hold_points_make_points(struct hold_points_builder *m, enum finding_kind kind,
                                    uint32_t first, uint32_t end)
{
    uint32_t second = first + 1 < end ? first + 1 : first, others = 0;
    if (kind == FINDING_LOCK_ORDER_INVERSION) {
        hold_points_make_cycle(m, first, end);
    } else if (kind == FINDING_READ_RECURSION) {
        others = hold_points_add_point(m, second, "request", HOLD_UNTIL_NOT_HELD);
        hold_points_set_hold(m, first, "request", HOLD_UNTIL_DONE_SINCE_HELD, others, 1, 0);
    } else if (kind == FINDING_WAIT_WITH_LOCK) {
        others = hold_points_add_point(m, first, "second", HOLD_UNTIL_NOT_HELD);
        hold_points_set_hold(m, second, "", HOLD_UNTIL_WAITING, others, 1, 0);
    } else if (kind == FINDING_NESTED_TASK) {
        others = hold_points_add_point(m, second, "", HOLD_UNTIL_NOT_HELD);
        hold_points_set_hold(m, first, "request", HOLD_UNTIL_MET, others, end - first, end - first);
    } else if (kind == FINDING_FORK_WITH_LOCK) {
        others = hold_points_add_point(m, second, "", HOLD_AFTERWARDS);
        hold_points_set_hold(m, first, "", HOLD_UNTIL_WAITING, others, 1, 0);
        hold_points_set_hold(m, second, "", HOLD_AFTERWARDS,
                             hold_points_add_point(m, first, "", HOLD_UNTIL_WAITING), 1, 0);
    } else if (kind == FINDING_HANDLER_LOCK) {
        hold_points_make_handler(m, first, end);
    } else if (kind == FINDING_DESTROY_IN_USE) {
        others = hold_points_add_point(m, first, "", HOLD_UNTIL_NOT_HELD);
        hold_points_set_hold(m, second, "", HOLD_UNTIL_DONE_SINCE_HELD, others, 1, 1);
        m->s->proof = "the object was destroyed before a thread used it";
    } else if (kind == FINDING_UNSAFE_SEND) {
        m->why = "it depends on the buffers of the message passing library";
    } else if (kind == FINDING_LOST_WAKEUP) {
        others = hold_points_add_point(m, second, "", HOLD_UNTIL_NOT_HELD);
        uint32_t signal = m->s->head.point_count;
        hold_points_set_hold(m, first, "second", HOLD_UNTIL_DONE, others, 1, 0);
        hold_points_note_signal(m, others, signal);
    } else if (kind == FINDING_UNCHECKED_WAIT) {
        others = hold_points_add_point(m, second, "", HOLD_UNTIL_NOT_HELD);
        hold_points_set_hold(m, first, "request", HOLD_UNTIL_DONE, others, 1, 0);
    } else if (kind == FINDING_SIGNAL_NOT_BROADCAST) {
        for (uint32_t i = second; i < end; i++)
            if (hold_points_find_cell(m->table, i, "second_event")->is == CELL_EVENT)
                others |= hold_points_add_point(m, i, "second", HOLD_UNTIL_NOT_HELD);
        uint32_t rule = m->s->head.point_count;
        hold_points_set_hold(m, first, "request", HOLD_UNTIL_WAITING, others, end - second, 1);
        if (!m->why && end - second == 2 &&
            hold_points_find_cell(m->table, end - 1, "second_event")->is == CELL_EVENT)
            hold_points_hold_waiter(m, second, end - 1, rule);
    } else if (kind == FINDING_MESSAGE_RACE) {
        others = hold_points_add_point(m, second, "", HOLD_UNTIL_NOT_HELD);
        hold_points_set_hold(m, first, "", HOLD_UNTIL_DONE, others, 1, 1);
    } else {
        others = hold_points_add_point(m, second, kind == FINDING_EARLY_SIGNAL ? "second" : "",
                                       HOLD_UNTIL_NOT_HELD);
        bool between = kind == FINDING_ATOMICITY;
        hold_points_set_hold(m, first, "request",
                             between ? HOLD_UNTIL_DONE_SINCE_HELD : HOLD_UNTIL_DONE, others, 1, 1);
        if (between && !m->why)
            hold_points_set_hold(m, second, "request", HOLD_UNTIL_DONE,
                                 hold_points_add_point(m, first, "", HOLD_UNTIL_NOT_HELD), 1, 0);
    }
}

bool hold_points_make(struct hold_points *s, const struct trace_metadata *book,
                      const struct result_table *t, uint32_t row, const char **why)
{
    struct hold_points_builder m = {.s = s, .book = book, .table = t};
    uint32_t end = row + 1;
    while (end < t->row_count && t->rows[end].depth)
        end++;
    *s = (struct hold_points){.head = hold_points_unresolved()};
    hold_points_make_points(&m, finding_text_kind(t, row), row + 1, end);
    *why = m.why;
    return !m.why;
}

/* Counts `done` as well as `freed`: if the awaited event ends the program immediately, `freed` is
 * not set any more. */
bool hold_points_order_occurred(const struct schedule_control *h)
{
    uint32_t done = 0;
    for (uint32_t i = 0; i < h->point_count; i++) {
        const struct hold_point *p = &h->points[i];
        if (p->until == HOLD_UNTIL_NOT_HELD)
            continue;
        for (uint32_t k = 0; k < h->point_count; k++)
            done += p->others >> k & 1 ? atomic_load(&h->points[k].done) : 0;
        return atomic_load(&p->freed) ||
               (done >= p->count && p->others && atomic_load(&p->came) > p->skip &&
                !atomic_load(&p->late));
    }
    return false;
}
