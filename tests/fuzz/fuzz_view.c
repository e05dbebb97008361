/* View files of any content, read for a run of a few lines; the view is then requested, moved and
 * written again. */
#define _GNU_SOURCE
#include "clients/connection/view_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_line(struct trace_metadata *book, uint32_t number)
{
    struct encoder out = {0};
    char name[16], task[] = "task", monitor[] = "monitor";
    snprintf(name, sizeof name, "line%u", number);
    struct line_info line = {.line = number,
                             .kind = number % 2 ? task : monitor,
                             .name = name,
                             .events = 3,
                             .first = 1,
                             .last = 3};
    encode_line_info(&out, &line);
    struct decoder in = decoder_init(out.data, out.size);
    metadata_update(book, MESSAGE_LINE_INFO, &in);
    encoder_free(&out);
}

static const struct trace_metadata *small_run(void)
{
    static struct trace_metadata book;
    for (uint32_t i = book.line_count; i < 5; i++)
        add_line(&book, i + 1);
    if (!book.run.name)
        book.run = (struct run_info){.name = strdup("run"), .wall_ns = 5};
    return &book;
}

static void use(struct view_state *place, const struct view_style *look,
                const struct trace_metadata *book, struct symbolizer *sites, FILE *to)
{
    struct window_request request;
    struct view_state copy = {0};
    struct encoder out = {0};
    view_state_request(place, &request);
    encode_window_request(&out, &request);
    encoder_free(&out);
    free((void *)(uintptr_t)request.rows);
    free((void *)(uintptr_t)request.joined);
    view_state_copy(&copy, place);
    if (!view_state_equal(&copy, place))
        abort();
    view_state_move(&copy, 1, 3);
    view_state_free(&copy);
    view_file_write(place, look, book, sites, to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct symbolizer *sites;
    static FILE *nowhere;
    if (!sites && (!(sites = symbolizer_new()) || !(nowhere = fopen("/dev/null", "w"))))
        abort();
    char path[64];
    int fd = memfd_create("view", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct view_state place = {0};
    struct view_style look = {0};
    struct error error;
    if (view_file_read(&place, &look, small_run(), sites, path, &error))
        use(&place, &look, small_run(), sites, nowhere);
    view_state_free(&place);
    close(fd);
    return 0;
}
