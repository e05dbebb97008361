/* Responses of a server, of any content: tables, windows, state bands, findings. Each window is
 * drawn, as text and as pixels; the first byte selects how. */
#include "clients/connection/client_requests.h"
#include "clients/connection/result_table.h"
#include "clients/connection/wait_list.h"
#include "clients/metadata/event_text.h"
#include "render/document.h"
#include "render/scene_text.h"
#include "render/text_cache.h"
#include "wire/layout_results.h"
#include "wire/limits.h"
#include "wire/query_results.h"
#include "wire/state_bands.h"
#include "wire/time_series.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    LEGEND = 1,
    VERTICAL = 2,
    BY_TIME = 4,
    SQUEEZED = 8,
    MARKED = 16,
    WIDE = 32,
    ASCII = 64,
    PAINTED = 128
};

/* Larger diagrams only take longer. */
#define MARKS_MOST 2000
#define SIDE_MOST_PT 5000

struct viewer {
    struct trace_metadata book;
    struct result_table table;
    struct wait_list waits;
    unsigned how;
};

static FILE *nowhere(void)
{
    static FILE *f;
    if (!f && !(f = fopen("/dev/null", "w")))
        abort();
    return f;
}

static void paint(const struct scene *scene)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 64, 64);
    cairo_t *cr = cairo_create(surface);
    struct document_options options = {.format = DOCUMENT_PNG,
                                       .theme = {.names = true, .tint = true}};
    document_paint(cr, scene, &options, 0);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
}

static void draw(const struct viewer *viewer, const struct window_info *window)
{
    unsigned how = viewer->how;
    struct scene_options options = {.title = "fuzz",
                                    .order_arrows = true,
                                    .relations = true,
                                    .legend = how & LEGEND,
                                    .vertical = how & VERTICAL,
                                    .column_ns = how & BY_TIME ? 1000 : 0,
                                    .squeeze = how & SQUEEZED,
                                    .threshold_ns = how & MARKED ? 5 : 0,
                                    .minimum_width_pt = how & WIDE ? 900 : 0};
    struct scene *scene = scene_build(window, &viewer->book, &options);
    if (!scene)
        return;
    if (scene->mark_count < MARKS_MOST && scene->width_pt < SIDE_MOST_PT &&
        scene->height_pt < SIDE_MOST_PT) {
        struct text_options text = {.ascii = how & ASCII, .width = 80};
        scene_text_write(scene, &viewer->book, &text, nowhere());
        scene_print(scene, nowhere());
        scene_hit(scene, 100, 100, 20);
        scene_hit_link(scene, 100, 100, 20);
        if (how & PAINTED)
            paint(scene);
    }
    scene_free(scene);
}

static void take_window(struct viewer *viewer, struct decoder *in)
{
    struct window_info window;
    decode_window(in, &window);
    if (decoder_finish(in) && window.event_count < 2 * MARKS_MOST && window.row_count < 1000)
        draw(viewer, &window);
    window_info_free(&window);
}

static void take_waits(struct viewer *viewer, const struct response_chunk *answer)
{
    struct wait_list *waits = &viewer->waits;
    if (waits->count >= 1000 || !wait_list_receive(waits, answer))
        return;
    for (size_t i = 0; i < waits->count; i++) {
        event_style(&viewer->book, &waits->items[i].event);
        metadata_label(&viewer->book, waits->items[i].about);
        const struct wait_info *of = wait_list_of_thread(waits, waits->items[i].thread);
        free(of ? transitive_wait_text(&viewer->book, of) : NULL);
        free(handler_text(&viewer->book, &waits->items[i]));
    }
    for (size_t i = 0; i < waits->verdict_count; i++)
        free(diagnosis_text(&viewer->book, &waits->verdicts[i]));
    for (size_t i = 0; i < waits->cycle_count; i++)
        for (uint32_t k = 0; k < waits->cycles[i].count; k++) {
            uint32_t thread = waits->cycles[i].steps[k].thread;
            free(deadlock_edge_text(&viewer->book, &waits->cycles[i], k,
                                    wait_list_of_thread(waits, thread)));
        }
    wait_list_free(waits);
}

