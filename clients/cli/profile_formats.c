/* Call tables in the formats of other tools, and of the compiler: folded stacks for flame
 * graphs, callgrind, pprof, and an exclusion list. */
#include "clients/cli/calls.h"

#include "base/alloc.h"
#include "base/map.h"
#include "wire/message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the name of a scope, in new memory. */
static char *profile_format_scope(const struct table_names *names, const struct table_cell *cell)
{
    if (cell->is == CELL_TEXT)
        return xstrdup(cell->text);
    if (cell->is == CELL_LINE)
        return xstrdup(metadata_label(names->book, cell->line));
    const char *text =
        cell->is == CELL_NAME
            ? symbolizer_location_text(names->sites, cell->place.process, cell->place.address)
            : NULL;
    if (text)
        return xstrdup(text);
    if (cell->is != CELL_PLACE && cell->is != CELL_NAME)
        return xstrdup("?");
    struct symbol_location site = symbolize(names->sites, cell->place.process, cell->place.address);
    return xstrdup(*site.function ? site.function : site.place);
}

/* Returns a number of a row; `otherwise` if it is missing. */
static int64_t profile_format_number(const struct result_table *t, uint32_t row, const char *name,
                                     int64_t otherwise)
{
    uint32_t column = result_table_find_column(t, name);
    const struct table_cell *cell =
        column < t->column_count ? &result_table_cells(t, row)[column] : NULL;
    return cell && cell->is == CELL_NUMBER ? cell->number : otherwise;
}

/* Returns the measured column: "self_ns", or "calls" without times. */
static const char *profile_format_measure(const struct result_table *t)
{
    uint32_t self = result_table_find_column(t, "self_ns");
    for (uint32_t i = 0; i < t->row_count && self < t->column_count; i++)
        if (result_table_cells(t, i)[self].is == CELL_NUMBER)
            return "self_ns";
    return "calls";
}

/* ---- folded ---- */

static void folded_print_frame(FILE *f, const char *name, bool first)
{
    if (!first)
        fputc(';', f);
    for (; *name; name++)
        fputc(*name == ';' ? ':' : *name == '\n' ? ' ' : *name, f);
}

/* Writes a line for each path of a tree: "main;work;parse 1200". */
static void folded_write(FILE *f, const struct table_names *names, const struct result_table *t)
{
    char *path[UINT8_MAX + 1] = {NULL};
    const char *measure = profile_format_measure(t);
    uint32_t scope = result_table_find_column(t, "function");
    for (uint32_t i = 0; i < t->row_count; i++) {
        uint8_t depth = t->rows[i].depth;
        int64_t value = profile_format_number(t, i, measure, 0);
        free(path[depth]);
        path[depth] = profile_format_scope(names, &result_table_cells(t, i)[scope]);
        for (unsigned k = 0; value > 0 && k <= depth; k++)
            folded_print_frame(f, path[k] ? path[k] : "?", k == 0);
        if (value > 0)
            fprintf(f, " %" PRId64 "\n", value);
    }
    for (unsigned k = 0; k <= UINT8_MAX; k++)
        free(path[k]);
}

/* ---- callgrind ---- */

struct callgrind_writer {
    FILE *f;
    const struct table_names *names;
    const struct result_table *table;
    const char *measure, *total;
    uint32_t scope;
};

static struct symbol_location callgrind_site(const struct callgrind_writer *w,
                                             const struct table_cell *cell)
{
    if (cell->is == CELL_PLACE)
        return symbolize(w->names->sites, cell->place.process, cell->place.address);
    return (struct symbol_location){"", "", "", 0};
}

/* Prints the file and the name of a function; returns the line where it begins. */
static int callgrind_print_function(const struct callgrind_writer *w, const char *file_key,
                                    const char *key, uint32_t row)
{
    const struct table_cell *cell = &result_table_cells(w->table, row)[w->scope];
    char *name = profile_format_scope(w->names, cell);
    struct symbol_location site = callgrind_site(w, cell);
    fprintf(w->f, "%s=%s\n%s=%s\n", file_key, *site.path ? site.path : "???", key, name);
    free(name);
    return site.line;
}

static void callgrind_print_callee(const struct callgrind_writer *w, uint32_t row, int line)
{
    int there = callgrind_print_function(w, "cfi", "cfn", row);
    fprintf(w->f, "calls=%" PRId64 " %d\n%d %" PRId64 "\n",
            profile_format_number(w->table, row, "calls", 0), there, line,
            profile_format_number(w->table, row, w->total, 0));
}

