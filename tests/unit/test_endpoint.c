/* Endpoints: valid and invalid names, stale and live sockets. */
#include "tests/unit/unit.h"
#include "wire/address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void bad_names_are_refused_with_a_reason(void **state)
{
    (void)state;
    static const struct {
        const char *name, *why;
    } cases[] = {
        {"unix:", "missing path"},
        {"tcp:127.0.0.1:80", "unencrypted connections are not supported; use poet://HOST:PORT"},
        {"poet://", "use poet://HOST:PORT"},
        {"poet://127.0.0.1", "use poet://HOST:PORT"},
        {"poet://:80", "use poet://HOST:PORT"},
        {"file:x", "use unix:PATH or poet://HOST:PORT"},
        {"unix:/nonexistent/directory/socket", "No such file or directory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = {""};
        assert_int_equal(address_listen(cases[i].name, &error), -1);
        if (!strstr(error.text, cases[i].why))
            fail_msg("%s: \"%s\", not \"%s\"", cases[i].name, error.text, cases[i].why);
    }
    char text[256] = "unix:/tmp/";
    memset(text + 10, 'x', 120);
    struct error error;
    assert_int_equal(address_listen(text, &error), -1);
    assert_non_null(
        strstr(error.text, "socket path too long (at most 107 bytes, this one has 125)"));
}

static void a_stale_socket_is_replaced_a_live_one_is_not(void **state)
{
    (void)state;
    char path[64], endpoint[80];
    struct error error;
    bool absent;
    snprintf(path, sizeof path, "/tmp/poet-unit-%d.sock", (int)getpid());
    snprintf(endpoint, sizeof endpoint, "unix:%s", path);
    assert_int_equal(endpoint_connect(endpoint, 100, &absent, &error), -1);
    assert_true(absent);
    int first = address_listen(endpoint, &error);
    assert_true(first >= 0);
    assert_int_equal(address_listen(endpoint, &error), -1);
    assert_non_null(strstr(error.text, "in use by another server"));
    close(first); /* as after kill -9: the socket file remains */
    assert_int_equal(endpoint_connect(endpoint, 100, &absent, &error), -1);
    assert_true(absent);
    int second = address_listen(endpoint, &error);
    assert_true(second >= 0);
    close(second);
    unlink(path);
    FILE *f = fopen(path, "w");
    fclose(f);
    assert_int_equal(address_listen(endpoint, &error), -1);
    assert_non_null(strstr(error.text, "is not a socket"));
    unlink(path);
}

static void the_directory_must_be_the_users_own(void **state)
{
    (void)state;
    char path[256];
    struct error error;
    setenv("XDG_RUNTIME_DIR", "/run/somewhere", 1);
    assert_true(endpoint_directory(path, sizeof path, &error));
    assert_string_equal(path, "/run/somewhere");
    setenv("POET_SERVER", "unix:/x", 1);
    assert_true(endpoint_default(path, sizeof path, &error));
    assert_string_equal(path, "unix:/x");
    setenv("POET_SERVER", "laptop:7711", 1);
    assert_true(endpoint_default(path, sizeof path, &error));
    assert_string_equal(path, "poet://laptop:7711");
    unsetenv("POET_SERVER");
    assert_true(endpoint_default(path, sizeof path, &error));
    assert_string_equal(path, "unix:/run/somewhere/poet.sock");
}

static void what_is_elsewhere_is_reached_by_an_agent(void **state)
{
    (void)state;
    static const struct {
        const char *named, *target; /* NULL: not an endpoint */
    } cases[] = {
        {"laptop:7711", "poet://laptop:7711"},
        {"127.0.0.1:1", "poet://127.0.0.1:1"},
        {"[::1]:7711", "poet://[::1]:7711"},
        {"poet://laptop:7711", "poet://laptop:7711"},
        {"nats://laptop", "nats://laptop"},
        {"unix:/x", NULL},
        {"unix:80", NULL},
        {"tcp:laptop:80", NULL},
        {"laptop", NULL},
        {"laptop:", NULL},
        {":80", NULL},
        {"laptop:port", NULL},
        {"a:b:80", NULL},
        {"directory/laptop:80", NULL},
        {"none", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char target[40] = "";
        bool is = endpoint_is_other_host(cases[i].named, target, sizeof target);
        if (is != (cases[i].target != NULL) || (is && strcmp(target, cases[i].target) != 0))
            fail_msg("%s: %d \"%s\"", cases[i].named, is, target);
    }
    char small[8];
    assert_false(endpoint_is_other_host("laptop:7711", small, sizeof small));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_names_are_refused_with_a_reason),
        cmocka_unit_test(a_stale_socket_is_replaced_a_live_one_is_not),
        cmocka_unit_test(the_directory_must_be_the_users_own),
        cmocka_unit_test(what_is_elsewhere_is_reached_by_an_agent),
    };
    return cmocka_run_group_tests_name("endpoint", tests, NULL, NULL);
}
