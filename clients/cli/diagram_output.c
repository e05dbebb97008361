#include "clients/cli/diagram_output.h"

#include "base/alloc.h"
#include "clients/cli/blocked.h"
#include "clients/cli/html/html_page.h"
#include "clients/cli/paper_size.h"
#include "clients/metadata/event_text.h"
#include "render/document.h"
#include "render/paper_bands.h"
#include "render/scene_text.h"
#include "render/state_band_key.h"
#include "render/text_cache.h"
#include "wire/limits.h"
#include "wire/request.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEAST_PT 5.0   /* smallest letters readable on paper */
#define SCALE 0.8      /* of bands: gives letters of 6 points */
#define WRAP_WIDTH_PT 482.0 /* default width of bands: 17 cm, the text width of a page */
#define MARGINS_PT 56.0
#define EDGES_PT 16.0 /* margin of a drawing left and right of its columns */

/* ---- readable text size: wrapping, or a warning if text would be too small ---- */

/* Chooses whether the diagram is cut into bands, and their width. */
static void text_size_choose_wrap(const struct scene *scene, struct document_options *page,
                                  enum wrap wrap)
{
    bool image = page->format != DOCUMENT_PDF;
    if (image && page->paper_width_pt > 0) { /* an image has no pages: use the page's width */
        page->width_pt = page->paper_width_pt;
        page->paper_width_pt = page->paper_height_pt = 0;
        wrap = wrap == WRAP_WHERE_SMALL ? WRAP : wrap;
    }
    if (page->paper_width_pt > 0 || scene->vertical)
        return;
    bool small = page->width_pt > 0 && SCENE_LABEL_PT * page->width_pt / scene->width_pt < LEAST_PT;
    page->wrap = wrap == WRAP || (wrap == WRAP_WHERE_SMALL && small);
    if (page->wrap && page->width_pt <= 0)
        page->width_pt = WRAP_WIDTH_PT;
    page->wrap_scale = SCALE;
}

/* Returns the maximum width of a legend, in points of the scene; 0: that of the drawing. */
static double text_size_legend_pt(const struct document_options *page)
{
    return page->paper_width_pt > 0 ? page->paper_width_pt - MARGINS_PT
           : page->wrap             ? page->width_pt / page->wrap_scale
                                    : 0;
}

/* Returns how many of the last columns fit at a readable size; reduced by a quarter, since a
 * diagram that begins later has more text at its left edge. */
static unsigned text_size_columns(const struct scene *scene, const struct document_options *page)
{
    double room = page->width_pt * SCENE_LABEL_PT / LEAST_PT - scene->names_pt - EDGES_PT;
    unsigned n = 0;
    for (uint32_t i = scene->column_count; i-- > 0; n++) {
        room -= scene->columns[i].left_pt + scene->columns[i].right_pt;
        if (room < 0)
            break;
    }
    return n - n / 4;
}

/* Warns of unreadable text, with advice. */
static void text_size_warn(const struct command *command, const struct scene *scene,
                           const struct document_options *page)
{
    struct paper_bands bands = paper_bands_cut(scene, page);
    double letters = SCENE_LABEL_PT * bands.scale;
    if (letters >= LEAST_PT - 0.02)
        return;
    unsigned fit = bands.paper || page->wrap ? 0 : text_size_columns(scene, page);
    fprintf(stderr, "poet %s: text is %.1f pt high, too small to read: ", command->name, letters);
    if (page->wrap || bands.paper)
        fprintf(stderr, "line names take most of the width; use --labels name\n");
    else if (fit)
        fprintf(stderr, "--last %u fits%s\n", fit, scene->vertical ? "" : "; or use --wrap");
    else
        fprintf(stderr, "increase --width, or use --wrap\n");
}

/* ---- the scene ---- */

