/* Target descriptions of any content. */
#include "config/description_read.h"
#include "config/target.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    target_free(target_read(text, "fuzz", NULL));
    free(text);
    return 0;
}
