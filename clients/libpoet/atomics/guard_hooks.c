/* Guards of static variables in functions of C++: the compiler reads a guard by an atomic load,
 * which is traced, and the C++ library sets it, by a function that stands here before that one. */
#define _GNU_SOURCE
#include "clients/libpoet/atomics/atomic_order.h"
#include "clients/libpoet/next_symbol.h"

#define HOOK __attribute__((visibility("default")))
#define SITE ((const char *)__builtin_return_address(0) - 1)

extern uint8_t __tsan_atomic8_load(const volatile uint8_t *guard, int order);

HOOK int __cxa_guard_acquire(void *guard);
HOOK int __cxa_guard_acquire(void *guard)
{
    static int (*_Atomic real)(void *);
    int (*function)(void *) = atomic_load_explicit(&real, memory_order_relaxed);
    if (!function) {
        function = (int (*)(void *))next_call("__cxa_guard_acquire");
        atomic_store_explicit(&real, function, memory_order_relaxed);
    }
    int first = function(guard);
    if (!first)
        __tsan_atomic8_load(guard, __ATOMIC_ACQUIRE);
    return first;
}

HOOK void __cxa_guard_release(void *guard);
HOOK void __cxa_guard_release(void *guard)
{
    static void (*_Atomic real)(void *);
    void (*function)(void *) = atomic_load_explicit(&real, memory_order_relaxed);
    struct atomic_operation o = {.site = SITE, .order = __ATOMIC_RELEASE};
    struct atomic_value found = {__atomic_load_n((uint8_t *)guard, __ATOMIC_RELAXED), 0};
    if (!function) {
        function = (void (*)(void *))next_call("__cxa_guard_release");
        atomic_store_explicit(&real, function, memory_order_relaxed);
    }
    atomic_order_begin_write(&o, guard, 1, found, false, true);
    function(guard);
    atomic_order_end_store(&o, found, (struct atomic_value){1, 0});
}
