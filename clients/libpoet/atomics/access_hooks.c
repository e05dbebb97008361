/* The other functions that compilers call from units compiled with -fsanitize=thread: accesses of
 * memory that are not atomic, and the beginnings and ends of functions. Nothing is recorded of
 * them. */
#include <stddef.h>
#include <string.h>

#define HOOK __attribute__((visibility("default")))

#define ACCESS(name)                                                                               \
    HOOK void __tsan_##name(void *address);                                                        \
    HOOK void __tsan_##name(void *address) { (void)address; }
#define ACCESSES(bytes)                                                                            \
    ACCESS(read##bytes)                                                                            \
    ACCESS(write##bytes)                                                                           \
    ACCESS(read_write##bytes)                                                                      \
    ACCESS(unaligned_read##bytes)                                                                  \
    ACCESS(unaligned_write##bytes)                                                                 \
    ACCESS(unaligned_read_write##bytes)                                                            \
    ACCESS(volatile_read##bytes)                                                                   \
    ACCESS(volatile_write##bytes)                                                                  \
    ACCESS(unaligned_volatile_read##bytes)                                                         \
    ACCESS(unaligned_volatile_write##bytes)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
ACCESS(vptr_read)
ACCESS(func_entry)

#define RANGE(name)                                                                                \
    HOOK void __tsan_##name(void *address, size_t bytes);                                          \
    HOOK void __tsan_##name(void *address, size_t bytes) { (void)address, (void)bytes; }
RANGE(read_range)
RANGE(write_range)

HOOK void __tsan_vptr_update(void **address, void *value);
HOOK void __tsan_vptr_update(void **address, void *value) { (void)address, (void)value; }

HOOK void *__tsan_memcpy(void *to, const void *from, size_t bytes);
HOOK void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
    return memcpy(to, from, bytes);
}
HOOK void *__tsan_memmove(void *to, const void *from, size_t bytes);
HOOK void *__tsan_memmove(void *to, const void *from, size_t bytes)
{
    return memmove(to, from, bytes);
}
HOOK void *__tsan_memset(void *to, int byte, size_t bytes);
HOOK void *__tsan_memset(void *to, int byte, size_t bytes) { return memset(to, byte, bytes); }

HOOK void __tsan_func_exit(void);
HOOK void __tsan_func_exit(void) {}
HOOK void __tsan_init(void);
HOOK void __tsan_init(void) {}

/* ---- what programs and libraries report to ThreadSanitizer (sanitizer/tsan_interface.h) ---- */

ACCESS(acquire)
ACCESS(release)

#define MUTEX(name)                                                                                \
    HOOK void __tsan_mutex_##name(void *mutex, unsigned flags);                                    \
    HOOK void __tsan_mutex_##name(void *mutex, unsigned flags) { (void)mutex, (void)flags; }
MUTEX(create)
MUTEX(destroy)
MUTEX(pre_lock)
MUTEX(pre_signal)
MUTEX(post_signal)
MUTEX(pre_divert)
MUTEX(post_divert)
MUTEX(post_unlock)

HOOK void __tsan_mutex_post_lock(void *mutex, unsigned flags, int recursion);
HOOK void __tsan_mutex_post_lock(void *mutex, unsigned flags, int recursion)
{
    (void)mutex, (void)flags, (void)recursion;
}

HOOK int __tsan_mutex_pre_unlock(void *mutex, unsigned flags);
HOOK int __tsan_mutex_pre_unlock(void *mutex, unsigned flags)
{
    (void)mutex, (void)flags;
    return 0;
}
