/* Texts of /proc, which the kernel writes, but which may be truncated anywhere. */
#include "server/osmetrics/proc_files.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct proc_units units = {.tick_ns = 10000000, .page_bytes = 4096};
    struct usage_figure figures[4];
    const char *text = (const char *)data;
    bool filtered;
    if (proc_stat(text, size, units, figures, 4) > 4 ||
        proc_status(text, size, &filtered, figures, 4) > 4 || proc_io(text, size, figures, 4) > 4 ||
        proc_schedstat(text, size, figures, 4) > 4)
        __builtin_trap();
    proc_same_numbers(text, size);
    return 0;
}
