#include "clients/cli/pprof_format.h"

#include "clients/cli/profile_formats.h"
#include "base/map.h"
#include "base/alloc.h"
#include "wire/message.h"

#include <stdlib.h>
#include <string.h>

/* Field numbers of the message Profile. */
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

struct pprof_writer {
    FILE *f;
    const struct table_names *names;
    const struct result_table *table;
    char **strings;
    uint32_t string_count;
    char **functions; /* names by id - 1 */
    uint32_t function_count;
};

/* ---- protobuf ---- */

static void pprof_append_varint(struct encoder *out, uint64_t v)
{
    for (; v >= 128; v >>= 7)
        encode_u8(out, (uint8_t)(v | 128));
    encode_u8(out, (uint8_t)v);
}

static void pprof_append_field(struct encoder *out, unsigned field, uint64_t v)
{
    pprof_append_varint(out, (uint64_t)field << 3);
    pprof_append_varint(out, v);
}

static void pprof_append_part(struct encoder *out, unsigned field, const void *data, size_t size)
{
    pprof_append_varint(out, (uint64_t)field << 3 | 2);
    pprof_append_varint(out, size);
    encode_bytes(out, data, size);
}

/* Writes a nested message of the profile, and empties its buffer. */
static void print_part(struct pprof_writer *w, unsigned field, struct encoder *part)
{
    struct encoder out = {0};
    pprof_append_part(&out, field, part->data, part->size);
    fwrite(out.data, 1, out.size, w->f);
    encoder_free(&out);
    part->size = 0;
}

/* ---- tables ---- */

static uint32_t pprof_string_index(struct pprof_writer *w, const char *text)
{
    for (uint32_t i = 0; i < w->string_count; i++)
        if (strcmp(w->strings[i], text) == 0)
            return i;
    ARRAY_PUSH(w->strings, w->string_count, xstrdup(text));
    return w->string_count - 1;
}

/* Writes a function, and the location with the same id. */
static void print_function(struct pprof_writer *w, uint32_t id, const char *name,
                           const struct symbol_location *site)
{
    struct encoder function = {0}, line = {0}, location = {0};
    uint32_t text = pprof_string_index(w, name);
    pprof_append_field(&function, 1, id);
    pprof_append_field(&function, 2, text);
    pprof_append_field(&function, 3, text);
    pprof_append_field(&function, 4, pprof_string_index(w, site->path));
    pprof_append_field(&function, 5, (uint64_t)site->line);
    print_part(w, PROFILE_FUNCTION, &function);
    pprof_append_field(&line, 1, id);
    pprof_append_field(&line, 2, (uint64_t)site->line);
    pprof_append_field(&location, 1, id);
    pprof_append_part(&location, 4, line.data, line.size);
    print_part(w, PROFILE_LOCATION, &location);
    encoder_free(&function);
    encoder_free(&line);
    encoder_free(&location);
}

static uint32_t function_of(struct pprof_writer *w, const struct table_cell *cell)
{
    char *name = profile_format_scope(w->names, cell);
    struct symbol_location site = {"", "", "", 0};
    for (uint32_t i = 0; i < w->function_count; i++)
        if (strcmp(w->functions[i], name) == 0) {
            free(name);
            return i + 1;
        }
    if (cell->is == CELL_PLACE)
        site = symbolize(w->names->sites, cell->place.process, cell->place.address);
    ARRAY_PUSH(w->functions, w->function_count, name);
    print_function(w, w->function_count, name, &site);
    return w->function_count;
}

static void print_type(struct pprof_writer *w, const char *type, const char *unit)
{
    struct encoder out = {0};
    pprof_append_field(&out, 1, pprof_string_index(w, type));
    pprof_append_field(&out, 2, pprof_string_index(w, unit));
    print_part(w, PROFILE_SAMPLE_TYPE, &out);
    encoder_free(&out);
}

static void print_sample(struct pprof_writer *w, uint32_t row, const uint32_t *path, unsigned depth)
{
    struct encoder out = {0}, list = {0};
    for (unsigned k = depth + 1; k > 0; k--)
        pprof_append_varint(&list, path[k - 1]);
    pprof_append_part(&out, 1, list.data, list.size);
    list.size = 0;
    pprof_append_varint(&list, (uint64_t)profile_format_number(w->table, row, "calls", 0));
    pprof_append_varint(&list, (uint64_t)profile_format_number(w->table, row, "self_ns", 0));
    pprof_append_varint(&list, (uint64_t)profile_format_number(w->table, row, "cpu_ns", 0));
    pprof_append_part(&out, 2, list.data, list.size);
    print_part(w, PROFILE_SAMPLE, &out);
    encoder_free(&out);
    encoder_free(&list);
}

static void print_rest(struct pprof_writer *w)
{
    struct encoder out = {0};
    pprof_append_field(&out, PROFILE_TIME_NANOS, w->names->book->run.wall_ns);
    pprof_append_field(
        &out, PROFILE_DEFAULT_TYPE,
        pprof_string_index(w, profile_format_measure(w->table)[0] == 's' ? "self" : "calls"));
    for (uint32_t i = 0; i < w->string_count; i++)
        pprof_append_part(&out, PROFILE_STRING, w->strings[i], strlen(w->strings[i]));
    fwrite(out.data, 1, out.size, w->f);
    encoder_free(&out);
}

void pprof_write(FILE *f, const struct table_names *names, const struct result_table *t)
{
    struct pprof_writer w = {.f = f, .names = names, .table = t};
    uint32_t path[UINT8_MAX + 1] = {0}, scope = result_table_find_column(t, "function");
    pprof_string_index(&w, "");
    print_type(&w, "calls", "count");
    print_type(&w, "self", "nanoseconds");
    print_type(&w, "cpu", "nanoseconds");
    for (uint32_t i = 0; i < t->row_count; i++) {
        uint8_t depth = t->rows[i].depth;
        path[depth] = function_of(&w, &result_table_cells(t, i)[scope]);
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
