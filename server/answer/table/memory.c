/* The table of memory: what was taken from the heap and never given back, by place, thread or library (server/run/heap.h). */
#include "memory/memory.h"
#include "server/answer/table/table.h"
#include "server/run/heap.h"

#include <stdlib.h>
#include <string.h>

enum column {
    SCOPE,
    THREAD,
    BLOCKS,
    BYTES,
    USABLE,
    ELSEWHERE,
    ELSEWHERE_BYTES,
    NULLS,
    TAKEN,
    TAKEN_BYTES,
    MOST,
    FAULT,
    BEFORE,
    ADDRESS,
    LIBRARY,
    PROCESS
};

static const char *const by[] = {"place", "thread", "library", NULL};

static void add_columns(struct shown_table *t, const char *kind)
{
    static const char counted[] = "calls of the allocator";
    bool places = strcmp(kind, "place") == 0;
    table_add_column(t, "scope", "scope", TABLE_PLACE, NULL);
    table_add_column(t, "thread", "thread", TABLE_LINE, NULL);
    table_add_column(t, "blocks", "never freed", TABLE_COUNT, counted);
    table_add_column(t, "bytes", "bytes", TABLE_COUNT, counted);
    table_add_column(t, "usable", "usable", TABLE_COUNT, counted);
    table_detail(t);
    table_add_column(t, "elsewhere", "freed by others", TABLE_COUNT, counted);
    table_add_column(t, "elsewhere_bytes", "their bytes", TABLE_COUNT, counted);
    table_detail(t);
    table_add_column(t, "nulls", "free(NULL)", TABLE_COUNT, counted);
    table_add_column(t, "taken", "taken", TABLE_COUNT, counted);
    table_add_column(t, "taken_bytes", "bytes taken", TABLE_COUNT, counted);
    table_add_column(t, "most_bytes", "most bytes at once", TABLE_COUNT, counted);
    table_detail(t);
    table_add_column(t, "fault", "fault", TABLE_TEXT, counted);
    if (!places)
        table_detail(t);
    table_add_column(t, "before", "freed before at", TABLE_PLACE, counted);
    table_detail(t);
    table_add_column(t, "address", "address", TABLE_TEXT, counted);
    table_detail(t);
    table_add_column(t, "library", "library", TABLE_TEXT, NULL);
    if (strcmp(kind, "library") != 0)
        table_detail(t);
    table_add_column(t, "program", "program", TABLE_TEXT, NULL);
    table_detail(t);
}