struct scene *diagram_scene_options(const struct event_diagram *p,
                                    const struct trace_metadata *book, bool measured,
                                    double legend_width_pt)
{
    char words[LIMIT_TEXT_BYTES], note[DIAGRAM_NOTE_BYTES];
    diagram_note_write(p, note, sizeof note);
    snprintf(words, sizeof words, "%s%s%s", p->caption ? p->caption : "",
             p->caption && *note ? " — " : "", note);
    struct scene_options options = {.title = p->no_title ? NULL : p->title,
                                    .caption = *words ? words : NULL,
                                    .legend = !p->no_legend,
                                    .legend_width_pt = legend_width_pt,
                                    .order_arrows = !p->no_order_arrows,
                                    .selected = p->place.selected.line,
                                    .second = p->place.second.line,
                                    .relations = p->place.color_relations && p->place.selected.line,
                                    .chain = p->chain_count,
                                    .vertical = p->view ? p->look.vertical : p->vertical,
                                    .column_ns = p->column_ns,
                                    .squeeze = p->view ? p->look.squeeze : true,
                                    .threshold_ns = p->look.threshold_ns,
                                    .noted = p->noted,
                                    .noted_count = p->notes.count,
                                    .stuck = p->stuck,
                                    .stuck_count = p->stuck_count,
                                    .carriers = &p->carriers,
                                    .measure = measured ? text_cache_width : NULL};
    return scene_build(&p->window, book, &options);
}

/* Returns what is highlighted in a view. */
static struct paint_selection diagram_scene_selection(const struct event_diagram *p)
{
    return (struct paint_selection){.selected = p->place.selected,
                                    .second = p->place.second,
                                    .chain = p->chain,
                                    .chain_count = p->chain_count,
                                    .stuck = p->stuck,
                                    .stuck_count = p->stuck_count,
                                    .relations = p->place.color_relations && p->place.selected.line,
                                    .past = !(p->place.hide & HIDE_PAST),
                                    .future = !(p->place.hide & HIDE_FUTURE),
                                    .concurrent = !(p->place.hide & HIDE_CONCURRENT)};
}

bool diagram_scene_all(const struct command *command, struct event_diagram *p,
                       struct command_source *subject)
{
    return !p->all || !p->window.more_right ||
           event_diagram_columns(command, p, subject, p->request.from, LIMIT_COLUMNS);
}

void diagram_scene_note(const struct event_diagram *p, FILE *f)
{
    char note[DIAGRAM_NOTE_BYTES];
    diagram_note_write(p, note, sizeof note);
    if (*note)
        fprintf(f, "%s\n", note);
}

/* Removes " (part)" from the title: the whole run is drawn, after all. */
static void diagram_output_name_whole(struct event_diagram *p)
{
    char *part = strstr(p->title, " (part)");
    if (part)
        memmove(part, part + 7, strlen(part + 7) + 1);
}

/* ---- states: how each line spent the run, if there are too many events to draw each ---- */

#define BANDS_WIDTH_PT 700.0
#define ROW_PT 26.0
#define MARGIN_PT 8.0
#define PIXELS 700u /* one per point, so that they are painted on whole points */

struct state_diagram_page {
    const struct event_diagram *picture;
    const struct trace_metadata *book;
    struct state_bands strip;
    struct state_bands measured; /* the same rows and pixels */
    struct state_band_style look;
    double title_pt, width_pt, height_pt;
};

static void state_diagram_receive_strip(void *user, const struct response_chunk *answer)
{
    struct state_bands *strip = user;
    if (answer->part != RESPONSE_STATE_BANDS)
        return;
    state_bands_free(strip);
    decode_state_bands(answer->in, strip);
    decoder_finish(answer->in);
}

/* Requests bands. rows: bands for the rows of which measured ones are requested; NULL: bands by the
 * order, in the rows of the diagram. */
static bool state_diagram_request_bands(const struct command *command,
                                        const struct event_diagram *p,
                                        struct command_source *subject,
                                        const struct state_bands *rows, struct state_bands *strip)
{
    bool all = rows && !p->row_count;
    int64_t from_ns = p->from.is ? p->from.at : 0;
    struct density_request request = {.by_time = p->column_ns > 0,
                                      .from = from_ns,
                                      .to = diagram_range_is_set(p) ? from_ns + p->duration_ns : 0,
                                      .living = rows != NULL,
                                      .pixels = PIXELS,
                                      .rows = all ? rows->rows : p->rows,
                                      .joined = p->joined,
                                      .row_count = all ? rows->row_count : p->row_count};
    struct encoder body = {0};
    encode_density_request(&body, &request);
    return command_source_request(command, subject, REQUEST_STATE_BANDS, &body,
                                  state_diagram_receive_strip, strip);
}

