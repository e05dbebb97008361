/* Signals that are blocked in the calling thread. */
#define _GNU_SOURCE
#include "clients/libpoet/core/mask.h"

#include "clients/libpoet/core/libc_calls.h"

#include <signal.h>
#include <string.h>

struct mask mask_hold(void)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    struct mask mask;
    sigset_t all, before;
    sigemptyset(&before);
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&all, own[i]);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    memcpy(&mask.bits, &before, sizeof mask.bits);
    return mask;
}

void mask_set(struct mask mask)
{
    sigset_t set;
    sigemptyset(&set);
    memcpy(&set, &mask.bits, sizeof mask.bits);
    pthread_sigmask(SIG_SETMASK, &set, NULL);
}

/* ---- of new threads ---- */

static bool has_own_mask(const pthread_attr_t *attributes)
{
    sigset_t own;
    return attributes && pthread_attr_getsigmask_np(attributes, &own) != PTHREAD_ATTR_NO_SIGMASK_NP;
}

struct mask_new mask_hold_new(const pthread_attr_t *attributes)
{
    return (struct mask_new){mask_hold(), !has_own_mask(attributes)};
}

void mask_begun(struct mask_new mask)
{
    if (mask.inherited)
        mask_set(mask.before);
}
