/* Recorded input: bodies of INPUT, and the file from which a replayed run reads. */
#include "wire/recorded_input.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum_of(const struct input *input)
{
    uint64_t sum = input->asked + strlen(recorded_input_name(input->call));
    for (uint32_t i = 0; i < input->size; i++)
        sum += input->bytes[i];
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input;
    struct decoder in = decoder_init(data, size);
    volatile uint64_t sum = 0;
    if (decode_input(&in, &input))
        sum += sum_of(&input);
    struct input_head *head = malloc(size + !size);
    memcpy(head, data, size);
    /* values that are hard to guess: the magic number, and the size of the file */
    if (size >= sizeof *head) {
        head->magic = INPUT_MAGIC;
        head->bytes = size;
    }
    for (uint32_t i = 0; !recorded_input_check(head, size) && i <= head->line_count; i++)
        for (uint64_t at = 0; recorded_input_next(head, i, &at, &input);)
            sum += sum_of(&input);
    free(head);
    return 0;
}
