/* <threads.h>, which in glibc is the same implementation under other names: results are translated
 * as in glibc. */
#define _GNU_SOURCE
#include "clients/libpoet/interpose/conditions.h"
#include "clients/libpoet/interpose/thread_join.h"
#include "clients/libpoet/interpose/mutexes.h"
#include "clients/libpoet/interpose/once_calls.h"
#include "clients/libpoet/core/interposer.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <threads.h>
#include <time.h>

int PLAIN(pthread_mutex_destroy)(pthread_mutex_t *);
int PLAIN(pthread_cond_init)(pthread_cond_t *, const pthread_condattr_t *);
int PLAIN(pthread_cond_destroy)(pthread_cond_t *);

static int as_thrd(int error)
{
    switch (error) {
    case 0:
        return thrd_success;
    case ENOMEM:
        return thrd_nomem;
    case ETIMEDOUT:
        return thrd_timedout;
    case EBUSY:
        return thrd_busy;
    default:
        return thrd_error;
    }
}

ENTRY(int, thrd_join, (thrd_t id, int *result), id, result)
{
    void *value = NULL;
    int error = follow_join(site, id, &value, NULL, NULL);
    if (error == 0 && result)
        *result = (int)(intptr_t)value;
    return as_thrd(error);
}

ENTRY(int, thrd_detach, (thrd_t id), id) { return as_thrd(follow_detach(site, id)); }

ENTRY(int, mtx_init, (mtx_t * m, int type), m, type)
{
    real_find();
    int result = real_functions.mtx_init(m, type);
    if (result == thrd_success)
        follow_mutex_made(site, (pthread_mutex_t *)m);
    return result;
}

ENTRY_VOID(mtx_destroy, (mtx_t * m), m)
{
    (void)site;
    PLAIN(pthread_mutex_destroy)((pthread_mutex_t *)m);
}

ENTRY(int, mtx_lock, (mtx_t * m), m)
{
    return as_thrd(follow_lock(site, CALL_VARIANT_LOCK, (pthread_mutex_t *)m, 0, NULL));
}

ENTRY(int, mtx_trylock, (mtx_t * m), m)
{
    return as_thrd(follow_lock(site, CALL_VARIANT_TRY, (pthread_mutex_t *)m, 0, NULL));
}

ENTRY(int, mtx_timedlock, (mtx_t * m, const struct timespec *ts), m, ts)
{
    return as_thrd(follow_lock(site, CALL_VARIANT_TIMED, (pthread_mutex_t *)m, 0, ts));
}

ENTRY(int, mtx_unlock, (mtx_t * m), m)
{
    return as_thrd(follow_unlock(site, (pthread_mutex_t *)m));
}

ENTRY(int, cnd_init, (cnd_t * c), c)
{
    (void)site;
    return as_thrd(PLAIN(pthread_cond_init)((pthread_cond_t *)c, NULL));
}

ENTRY_VOID(cnd_destroy, (cnd_t * c), c)
{
    (void)site;
    PLAIN(pthread_cond_destroy)((pthread_cond_t *)c);
}

ENTRY(int, cnd_wait, (cnd_t * c, mtx_t *m), c, m)
{
    return as_thrd(follow_wait(site, (pthread_cond_t *)c, (pthread_mutex_t *)m, NULL, NULL));
}

ENTRY(int, cnd_timedwait, (cnd_t * c, mtx_t *m, const struct timespec *ts), c, m, ts)
{
    return as_thrd(follow_wait(site, (pthread_cond_t *)c, (pthread_mutex_t *)m, NULL, ts));
}

ENTRY(int, cnd_signal, (cnd_t * c), c)
{
    return as_thrd(follow_signal(site, (pthread_cond_t *)c, false));
}

ENTRY(int, cnd_broadcast, (cnd_t * c), c)
{
    return as_thrd(follow_signal(site, (pthread_cond_t *)c, true));
}

ENTRY_VOID(call_once, (once_flag * flag, void (*function)(void)), flag, function)
{
    follow_once(site, (pthread_once_t *)flag, function);
}
