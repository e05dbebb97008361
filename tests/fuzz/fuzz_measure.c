/* Measurement specifications, files and options, of any content: what is accepted can be written,
 * and means the same when read again. */
#include "config/measurement_spec.h"
#include "config/metric_rules.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same(const struct measurement_spec *a, const struct measurement_spec *b)
{
    if (a->wanted != b->wanted || a->rate != b->rate || a->waits != b->waits)
        abort();
}

static void words(const char *text)
{
    struct measurement_spec measure, again;
    struct error error;
    if (!measurement_spec_parse(text, &measure, &error))
        return;
    char *list = measurement_spec_list(&measure);
    if (!measurement_spec_parse(list, &again, &error))
        abort();
    same(&measure, &again);
    free(list);
}

static void file(const char *text)
{
    struct measurement_spec measure, again;
    measurement_spec_is_set(text);
    if (!measurement_spec_read(text, "fuzz", NULL, &measure))
        return;
    char *written = measurement_spec_write(&measure), *list = measurement_spec_list(&measure);
    if (!measurement_spec_read(written, "fuzz", NULL, &again))
        abort();
    same(&measure, &again);
    words(list);
    free(written);
    free(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = xstrndup((const char *)data, size);
    file(text);
    words(text);
    free(text);
    return 0;
}
