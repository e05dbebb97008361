/* ShiViz logs with vector clocks, of any content; the first line selects the expressions. */
#include "clients/cli/shiviz_log.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const parsers[] = {SHIVIZ_PARSER, NULL,
                                          "(?<host>\\S*) (?<clock>{.*})\\n(?<event>.*)",
                                          "^(?<host>\\w+)(?<clock>\\{.*?\\})(?<event>)(?<x>.*)$"};
    struct shiviz_log *logs;
    size_t count;
    char error[300];
    if (!size)
        return 0;
    char *text = malloc(size);
    if (!text)
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    struct shiviz_text from = {"fuzz",
                               text,
                               size - 1,
                               parsers[data[0] % 4],
                               data[0] & 64 ? "^=== (?<trace>.*) ===$" : NULL,
                               NULL};
    if (shiviz_read(&from, &logs, &count, error, sizeof error))
        shiviz_free(logs, count);
    free(text);
    return 0;
}
