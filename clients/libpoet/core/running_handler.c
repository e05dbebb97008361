#define _GNU_SOURCE
#include "clients/libpoet/core/running_handler.h"

#include "base/likely.h"
#include "wire/handler_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static __thread struct running_handler running_handler_mine
    __attribute__((tls_model("initial-exec")));

struct running_handler running_handler_enter(int signal, const void *frame)
{
    struct running_handler interrupted = running_handler_mine;
    running_handler_mine = (struct running_handler){signal, frame};
    return interrupted;
}

void running_handler_leave(struct running_handler interrupted)
{
    running_handler_mine = interrupted;
}

/* A handler that was left by a jump has its frame no more, or its signal is no longer blocked. */
static bool running_handler_is_left(const struct running_handler *h)
{
    uint64_t blocked = 0;
    int saved = errno;
    long result = syscall(SYS_rt_sigprocmask, 0, NULL, &blocked, sizeof blocked);
    errno = saved;
    return (uintptr_t)h->frame < (uintptr_t)__builtin_frame_address(0) || result != 0 ||
           !(blocked & UINT64_C(1) << (h->signal - 1));
}

size_t running_handler_text(char *text, size_t size)
{
    const struct running_handler *h = &running_handler_mine;
    if (LIKELY(!h->signal) || running_handler_is_left(h))
        return 0;
    const char *name = sigabbrev_np(h->signal);
    int length = name ? snprintf(text, size, TEXT_IN_HANDLER "SIG%s", name)
                      : snprintf(text, size, TEXT_IN_HANDLER "signal %d", h->signal);
    return length > 0 && (size_t)length < size ? (size_t)length : 0;
}
