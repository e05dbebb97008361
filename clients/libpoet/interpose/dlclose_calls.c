/* dlclose(3): a library is announced to the server before it is closed, and no other library is
 * loaded at its addresses, so that its names remain valid. */
#define _GNU_SOURCE
#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/next_symbol.h"

#include <stdatomic.h>

#if !defined(POET_STATIC)
__attribute__((visibility("default"))) int dlclose(void *handle);

int dlclose(void *handle)
{
    static int (*_Atomic real_dlclose)(void *);
    int (*call)(void *) = atomic_load(&real_dlclose);
    if (!call) {
        *(void **)&call = next_call("dlclose");
        atomic_store(&real_dlclose, call);
    }
    modules_announce_opened(thread_present());
    int result = call ? call(handle) : -1;
    modules_reserve_closed(thread_present());
    return result;
}
#endif