/* Writes a call graph table for callgrind_annotate and KCachegrind (Callgrind Format Specification,
 * version 1): functions with their own costs, and below each its callees with call counts and
 * inclusive costs; the total is the sum of all own costs. */
static void callgrind_write(FILE *f, const struct table_names *names, const struct result_table *t)
{
    const char *measure = profile_format_measure(t);
    bool times = measure[0] == 's';
    struct callgrind_writer w = {f,
                                 names,
                                 t,
                                 measure,
                                 times ? "total_ns" : "calls",
                                 result_table_find_column(t, "function")};
    int64_t all = 0;
    int line = 0;
    for (uint32_t i = 0; i < t->row_count; i++)
        all += t->rows[i].depth ? 0 : profile_format_number(t, i, measure, 0);
    fprintf(f,
            "# callgrind format\nversion: 1\ncreator: poet\ncmd: %s\npositions: line\n"
            "event: %s : %s\nevents: %s\nsummary: %" PRId64 "\n",
            names->book->run.name, times ? "ns" : "calls", times ? "Nanoseconds" : "Calls",
            times ? "ns" : "calls", all);
    for (uint32_t i = 0; i < t->row_count; i++) {
        if (t->rows[i].depth) {
            callgrind_print_callee(&w, i, line);
            continue;
        }
        fputc('\n', f);
        line = callgrind_print_function(&w, "fl", "fn", i);
        fprintf(f, "%d %" PRId64 "\n", line, profile_format_number(t, i, measure, 0));
    }
    fprintf(f, "\ntotals: %" PRId64 "\n", all);
}

/* ---- pprof ---- */

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

/* ---- pprof: protobuf ---- */

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
static void pprof_print_part(struct pprof_writer *w, unsigned field, struct encoder *part)
{
    struct encoder out = {0};
    pprof_append_part(&out, field, part->data, part->size);
    fwrite(out.data, 1, out.size, w->f);
    encoder_free(&out);
    part->size = 0;
}

/* ---- pprof: tables ---- */

static uint32_t pprof_string_index(struct pprof_writer *w, const char *text)
{
    for (uint32_t i = 0; i < w->string_count; i++)
        if (strcmp(w->strings[i], text) == 0)
            return i;
    ARRAY_PUSH(w->strings, w->string_count, xstrdup(text));
    return w->string_count - 1;
}

/* Writes a function, and the location with the same id. */
static void pprof_print_function(struct pprof_writer *w, uint32_t id, const char *name,
                                 const struct symbol_location *site)
{
    struct encoder function = {0}, line = {0}, location = {0};
    uint32_t text = pprof_string_index(w, name);
    pprof_append_field(&function, 1, id);
    pprof_append_field(&function, 2, text);
    pprof_append_field(&function, 3, text);
    pprof_append_field(&function, 4, pprof_string_index(w, site->path));
    pprof_append_field(&function, 5, (uint64_t)site->line);
    pprof_print_part(w, PROFILE_FUNCTION, &function);
    pprof_append_field(&line, 1, id);
    pprof_append_field(&line, 2, (uint64_t)site->line);
    pprof_append_field(&location, 1, id);
    pprof_append_part(&location, 4, line.data, line.size);
    pprof_print_part(w, PROFILE_LOCATION, &location);
    encoder_free(&function);
    encoder_free(&line);
    encoder_free(&location);
}

static uint32_t pprof_function(struct pprof_writer *w, const struct table_cell *cell)
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
    pprof_print_function(w, w->function_count, name, &site);
    return w->function_count;
}

static void pprof_print_type(struct pprof_writer *w, const char *type, const char *unit)
{
    struct encoder out = {0};
    pprof_append_field(&out, 1, pprof_string_index(w, type));
    pprof_append_field(&out, 2, pprof_string_index(w, unit));
    pprof_print_part(w, PROFILE_SAMPLE_TYPE, &out);
    encoder_free(&out);
}

static void pprof_print_sample(struct pprof_writer *w, uint32_t row, const uint32_t *path,
                               unsigned depth)
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
    pprof_print_part(w, PROFILE_SAMPLE, &out);
    encoder_free(&out);
    encoder_free(&list);
}

static void pprof_print_rest(struct pprof_writer *w)
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

/* Writes a tree as a profile (profile.proto), uncompressed: a sample is a path, with the call count
 * of its last function there and its own time. */
