/* Charts of metrics over time, in a file or on the terminal. */
#define _GNU_SOURCE
#include "clients/cli/chart_output.h"

#include "base/alloc.h"
#include "clients/cli/output_format.h"
#include "clients/cli/terminal.h"
#include "render/curves.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static const char sampled[] =
    "step plot of the last sampled value; dots mark sparse samples; gaps mean no data";

static const struct metric_chart_group {
    const char *what;
    uint8_t group;
    const char *title, *nothing, *below;
} all[] = {
    {"usage", SERIES_USAGE, "OS resource usage", "only local processes (Unix socket) are sampled",
     sampled},
    {"memory", SERIES_MEMORY, "heap allocations",
     "only programs started with poet record -m memory have heap data", sampled},
    {"metrics", SERIES_OWN, "user-defined metrics",
     "only metrics that a program maintains itself, or poet watch samples, have curves", sampled},
    {"concurrency", SERIES_LEVELS, "level of concurrency",
     "the run is too long; select a part with --from and --to in poet states --concurrency",
     "number of threads in each state: its mean in each pixel, pale from its minimum to its "
     "maximum"},
};

static const struct metric_chart_group *metric_chart_find_group(const char *what)
{
    for (size_t i = 0; what && i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].what, what) == 0)
            return &all[i];
    return NULL;
}

bool metric_chart_is_available(const char *what) { return metric_chart_find_group(what) != NULL; }

struct metric_chart_builder {
    const struct table_settings *tables;
    struct command_source *subject;
    const struct metric_chart_group *of;
    const uint32_t *lines;
    uint32_t line_count;
    struct time_series_set series;
    struct curves curves;
    char **owners; /* names of threads and programs, each once */
    uint32_t owner_count;
    bool programs; /* the series are of several programs */
    char *title, *below, *others;
};

/* ---- requests ---- */

static void metric_chart_receive_series(void *user, const struct response_chunk *answer)
{
    struct time_series_set *series = user;
    if (answer->part != RESPONSE_TIME_SERIES)
        return;
    time_series_free(series);
    decode_time_series(answer->in, series);
    decoder_finish(answer->in);
}

static bool metric_chart_send_request(struct metric_chart_builder *m, struct series_request *r)
{
    struct encoder body = {0};
    encode_series_request(&body, r);
    return command_source_request(m->tables->command, m->subject, REQUEST_TIME_SERIES, &body,
                                  metric_chart_receive_series, &m->series);
}

/* Requests the range of the run first, for the ends that the user did not specify. */
static int metric_chart_request_range(struct metric_chart_builder *m, uint32_t pixels)
{
    const struct table_settings *o = m->tables;
    char none[] = "";
    struct series_request r = {.pixels = 1, .groups = m->of->group, .threads = true, .meter = none};
    int status = metric_chart_send_request(m, &r) ? EXIT_DONE : EXIT_FAILED;
    if (status == EXIT_DONE) {
        r.from = o->from.is == TABLE_AT_NS ? o->from.at : m->series.from;
        r.to = o->to.is == TABLE_AT_NS ? o->to.at : m->series.to;
        r.pixels = pixels;
        r.threads = o->threads || (o->by && strcmp(o->by, "thread") == 0);
        r.lines = (uint32_t *)(uintptr_t)m->lines;
        r.line_count = m->line_count;
        status = r.from >= r.to
                     ? command_usage(o->command, "empty range: --from is not before --to")
                 : metric_chart_send_request(m, &r) ? EXIT_DONE
                                                    : EXIT_FAILED;
    }
    return status;
}

/* ---- curves ---- */

/* Returns the index of the owner; takes over the name. */
static uint32_t metric_chart_owner(struct metric_chart_builder *m, char *owner)
{
    uint32_t i = 0;
    while (i < m->owner_count && strcmp(m->owners[i], owner) != 0)
        i++;
    if (i == m->owner_count)
        ARRAY_PUSH(m->owners, m->owner_count, owner);
    else
        free(owner);
    return i;
}

