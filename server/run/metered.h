/* Meters of the programs of a run (wire/meter.h): what they are called, what each thread counted in them by when it was
 * told last, and what was seen of those that are looked at now and then. */
#ifndef SERVER_RUN_METERED_H
#define SERVER_RUN_METERED_H

#include "server/run/run.h"
#include "wire/meter.h"

#define METERED_NOBODY UINT32_MAX /* session of what belongs to no program */

struct metered_name {
    uint32_t session, code;
    uint8_t kind; /* an enum meter_kind */
    char *name, *unit;
};

struct metered_sums {
    uint32_t session, thread; /* the thread's own line, as its program calls it */
    uint32_t line; /* the same of the run; 0: not announced yet */
    uint64_t time_ns; /* when this was so, by the program's monotonic clock */
    struct meter_sums sums;
    bool unsaved;
};

/* Of a meter that is looked at.  It stands at what was seen until something else is. */
struct metered_samples {
    uint32_t session, code;
    uint64_t count; /* how often something else was seen */
    int64_t least, most, last;
    int64_t first_ns, last_ns; /* of the run */
    double total; /* value times ns, from the first until the last */
};

/* Told again, it is called as the newest says; the texts are copied. */
void metered_tell(struct run *run, const struct metered_name *name);
void metered_count(struct run *run, const struct metered_sums *sums);
void metered_sample(struct run *run, uint32_t session, uint32_t code, int64_t at_ns, int64_t value);

/* NULL: nobody told it. */
const struct metered_name *metered_name(const struct run *run, uint32_t session, uint32_t code);
/* The code of a number that is told from outside, by its name; 0: nobody told it yet. */
uint32_t metered_code(const struct run *run, const char *name);

size_t metered_names(const struct run *run);
const struct metered_name *metered_name_at(const struct run *run, size_t i); /* as they came */
size_t metered_counted(const struct run *run);
struct metered_sums *metered_counted_at(const struct run *run, size_t i);
size_t metered_sampled(const struct run *run);
const struct metered_samples *metered_sampled_at(const struct run *run, size_t i);

/* Tells all that was counted since this was asked last, in bodies of METERS. */
void metered_save(struct run *run,
                  void (*save)(void *user, uint32_t session, uint32_t thread,
                               const struct out *body),
                  void *user);

struct metered;
void metered_free(struct metered *metered); /* of NULL nothing */

#endif
