/* libpoet-atomics: the order that the atomic operations of C11 and C++ make, recorded through
 * poet.h. poetcc -trace=atomics links it, and has the compiler insert calls of the functions that
 * are defined here, by the names that ThreadSanitizer's run-time has, which is not there. Each
 * makes the operation that it stands for. */
#include "clients/libpoet/atomics/atomic_order.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOOK __attribute__((visibility("default")))
#define SITE ((const char *)__builtin_return_address(0) - 1)
#define REDONE_MOST 64u /* loads that began again, before one takes the lock */

#define SMALL(v) ((struct atomic_value){(uint64_t)(v), 0})

/* The real operations are at least as strong as those of the program. */
#define OPERATIONS(bits, type, VALUE)                                                              \
    HOOK type __tsan_atomic##bits##_load(const volatile type *a, int order);                       \
    HOOK type __tsan_atomic##bits##_load(const volatile type *a, int order)                        \
    {                                                                                              \
        struct atomic_operation o = {.site = SITE, .order = atomic_order_of(order)};               \
        type v;                                                                                    \
        for (unsigned i = 0; i < REDONE_MOST; i++) {                                               \
            atomic_order_begin_load(&o, a, sizeof *a);                                             \
            v = REAL_LOAD_##bits(a);                                                               \
            if (atomic_order_end_load(&o, VALUE(v)))                                               \
                return v;                                                                          \
        }                                                                                          \
        atomic_order_begin_write(&o, a, sizeof *a, VALUE(v), true, false);                         \
        v = REAL_LOAD_##bits(a);                                                                   \
        atomic_order_end_failure(&o, VALUE(v), o.order);                                           \
        return v;                                                                                  \
    }                                                                                              \
    HOOK void __tsan_atomic##bits##_store(volatile type *a, type v, int order);                    \
    HOOK void __tsan_atomic##bits##_store(volatile type *a, type v, int order)                     \
    {                                                                                              \
        struct atomic_operation o = {.site = SITE, .order = atomic_order_of(order)};               \
        atomic_order_begin_write(&o, a, sizeof *a, VALUE(REAL_LOAD_##bits(a)), false, true);       \
        type found = REAL_EXCHANGE_##bits(a, v);                                                   \
        atomic_order_end_store(&o, VALUE(found), VALUE(v));                                        \
    }                                                                                              \
    HOOK type __tsan_atomic##bits##_exchange(volatile type *a, type v, int order);                 \
    HOOK type __tsan_atomic##bits##_exchange(volatile type *a, type v, int order)                  \
    {                                                                                              \
        struct atomic_operation o = {.site = SITE, .order = atomic_order_of(order)};               \
        atomic_order_begin_write(&o, a, sizeof *a, VALUE(REAL_LOAD_##bits(a)), true, true);        \
        type found = REAL_EXCHANGE_##bits(a, v);                                                   \
        atomic_order_end_update(&o, VALUE(found), VALUE(v));                                       \
        return found;                                                                              \
    }                                                                                              \
    static inline bool compare_exchange_##bits(volatile type *a, type *expected, type v,           \
                                               int order, int otherwise, const char *site)         \
    {                                                                                              \
        struct atomic_operation o = {.site = site, .order = atomic_order_of(order)};               \
        type found = REAL_LOAD_##bits(a);                                                          \
        atomic_order_begin_write(&o, a, sizeof *a, VALUE(found), true, found == *expected);        \
        found = *expected;                                                                         \
        if (REAL_COMPARE_##bits(a, &found, v)) {                                                   \
            atomic_order_end_update(&o, VALUE(found), VALUE(v));                                   \
            return true;                                                                           \
        }                                                                                          \
        *expected = found;                                                                         \
        atomic_order_end_failure(&o, VALUE(found), atomic_order_of(otherwise));                    \
        return false;                                                                              \
    }                                                                                              \
    HOOK int __tsan_atomic##bits##_compare_exchange_strong(volatile type *a, type *c, type v,      \
                                                           int order, int otherwise);              \
    HOOK int __tsan_atomic##bits##_compare_exchange_strong(volatile type *a, type *c, type v,      \
                                                           int order, int otherwise)               \
    {                                                                                              \
        return compare_exchange_##bits(a, c, v, order, otherwise, SITE);                           \
    }                                                                                              \
    HOOK int __tsan_atomic##bits##_compare_exchange_weak(volatile type *a, type *c, type v,        \
                                                         int order, int otherwise);                \
    HOOK int __tsan_atomic##bits##_compare_exchange_weak(volatile type *a, type *c, type v,        \
                                                         int order, int otherwise)                 \
    {                                                                                              \
        return compare_exchange_##bits(a, c, v, order, otherwise, SITE);                           \
    }                                                                                              \
    HOOK type __tsan_atomic##bits##_compare_exchange_val(volatile type *a, type c, type v,         \
                                                         int order, int otherwise);                \
    HOOK type __tsan_atomic##bits##_compare_exchange_val(volatile type *a, type c, type v,         \
                                                         int order, int otherwise)                 \
    {                                                                                              \
        compare_exchange_##bits(a, &c, v, order, otherwise, SITE);                                 \
        return c;                                                                                  \
    }                                                                                              \
    UPDATE(bits, type, VALUE, add, found + v)                                                      \
    UPDATE(bits, type, VALUE, sub, found - v)                                                      \
    UPDATE(bits, type, VALUE, and, found &v)                                                       \
    UPDATE(bits, type, VALUE, or, found | v)                                                       \
    UPDATE(bits, type, VALUE, xor, found ^ v)                                                      \
    UPDATE(bits, type, VALUE, nand, ~(found & v))