static void pprof_write(FILE *f, const struct table_names *names, const struct result_table *t)
{
    struct pprof_writer w = {.f = f, .names = names, .table = t};
    uint32_t path[UINT8_MAX + 1] = {0}, scope = result_table_find_column(t, "function");
    pprof_string_index(&w, "");
    pprof_print_type(&w, "calls", "count");
    pprof_print_type(&w, "self", "nanoseconds");
    pprof_print_type(&w, "cpu", "nanoseconds");
    for (uint32_t i = 0; i < t->row_count; i++) {
        uint8_t depth = t->rows[i].depth;
        path[depth] = pprof_function(&w, &result_table_cells(t, i)[scope]);
        pprof_print_sample(&w, i, path, depth);
    }
    pprof_print_rest(&w);
    for (uint32_t i = 0; i < w.string_count; i++)
        free(w.strings[i]);
    for (uint32_t i = 0; i < w.function_count; i++)
        free(w.functions[i]);
    free(w.strings);
    free(w.functions);
}

/* ---- exclusion list ---- */

#define OFTEN 100000 /* up to this number, calls cost little in all */
/* Self time above this multiple of what its CPU time takes beside other programs: it waits. */
#define WAITS 8
#define MAIN_SHARE                                                                                 \
    4 /* of the greatest CPU time, 1 / this is enough to tell how busy the CPUs were */

struct exclusion_list_cost { /* what measuring all functions cost */
    int64_t calls, ns;
};

static struct exclusion_list_cost exclusion_list_overhead(const struct result_table *t)
{
    struct exclusion_list_cost all = {0};
    for (uint32_t i = 0; i < t->row_count; i++) {
        int64_t ns = profile_format_number(t, i, "overhead_ns", -1);
        all.calls += ns >= 0 ? profile_format_number(t, i, "calls", 0) : 0;
        all.ns += ns >= 0 ? ns : 0;
    }
    return all;
}

static int64_t exclusion_list_cpu(const struct result_table *t, uint32_t row)
{
    return profile_format_number(t, row, "cpu_ns", -1);
}

/* Returns how many times as long as its CPU time code takes, since CPUs are shared with other
 * threads: the least ratio of the other functions with much CPU time.  1 if there is none. */
static double exclusion_list_stretch(const struct result_table *t, uint32_t row)
{
    int64_t most = 0;
    double least = 0;
    for (uint32_t i = 0; i < t->row_count; i++)
        most = i != row && exclusion_list_cpu(t, i) > most ? exclusion_list_cpu(t, i) : most;
    for (uint32_t i = 0; i < t->row_count && most; i++) {
        int64_t cpu = exclusion_list_cpu(t, i);
        if (i == row || cpu < most / MAIN_SHARE || cpu <= 0)
            continue;
        double ratio = (double)profile_format_number(t, i, "self_ns", 0) / (double)cpu;
        least = least == 0 || ratio < least ? ratio : least;
    }
    return least > 1 ? least : 1;
}

/* Returns whether calls take less than twice the hooks' cost, in CPU time if known: time in which a
 * thread was preempted is not the function's. */
static bool exclusion_list_is_short(const struct result_table *t, uint32_t row, int64_t calls,
                                    double call_ns)
{
    int64_t self = profile_format_number(t, row, "self_ns", -1), cpu = exclusion_list_cpu(t, row),
            own = cpu >= 0 && cpu < self ? cpu : self;
    return self >= 0 && (double)own < 2 * call_ns * (double)calls &&
           (double)self <= WAITS * (double)own * exclusion_list_stretch(t, row);
}

/* Returns the name as in the compiler's list, in new memory: without the arguments of C++, and the
 * suffix of a part of a function (".part.0"); "" if the list cannot have it. */
static char *exclusion_list_name(const struct table_names *names, const struct table_cell *cell)
{
    char *name = profile_format_scope(names, cell);
    name[strcspn(name, "(.")] = 0;
    if (!*name || strpbrk(name, " ,<?/"))
        *name = 0;
    return name;
}

static double exclusion_list_to_ms(double ns) { return ns / 1e6; }

static double exclusion_list_percent_of(double ns, int64_t of)
{
    return of > 0 ? 100 * ns / (double)of : 0;
}

/* Writes the instrumentation overhead of a function as a comment, and its name; the name alone is
 * in the comment if it has characters that a list cannot contain. */