/* Returns the line style of a curve; all owners after the first CURVE_LOOKS share one. */
static unsigned metric_chart_find_style(struct metric_chart_builder *m, const struct time_series *c,
                                        const char **name)
{
    const char *label =
        c->thread ? metadata_label(&m->subject->source.book, c->thread) : c->program;
    char *owner = c->thread && m->programs ? xasprintf("%s %s", c->program, label)
                                           : xstrdup(*label ? label : "external");
    uint32_t at = metric_chart_owner(m, owner);
    *name = m->owners[at];
    return at < CURVE_LOOKS ? at : CURVE_LOOKS;
}

static bool metric_chart_is_flat(const struct time_series *c, uint32_t pixels)
{
    for (uint32_t i = 0; i < pixels; i++)
        if (c->pixels[i].known != SERIES_NOTHING && (c->pixels[i].least || c->pixels[i].most))
            return false;
    return true;
}

/* A growing metric that was reported only once has no rate, rather than rate 0. */
static bool metric_chart_is_single_valued(const struct time_series *c, uint32_t pixels)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < pixels; i++)
        known += c->pixels[i].known != SERIES_NOTHING;
    return c->grows && known < 2;
}

static struct curve_panel *metric_chart_panel(struct metric_chart_builder *m,
                                              const struct time_series *c)
{
    struct curves *to = &m->curves;
    for (uint32_t i = 0; i < to->panel_count; i++)
        if (strcmp(to->panels[i].name, c->name) == 0 && strcmp(to->panels[i].unit, c->unit) == 0 &&
            to->panels[i].grows == c->grows)
            return &to->panels[i];
    struct curve_panel panel = {
        .name = c->name, .unit = c->unit, .grows = c->grows, .pixels = m->series.pixels};
    ARRAY_PUSH(to->panels, to->panel_count, panel);
    return &to->panels[to->panel_count - 1];
}

static int metric_chart_compare_meters(const void *a, const void *b)
{
    const struct time_series *x = a, *y = b;
    return x->meter < y->meter ? -1 : x->meter > y->meter;
}

static void metric_chart_add_curve(struct metric_chart_builder *m, const struct time_series *c)
{
    struct curve_line line = {.pixels = c->pixels, .scale = c->scale};
    line.look = metric_chart_find_style(m, c, &line.name);
    struct curve_panel *panel = metric_chart_panel(m, c);
    ARRAY_PUSH(panel->lines, panel->line_count, line);
}

/* Appends a word to a list unless it is already there. */
static void metric_chart_add_word(char **words, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = *words; (at = strstr(at, word)) != NULL; at += n)
        if ((at == *words || at[-1] == ' ') && (!at[n] || at[n] == ','))
            return;
    char *more = xasprintf("%s%s%s", *words, **words ? ", " : "", word);
    free(*words);
    *words = more;
}

static bool metric_chart_has_panel(const struct metric_chart_builder *m, const char *name)
{
    uint32_t i = 0;
    while (i < m->curves.panel_count && strcmp(m->curves.panels[i].name, name) != 0)
        i++;
    return i < m->curves.panel_count;
}

static void metric_chart_report_below(struct metric_chart_builder *m, const char *flat,
                                      const char *once)
{
    bool grows = false;
    for (uint32_t i = 0; i < m->curves.panel_count; i++)
        grows |= m->curves.panels[i].grows;
    m->below = xasprintf("%s%s%s%s%s%s%s", m->of->below,
                         grows ? "; counters are drawn as rates per second between samples" : "",
                         *flat ? "; not drawn, always 0: " : "", flat,
                         *once ? "; not drawn, sampled only once: " : "", once,
                         m->series.left_out ? "; too many curves; select some with --threads" : "");
    m->curves.below = m->below;
}

