#define _GNU_SOURCE
#include "clients/trace/inside.h"

#include <dlfcn.h>

struct real real;

/* A plain look-up, so that others who stand before these calls (a sanitizer, say) are
 * found; but should it give the oldest condition variables, then the newer ones. */
static void *find(const char *name, const char *version)
{
    void *p = dlsym(RTLD_NEXT, name);
    void *old = version ? dlvsym(RTLD_NEXT, name, "GLIBC_2.2.5") : NULL;
    void *fresh = old && p == old ? dlvsym(RTLD_NEXT, name, version) : NULL;
    return fresh ? fresh : p;
}

void real_find(void)
{
    static _Atomic bool done;
    if (atomic_load_explicit(&done, memory_order_acquire))
        return;
#if defined(__x86_64__)
    const char *conditions = "GLIBC_2.3.2";
#else
    const char *conditions = NULL;
#endif
#define FIND(member, name, version) *(void **)&real.member = find(name, version)
    FIND(create, "pthread_create", NULL);
    FIND(join, "pthread_join", NULL);
    FIND(tryjoin, "pthread_tryjoin_np", NULL);
    FIND(timedjoin, "pthread_timedjoin_np", NULL);
    FIND(detach, "pthread_detach", NULL);
    FIND(setname, "pthread_setname_np", NULL);
    FIND(mutex_init, "pthread_mutex_init", NULL);
    FIND(mutex_destroy, "pthread_mutex_destroy", NULL);
    FIND(mutex_lock, "pthread_mutex_lock", NULL);
    FIND(mutex_trylock, "pthread_mutex_trylock", NULL);
    FIND(mutex_timedlock, "pthread_mutex_timedlock", NULL);
    FIND(mutex_clocklock, "pthread_mutex_clocklock", NULL);
    FIND(mutex_unlock, "pthread_mutex_unlock", NULL);
    FIND(cond_init, "pthread_cond_init", conditions);
    FIND(cond_destroy, "pthread_cond_destroy", conditions);
    FIND(cond_wait, "pthread_cond_wait", conditions);
    FIND(cond_timedwait, "pthread_cond_timedwait", conditions);
    FIND(cond_clockwait, "pthread_cond_clockwait", NULL);
    FIND(cond_signal, "pthread_cond_signal", conditions);
    FIND(cond_broadcast, "pthread_cond_broadcast", conditions);
    FIND(sem_init, "sem_init", NULL);
    FIND(sem_destroy, "sem_destroy", NULL);
    FIND(sem_wait, "sem_wait", NULL);
    FIND(sem_trywait, "sem_trywait", NULL);
    FIND(sem_timedwait, "sem_timedwait", NULL);
    FIND(sem_clockwait, "sem_clockwait", NULL);
    FIND(sem_post, "sem_post", NULL);
#undef FIND
    atomic_store_explicit(&done, true, memory_order_release);
}
