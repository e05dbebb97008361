/* What a server may tell its viewers: tables, windows, tails, findings of any content.  A picture is made of
 * each window, in words and in pixels.  The first byte says how. */
#include "clients/book/fate.h"
#include "clients/source/stands.h"
#include "clients/source/table.h"
#include "clients/source/waits.h"
#include "render/lettering.h"
#include "render/page.h"
#include "render/text.h"
#include "wire/causes.h"
#include "wire/curve.h"
#include "wire/found.h"
#include "wire/limits.h"
#include "wire/placed.h"
#include "wire/strip.h"

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

/* Larger pictures only take longer. */
#define MARKS_MOST 2000
#define SIDE_MOST_PT 5000

struct viewer {
    struct book book;
    struct shown_table table;
    struct waits waits;
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
    struct page_options options = {.format = PAGE_PNG, .theme = {.names = true, .tint = true}};
    page_paint(cr, scene, &options, 0);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
}

static void draw(const struct viewer *viewer, const struct shown_window *window)
{
    unsigned how = viewer->how;
    struct scene_options options = {.title = "fuzz",
                                    .order_arrows = true,
                                    .stands = true,
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
        text_write(scene, &viewer->book, &text, nowhere());
        scene_print(scene, nowhere());
        scene_hit(scene, 100, 100, 20);
        scene_hit_link(scene, 100, 100, 20);
        if (how & PAINTED)
            paint(scene);
    }
    scene_free(scene);
}

static void take_window(struct viewer *viewer, struct in *in)
{
    struct shown_window window;
    get_window(in, &window);
    if (in_done(in) && window.event_count < 2 * MARKS_MOST && window.row_count < 1000)
        draw(viewer, &window);
    shown_window_free(&window);
}

static void take_waits(struct viewer *viewer, const struct answer *answer)
{
    struct waits *waits = &viewer->waits;
    if (waits->count >= 1000 || !waits_take(waits, answer))
        return;
    for (size_t i = 0; i < waits->count; i++) {
        book_look(&viewer->book, &waits->items[i].event);
        book_label(&viewer->book, waits->items[i].about);
        const struct shown_wait *of = waits_of(waits, waits->items[i].thread);
        free(of ? fate_itself(&viewer->book, of) : NULL);
    }
    for (size_t i = 0; i < waits->verdict_count; i++)
        free(fate_verdict(&viewer->book, &waits->verdicts[i]));
    for (size_t i = 0; i < waits->cycle_count; i++)
        for (uint32_t k = 0; k < waits->cycles[i].count; k++)
            free(fate_step(&viewer->book, &waits->cycles[i], k));
    waits_free(waits);
}

static void say_table(const struct viewer *viewer)
{
    struct sites *sites = sites_new();
    struct table_names names = {&viewer->book, sites};
    struct sheet sheet;
    char *unknown = NULL;
    uint32_t count, *columns = table_choose(&viewer->table, "all", &count, &unknown);
    table_sheet(&sheet, &names, &viewer->table, columns, count);
    sheet_free(&sheet);
    free(columns);
    sites_free(sites);
}

static void take_table(struct viewer *viewer, const struct answer *answer)
{
    table_take(&viewer->table, answer);
    if (answer->part == PART_TABLE_END && !answer->in->error && viewer->table.row_count < 1000)
        say_table(viewer);
}

static void take_event(struct viewer *viewer, struct in *in)
{
    struct shown_event event;
    get_event(in, &event);
    if (!in->error) {
        book_look(&viewer->book, &event);
        book_label(&viewer->book, event.at.line);
        book_label(&viewer->book, event.about);
    }
    shown_event_free(&event);
}

static void take_other(const struct answer *answer)
{
    struct shown_density density;
    struct shown_strip strip;
    struct shown_curves curves;
    struct shown_found found;
    struct shown_stat stat;
    struct shown_count count;
    struct shown_causes causes;
    struct shown_span span;
    switch (answer->part) {
    case PART_STRIP:
        get_strip(answer->in, &strip);
        shown_strip_free(&strip);
        break;
    case PART_CURVE:
        get_curves(answer->in, &curves);
        shown_curves_free(&curves);
        break;
    case PART_DENSITY:
        get_density(answer->in, &density);
        shown_density_free(&density);
        break;
    case PART_FOUND:
        get_found(answer->in, &found);
        shown_found_free(&found);
        break;
    case PART_STAT:
        get_stat(answer->in, &stat);
        shown_stat_free(&stat);
        break;
    case PART_CAUSES:
        get_causes(answer->in, &causes);
        shown_causes_free(&causes);
        break;
    case PART_COUNT:
        get_count_is(answer->in, &count);
        break;
    case PART_SPAN:
        get_span(answer->in, &span);
        shown_span_free(&span);
        break;
    default:
        break;
    }
}

static void take_stands(const struct answer *answer)
{
    struct shown_event events[16] = {0};
    struct shown_window window = {.events = events, .event_count = 16};
    struct stands stands = {&window, 0};
    stands_take(&stands, answer);
}

static void take(struct viewer *viewer, unsigned type, struct in *in)
{
    struct answer answer;
    if (book_take(&viewer->book, type, in) || in->error || type != MESSAGE_ANSWER)
        return;
    get_answer(in, &answer);
    if (answer.part == PART_WINDOW)
        take_window(viewer, in);
    else if (answer.part == PART_WAIT || answer.part == PART_CYCLE || answer.part == PART_NOW ||
             answer.part == PART_VERDICT)
        take_waits(viewer, &answer);
    else if (answer.part == PART_EVENT)
        take_event(viewer, in);
    else if (answer.part == PART_TABLE || answer.part == PART_ROWS || answer.part == PART_TABLE_END)
        take_table(viewer, &answer);
    else if (answer.part == PART_STANDS)
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
        struct in in = in_from(data + MESSAGE_FRAME_BYTES, length);
        take(&viewer, type, &in);
        if (in.error) /* a real client hangs up */
            break;
        data += MESSAGE_FRAME_BYTES + length;
        size -= MESSAGE_FRAME_BYTES + length;
    }
    waits_free(&viewer.waits);
    shown_table_free(&viewer.table);
    book_free(&viewer.book);
    lettering_forget();
    return 0;
}