static void state_diagram_measure_layout(struct state_diagram_page *d,
                                         const struct document_options *page)
{
    double names = 0;
    for (uint32_t i = 0; i < d->strip.row_count; i++)
        names = fmax(names,
                     text_cache_width(NULL, metadata_label(d->book, d->strip.rows[i]), 10, false));
    d->look =
        (struct state_band_style){.names_pt = ceil(MARGIN_PT + names + 14),
                                  .width_pt = BANDS_WIDTH_PT,
                                  .row_pt = ROW_PT,
                                  .dark = page->theme.dark,
                                  .grey = page->theme.grey,
                                  .measured = d->measured.measured,
                                  .objects = (uint8_t)state_band_key_objects(d->book, &d->strip)};
    d->title_pt = d->picture->no_title ? 0 : 24;
    d->width_pt = d->look.names_pt + BANDS_WIDTH_PT + MARGIN_PT;
    d->height_pt = MARGIN_PT + d->title_pt + STRIP_RULER_PT + 4 + ROW_PT * d->strip.row_count +
                   (d->picture->no_legend ? 0 : state_band_key_pt(&d->look)) + MARGIN_PT;
}

static void state_diagram_paint_row(const struct state_diagram_page *d, cairo_t *cr, uint32_t row,
                                    double y_pt)
{
    const struct state_bands *s = &d->strip, *m = &d->measured;
    state_band_paint_row(cr, s, d->book, row, y_pt, &d->look);
    if (row < m->row_count && m->pixels == s->pixels && m->rows[row] == s->rows[row])
        state_band_paint_measured(cr, s->cells + (size_t)row * s->pixels,
                                  m->cells + (size_t)row * m->pixels, s->pixels, y_pt, &d->look);
}

static void state_diagram_paint(void *context, cairo_t *cr)
{
    const struct state_diagram_page *d = context;
    double y = MARGIN_PT + d->title_pt, v = d->look.dark ? 0.9 : 0.1;
    if (d->title_pt > 0) {
        cairo_set_source_rgb(cr, v, v, v);
        text_cache_show(cr, MARGIN_PT, MARGIN_PT, d->picture->title, 11, true);
    }
    state_band_paint_ruler(cr, &d->strip, y, &d->look);
    y += STRIP_RULER_PT + 4;
    for (uint32_t i = 0; i < d->strip.row_count; i++)
        state_diagram_paint_row(d, cr, i, y + ROW_PT * i);
    if (!d->picture->no_legend)
        state_band_paint_key(cr, y + ROW_PT * d->strip.row_count + 4, &d->look);
}

/* Draws the whole run, or the range of time, as requested; returns an exit status, after reporting
 * errors. */
static int state_diagram_write(const struct command *command, struct event_diagram *p,
                               struct command_source *subject, const struct document_options *page,
                               const char *file)
{
    struct state_diagram_page d = {.picture = p, .book = &subject->source.book};
    int status = EXIT_FAILED;
    diagram_output_name_whole(p);
    if (state_diagram_request_bands(command, p, subject, NULL, &d.strip) &&
        state_diagram_request_bands(command, p, subject, &d.strip, &d.measured)) {
        state_diagram_measure_layout(&d, page);
        const char *why;
        bool written = document_write_drawing(&(struct drawing){.width_pt = d.width_pt,
                                                                .height_pt = d.height_pt,
                                                                .paint = state_diagram_paint,
                                                                .context = &d},
                                              page, file, &why);
        status = written ? EXIT_DONE : command_fail(command, "%s: %s", file, why);
    }
    state_bands_free(&d.strip);
    state_bands_free(&d.measured);
    text_cache_clear();
    return status;
}

/* ---- the format ---- */

enum output_format diagram_output_format(const char *file)
{
    enum output_format format = output_format_of(file);
    return format == OUTPUT_JSON || format == OUTPUT_CSV ? OUTPUT_NO_FORMAT : format;
}

/* ---- text ---- */

int diagram_output_write_text(const struct command *command, struct event_diagram *p,
                              struct command_source *subject, const char *file)
{
    const struct trace_metadata *book = &subject->source.book;
    if (!diagram_scene_all(command, p, subject))
        return EXIT_FAILED;
    FILE *f = fopen(file, "we");
    if (!f)
        return command_fail(command, "%s: %s", file, strerror(errno));
    struct scene *scene = diagram_scene_options(p, book, false, 0);
    scene_text_write(scene, book, &(struct text_options){0}, f);
    diagram_scene_note(p, f);
    scene_free(scene);
    bool bad = ferror(f);
    if (fclose(f) != 0 || bad)
        return command_fail(command, "%s: %s", file, strerror(errno));
    return EXIT_DONE;
}