static void exclusion_list_write_function(FILE *f, const char *name, const char *shown,
                                          int64_t calls, double cost_ns)
{
    if (*name)
        fprintf(f, "# %" PRId64 " calls, overhead about %.3f ms\n%s\n", calls,
                exclusion_list_to_ms(cost_ns), name);
    else
        fprintf(f, "# %" PRId64 " calls, overhead about %.3f ms, cannot be listed by name: %s\n",
                calls, exclusion_list_to_ms(cost_ns), shown);
}

static void exclusion_list_write(FILE *f, const struct table_names *names,
                                 const struct result_table *t)
{
    struct exclusion_list_cost all = exclusion_list_overhead(t);
    double call_ns = all.calls ? (double)all.ns / (double)all.calls : 0, cost_ns = 0;
    uint32_t scope = result_table_find_column(t, "function");
    unsigned count = 0;
    for (uint32_t i = 0; i < t->row_count; i++) {
        int64_t calls = profile_format_number(t, i, "calls", 0);
        if (calls <= OFTEN || !exclusion_list_is_short(t, i, calls, call_ns))
            continue;
        const struct table_cell *cell = &result_table_cells(t, i)[scope];
        char *name = exclusion_list_name(names, cell), *shown = profile_format_scope(names, cell);
        exclusion_list_write_function(f, name, shown, calls, (double)calls * call_ns);
        cost_ns += (double)calls * call_ns;
        count++;
        free(name);
        free(shown);
    }
    if (!all.calls)
        fprintf(f, "# instrumentation overhead unknown: no call was timed (POET_MEASURE=calls)\n");
    else
        fprintf(f,
                "# %u function%s with more than %d calls, each shorter than twice the "
                "instrumentation overhead of %.1f ns per call: about %.3f of %.3f ms overhead "
                "(%.2f %%)\n",
                count, count == 1 ? "" : "s", OFTEN, call_ns, exclusion_list_to_ms(cost_ns),
                exclusion_list_to_ms((double)all.ns), exclusion_list_percent_of(cost_ns, all.ns));
}

/* ---- the formats ---- */

static const struct profile_format profile_formats[] = {{"callgrind", false, true, callgrind_write},
                                                        {"folded", true, false, folded_write},
                                                        {"pprof", true, false, pprof_write}};

const struct profile_format profile_format_exclusions = {"suggest", false, false,
                                                         exclusion_list_write};

static const struct profile_format *profile_format_find(const char *name)
{
    for (size_t i = 0; i < sizeof profile_formats / sizeof *profile_formats; i++)
        if (strcmp(profile_formats[i].name, name) == 0)
            return &profile_formats[i];
    return NULL;
}

error_t profile_format_parse(const struct command *command, const char *value,
                             const struct profile_format **format)
{
    *format = profile_format_find(value);
    if (*format)
        return 0;
    command_usage(command, "-f %s: " PROFILE_FORMATS, value);
    return EINVAL;
}

/* Writes under a temporary name first, so that an error leaves no incomplete file. */
static int profile_format_write_file(const struct table_settings *tables,
                                     const struct profile_format *format,
                                     const struct table_names *names, const struct result_table *t)
{
    const char *file = tables->file;
    char *part = xasprintf("%s.part", file);
    FILE *f = fopen(part, "we");
    bool good = f != NULL;
    if (f)
        format->write(f, names, t);
    if (f)
        good = !ferror(f);
    if (f && fclose(f) != 0)
        good = false;
    good = good && rename(part, file) == 0;
    int status = good ? EXIT_DONE : command_fail(tables->command, "%s: %s", file, strerror(errno));
    if (!good)
        unlink(part);
    free(part);
    return status;
}

int profile_format_convert(const struct table_settings *tables, const char *what,
                           const struct profile_format *format, struct command_source *subject)
{
    char key[] = "graph", inlined[] = "points", yes[] = "yes";
    struct table_option graph[] = {{key, yes}, {0}}, points[] = {{inlined, yes}, {0}};
    struct table_section section = {.what = what,
                                    .options = format->graph  ? graph
                                               : format->tree ? points
                                                              : NULL};
    struct table_names names = {&subject->source.book, subject->sites};
    struct table_settings whole = *tables;
    struct result_table t = {0};
    whole.tree = format->tree;
    whole.top = 0;
    int status = table_request_run(&whole, &section, subject, &t);
    if (status == EXIT_DONE && tables->file)
        status = profile_format_write_file(tables, format, &names, &t);
    else if (status == EXIT_DONE)
        format->write(stdout, &names, &t);
    result_table_free(&t);
    return status;
}
