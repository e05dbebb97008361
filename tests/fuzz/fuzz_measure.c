/* A file that says what is to be measured, and words that do, of any content: what is read of it can be written, and then
 * says the same. */
#include "config/measure.h"
#include "config/meters.h"
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same(const struct measure *a, const struct measure *b)
{
    if (a->wanted != b->wanted || a->rate != b->rate || a->waits != b->waits)
        abort();
}

static void words(const char *text)
{
    struct measure measure, again;
    char *why = NULL;
    if (!measure_words(text, &measure, &why)) {
        free(why);
        return;
    }
    char *list = measure_list(&measure);
    if (!measure_words(list, &again, &why))
        abort();
    same(&measure, &again);
    free(list);
}

static void file(const char *text)
{
    struct measure measure, again;
    measure_is(text);
    if (!measure_read(text, "fuzz", NULL, &measure))
        return;
    char *written = measure_text(&measure), *list = measure_list(&measure);
    if (!measure_read(written, "fuzz", NULL, &again))
        abort();
    same(&measure, &again);
    words(list);
    free(written);
    free(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = memory_copied_part((const char *)data, size);
    file(text);
    words(text);
    free(text);
    return 0;
}
