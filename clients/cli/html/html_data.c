#define _GNU_SOURCE
#include "clients/cli/html/html_data.h"

#include "base/alloc.h"
#include "clients/cli/html/html_scene.h"
#include "clients/symbols/safe_open.h"
#include "render/legend.h"
#include "render/text_cache.h"

#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- source lines around call sites ---- */

#define FILE_MOST (4u << 20) /* maximum size of a source file */
#define AROUND 4             /* lines before the call site, and after it */
#define LINE_MOST 300u       /* maximum bytes of a line */

/* Returns the start of a line of the text, counted from 1; NULL if there are fewer lines. */
static const char *html_source_line(const char *text, int line)
{
    for (; text && line > 1; line--) {
        text = strchr(text, '\n');
        text = text && text[1] ? text + 1 : NULL;
    }
    return text;
}

static void html_source_write_lines(FILE *f, const char *text, int first, int last)
{
    const char *line = html_source_line(text, first);
    for (int n = first; line && *line && n <= last; n++) {
        size_t bytes = strcspn(line, "\r\n");
        char *part = xstrndup(line, bytes < LINE_MOST ? bytes : LINE_MOST);
        fputs(n > first ? "," : "", f);
        html_text_json(f, part);
        free(part);
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
}

struct html_source_file { /* the file that was read last */
    char *path, *text;
};

static const char *html_source_text(struct html_source_file *kept, const char *path)
{
    if (!kept->path || strcmp(kept->path, path) != 0) {
        free(kept->path);
        free(kept->text);
        kept->path = xstrdup(path);
        kept->text = safe_open_read(path, FILE_MOST, NULL);
    }
    return kept->text;
}

/* Writes members of a JSON object, by site (as in `sites`; 0: the mark has none): {"first", "line",
 * "lines"}. Omits sites without an existing file that has the line. */
static void html_source_write(struct command_source *subject, const struct scene_mark *const *marks,
                              const uint32_t *sites, uint32_t count, FILE *f)
{
    struct map written = {0};
    struct html_source_file kept = {0};
    for (uint32_t i = 0; i < count; i++) {
        if (!sites[i] || map_get(&written, sites[i], 0))
            continue;
        struct symbol_location site =
            symbolize(subject->sites, marks[i]->event->process, marks[i]->event->site);
        const char *text = site.line > 0 && *site.path ? html_source_text(&kept, site.path) : NULL;
        if (!text || !html_source_line(text, site.line))
            continue;
        int first = site.line > AROUND ? site.line - AROUND : 1;
        fprintf(f, "%s\"%u\":{\"first\":%d,\"line\":%d,\"lines\":[", written.count ? "," : "",
                sites[i], first, site.line);
        html_source_write_lines(f, text, first, site.line + AROUND);
        fputs("]}", f);
        map_put(&written, sites[i], 0, &written);
    }
    map_free(&written);
    free(kept.path);
    free(kept.text);
}

#define NAMES_MOST_PT 260.0 /* maximum width of the column of names */

/* ---- the events ---- */

static int html_data_compare_positions(const void *a, const void *b)
{
    const struct scene_mark *x = *(const struct scene_mark *const *)a,
                            *y = *(const struct scene_mark *const *)b;
    if (x->event->position != y->event->position)
        return x->event->position < y->event->position ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void html_data_sort_marks(struct html_scene *w)
{
    w->count = w->scene->mark_count;
    w->marks = xmalloc((w->count + 1) * sizeof *w->marks);
    w->place_of = xmalloc((w->count + 1) * sizeof *w->place_of);
    for (uint32_t i = 0; i < w->count; i++)
        w->marks[i] = &w->scene->marks[i];
    if (w->count)
        qsort(w->marks, w->count, sizeof *w->marks, html_data_compare_positions);
    for (uint32_t i = 0; i < w->count; i++)
        w->place_of[w->marks[i] - w->scene->marks] = i;
}

static void html_data_receive_causes(void *user, const struct response_chunk *answer)
{
    struct html_scene *w = user;
    if (answer->part != RESPONSE_CAUSES)
        return;
    causal_edges_info_free(&w->causes);
    decode_causal_edges(answer->in, &w->causes);
    decoder_finish(answer->in);
}

/* Requests the causes of each event once, although an event has a mark in each row that shows it:
 * marks of the same event follow each other. */
static bool html_data_request_causes(const struct command *command, struct html_scene *w)
{
    struct encoder body = {0};
    uint64_t *positions = xmalloc((w->count + 1) * sizeof *positions);
    struct causal_edges_request request = {.positions = positions};
    w->asked_of = xmalloc((w->count + 1) * sizeof *w->asked_of);
    for (uint32_t i = 0; i < w->count; i++) {
        uint64_t position = w->marks[i]->event->position;
        w->asked_of[i] = UINT32_MAX;
        if (position == NO_POSITION)
            continue;
        if (!request.count || positions[request.count - 1] != position)
            positions[request.count++] = position;
        w->asked_of[i] = request.count - 1;
    }
    w->asked = request.count;
    encode_causal_edges_request(&body, &request);
    free(positions);
    if (!command_source_request(command, w->data->subject, REQUEST_CAUSES, &body,
                                html_data_receive_causes, w))
        return false;
    if (w->causes.whole && w->causes.event_count == w->asked)
        return true;
    command_fail(command, "too many events lie between these for a page: choose a shorter range");
    return false;
}

static void html_data_find_kinds(struct html_scene *w)
{
    w->kind_of = xmalloc((w->count + 1) * sizeof *w->kind_of);
    for (uint32_t i = 0; i < w->count; i++) {
        struct kind_of_event kind = {w->marks[i]->event->type,
                                     event_style(w->book, w->marks[i]->event)};
        uint32_t k = 0;
        while (k < w->kind_count &&
               (w->kinds[k].type != kind.type || w->kinds[k].look != kind.look))
            k++;
        if (k == w->kind_count)
            ARRAY_PUSH(w->kinds, w->kind_count, kind);
        w->kind_of[i] = k;
    }
}

static void html_data_find_sites(struct html_scene *w)
{
    w->sites = xcalloc(w->count, sizeof *w->sites);
    for (uint32_t i = 0; i < w->count; i++) {
        const char *site = command_source_site(w->data->subject, w->marks[i]->event);
        w->sites[i] = *site ? 1 + html_text_number(&w->strings, site) : 0;
    }
}

/* ---- arrays ---- */

typedef long html_data_value(const struct html_scene *w, uint32_t i);

static void html_data_write_numbers(const struct html_scene *w, const char *name,
                                    html_data_value *value)
{
    fprintf(w->f, ",\n\"%s\":[", name);
    for (uint32_t i = 0; i < w->count; i++)
        fprintf(w->f, "%s%ld", i ? "," : "", value(w, i));
    fputc(']', w->f);
}

/* Writes the values that are not 0, by the index of their mark. */
static void html_data_write_nonzero(const struct html_scene *w, const char *name,
                                    html_data_value *value)
{
    bool comma = false;
    fprintf(w->f, ",\n\"%s\":{", name);
    for (uint32_t i = 0; i < w->count; i++) {
        if (!value(w, i))
            continue;
        fprintf(w->f, "%s\"%u\":%ld", comma ? "," : "", i, value(w, i));
        comma = true;
    }
    fputc('}', w->f);
}

static const struct event_info *html_data_event_at(const struct html_scene *w, uint32_t i)
{
    return w->marks[i]->event;
}
static long html_data_row(const struct html_scene *w, uint32_t i) { return w->marks[i]->row; }
static long html_data_column(const struct html_scene *w, uint32_t i) { return w->marks[i]->column; }
static long html_data_slot(const struct html_scene *w, uint32_t i) { return w->marks[i]->slot; }
static long html_data_line(const struct html_scene *w, uint32_t i)
{
    return html_data_event_at(w, i)->at.line;
}
static long html_data_kind(const struct html_scene *w, uint32_t i) { return w->kind_of[i]; }
static long html_data_object(const struct html_scene *w, uint32_t i)
{
    return html_data_event_at(w, i)->about;
}
static long html_data_thread(const struct html_scene *w, uint32_t i)
{
    return html_data_event_at(w, i)->thread;
}
static long html_data_state(const struct html_scene *w, uint32_t i) { return w->marks[i]->state; }
static long html_data_doubt(const struct html_scene *w, uint32_t i)
{
    return html_data_event_at(w, i)->doubt;
}
static long html_data_site(const struct html_scene *w, uint32_t i) { return w->sites[i]; }
static long html_data_undelivered(const struct html_scene *w, uint32_t i)
{
    return w->marks[i]->undelivered;
}
static long html_data_fold(const struct html_scene *w, uint32_t i)
{
    return html_data_event_at(w, i)->fold;
}

/* Returns the time since the previous mark, in ns. */
static long html_data_time_step(const struct html_scene *w, uint32_t i)
{
    int64_t before = html_data_event_at(w, i ? i - 1 : 0)->time_ns;
    return (long)(html_data_event_at(w, i)->time_ns - before);
}

static const struct causal_edge_info *html_data_cause_at(const struct html_scene *w, uint32_t i)
{
    return w->asked_of[i] == UINT32_MAX ? NULL : &w->causes.events[w->asked_of[i]];
}

/* Returns how much later than its recorded time an event is shown, in ns, so that it is not before
 * one of its causes. */
static long html_data_delay(const struct html_scene *w, uint32_t i)
{
    const struct causal_edge_info *c = html_data_cause_at(w, i);
    bool moved = c && c->chain != NO_CHAIN && c->time_ns > html_data_event_at(w, i)->time_ns;
    return moved ? (long)(c->time_ns - html_data_event_at(w, i)->time_ns) : 0;
}

static long html_data_chain(const struct html_scene *w, uint32_t i)
{
    const struct causal_edge_info *c = html_data_cause_at(w, i);
    return c && c->chain != NO_CHAIN ? (long)c->chain : -1;
}

static long html_data_doubts(const struct html_scene *w, uint32_t i)
{
    const struct causal_edge_info *c = html_data_cause_at(w, i);
    return !c                        ? (long)UNTRACED_BIT(UNANSWERED_PENDING)
           : c->doubts != ANY_DOUBTS ? (long)c->doubts
                                     : -1;
}

/* Returns the first mark of each requested event, in new memory. */
static uint32_t *html_data_first_marks(const struct html_scene *w)
{
    uint32_t *first = xcalloc(w->asked + 1u, sizeof *first);
    for (uint32_t i = w->count; i-- > 0;)
        if (w->asked_of[i] != UINT32_MAX)
            first[w->asked_of[i]] = i;
    return first;
}

/* Writes synchronization points and immediate causes, as indices of marks. */
static void html_data_write_order(const struct html_scene *w)
{
    uint32_t *mark = html_data_first_marks(w);
    fputs(",\n\"point\":[", w->f);
    for (uint32_t i = 0; i < w->count; i++)
        fprintf(w->f, "%s%u", i ? "," : "",
                html_data_cause_at(w, i) ? mark[html_data_cause_at(w, i)->point] : i);
    fputs("],\n\"cause_count\":[", w->f);
    for (uint32_t i = 0; i < w->count; i++)
        fprintf(w->f, "%s%u", i ? "," : "",
                html_data_cause_at(w, i) ? html_data_cause_at(w, i)->count : 0);
    fputs("],\n\"causes\":[", w->f);
    bool comma = false;
    for (uint32_t i = 0; i < w->count; i++)
        for (uint32_t k = 0; html_data_cause_at(w, i) && k < html_data_cause_at(w, i)->count; k++) {
            fprintf(w->f, "%s%u", comma ? "," : "",
                    mark[w->causes.causes[html_data_cause_at(w, i)->first + k]]);
            comma = true;
        }
    fputs("]", w->f);
    free(mark);
}

/* Writes each event's number on its line, as the difference to the previous mark of that line. */
static void html_data_write_event_numbers(const struct html_scene *w)
{
    struct map last = {0};
    fputs(",\n\"num\":[", w->f);
    for (uint32_t i = 0; i < w->count; i++) {
        struct event_id at = html_data_event_at(w, i)->at;
        uint64_t before = (uint64_t)(uintptr_t)map_get(&last, at.line, 0);
        fprintf(w->f, "%s%lld", i ? "," : "", (long long)(at.number - before));
        map_put(&last, at.line, 0, (void *)(uintptr_t)at.number);
    }
    fputs("]", w->f);
    map_free(&last);
}

/* Writes the events of deadlocks as pairs of event ids: that by which a thread waits, and that by
 * which the holder entered. */
static void html_data_write_stuck(const struct html_scene *w)
{
    const struct event_diagram *p = w->data->picture;
    fputs(",\n\"stuck\":[", w->f);
    for (uint32_t i = 0; i + 1 < p->stuck_count; i += 2) {
        char waits[48], held[48];
        event_id_print(waits, sizeof waits, p->stuck[i]);
        event_id_print(held, sizeof held, p->stuck[i + 1]);
        fprintf(w->f, "%s[\"%s\",\"%s\"]", i ? "," : "", waits, held);
    }
    fputs("]", w->f);
}

static void html_data_write_texts(struct html_scene *w)
{
    bool comma = false;
    fputs(",\n\"texts_of\":{", w->f);
    for (uint32_t i = 0; i < w->count; i++) {
        const struct event_info *e = html_data_event_at(w, i);
        if (!e->text_count)
            continue;
        fprintf(w->f, "%s\"%u\":[", comma ? "," : "", i);
        for (uint32_t k = 0; k < e->text_count; k++)
            fprintf(w->f, "%s%u", k ? "," : "", html_text_number(&w->strings, e->texts[k]));
        fputs("]", w->f);
        comma = true;
    }
    fputs("}", w->f);
}

static void html_data_write_events(struct html_scene *w)
{
    html_data_write_event_numbers(w);
    html_data_write_numbers(w, "lines_of", html_data_line);
    html_data_write_numbers(w, "row", html_data_row);
    html_data_write_numbers(w, "col", html_data_column);
    html_data_write_nonzero(w, "slot", html_data_slot);
    html_data_write_numbers(w, "type", html_data_kind);
    html_data_write_numbers(w, "time", html_data_time_step);
    html_data_write_nonzero(w, "moved", html_data_delay);
    html_data_write_nonzero(w, "about", html_data_object);
    html_data_write_numbers(w, "thread", html_data_thread);
    html_data_write_numbers(w, "site", html_data_site);
    html_data_write_nonzero(w, "state", html_data_state);
    html_data_write_nonzero(w, "doubt", html_data_doubt);
    html_data_write_nonzero(w, "unheard", html_data_undelivered);
    html_data_write_nonzero(w, "fold", html_data_fold);
    html_data_write_numbers(w, "chain", html_data_chain);
    html_data_write_numbers(w, "doubts", html_data_doubts);
    html_data_write_order(w);
    html_data_write_texts(w);
    html_data_write_stuck(w);
}

/* ---- tables ---- */

static void html_data_write_kinds(struct html_scene *w)
{
    static const struct target_color grey = {0.35, 0.35, 0.35};
    fputs(",\n\"types\":[", w->f);
    for (uint32_t i = 0; i < w->kind_count; i++) {
        const struct target_event *look = w->kinds[i].look;
        const char *name = metadata_type_name(w->book, w->kinds[i].type);
        fprintf(w->f, "%s{\"s\":%u,\"f\":%u,\"c\":%u,\"n\":", i ? "," : "",
                look ? look->shape : SHAPE_CIRCLE, look && look->filled,
                html_scene_color_index(w, look ? look->color : grey));
        html_text_json(w->f, name);
        fputs(",\"l\":", w->f);
        html_text_json(w->f, look ? look->label : name);
        fputs(look && look->undelivered ? ",\"u\":" : "", w->f);
        if (look && look->undelivered)
            html_text_json(w->f, look->undelivered);
        fputs("}", w->f);
    }
    fputs("]", w->f);
}

static void html_data_write_label(const struct html_scene *w, uint32_t line, struct map *written)
{
    if (!line || map_get(written, line, 0))
        return;
    fprintf(w->f, "%s\"%u\":", written->count ? "," : "", line);
    html_text_json(w->f, metadata_label(w->book, line));
    map_put(written, line, 0, written);
}

static void html_data_write_tables(struct html_scene *w)
{
    struct map written = {0};
    fputs(",\n\"labels\":{", w->f);
    for (uint32_t i = 0; i < w->count; i++) {
        html_data_write_label(w, html_data_event_at(w, i)->at.line, &written);
        html_data_write_label(w, html_data_event_at(w, i)->about, &written);
        html_data_write_label(w, html_data_event_at(w, i)->thread, &written);
    }
    fputs("},\n\"palette\":[", w->f);
    map_free(&written);
    for (uint32_t i = 0; i < w->color_count; i++)
        fprintf(w->f, "%s\"#%02lx%02lx%02lx\"", i ? "," : "", lround(w->palette[i].red * 255),
                lround(w->palette[i].green * 255), lround(w->palette[i].blue * 255));
    fputs("],\n\"strings\":[", w->f);
    for (size_t i = 0; i < w->strings.count; i++) {
        fputs(i ? "," : "", w->f);
        html_text_json(w->f, w->strings.items[i]);
    }
    fputs("]", w->f);
}

/* ---- the page's object ---- */

/* Writes any JSON, escaped for a script element. */
static void html_data_write_json(FILE *f, struct json_object *o)
{
    struct json_object_iterator i, end;
    bool comma = false;
    switch (json_object_get_type(o)) {
    case json_type_string:
        html_text_json(f, json_object_get_string(o));
        break;
    case json_type_array:
        fputs("[", f);
        for (size_t k = 0; k < json_object_array_length(o); k++) {
            fputs(k ? "," : "", f);
            html_data_write_json(f, json_object_array_get_idx(o, k));
        }
        fputs("]", f);
        break;
    case json_type_object:
        i = json_object_iter_begin(o);
        end = json_object_iter_end(o);
        fputs("{", f);
        for (; !json_object_iter_equal(&i, &end); json_object_iter_next(&i), comma = true) {
            fputs(comma ? "," : "", f);
            html_text_json(f, json_object_iter_peek_name(&i));
            fputs(":", f);
            html_data_write_json(f, json_object_iter_peek_value(&i));
        }
        fputs("}", f);
        break;
    default:
        fputs(json_object_to_json_string(o), f);
    }
}

/* Writes the fragment of the address with which the page opens: the selected events of a view. */
static void html_data_write_selected(const struct view_state *place, FILE *f)
{
    char selected[48], second[48];
    event_id_print(selected, sizeof selected, place->selected);
    event_id_print(second, sizeof second, place->second);
    if (place->selected.line && place->second.line)
        fprintf(f, "\"#e=%s\\u0026s=%s\"", selected, second);
    else if (place->selected.line)
        fprintf(f, "\"#e=%s\"", selected);
    else
        fputs("\"\"", f);
}

/* Writes the notes of the whole run: those at events outside the page can be read, too. */
static void html_data_write_notes(const struct note_file *notes, FILE *f)
{
    fputs("[", f);
    for (uint32_t i = 0; i < notes->count; i++) {
        char at[48];
        event_id_print(at, sizeof at, notes->items[i].at);
        fprintf(f, "%s{\"event\":\"%s\",\"text\":", i ? "," : "", at);
        html_text_json(f, notes->items[i].text);
        fputs("}", f);
    }
    fputs("]", f);
}

static void html_data_write_legend_words(const char *name, const char *const *words, unsigned count,
                                         FILE *f)
{
    fprintf(f, "\"%s\":[", name);
    for (unsigned i = 0; i < count; i++) {
        fputs(i ? "," : "", f);
        html_text_json(f, words[i]);
    }
    fputs("],", f);
}

static void html_data_write_legend(FILE *f)
{
    fputs("{", f);
    html_data_write_legend_words("styles", legend_style_words, STYLE_END + 1, f);
    html_data_write_legend_words("arrows", legend_arrow_words, ARROW_MIGRATE + 1, f);
    html_data_write_legend_words("relations", legend_relation_words, ORDER_UNKNOWN + 1, f);
    html_data_write_legend_words("verbs", legend_relation_verbs, ORDER_UNKNOWN + 1, f);
    fputs("\"deadlock\":", f);
    html_text_json(f, legend_deadlock_words);
    fputs("}", f);
}

static void html_data_free_scene(struct html_scene *w)
{
    free(w->marks);
    free(w->place_of);
    free(w->by_x);
    free(w->asked_of);
    free(w->kinds);
    free(w->kind_of);
    free(w->palette);
    free(w->sites);
    html_text_free(&w->strings);
    causal_edges_info_free(&w->causes);
}

bool html_data_write(const struct command *command, const struct html_data *data, FILE *f)
{
    struct html_scene w = {
        .data = data, .book = &data->subject->source.book, .scene = data->scene, .f = f};
    w.names_pt = fmin(data->scene->names_pt, NAMES_MOST_PT);
    w.shift_pt = w.names_pt - data->scene->names_pt;
    html_data_sort_marks(&w);
    bool good = html_data_request_causes(command, &w);
    if (good) {
        html_data_find_kinds(&w);
        html_data_find_sites(&w);
        html_scene_write(&w);
        html_data_write_events(&w);
        html_data_write_kinds(&w);
        good = html_reasons_write(command, &w);
        fputs(",\n\"source\":{", f);
        if (data->source)
            html_source_write(data->subject, w.marks, w.sites, w.count, f);
        fputs("},\n\"open\":", f);
        html_data_write_selected(&data->picture->place, f);
        fputs(",\n\"notes\":", f);
        html_data_write_notes(&data->picture->notes, f);
        fputs(",\n\"blocked\":", f);
        html_data_write_json(f, data->blocked);
        html_data_write_tables(&w);
        fputs(",\n\"legend\":", f);
        html_data_write_legend(f);
        fputs("}\n", f);
    }
    html_data_free_scene(&w);
    return good;
}