/* ---- whose code it is ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *library_of(const struct table_view *view, uint32_t process, uint64_t site)
{
    const struct run_process *p =
        process < view->run->process_count ? &view->run->processes[process] : NULL;
    for (size_t i = 0; p && i < p->module_count; i++)
        if (site >= p->modules[i].start && site < p->modules[i].end)
            return base_name(p->modules[i].path);
    return "";
}

/* The C library and the loader keep buffers of their own until the end. */
static bool is_system(const char *library)
{
    static const char *const begins[] = {"libc.so", "libc-", "ld-linux", "ld-musl", "libpoet"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(library, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

/* ---- rows ---- */

struct row {
    struct heap_taken sum;
    const char *library;
};

static int by_number(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

static int by_thread(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->sum.process != y->sum.process ? by_number(x->sum.process, y->sum.process)
                                            : by_number(x->sum.thread, y->sum.thread);
}

static int by_place(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int order = by_thread(a, b);
    return order ? order : by_number(x->sum.site, y->sum.site);
}

static int by_library(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int order = by_number(x->sum.process, y->sum.process);
    return order ? order : strcmp(x->library, y->library);
}

static void add_up(struct heap_taken *into, const struct heap_taken *s)
{
    into->blocks += s->blocks;
    into->bytes += s->bytes;
    into->usable += s->usable;
    into->freed += s->freed;
    into->freed_bytes += s->freed_bytes;
    into->freed_usable += s->freed_usable;
    into->elsewhere += s->elsewhere;
    into->elsewhere_bytes += s->elsewhere_bytes;
    into->nulls += s->nulls;
    into->most_bytes = 0; /* each had its most at a time of its own */
}

/* Rows that are the same by `order` become one; how many are left. */
static size_t merge(struct row *rows, size_t n, int (*order)(const void *, const void *))
{
    size_t kept = 0;
    qsort(rows, n, sizeof *rows, order);
    for (size_t i = 0; i < n; i++) {
        if (kept && order(&rows[kept - 1], &rows[i]) == 0)
            add_up(&rows[kept - 1].sum, &rows[i].sum);
        else
            rows[kept++] = rows[i];
    }
    return kept;
}

/* While it is read the program goes on: what is freed may be known, and that it was taken not yet. */
static struct table_cell left(uint64_t taken, uint64_t freed)
{
    uint64_t n = taken > freed ? taken - freed : 0;
    return cell_number(n < INT64_MAX ? (int64_t)n : INT64_MAX);
}

static void set_figures(struct table_cell *c, const struct heap_taken *s)
{
    c[BLOCKS] = left(s->blocks, s->freed);
    c[BYTES] = left(s->bytes, s->freed_bytes);
    c[USABLE] = left(s->usable, s->freed_usable);
    c[ELSEWHERE] = left(s->elsewhere, 0);
    c[ELSEWHERE_BYTES] = left(s->elsewhere_bytes, 0);
    c[NULLS] = left(s->nulls, 0);
    c[TAKEN] = left(s->blocks, 0);
    c[TAKEN_BYTES] = left(s->bytes, 0);
}

static struct table_cell process_name(const struct table_view *view, uint32_t process)
{
    if (process >= view->run->process_count)
        return (struct table_cell){0};
    const struct run_process *p = &view->run->processes[process];
    char *text = memory_printed("%s[%u]", base_name(p->path), p->pid);
    struct table_cell cell = cell_text(text);
    free(text);
    return cell;
}

static struct table_cell *add_row(const struct table_view *view, struct shown_table *t,
                                  const struct heap_taken *s, const char *library, bool place,
                                  struct ref event)
{
    struct table_cell *c = table_add_row(t, 0, event);
    if (!c)
        return NULL;
    if (place)
        c[SCOPE] = cell_place((struct table_place){s->process, s->site});
    c[THREAD] = cell_line(s->thread);
    c[LIBRARY] = cell_text(library);
    c[PROCESS] = process_name(view, s->process);
    if (s->thread)
        table_row_line(t, s->thread);
    return c;
}

static void add_wrong(const struct table_view *view, struct shown_table *t,
                      const struct heap_wrong *w)
{
    static const char *const faults[] = {"freed twice", "no block begins there"};
    struct heap_taken s = {.process = w->process, .thread = w->thread, .site = w->site};
    struct ref event = w->event && w->thread ? (struct ref){w->thread, w->event} : (struct ref){0};
    struct table_cell *c = add_row(view, t, &s, library_of(view, s.process, s.site), true, event);
    if (!c)
        return;
    char *address = memory_printed("0x%llx", (unsigned long long)w->address);
    c[FAULT] = cell_text(faults[w->fault]);
    c[ADDRESS] = cell_text(address);
    if (w->before)
        c[BEFORE] = cell_place((struct table_place){w->process, w->before});
    free(address);
}

/* ---- the table ---- */

static bool wants(const struct table_view *view, uint32_t thread)
{
    return thread ? table_wants(view, thread) : !view->request->line_count;
}

static void add_notes(const struct table_view *view, struct shown_table *t,
                      const struct heap_taken *apart)
{
    uint64_t unseen = 0, unknown = 0;
    for (size_t i = 0; i < heap_process_count(view->run); i++) {
        unseen += heap_process_at(view->run, i)->unseen;
        unknown += heap_process_at(view->run, i)->unknown;
    }
    if (apart->blocks > apart->freed)
        table_add_note(
            t, "%llu blocks, %llu bytes are the C library's and the loader's own: see --by library",
            (unsigned long long)(apart->blocks - apart->freed),
            (unsigned long long)(apart->bytes - apart->freed_bytes));
    if (unknown)
        table_add_note(t, "%llu blocks were freed that had been taken before counting began",
                       (unsigned long long)unknown);
    if (unseen)
        table_add_note(t, "%llu calls could not be counted: there was no room, or no time",
                       (unsigned long long)unseen);
    if (!heap_process_count(view->run))
        table_add_note(t, "nothing was counted: start the program with poet record -m memory, on "
                          "the server's machine");
    else if (view->from_ns != INT64_MIN || view->to_ns != INT64_MAX || view->past)
        table_add_note(t, "this is of the whole run: when a block was taken is not known");
}

static size_t gather(const struct table_view *view, struct row *rows, bool all,
                     struct heap_taken *apart)
{
    size_t n = 0;
    for (size_t i = 0; i < heap_count(view->run); i++) {
        const struct heap_taken *s = heap_at(view->run, i);
        const char *library = library_of(view, s->process, s->site);
        if (!wants(view, s->thread) || !(s->blocks || s->nulls))
            continue;
        if (!all && is_system(library))
            add_up(apart, s);
        else
            rows[n++] = (struct row){*s, library};
    }
    return n;
}

static void fill(void *work, const struct table_view *view, struct shown_table *t)
{
    const char *kind = *view->request->by ? view->request->by : by[0];
    bool places = strcmp(kind, "place") == 0, libraries = strcmp(kind, "library") == 0;
    struct row *rows = memory_zeroed(heap_count(view->run) + 1, sizeof *rows);
    struct heap_taken apart = {0}, all = {0};
    size_t n = gather(view, rows, libraries, &apart);
    (void)work;
    t->title = memory_copied("memory: what was taken and never freed");
    add_columns(t, kind);
    n = merge(rows, n, places ? by_place : libraries ? by_library : by_thread);
    for (size_t i = 0; i < n; i++) {
        struct heap_taken *s = &rows[i].sum;
        add_up(&all, s);
        if (places && s->blocks <= s->freed && !s->elsewhere && !s->nulls)
            continue; /* all is well */
        s->thread = libraries ? 0 : s->thread;
        struct table_cell *c = add_row(view, t, s, places || libraries ? rows[i].library : "",
                                       places, (struct ref){0});
        if (c)
            set_figures(c, s);
    }
    for (size_t i = 0; places && i < heap_wrong_count(view->run); i++)
        if (wants(view, heap_wrong_at(view->run, i)->thread))
            add_wrong(view, t, heap_wrong_at(view->run, i));
    free(rows);
    table_arrange(t, view->request, "bytes");
    if (n)
        set_figures(table_make_total(t), &all);
    add_notes(view, t, &apart);
}

const struct preset preset_memory = {.what = "memory", .by = by, .fill = fill};
