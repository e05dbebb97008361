#include "clients/cli/diagram_output.h"

#include "clients/metadata/event_text.h"
#include "clients/cli/blocked.h"
#include "clients/cli/diagram_scene.h"
#include "clients/cli/paper_size.h"
#include "clients/cli/state_diagram.h"
#include "clients/cli/html/html_page.h"
#include "base/alloc.h"
#include "render/text_cache.h"
#include "render/scene_text.h"
#include "wire/limits.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum diagram_format diagram_output_format(const char *file)
{
    static const char *const endings[] = {".pdf", ".svg", ".png", ".txt", ".html"};
    size_t n = strlen(file);
    for (int i = 0; i < DIAGRAM_NO_FORMAT; i++) {
        size_t e = strlen(endings[i]);
        if (n > e && strcasecmp(file + n - e, endings[i]) == 0)
            return (enum diagram_format)i;
    }
    return DIAGRAM_NO_FORMAT;
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
    bool all = p->all ||
               (!event_diagram_has_range(p) && subject->source.book.run.events <= WEBPAGE_EVENTS);
    if (all && p->window.more_right &&
        !event_diagram_columns(command, p, subject, p->request.from, LIMIT_COLUMNS))
        return EXIT_FAILED;
    uint32_t count = p->window.event_count + p->window.pending_count;
    if (count > WEBPAGE_EVENTS || (p->window.more_right && !event_diagram_has_range(p)))
        return command_fail(
            command, "the diagram has more than %u events, the limit of a web page; " PAPER_CHOOSE,
            WEBPAGE_EVENTS);
    struct encoder judged = {0};
    encode_u8(&judged, 1); /* with diagnoses */
    if (!command_source_request(command, subject, REQUEST_WAITS, &judged,
                                diagram_output_receive_waits, &waits))
        return EXIT_FAILED;
    char *part = strstr(p->title, " (part)");
    if (part && !p->window.more_left && !p->window.more_right) /* it is the whole run by now */
        memmove(part, part + 7, strlen(part + 7) + 1);
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
    why = document_close(pages);
    text_cache_clear();
    return why ? command_fail(command, "%s: %s", file, why) : EXIT_DONE;
}

/* ---- PDF, SVG and PNG in one piece ---- */

/* Returns whether to draw state bands: the whole run, at the default time scale, does not fit. */
static bool diagram_output_needs_states(const struct event_diagram *p, const struct scene *scene)
{
    return p->by_time && !p->scaled && !event_diagram_has_range(p) && !p->all &&
           (p->window.more_right || scene->column_count > PAPER_COLUMNS ||
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
        const char *why = document_write(scene, page, file);
        status = why ? command_fail(command, "%s: %s", file, why) : EXIT_DONE;
    }
    scene_free(scene);
    text_cache_clear();
    return status;
}