static void metric_chart_build(struct metric_chart_builder *m)
{
    char *flat = xstrdup(""), *once = xstrdup("");
    for (uint32_t i = 1; i < m->series.count; i++)
        m->programs |= strcmp(m->series.items[i].program, m->series.items[0].program) != 0;
    for (uint32_t i = 0; i < m->series.count; i++) /* before sorting */
        if (!metric_chart_is_flat(&m->series.items[i], m->series.pixels)) {
            const char *name;
            metric_chart_find_style(m, &m->series.items[i], &name);
        }
    qsort(m->series.items, m->series.count, sizeof *m->series.items, metric_chart_compare_meters);
    for (uint32_t i = 0; i < m->series.count; i++)
        if (!metric_chart_is_flat(&m->series.items[i], m->series.pixels))
            metric_chart_add_curve(m, &m->series.items[i]);
    for (uint32_t i = 0; i < m->series.count; i++)
        if (!metric_chart_has_panel(m, m->series.items[i].name))
            metric_chart_add_word(
                metric_chart_is_single_valued(&m->series.items[i], m->series.pixels) ? &once
                                                                                     : &flat,
                m->series.items[i].name);
    m->title = xasprintf("%s: %s", m->subject->source.book.run.name, m->of->title);
    m->curves.title = m->title;
    m->curves.pixels = m->series.pixels;
    m->curves.from_ns = m->series.from;
    m->curves.to_ns = m->series.to;
    for (uint32_t i = 0; i < m->owner_count && i < CURVE_LOOKS; i++)
        ARRAY_PUSH(m->curves.names, m->curves.name_count, m->owners[i]);
    if (m->owner_count > CURVE_LOOKS) {
        m->others = xasprintf("%u others", m->owner_count - CURVE_LOOKS);
        ARRAY_PUSH(m->curves.names, m->curves.name_count, m->others);
    }
    metric_chart_report_below(m, flat, once);
    free(flat);
    free(once);
}

/* ---- output ---- */

static void metric_chart_print(const void *curves, FILE *f)
{
    setlocale(LC_CTYPE, "");
    curve_text_print(curves, strcmp(nl_langinfo(CODESET), "UTF-8") != 0, f);
}

static int metric_chart_draw(const struct metric_chart_builder *m)
{
    const char *file = m->tables->file;
    struct document_options page = m->tables->page;
    page.format = output_format_document(output_format_of(file));
    page.title = m->title;
    page.date = (time_t)(m->subject->source.book.run.wall_ns / 1000000000u);
    const char *why;
    return curves_write(&m->curves, &page, file, &why)
               ? EXIT_DONE
               : command_fail(m->tables->command, "%s: %s", file, why);
}

static int metric_chart_write_curves(struct metric_chart_builder *m)
{
    const struct table_settings *o = m->tables;
    enum output_format format = o->file ? output_format_of(o->file) : OUTPUT_TEXT;
    bool text = format == OUTPUT_TEXT;
    if (!text && !output_format_is_picture(format))
        return command_usage(o->command, "-o %s: a chart is a .pdf, .svg, .png or .txt", o->file);
    if (o->from.is == TABLE_AT_EVENT || o->to.is == TABLE_AT_EVENT || o->past_of.line)
        return command_usage(o->command, "--chart curves: --from and --to are times, as 20ms");
    int status = metric_chart_request_range(m, text ? curve_text_width(terminal_text_columns())
                                                    : curves_pixels(&o->page));
    if (status != EXIT_DONE)
        return status;
    if (!m->series.count)
        return command_fail(o->command, "no samples over time: %s", m->of->nothing);
    metric_chart_build(m);
    if (!m->curves.panel_count)
        return command_fail(o->command, "all values are 0: nothing to draw");
    return text ? output_format_print(m->tables->command, m->tables->file, metric_chart_print,
                                      &m->curves)
                : metric_chart_draw(m);
}

int metric_chart_write(const struct table_settings *o, struct command_source *subject,
                       const char *what, const uint32_t *lines, uint32_t line_count)
{
    struct metric_chart_builder m = {.tables = o,
                                     .subject = subject,
                                     .of = metric_chart_find_group(what),
                                     .lines = lines,
                                     .line_count = line_count};
    if (strcmp(o->chart, "curves") != 0)
        return command_usage(o->command, "--chart %s: %scurves", o->chart,
                             strcmp(what, "metrics") == 0 ? "kiviat or " : "");
    int status = metric_chart_write_curves(&m);
    for (uint32_t i = 0; i < m.curves.panel_count; i++)
        free(m.curves.panels[i].lines);
    for (uint32_t i = 0; i < m.owner_count; i++)
        free(m.owners[i]);
    free(m.owners);
    free(m.curves.panels);
    free(m.curves.names);
    free(m.title);
    free(m.below);
    free(m.others);
    time_series_free(&m.series);
    return status;
}
