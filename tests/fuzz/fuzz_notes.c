/* Annotation files of any content: the next change keeps what was read, and a damaged file stays
 * unchanged. */
#define _GNU_SOURCE
#include "clients/connection/note_file.h"
#include "base/alloc.h"
#include "wire/limits.h"
#include "wire/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[] = "/tmp/poet-notes-XXXXXX", trace[64], file[64];

static void remove_directory(void)
{
    unlink(file);
    rmdir(directory);
}

static void make_directory(void)
{
    unsetenv("XDG_STATE_HOME");
    unsetenv("HOME");
    if (!mkdtemp(directory) || atexit(remove_directory))
        abort();
    snprintf(trace, sizeof trace, "%s/work.poet", directory);
    snprintf(file, sizeof file, "%s/work.poet-notes", directory);
}

static void write_file(const uint8_t *data, size_t size)
{
    FILE *f = fopen(file, "w");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
        abort();
}

static bool file_is(const uint8_t *data, size_t size)
{
    uint8_t *got = xmalloc(size + 1);
    FILE *f = fopen(file, "r");
    bool same = f && fread(got, 1, size + 1, f) == size && memcmp(got, data, size) == 0;
    if (f)
        fclose(f);
    free(got);
    return same;
}

static bool open_notes(struct note_file *notes)
{
    static char run[] = "work";
    struct session source = {
        .is_file = true, .name = trace, .book.run = {.name = run, .wall_ns = 42}};
    struct error error;
    return note_file_open(notes, &source, &error);
}

static void check_note(const struct event_note *note)
{
    char *again = text_readable(note->text, strlen(note->text), true);
    if (!note->at.line || strcmp(again, note->text) != 0)
        abort();
    free(again);
}

static void check_same(const struct note_file *a, const struct note_file *b)
{
    if (a->count != b->count)
        abort();
    for (uint32_t i = 0; i < a->count; i++)
        if (!event_id_equal(a->items[i].at, b->items[i].at) ||
            strcmp(a->items[i].text, b->items[i].text) != 0)
            abort();
}

/* Adds an annotation with the beginning of the input. */
static void change(struct note_file *notes, const uint8_t *data, size_t size)
{
    char *text = xstrndup((const char *)data, size < 2000 ? size : 2000);
    struct note_file again;
    struct error error;
    if (note_file_set(notes, (struct event_id){1, UINT64_MAX}, text, &error) == NOTES_BESIDE) {
        if (!open_notes(&again))
            abort();
        check_same(notes, &again);
        note_file_free(&again);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct note_file notes;
    struct error error;
    if (!*trace)
        make_directory();
    write_file(data, size);
    if (open_notes(&notes)) {
        for (uint32_t i = 0; i < notes.count; i++)
            check_note(&notes.items[i]);
        change(&notes, data, size);
    } else if (note_file_set(&notes, (struct event_id){1, 1}, "lost", &error) != NOTES_NOWHERE ||
               !file_is(data, size)) {
        abort();
    }
    note_file_free(&notes);
    return 0;
}
