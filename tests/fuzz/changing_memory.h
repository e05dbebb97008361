/* Memory that a program shares with the server, of any content, which changes while it is read.
 *
 * An input is a sequence of patches: a place of 16 bits and a value of 64 bits. The fuzzer maps
 * places to addresses, so that relevant addresses are changed often. */
#ifndef TESTS_FUZZ_CHANGING_MEMORY_H
#define TESTS_FUZZ_CHANGING_MEMORY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATCH_BYTES 10u

/* Zero-initialize it except the first three members; one is used for all inputs. */
struct changing {
    size_t bytes; /* of the memory */
    bool sealed;
    void (*patch)(char *memory, uint16_t place, uint64_t value); /* calls changing_set() */
    char *memory;
    int fd;
    const uint8_t *data;
    size_t size;
    pthread_t other;
    bool beside; /* the other thread is running */
    atomic_bool stop;
};

/* Begins with an input; the memory is zeroed. */
void changing_begin(struct changing *changing, const uint8_t *data, size_t size);
void changing_once(struct changing *changing); /* applies all patches */
/* Applies the patches in reverse order; for some inputs another thread applies them repeatedly,
 * until changing_end(). */
void changing_go_on(struct changing *changing);
void changing_end(struct changing *changing);

/* Sets the eight bytes at `at`, rounded down to a multiple of 8. */
static inline void changing_set(char *memory, size_t at, uint64_t value)
{
    __atomic_store_n((uint64_t *)(void *)(memory + (at & ~(size_t)7)), value, __ATOMIC_RELAXED);
}

#endif
