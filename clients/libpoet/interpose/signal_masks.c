/* Changes of the signals that a thread blocks: events by which `poet predict` knows in which
 * critical sections a handler can run. */
#define _GNU_SOURCE
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/profile/sampling.h"
#include "wire/slot.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#undef sigprocmask /* libc_calls.h */
#undef pthread_sigmask
#undef UNTRACED_SITE
#define UNTRACED_SITE site_of_program

#define SIGNAL_MASK_TEXT_BYTES 1000u /* the names of all signals fit */

/* Returns the part of a set that the kernel reads and writes: a bit for each signal. */
static uint64_t signal_mask_bits(const sigset_t *set)
{
    uint64_t bits;
    memcpy(&bits, set, sizeof bits);
    return bits;
}

/* Appends "blocks SIGUSR1 SIGTERM". Signals without a name, the real-time ones, are left out. */
static size_t signal_mask_add_names(char *text, size_t length, const char *verb, uint64_t signals)
{
    size_t begin = length;
    for (int sig = 1; signals; sig++, signals >>= 1) {
        const char *name = signals & 1 ? sigabbrev_np(sig) : NULL;
        if (name)
            length += (size_t)snprintf(text + length, SIGNAL_MASK_TEXT_BYTES - length, "%s%s SIG%s",
                                       length && length == begin ? ", " : "",
                                       length == begin ? verb : "", name);
    }
    return length;
}

static void signal_mask_record(uintptr_t site, uint64_t before, uint64_t after)
{
    struct traced_thread *t = site && !thread_runtime() ? thread_self() : NULL;
    char text[SIGNAL_MASK_TEXT_BYTES];
    if (!t || t->busy || t->off_depth) /* a handler that records only this restores the mask */
        return;
    size_t length = signal_mask_add_names(text, 0, "blocks", after & ~before);
    length = signal_mask_add_names(text, length, "unblocks", before & ~after);
    if (length)
        record_write(t,
                     &(struct record){.shape = TYPE_SIGNAL_MASK,
                                      .flags = SLOT_TEXT,
                                      .a = thread_place(t),
                                      .take_a = 1,
                                      .site = site,
                                      .payload = text,
                                      .payload_bytes = (uint32_t)length},
                     NULL);
}

/* The signal of samples (sampling.h) is never blocked; the program sees what it set. */
static const sigset_t *signal_mask_without_samples(int how, const sigset_t *set, sigset_t *without)
{
    uint64_t bits = signal_mask_bits(set);
    if (LIKELY(!(bits & sampling_mask_bit())) || how == SIG_UNBLOCK)
        return set;
    bits &= ~sampling_mask_bit();
    sigemptyset(without);
    memcpy(without, &bits, sizeof bits);
    return without;
}

static void signal_mask_show_samples(sigset_t *mask)
{
    uint64_t bits = signal_mask_bits(mask) | sampling_mask_shown();
    memcpy(mask, &bits, sizeof bits);
}

static int signal_mask_change(uintptr_t site, int (*change)(int, const sigset_t *, sigset_t *),
                              int how, const sigset_t *set, sigset_t *old)
{
    sigset_t before, without;
    int result;
    if (!set) {
        result = change(how, set, old);
        if (result == 0 && old)
            signal_mask_show_samples(old);
        return result;
    }
    uint64_t bits = signal_mask_bits(set); /* `old` may be the same */
    result = change(how, signal_mask_without_samples(how, set, &without), &before);
    if (result != 0)
        return result;
    int saved = errno;
    signal_mask_show_samples(&before);
    uint64_t was = signal_mask_bits(&before);
    uint64_t is = how == SIG_BLOCK ? was | bits : how == SIG_UNBLOCK ? was & ~bits : bits;
    if (old)
        memcpy(old, &was, sizeof was); /* as the kernel does */
    sampling_mask_show(is);
    if (is != was)
        signal_mask_record(site, was, is);
    errno = saved;
    return result;
}

ENTRY(int, pthread_sigmask, (int how, const sigset_t *set, sigset_t *old), how, set, old)
{
    real_find();
    return signal_mask_change(site, real_functions.pthread_sigmask, how, set, old);
}

ENTRY(int, sigprocmask, (int how, const sigset_t *set, sigset_t *old), how, set, old)
{
    real_find();
    return signal_mask_change(site, real_functions.sigprocmask, how, set, old);
}
