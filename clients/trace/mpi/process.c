/* MPI_Init and MPI_Finalize; events; the ranks' lines. */
#include "clients/trace/mpi/inside.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool following, concurrent;

static const char *const names[EVENT_COUNT] = {
#define T(name) #name,
    EVENTS(T)
#undef T
};
static poet_type_t types[EVENT_COUNT];

static struct rank {
    uint64_t identity[2]; /* of its line; 0, 0: it is not traced */
    poet_line_t line;
} *ranks;
static int rank_count;

/* ---- small things ---- */

static atomic_flag held = ATOMIC_FLAG_INIT;

void lock(void)
{
    while (atomic_flag_test_and_set_explicit(&held, memory_order_acquire))
        sched_yield();
}

void unlock(void) { atomic_flag_clear_explicit(&held, memory_order_release); }

uint64_t mix(uint64_t a, uint64_t b) /* splitmix64 (Steele, Lea and Flood, 2014) over both */
{
    uint64_t z = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* What calls that are under way need when there is no memory left: from then on nothing more is followed. */
static _Alignas(16) char reserve[4u << 20];
static size_t reserved;

void *take(size_t n, size_t each)
{
    void *p = calloc(n ? n : 1, each);
    if (p)
        return p;
    size_t bytes = (n * each + 15) & ~(size_t)15;
    following = false;
    poet_unseen("MPI calls since there was no memory to follow them");
    size_t at = __atomic_fetch_add(&reserved, bytes, __ATOMIC_RELAXED);
    return bytes <= sizeof reserve && at <= sizeof reserve - bytes ? reserve + at : NULL;
}

void give(void *p)
{
    if ((char *)p < reserve || (char *)p >= reserve + sizeof reserve)
        free(p);
}

/* ---- events ---- */

poet_event_t note(enum event type, poet_line_t about, const void *site)
{
    return poet_record(&(poet_record_t){.type = types[type], .about = about, .site = site});
}

poet_event_t note_send(enum event type, poet_line_t about, uint64_t high, uint64_t low, int receives,
                       const void *site)
{
    return poet_record(&(poet_record_t){.type = types[type], .about = about, .flags = POET_SEND,
                                        .site = site, .high = high, .low = &low, .keys = 1,
                                        .count = (uint32_t)receives});
}

poet_event_t note_receive(enum event type, uint64_t high, const uint64_t *low, int count, bool last,
                          const void *site)
{
    return poet_record(&(poet_record_t){.type = types[type], .flags = POET_RECEIVE, .site = site,
                                        .high = high, .low = low, .keys = (size_t)count, .count = last});
}

poet_event_t note_meeting(enum event type, uint64_t high, uint64_t low, int members, const void *site)
{
    return poet_record(&(poet_record_t){.type = types[type], .flags = POET_MEET, .site = site,
                                        .high = high, .low = &low, .keys = 1, .count = (uint32_t)members});
}

/* ---- ranks ---- */

#pragma weak PMPI_Init

/* When the parent began, in ticks: its number may be given again (proc(5), stat, field 22). */
static unsigned long long parent_began(void)
{
    char path[64], text[1024] = "";
    unsigned long long began = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)getppid());
    FILE *f = fopen(path, "re");
    const char *at = f && fgets(text, sizeof text, f) ? strrchr(text, ')') : NULL;
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (at)
        began = strtoull(at, NULL, 10);
    if (f)
        fclose(f);
    return began;
}

/* Where mpirun is not recorded itself: Open MPI names the job; MPICH's processes on one machine have
 * one parent. */
API const char *poet_launch(void)
{
    static char name[128];
    const char *job_name = getenv("PMIX_NAMESPACE");
    if (!PMPI_Init || (!job_name && !getenv("PMI_RANK")))
        return NULL;
    if (job_name)
        snprintf(name, sizeof name, "mpirun@%.100s", job_name);
    else
        snprintf(name, sizeof name, "mpirun@%d.%llu", (int)getppid(), parent_began());
    return name;
}

uint64_t job(void) { return mix(ranks[0].identity[0], ranks[0].identity[1]); }

bool rank_traced(int world)
{
    return world >= 0 && world < rank_count && (ranks[world].identity[0] | ranks[world].identity[1]);
}

poet_line_t rank_line(int world)
{
    if (!rank_traced(world))
        return 0;
    lock();
    bool opened = ranks[world].line;
    unlock();
    if (!opened) {
        char name[32];
        snprintf(name, sizeof name, "rank %d", world);
        poet_line_t line = poet_line_of("rank", name, ranks[world].identity);
        lock();
        ranks[world].line = line;
        unlock();
    }
    return ranks[world].line;
}

static void exchange(poet_line_t line, int own)
{
    uint64_t identity[2];
    if (!poet_identity(line, identity))
        identity[0] = identity[1] = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &rank_count);
    ranks = take((size_t)rank_count, sizeof *ranks);
    uint64_t *all = take((size_t)rank_count, sizeof identity);
    PMPI_Allgather(identity, sizeof identity, MPI_BYTE, all, sizeof identity, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < rank_count; i++) {
        ranks[i].identity[0] = all[2 * i];
        ranks[i].identity[1] = all[2 * i + 1];
    }
    ranks[own].line = line;
    give(all);
}

static bool all_traced(void)
{
    for (int i = 0; i < rank_count; i++)
        if (!rank_traced(i))
            return false;
    return true;
}

/* ---- the calls ---- */

static void before_init(const void *site)
{
    poet_environment("mpi");
    for (int i = 0; i < EVENT_COUNT; i++)
        types[i] = poet_type(names[i], NULL);
    note(EVENT_init, 0, site);
}

/* All ranks take part, those that are not traced, too. */
static void after_init(const void *site)
{
    int own, level = MPI_THREAD_SINGLE;
    char name[32];
    poet_line_t line = poet_here();
    PMPI_Comm_rank(MPI_COMM_WORLD, &own);
    PMPI_Query_thread(&level);
    concurrent = level == MPI_THREAD_MULTIPLE;
    exchange(line, own);
    snprintf(name, sizeof name, "rank %d", own);
    poet_line_kind(line, "rank", name);
    if (line && all_traced())
        note_meeting(EVENT_initialised, job(), mix(job(), 1), rank_count, site);
    else
        note(EVENT_initialised, 0, site);
    comms_begin();
    following = line != 0;
}

API int MPI_Init(int *argc, char ***argv)
{
    before_init(SITE);
    int e = PMPI_Init(argc, argv);
    if (e == MPI_SUCCESS)
        after_init(SITE);
    return e;
}

API int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    before_init(SITE);
    int e = PMPI_Init_thread(argc, argv, required, provided);
    if (e == MPI_SUCCESS)
        after_init(SITE);
    return e;
}

API int MPI_Finalize(void)
{
    if (following)
        note(EVENT_finalise, 0, SITE);
    bool followed = following;
    following = false;
    int e = PMPI_Finalize();
    if (followed)
        note(EVENT_finalised, 0, SITE);
    return e;
}
