/* Lookup of the OpenMP runtime's functions behind the interposed calls. */
#define _GNU_SOURCE
#include "clients/libpoet/openmp/omp_runtime.h"

#include "clients/libpoet/next_symbol.h"
#include "clients/libpoet/poet.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[REAL_COUNT] = {
#define C(name) [REAL_##name] = #name,
    REAL_CALLS(C)
#undef C
};

/* The runtimes that callers of one module use. */
struct omp_runtime {
    void *calls[REAL_COUNT];
    bool gomp_is_llvm; /* its GOMP_parallel is that of LLVM's runtime */
    struct link_map *module; /* NULL: used by all, since it is in the global scope */
    struct omp_runtime *next;
};

static struct omp_runtime *_Atomic global;
/* those opened outside of the global scope; never removed */
static struct omp_runtime *_Atomic locals;

static const void *omp_runtime_module(const void *address)
{
    Dl_info info;
    return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* RTLD_NEXT: what comes after this library. */
static struct omp_runtime *omp_runtime_look_up(void *handle)
{
    struct omp_runtime *r = calloc(1, sizeof *r);
    for (int i = 0; r && i < REAL_COUNT; i++)
        r->calls[i] = next_in(handle, names[i]);
    if (r)
        r->gomp_is_llvm = r->calls[REAL___kmpc_fork_call] &&
                          omp_runtime_module(r->calls[REAL_GOMP_parallel]) ==
                              omp_runtime_module(r->calls[REAL___kmpc_fork_call]);
    return r;
}

/* No longer valid once some module has one of its own, which it then keeps. */
static struct omp_runtime *omp_runtime_find_global(void)
{
    if (atomic_load(&locals) ||
        (!next_in(RTLD_NEXT, "GOMP_parallel") && !next_in(RTLD_NEXT, "__kmpc_fork_call")))
        return NULL;
    struct omp_runtime *none = NULL, *found = omp_runtime_look_up(RTLD_NEXT);
    if (found && !atomic_compare_exchange_strong(&global, &none, found)) {
        free(found);
        found = none;
    }
    return found;
}

/* ---- opened later, outside of the global scope: found by the caller's module ---- */

#define KNOWN 256u
struct omp_known_caller {
    const void *site;
    const struct omp_runtime *runtime;
};
/* never removed: other threads may read it */
static struct omp_known_caller *_Atomic known[KNOWN];

static struct omp_runtime *omp_runtime_open_local(struct link_map *map)
{
    void *handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
    struct omp_runtime *r = handle ? omp_runtime_look_up(handle) : NULL;
    if (r && omp_runtime_module(r->calls[REAL_GOMP_parallel]) ==
                 omp_runtime_module(names)) { /* it was linked without */
        void *gomp = dlopen("libgomp.so.1", RTLD_LAZY);
        free(r);
        r = gomp ? omp_runtime_look_up(gomp) : NULL;
    }
    /* the caller keeps it open */
    if (handle)
        dlclose(handle);
    if (!r)
        return NULL;
    r->module = map;
    r->next = atomic_load(&locals);
    while (!atomic_compare_exchange_weak(&locals, &r->next, r))
        ;
    return r;
}

static struct omp_runtime *omp_runtime_for_module(const void *site)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1(site, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return NULL;
    struct omp_runtime *r = atomic_load(&locals);
    while (r && r->module != map)
        r = r->next;
    return r ? r : omp_runtime_open_local(map);
}

static const struct omp_runtime *omp_runtime_find_local(const void *site)
{
    struct omp_known_caller *_Atomic *at = &known[((uintptr_t)site >> 2) % KNOWN];
    struct omp_known_caller *k = atomic_load_explicit(at, memory_order_acquire), *none = NULL;
    if (k && k->site == site)
        return k->runtime;
    const struct omp_runtime *r = omp_runtime_for_module(site);
    struct omp_known_caller *new = r && !k ? malloc(sizeof *new) : NULL;
    if (new) {
        *new = (struct omp_known_caller){site, r};
        if (!atomic_compare_exchange_strong(at, &none, new))
            free(new);
    }
    return r;
}

static const struct omp_runtime *omp_runtime_get(const void *site)
{
    const struct omp_runtime *r = atomic_load_explicit(&global, memory_order_acquire);
    if (r)
        return r;
    int saved = errno;
    r = omp_runtime_find_global();
    if (!r)
        r = omp_runtime_find_local(site);
    errno = saved;
    return r;
}

void *omp_runtime_function(enum real_call call, const void *site)
{
    const struct omp_runtime *r = omp_runtime_get(site);
    return r ? r->calls[call] : NULL;
}

bool omp_runtime_is_llvm(const void *site)
{
    const struct omp_runtime *r = omp_runtime_get(site);
    return r && r->gomp_is_llvm;
}

/* ---- the library ---- */

/* Looked up by libpoet. */
API extern const char poet_omp_follows[];
const char poet_omp_follows[] = "omp";

/* Reports calls of the program that synchronize and are not interposed. */
__attribute__((constructor)) static void omp_runtime_report_untraced(void)
{
    static const char *const devices[] = {"GOMP_target_ext",           "GOMP_target",
                                          "__tgt_target_mapper",       "__tgt_target_kernel",
                                          "__tgt_target_teams_mapper", NULL};
    static const char *const doacross[] = {"GOMP_doacross_ull_wait", NULL};
    if (poet_imports(devices))
        poet_untraced("OpenMP device regions (target)");
    if (poet_imports(doacross))
        poet_untraced("ordered loops over unsigned integers with depend(sink) (OpenMP)");
}
