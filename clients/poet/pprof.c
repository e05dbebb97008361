#include "clients/poet/pprof.h"

#include "clients/poet/dialects.h"
#include "memory/map.h"
#include "memory/memory.h"
#include "wire/message.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of fields. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME_NANOS = 9,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_DEFAULT_TYPE = 14
};

struct writing {
    FILE *f;
    const struct table_names *names;
    const struct shown_table *table;
    char **strings;
    uint32_t string_count;
    char **functions; /* names, by id - 1 */
    uint32_t function_count;
};

/* ---- protobuf ---- */

static void put_varint(struct out *out, uint64_t v)
{
    for (; v >= 128; v >>= 7)
        put_u8(out, (uint8_t)(v | 128));
    put_u8(out, (uint8_t)v);
}

static void put_field(struct out *out, unsigned field, uint64_t v)
{
    put_varint(out, (uint64_t)field << 3);
    put_varint(out, v);
}

static void put_part(struct out *out, unsigned field, const void *data, size_t size)
{
    put_varint(out, (uint64_t)field << 3 | 2);
    put_varint(out, size);
    put_bytes(out, data, size);
}

/* A message within the profile; emptied. */
static void print_part(struct writing *w, unsigned field, struct out *part)
{
    struct out out = {0};
    put_part(&out, field, part->data, part->size);
    fwrite(out.data, 1, out.size, w->f);
    out_free(&out);
    part->size = 0;
}

/* ---- tables ---- */

static uint32_t string(struct writing *w, const char *text)
{
    for (uint32_t i = 0; i < w->string_count; i++)
        if (strcmp(w->strings[i], text) == 0)
            return i;
    PUSH(w->strings, w->string_count, memory_copied(text));
    return w->string_count - 1;
}

/* A function, and the location of the same number. */
static void print_function(struct writing *w, uint32_t id, const char *name,
                           const struct site_is *site)
{
    struct out function = {0}, line = {0}, location = {0};
    uint32_t text = string(w, name);
    put_field(&function, 1, id);
    put_field(&function, 2, text);
    put_field(&function, 3, text);
    put_field(&function, 4, string(w, site->path));
    put_field(&function, 5, (uint64_t)site->line);
    print_part(w, PROFILE_FUNCTION, &function);
    put_field(&line, 1, id);
    put_field(&line, 2, (uint64_t)site->line);
    put_field(&location, 1, id);
    put_part(&location, 4, line.data, line.size);
    print_part(w, PROFILE_LOCATION, &location);
    out_free(&function);
    out_free(&line);
    out_free(&location);
}

static uint32_t function_of(struct writing *w, const struct table_cell *cell)
{
    char *name = dialects_scope(w->names, cell);
    struct site_is site = {"", "", "", 0};
    for (uint32_t i = 0; i < w->function_count; i++)
        if (strcmp(w->functions[i], name) == 0) {
            free(name);
            return i + 1;
        }
    if (cell->is == CELL_PLACE)
        site = sites_call(w->names->sites, cell->place.process, cell->place.address);
    PUSH(w->functions, w->function_count, name);
    print_function(w, w->function_count, name, &site);
    return w->function_count;
}

static void print_type(struct writing *w, const char *type, const char *unit)
{
    struct out out = {0};
    put_field(&out, 1, string(w, type));
    put_field(&out, 2, string(w, unit));
    print_part(w, PROFILE_SAMPLE_TYPE, &out);
    out_free(&out);
}

static void print_sample(struct writing *w, uint32_t row, const uint32_t *path, unsigned depth)
{
    struct out out = {0}, list = {0};
    for (unsigned k = depth + 1; k > 0; k--)
        put_varint(&list, path[k - 1]);
    put_part(&out, 1, list.data, list.size);
    list.size = 0;
    put_varint(&list, (uint64_t)dialects_number(w->table, row, "calls", 0));
    put_varint(&list, (uint64_t)dialects_number(w->table, row, "self_ns", 0));
    put_varint(&list, (uint64_t)dialects_number(w->table, row, "cpu_ns", 0));
    put_part(&out, 2, list.data, list.size);
    print_part(w, PROFILE_SAMPLE, &out);
    out_free(&out);
    out_free(&list);
}

static void print_rest(struct writing *w)
{
    struct out out = {0};
    put_field(&out, PROFILE_TIME_NANOS, w->names->book->run.wall_ns);
    put_field(&out, PROFILE_DEFAULT_TYPE,
              string(w, dialects_measure(w->table)[0] == 's' ? "self" : "calls"));
    for (uint32_t i = 0; i < w->string_count; i++)
        put_part(&out, PROFILE_STRING, w->strings[i], strlen(w->strings[i]));
    fwrite(out.data, 1, out.size, w->f);
    out_free(&out);
}

void pprof_write(FILE *f, const struct table_names *names, const struct shown_table *t)
{
    struct writing w = {.f = f, .names = names, .table = t};
    uint32_t path[UINT8_MAX + 1] = {0}, scope = table_find(t, "scope");
    string(&w, "");
    print_type(&w, "calls", "count");
    print_type(&w, "self", "nanoseconds");
    print_type(&w, "cpu", "nanoseconds");
    for (uint32_t i = 0; i < t->row_count; i++) {
        uint8_t depth = t->rows[i].depth;
        path[depth] = function_of(&w, &table_cells(t, i)[scope]);
        print_sample(&w, i, path, depth);
    }
    print_rest(&w);
    for (uint32_t i = 0; i < w.string_count; i++)
        free(w.strings[i]);
    for (uint32_t i = 0; i < w.function_count; i++)
        free(w.functions[i]);
    free(w.strings);
    free(w.functions);
}