#define UPDATE(bits, type, VALUE, name, result)                                                    \
    HOOK type __tsan_atomic##bits##_fetch_##name(volatile type *a, type v, int order);             \
    HOOK type __tsan_atomic##bits##_fetch_##name(volatile type *a, type v, int order)              \
    {                                                                                              \
        struct atomic_operation o = {.site = SITE, .order = atomic_order_of(order)};               \
        atomic_order_begin_write(&o, a, sizeof *a, VALUE(REAL_LOAD_##bits(a)), true, true);        \
        type found;                                                                                \
        found = REAL_FETCH_##bits(name, a, v, result);                                             \
        atomic_order_end_update(&o, VALUE(found), VALUE((type)(result)));                          \
        return found;                                                                              \
    }

/* ---- up to 8 bytes ---- */

#define REAL_LOAD_8(a) __atomic_load_n(a, __ATOMIC_SEQ_CST)
#define REAL_EXCHANGE_8(a, v) __atomic_exchange_n(a, v, __ATOMIC_SEQ_CST)
#define REAL_COMPARE_8(a, expected, v)                                                             \
    __atomic_compare_exchange_n(a, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
#define REAL_FETCH_8(name, a, v, result) __atomic_fetch_##name(a, v, __ATOMIC_SEQ_CST)
#define REAL_LOAD_16 REAL_LOAD_8
#define REAL_EXCHANGE_16 REAL_EXCHANGE_8
#define REAL_COMPARE_16 REAL_COMPARE_8
#define REAL_FETCH_16 REAL_FETCH_8
#define REAL_LOAD_32 REAL_LOAD_8
#define REAL_EXCHANGE_32 REAL_EXCHANGE_8
#define REAL_COMPARE_32 REAL_COMPARE_8
#define REAL_FETCH_32 REAL_FETCH_8
#define REAL_LOAD_64 REAL_LOAD_8
#define REAL_EXCHANGE_64 REAL_EXCHANGE_8
#define REAL_COMPARE_64 REAL_COMPARE_8
#define REAL_FETCH_64 REAL_FETCH_8

OPERATIONS(8, uint8_t, SMALL)
OPERATIONS(16, uint16_t, SMALL)
OPERATIONS(32, uint32_t, SMALL)
OPERATIONS(64, uint64_t, SMALL)

/* ---- 16 bytes, by compare and exchange ---- */

#if defined(__SIZEOF_INT128__) && defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16)
typedef unsigned __int128 wide;
#define WIDE(v) ((struct atomic_value){(uint64_t)(v), (uint64_t)((v) >> 64)})

static inline wide wide_load(const volatile wide *a)
{
    return __sync_val_compare_and_swap((volatile wide *)(uintptr_t)a, (wide)0, (wide)0);
}

static inline bool wide_compare_exchange(volatile wide *a, wide *expected, wide v)
{
    wide before = *expected;
    *expected = __sync_val_compare_and_swap(a, before, v);
    return *expected == before;
}

static inline wide wide_exchange(volatile wide *a, wide v)
{
    wide found = wide_load(a);
    while (!wide_compare_exchange(a, &found, v))
        ;
    return found;
}

#define REAL_LOAD_128(a) wide_load(a)
#define REAL_EXCHANGE_128(a, v) wide_exchange(a, v)
#define REAL_COMPARE_128(a, expected, v) wide_compare_exchange(a, expected, v)
#define REAL_FETCH_128(name, a, v, result)                                                         \
    ({                                                                                             \
        found = wide_load(a);                                                                      \
        while (!wide_compare_exchange(a, &found, (result)))                                        \
            ;                                                                                      \
        found;                                                                                     \
    })

OPERATIONS(128, wide, WIDE)
#endif

/* ---- fences ---- */

HOOK void __tsan_atomic_thread_fence(int order);
HOOK void __tsan_atomic_thread_fence(int order)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    atomic_order_fence(atomic_order_of(order), SITE);
}

/* It orders a thread and its own signal handlers. */
HOOK void __tsan_atomic_signal_fence(int order);
HOOK void __tsan_atomic_signal_fence(int order)
{
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
