#include "clients/libpoet/interpose/stdio_use.h"

#include "clients/libpoet/poet.h"

#include <stddef.h>

#if defined(POET_STATIC)
/* A static program contains what it calls; what the C library itself calls (getline) is
 * excluded. */
#define CALLS(C)                                                                                   \
    C(fgetc)                                                                                       \
    C(getchar)                                                                                     \
    C(fgets)                                                                                       \
    C(fread)                                                                                       \
    C(scanf) C(fscanf) C(__isoc99_scanf) C(__isoc99_fscanf) C(__isoc23_scanf) C(__isoc23_fscanf)
#define C(name) extern const char there_##name[] __asm__(#name) __attribute__((weak));
CALLS(C)
#undef C

bool stdio_use_report_reads(void)
{
    bool any = false;
#define C(name) any |= there_##name != NULL;
    CALLS(C)
#undef C
    return any;
}
#else
bool stdio_use_report_reads(void)
{
    static const char *const names[] = {/* clang-format off */
        "fgetc", "getc", "getchar", "fgetc_unlocked", "getc_unlocked", "getchar_unlocked",
        "_IO_getc", "__uflow", "fgets", "fgets_unlocked", "__fgets_chk", "__fgets_unlocked_chk",
        "gets", "__gets_chk", "fread", "fread_unlocked", "__fread_chk", "__fread_unlocked_chk",
        "getline", "getdelim", "__getdelim", "getw", "scanf", "fscanf", "vscanf", "vfscanf",
        "__isoc99_scanf", "__isoc99_fscanf", "__isoc99_vscanf", "__isoc99_vfscanf",
        "__isoc23_scanf", "__isoc23_fscanf", "__isoc23_vscanf", "__isoc23_vfscanf", "fgetwc",
        "getwc", "getwchar", "fgetws",
        NULL}; /* clang-format on */
    return poet_imports(names);
}
#endif
