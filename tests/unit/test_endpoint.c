/* Endpoints: good and bad names, stale and live sockets. */
#include "tests/unit/unit.h"
#include "wire/endpoint.h"

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
        {"unix:", "no path"},
        {"tcp:", "write tcp:HOST:PORT"},
        {"tcp:127.0.0.1", "write tcp:HOST:PORT"},
        {"tcp:8.8.8.8:80", "only the loopback addresses"},
        {"tcp:0.0.0.0:80", "only the loopback addresses"},
        {"tcp:[::]:80", "only the loopback addresses"},
        {"file:x", "write unix:PATH, poet://HOST:PORT or tcp:HOST:PORT"},
        {"unix:/nonexistent/directory/socket", "No such file or directory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = {""};
        assert_int_equal(endpoint_listen(cases[i].name, &error), -1);
        if (!strstr(error.text, cases[i].why))
            fail_msg("%s: \"%s\", not \"%s\"", cases[i].name, error.text, cases[i].why);
    }
    char text[256] = "unix:/tmp/";
    memset(text + 10, 'x', 120);
    struct error error;
    assert_int_equal(endpoint_listen(text, &error), -1);
    assert_non_null(strstr(error.text, "a socket path has at most 107 bytes, this one has 125"));
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
    int first = endpoint_listen(endpoint, &error);
    assert_true(first >= 0);
    assert_int_equal(endpoint_listen(endpoint, &error), -1);
    assert_non_null(strstr(error.text, "another server is listening there"));
    close(first); /* as after kill -9: the file stays */
    assert_int_equal(endpoint_connect(endpoint, 100, &absent, &error), -1);
    assert_true(absent);
    int second = endpoint_listen(endpoint, &error);
    assert_true(second >= 0);
    close(second);
    unlink(path);
    FILE *f = fopen(path, "w");
    fclose(f);
    assert_int_equal(endpoint_listen(endpoint, &error), -1);
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
    unsetenv("POET_SERVER");
    assert_true(endpoint_default(path, sizeof path, &error));
    assert_string_equal(path, "unix:/run/somewhere/poet.sock");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_names_are_refused_with_a_reason),
        cmocka_unit_test(a_stale_socket_is_replaced_a_live_one_is_not),
        cmocka_unit_test(the_directory_must_be_the_users_own),
    };
    return cmocka_run_group_tests_name("endpoint", tests, NULL, NULL);
}
