/* Preloaded where memory cannot be shared: the C library's memfd_create() fails, and libpoet has no
 * other way.  x86-64. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static int refused(const char *name, unsigned flags)
{
    (void)name, (void)flags;
    errno = ENOSYS;
    return -1;
}

__attribute__((constructor)) static void begin(void)
{
    unsigned char *at = dlsym(RTLD_NEXT, "memfd_create");
    unsigned char jump[] = {0x49, 0xbb, 0, 0,    0,    0,   0,
                            0,    0,    0, 0x41, 0xff, 0xe3}; /* to what is in r11 */
    int (*to)(const char *, unsigned) = refused;
    memcpy(jump + 2, &to, sizeof to);
    char *page = (char *)((unsigned long)at & -4096L);
    if (mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return;
    memcpy(at, jump, sizeof jump);
    mprotect(page, 8192, PROT_READ | PROT_EXEC);
}