/* ---- web page ---- */

static void diagram_output_receive_waits(void *user, const struct response_chunk *answer)
{
    wait_list_receive(user, answer);
}

int diagram_output_add_page(const struct command *command, struct event_diagram *p,
                            struct command_source *subject, const char *report, bool source,
                            const char *file)
{
    struct wait_list waits = {0};
    p->vertical = p->look.vertical = false;
    p->no_legend = p->look.legend = false;
    bool range = p->view || diagram_range_is_set(p),
         all = p->all || (!range && subject->source.book.run.events <= WEBPAGE_EVENTS);
    if (all && p->window.more_right &&
        !event_diagram_columns(command, p, subject, p->request.from, LIMIT_COLUMNS))
        return EXIT_FAILED;
    uint32_t count = p->window.event_count + p->window.pending_count;
    if (count > WEBPAGE_EVENTS || (p->window.more_right && !range))
        return command_fail(
            command, "the diagram has more than %u events, the limit of a web page; " PAPER_CHOOSE,
            WEBPAGE_EVENTS);
    struct encoder judged = {0};
    encode_u8(&judged, 1); /* with diagnoses */
    if (!command_source_request(command, subject, REQUEST_WAITS, &judged,
                                diagram_output_receive_waits, &waits))
        return EXIT_FAILED;
    if (!p->window.more_left && !p->window.more_right)
        diagram_output_name_whole(p);
    struct scene *scene = diagram_scene_options(p, &subject->source.book, true, 0);
    struct html_data data = {p, subject, scene, blocked_json(subject, &waits), report, source};
    bool good = html_page_write(command, &data, file);
    json_object_put(data.blocked);
    scene_free(scene);
    text_cache_clear();
    wait_list_free(&waits);
    return good ? EXIT_DONE : EXIT_FAILED;
}

/* ---- PDF, page by page ---- */

#define COLUMNS_AT_ONCE 3000u

static void diagram_output_report_progress(const struct event_diagram *p)
{
    const struct window_info *w = &p->window;
    if (w->event_count && w->count && isatty(STDERR_FILENO))
        fprintf(stderr, "\r%3.0f %% ",
                100.0 * (double)w->events[w->event_count - 1].position / (double)w->count);
}

/* Paints the window, after requesting the next one, if any; returns whether it did. With columns
 * of equal duration, a window may have no events. */
static bool diagram_output_add_pages(struct document_file *pages, struct event_diagram *p,
                                     struct command_source *subject, double legend_width_pt,
                                     struct command_request *next)
{
    bool more = p->window.more_right;
    int32_t from = p->request.from + (int32_t)COLUMNS_AT_ONCE;
    uint32_t columns = 0;
    struct scene *scene = NULL;
    if (p->window.event_count || !more) {
        scene = diagram_scene_options(p, &subject->source.book, true, legend_width_pt);
        columns = document_accepts_page(pages, scene, !more);
        from = p->window.first + (int32_t)(columns ? columns : 1);
    }
    if (more)
        event_diagram_send_request(p, subject, from, COLUMNS_AT_ONCE, next);
    if (scene)
        document_add(pages, scene, columns);
    scene_free(scene);
    diagram_output_report_progress(p);
    return more;
}

/* Writes a long run window by window, so that not all of it must be in memory; the server prepares
 * the next window while one is painted. */
static int diagram_output_write_pages(const struct command *command, struct event_diagram *p,
                                      struct command_source *subject,
                                      const struct document_options *page, const char *file)
{
    const char *why;
    struct document_file *pages = document_open(page, file, &why);
    struct command_request next;
    if (!pages)
        return command_fail(command, "%s: %s", file, why);
    event_diagram_send_request(p, subject, p->request.from, COLUMNS_AT_ONCE, &next);
    do {
        if (!command_source_request_done(command, &next)) {
            document_abandon(pages);
            return EXIT_FAILED;
        }
    } while (diagram_output_add_pages(pages, p, subject, text_size_legend_pt(page), &next));
    if (isatty(STDERR_FILENO))
        fputs("\r      \r", stderr);
    bool written = document_close(pages, &why);
    text_cache_clear();
    return written ? EXIT_DONE : command_fail(command, "%s: %s", file, why);
}

/* ---- PDF, SVG and PNG in one piece ---- */

/* Returns whether to draw state bands: the whole run or a range of time does not fit at the default
 * time scale. */
