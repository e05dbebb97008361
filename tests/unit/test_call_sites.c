/* A place in the code has one number, in all processes that ran it. */
#include "server/run/call_sites.h"
#include "server/run/run.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static struct run_module module(const char *path, uint8_t id, uint64_t start, uint64_t bias)
{
    struct run_module m = {.path = strdup(path),
                           .build_id_bytes = id ? 20 : 0,
                           .start = start,
                           .end = start + 0x1000,
                           .bias = bias};
    memset(m.build_id, id, id ? 20 : 0);
    return m;
}

static uint32_t process(struct run *run, const struct run_module *modules, size_t count)
{
    struct run_process p = {.path = strdup("p"), .host = strdup("h")};
    for (size_t i = 0; i < count; i++) {
        p.modules = realloc(p.modules, (i + 1) * sizeof *p.modules);
        p.modules[p.module_count++] = modules[i];
    }
    p.module_room = count;
    return run_process(run, p);
}

static uint32_t place(struct run *run, uint32_t in, uint64_t address)
{
    return call_sites_for_line(
        run, site_table_add(&run->sites, (struct site){.process = in, .address = address}));
}

static void places_are_of_files(void **state)
{
    (void)state;
    struct run *run = run_new("places", 1, NULL);
    struct run_module first[] = {module("/a", 1, 0x10000, 0x10000),
                                 module("/l", 0, 0x50000, 0x50000)};
    struct run_module second[] = {module("/b", 1, 0x70000, 0x70000),
                                  module("/l", 0, 0x90000, 0x90000),
                                  module("/m", 2, 0xa0000, 0xa0000)};
    uint32_t p = process(run, first, 2), q = process(run, second, 3);
    assert_int_equal(call_sites_for_line(run, 0), 0);
    uint32_t a = place(run, p, 0x10100), library = place(run, p, 0x50020);
    assert_int_equal(a, 1);
    assert_int_equal(place(run, p, 0x10100), a);
    assert_int_equal(place(run, q, 0x70100), a); /* the same build, at another address */
    assert_int_equal(place(run, q, 0x90020), library); /* without a build-id: the same path */
    assert_true(place(run, q, 0xa0100) != a);
    assert_true(place(run, p, 0x10101) != a);
    assert_true(place(run, p, 0x999999) != place(run, q, 0x999999)); /* in no module */
    assert_true(call_sites_site(run, a) ==
                site_table_add(&run->sites, (struct site){.process = p, .address = 0x10100}));
    assert_int_equal(call_sites_site(run, call_sites_count(run) + 1), 0);
    run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(places_are_of_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