static void say_table(const struct viewer *viewer)
{
    struct symbolizer *sites = symbolizer_new();
    struct table_names names = {&viewer->book, sites};
    struct text_table sheet;
    char *unknown = NULL;
    uint32_t count, *columns = result_table_choose_columns(&viewer->table, "all", &count, &unknown);
    result_table_to_text(&sheet, &names, &viewer->table, columns, count);
    text_table_free(&sheet);
    free(columns);
    symbolizer_free(sites);
}

static void take_table(struct viewer *viewer, const struct response_chunk *answer)
{
    result_table_receive(&viewer->table, answer);
    if (answer->part == RESPONSE_TABLE_END && !answer->in->error && viewer->table.row_count < 1000)
        say_table(viewer);
}

static void take_event(struct viewer *viewer, struct decoder *in)
{
    struct event_info event;
    decode_event_info(in, &event);
    if (!in->error) {
        event_style(&viewer->book, &event);
        metadata_label(&viewer->book, event.at.line);
        metadata_label(&viewer->book, event.about);
    }
    event_info_free(&event);
}

static void take_other(const struct response_chunk *answer)
{
    struct density_info density;
    struct state_bands strip;
    struct time_series_set curves;
    struct search_result found;
    struct stat_info stat;
    struct relation_counts count;
    struct causal_edges_info causes;
    struct between_info span;
    switch (answer->part) {
    case RESPONSE_STATE_BANDS:
        decode_state_bands(answer->in, &strip);
        state_bands_free(&strip);
        break;
    case RESPONSE_TIME_SERIES:
        decode_time_series(answer->in, &curves);
        time_series_free(&curves);
        break;
    case RESPONSE_DENSITY:
        decode_density(answer->in, &density);
        density_info_free(&density);
        break;
    case RESPONSE_FOUND:
        decode_search_result(answer->in, &found);
        search_result_free(&found);
        break;
    case RESPONSE_STAT:
        decode_stat_info(answer->in, &stat);
        stat_info_free(&stat);
        break;
    case RESPONSE_CAUSES:
        decode_causal_edges(answer->in, &causes);
        causal_edges_info_free(&causes);
        break;
    case RESPONSE_COUNT:
        decode_relation_counts(answer->in, &count);
        break;
    case RESPONSE_BETWEEN:
        decode_between(answer->in, &span);
        between_info_free(&span);
        break;
    default:
        break;
    }
}

static void take_stands(const struct response_chunk *answer)
{
    struct event_info events[16] = {0};
    struct window_info window = {.events = events, .event_count = 16};
    struct event_relations relations = {&window, 0};
    event_relations_receive(&relations, answer);
}

static void take(struct viewer *viewer, unsigned type, struct decoder *in)
{
    struct response_chunk answer;
    if (metadata_update(&viewer->book, type, in) || in->error || type != MESSAGE_RESPONSE)
        return;
    decode_response_chunk(in, &answer);
    if (answer.part == RESPONSE_WINDOW)
        take_window(viewer, in);
    else if (answer.part == RESPONSE_WAIT || answer.part == RESPONSE_CYCLE ||
             answer.part == RESPONSE_NOW || answer.part == RESPONSE_DIAGNOSIS)
        take_waits(viewer, &answer);
    else if (answer.part == RESPONSE_EVENT)
        take_event(viewer, in);
    else if (answer.part == RESPONSE_TABLE || answer.part == RESPONSE_ROWS ||
             answer.part == RESPONSE_TABLE_END)
        take_table(viewer, &answer);
    else if (answer.part == RESPONSE_RELATIONS)
        take_stands(&answer);
    else
        take_other(&answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct viewer viewer = {.book.named = true};
    if (size) {
        viewer.how = *data++;
        size--;
    }
    while (size) {
        unsigned type;
        size_t length;
        const char *why;
        if (frame_read(data, size, LIMIT_ANSWER_BYTES, &type, &length, &why) <= 0)
            break;
        struct decoder in = decoder_init(data + MESSAGE_FRAME_BYTES, length);
        take(&viewer, type, &in);
        if (in.error) /* a real client closes the connection */
            break;
        data += MESSAGE_FRAME_BYTES + length;
        size -= MESSAGE_FRAME_BYTES + length;
    }
    wait_list_free(&viewer.waits);
    result_table_free(&viewer.table);
    metadata_free(&viewer.book);
    text_cache_clear();
    return 0;
}