static bool diagram_output_needs_states(const struct event_diagram *p, const struct scene *scene)
{
    return p->by_time && !p->scaled && !p->all &&
           (!diagram_range_is_set(p) || diagram_range_is_of_times(p)) &&
           ((p->window.more_right && !p->to.is) || scene->column_count > PAPER_COLUMNS ||
            scene->width_pt > PAGE_LIMIT_PT);
}

/* Returns the title of a mark, which browsers show as a tooltip, in new memory. */
static char *diagram_output_mark_title(void *context, const struct scene_mark *mark)
{
    struct command_source *subject = context;
    char *text = event_text(&subject->source.book, mark->event);
    const char *site = command_source_site(subject, mark->event);
    char *title = xasprintf("%s%s%s", text, *site ? ", " : "", site);
    free(text);
    return title;
}

int diagram_output_write(const struct command *command, struct event_diagram *p,
                         struct command_source *subject, struct document_options *page,
                         enum wrap wrap, const char *file)
{
    const struct trace_metadata *book = &subject->source.book;
    page->title_of = diagram_output_mark_title;
    page->context = subject;
    page->title = p->title;
    page->selection = diagram_scene_selection(p);
    if (p->view) {
        page->theme.tint = true;
        page->theme.dark = p->look.dark;
        page->theme.grey |= p->look.grey;
        page->theme.hairlines = p->look.hairlines;
    }
    page->date = (time_t)(book->run.wall_ns / 1000000000u);
    if (page->format == DOCUMENT_PDF && p->all && p->window.more_right && page->width_pt <= 0) {
        if (page->paper_width_pt <= 0)
            paper_size_default(page);
        return diagram_output_write_pages(command, p, subject, page, file);
    }
    if (!diagram_scene_all(command, p, subject))
        return EXIT_FAILED;
    struct scene *scene = diagram_scene_options(p, book, true, 0);
    int status = EXIT_FAILED;
    if (!diagram_output_needs_states(p, scene))
        text_size_choose_wrap(scene, page, wrap);
    if (diagram_output_needs_states(p, scene)) {
        fprintf(stderr,
                "poet export: too many events to draw individually: drew state bands; select a "
                "range or a scale (--time=US) to see single events\n");
        status = state_diagram_write(command, p, subject, page, file);
    } else if (paper_size_choose(command, p, scene, page)) {
        if (text_size_legend_pt(page) > 0) {
            scene_free(scene);
            scene = diagram_scene_options(p, book, true, text_size_legend_pt(page));
        }
        text_size_warn(command, scene, page);
        const char *why;
        bool written = document_write(scene, page, file, &why);
        status = written ? EXIT_DONE : command_fail(command, "%s: %s", file, why);
    }
    scene_free(scene);
    text_cache_clear();
    return status;
}

/* Formats a number with spaces between groups of three digits: 4 999 940. */
static const char *diagram_note_number(char *s, size_t size, uint64_t n)
{
    char digits[24];
    int count = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    size_t at = 0;
    for (int i = 0; i < count && at + 2 < size; i++) {
        if (i && (count - i) % 3 == 0)
            s[at++] = ' ';
        s[at++] = digits[i];
    }
    s[at] = 0;
    return s;
}

/* Formats how many lines have no row, and why. */
static void diagram_note_lines(const struct event_diagram *p, char *text, size_t size)
{
    uint64_t idle = p->window.idle_lines, left = p->window.left_lines;
    char a[40], b[40];
    int n = 0;
    *text = 0;
    if (idle)
        n = snprintf(text, size, "%s lines without events in this range are hidden",
                     diagram_note_number(a, sizeof a, idle));
    if (left && n >= 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, "%s%s more lines omitted (too many)", idle ? "; " : "",
                 diagram_note_number(b, sizeof b, left));
}

void diagram_note_write(const struct event_diagram *p, char *text, size_t size)
{
    uint64_t discarded = p->window.discarded;
    char lines[DIAGRAM_NOTE_BYTES], a[40];
    diagram_note_lines(p, lines, sizeof lines);
    if (discarded)
        snprintf(text, size, "%s oldest event%s discarded (ring-buffer mode: --keep)%s%s",
                 diagram_note_number(a, sizeof a, discarded), discarded == 1 ? " was" : "s were",
                 *lines ? "; " : "", lines);
    else
        snprintf(text, size, "%s", lines);
}
