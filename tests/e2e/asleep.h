/* For programs of tests that go on once other threads of their own sleep; no call is recorded. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define UNSEEN __attribute__((noinline, no_instrument_function, unused)) static
UNSEEN int asleep(int thread)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = 0;
    if (f)
        fclose(f);
    return state == 'S';
}
/* Do all but the first one sleep? */
UNSEEN int others_sleep(void)
{
    int all = 1;
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *d; threads && (d = readdir(threads));)
        if (*d->d_name != '.' && atoi(d->d_name) != getpid())
            all &= asleep(atoi(d->d_name));
    if (threads)
        closedir(threads);
    return threads && all;
}
/* (Several looks: one may wake another while they are looked at, and one is in that state just
 * before it leaves its processor.) */
UNSEEN void until_others_sleep(void)
{
    for (int times = 0; times < 3; usleep(1000))
        times = others_sleep() ? times + 1 : 0;
}
