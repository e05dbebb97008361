#include "clients/libpoet/profile/library_names.h"

#include <stddef.h>
#include <string.h>

static bool library_name_in(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, list[i]) == 0)
            return true;
    return false;
}

static bool library_name_begins(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(name, list[i], strlen(list[i])) == 0)
            return true;
    return false;
}

#define IN(name, list) library_name_in(name, list, sizeof(list) / sizeof *(list))
#define BEGINS(name, list) library_name_begins(name, list, sizeof(list) / sizeof *(list))

bool library_name_is_excluded(const char *name)
{
    static const char *const names[] = {
        /* they return twice, or in another context */
        "setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "savectx", "vfork", "__vfork",
        "getcontext", "setcontext", "swapcontext", "makecontext", "__start_context", "clone",
        "unw_getcontext", "_Ux86_64_getcontext", "__unw_getcontext", "_ULx86_64_resume",
        "jump_fcontext", "ontop_fcontext", "make_fcontext", "co_switch", "longjmp", "_longjmp",
        "siglongjmp", "__longjmp_chk",
        /* they do not return */
        "exit", "_exit", "_Exit", "quick_exit", "abort", "pthread_exit", "thrd_exit",
        "__assert_fail", "__assert_perror_fail", "__assert", "__stack_chk_fail", "__chk_fail",
        "__fortify_fail", "err", "errx", "verr", "verrx", "_ZSt9terminatev", "_ZSt10unexpectedv",
        "__pthread_unwind_next",
        /* they look at their return address, or at the stack */
        "dlopen", "dlmopen", "dlsym", "dlvsym", "dlinfo", "backtrace", "mcount", "_mcount",
        "__fentry__", "__tls_get_addr",
        /* they are parts of expressions: errno, tests of characters */
        "__errno_location", "__ctype_b_loc", "__ctype_tolower_loc", "__ctype_toupper_loc",
        "__gmon_start__", "__libc_start_main"};
    static const char *const beginnings[] = {"__cxa_",       "_Unwind_", "__gxx_",  "__cyg_",
                                             "poet_",        "_ITM_",    "__gcov_", "__asan_",
                                             "__ubsan_",     "__tsan_",  "__lsan_", "__msan_",
                                             "__sanitizer_", "_dl_",     "GOMP_",   "__kmpc_"};
    return IN(name, names) || BEGINS(name, beginnings);
}

static const char *library_name_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool library_name_is_poet(const char *path)
{
    static const char *const beginnings[] = {"libpoet.so", "libpoet-"};
    return BEGINS(library_name_base(path), beginnings);
}

bool library_name_is_looked_at(const char *path, const char *name)
{
    static const char *const process[] = {"libpoet-process.so"};
    static const char *const input[] = {"read",           "readv",
                                        "pread",          "pread64",
                                        "recv",           "recvfrom",
                                        "recvmsg",        "__read_chk",
                                        "__pread_chk",    "__pread64_chk",
                                        "__recv_chk",     "__recvfrom_chk",
                                        "time",           "gettimeofday",
                                        "clock_gettime",  "timespec_get",
                                        "clock",          "times",
                                        "getrusage",      "getrandom",
                                        "getentropy",     "arc4random",
                                        "arc4random_buf", "arc4random_uniform",
                                        "rand",           "random",
                                        "lrand48",        "mrand48",
                                        "drand48",        "munmap",
                                        "prctl",          "raise",
                                        "kill",           "killpg",
                                        "signal",         "sigaction",
                                        "sigprocmask",    "pthread_sigmask",
                                        "wait",           "wait3",
                                        "wait4",          "waitpid",
                                        "waitid",         "system",
                                        "fork",           "pthread_setname_np",
                                        "pthread_kill"};
    static const char *const own[] = {"execv",   "execve", "execvp", "execvpe",
                                      "fexecve", "_exit",  "_Exit"};
    const char *base = library_name_base(path);
    return BEGINS(base, process) ? !IN(name, own)
                                 : IN(name, input) && !strncmp(base, "libpoet.so", 10);
}

bool library_name_is_narrow(const char *path)
{
    static const char *const beginnings[] = {"libc.so.",     "libm.so.",  "libpthread.so.",
                                             "libdl.so.",    "librt.so.", "libstdc++.so.",
                                             "libgcc_s.so.", "libpoet",   "libz.so."};
    return BEGINS(library_name_base(path), beginnings);
}
