/* Memory that a program shares with the server, of any content, and that changes while it is read.
 *
 * An input is patches, one behind the other: a place, 16 bits, and a value of 64.  What a place
 * means is said by who fuzzes, so that the places that matter are met often. */
#ifndef TESTS_FUZZ_CHANGING_H
#define TESTS_FUZZ_CHANGING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATCH_BYTES 10u

/* Zero-initialised but for the first three; one for all inputs. */
struct changing {
    size_t bytes; /* of the memory */
    bool sealed;
    void (*patch)(char *memory, uint16_t place, uint64_t value); /* with changing_set */
    char *memory;
    int fd;
    const uint8_t *data;
    size_t size;
    pthread_t other;
    bool beside; /* it runs */
    atomic_bool stop;
};

/* From now on of this input.  The memory is all zeros. */
void changing_begin(struct changing *changing, const uint8_t *data, size_t size);
void changing_once(struct changing *changing); /* makes all patches */
/* They are made in another order; for some inputs another thread makes them, again and again, until
 * that is ended. */
void changing_go_on(struct changing *changing);
void changing_end(struct changing *changing);

/* Eight bytes, at `at` rounded down to eights. */
static inline void changing_set(char *memory, size_t at, uint64_t value)
{
    __atomic_store_n((uint64_t *)(void *)(memory + (at & ~(size_t)7)), value, __ATOMIC_RELAXED);
}

#endif
