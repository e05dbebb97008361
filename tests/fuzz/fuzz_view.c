/* A view file of any content, read for a run of a few lines; then asked for, moved and written again. */
#define _GNU_SOURCE
#include "clients/source/place.h"
#include "clients/source/viewfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_line(struct book *book, uint32_t number)
{
    struct out out = {0};
    char name[16], task[] = "task", monitor[] = "monitor";
    snprintf(name, sizeof name, "line%u", number);
    struct shown_line line = {.line = number,
                              .kind = number % 2 ? task : monitor,
                              .name = name,
                              .events = 3,
                              .first = 1,
                              .last = 3};
    put_line_is(&out, &line);
    struct in in = in_from(out.data, out.size);
    book_take(book, MESSAGE_LINE_IS, &in);
    out_free(&out);
}

static const struct book *small_run(void)
{
    static struct book book;
    for (uint32_t i = book.line_count; i < 5; i++)
        add_line(&book, i + 1);
    if (!book.run.name)
        book.run = (struct shown_run){.name = strdup("run"), .wall_ns = 5};
    return &book;
}

static void use(struct place *place, const struct look *look, const struct book *book,
                struct sites *sites, FILE *to)
{
    struct window_request request;
    struct place copy = {0};
    struct out out = {0};
    place_request(place, &request);
    put_window_request(&out, &request);
    out_free(&out);
    free((void *)(uintptr_t)request.rows);
    free((void *)(uintptr_t)request.joined);
    place_copy(&copy, place);
    if (!place_equal(&copy, place))
        abort();
    place_move(&copy, 1, 3);
    place_free(&copy);
    place_write(place, look, book, sites, to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sites *sites;
    static FILE *nowhere;
    if (!sites && (!(sites = sites_new()) || !(nowhere = fopen("/dev/null", "w"))))
        abort();
    char path[64];
    int fd = memfd_create("view", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct place place = {0};
    struct look look = {0};
    struct error error;
    if (place_read(&place, &look, small_run(), sites, path, &error))
        use(&place, &look, small_run(), sites, nowhere);
    place_free(&place);
    close(fd);
    return 0;
}
