/* Names of objects from the source: the first argument of a call. */
#include "clients/symbols/call_argument.h"
#include "tests/unit/unit.h"

#include <string.h>

static const char *argument(const char *source, int line)
{
    static char text[64];
    return call_argument_find(source, line, text, sizeof text) ? text : "";
}

static void test_forms(void **state)
{
    static const char *const cases[][2] = {
        {"pthread_mutex_lock(&a->lock);", "a->lock"},
        {"    pthread_mutex_init( & a -> lock , NULL);", "a->lock"},
        {"if (pthread_mutex_trylock(&table.rows[i + 1].m) == 0)", "table.rows[i+1].m"},
        {"pthread_cond_wait(&q->more, &q->lock);", "q->more"},
        {"sem_init(slots + 1, 0, 3);", ""},
        {"sem_post(&(p->free));", "p->free"},
        {"mtx_lock(&lock);", "lock"},
        {"pthread_mutex_lock(self->lock);", "self->lock"},
        {"pthread_mutex_lock(locks[n]);", "locks[n]"},
        {"pthread_mutex_lock(&a /* , not b */->lock);", "a->lock"},
        {"pthread_mutex_lock(m);", ""}, /* a pointer's name is not its object's */
        {"pthread_mutex_lock(lock_of(a));", ""},
        {"pthread_mutex_lock(&table[\"x\"].m);", ""},
        {"my_pthread_mutex_lock(&a->lock);", ""},
        {"puts(\"pthread_mutex_lock(&a->lock)\"); // sem_post(&b->s)", ""},
        {"pthread_mutex_lock(&a->lock); pthread_mutex_lock(&b->lock);", ""},
        {"pthread_mutex_lock(&a->lock); n++; pthread_mutex_unlock(&a->lock);", "a->lock"},
        {"pthread_mutex_lock(&a->", ""},
        {"pthread_mutex_lock(&", ""},
        {"pthread_mutex_lock", ""},
        {"", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(argument(cases[i][0], 1), cases[i][1]);
}

static void test_lines(void **state)
{
    static const char source[] = "int x;\nsem_post(&a->one);\npthread_mutex_init(&b->two,\n"
                                 "                   NULL);\n/* x\nsem_post(&c->three); */\n";
    (void)state;
    assert_string_equal(argument(source, 1), "");
    assert_string_equal(argument(source, 2), "a->one");
    assert_string_equal(argument(source, 3), "b->two");
    assert_string_equal(argument(source, 4), "");
    assert_string_equal(argument(source, 99), "");
    assert_string_equal(argument(source, 0), "");
    assert_string_equal(argument(source, -1), "");
}

static void test_room(void **state)
{
    char text[8];
    (void)state;
    assert_true(call_argument_find("sem_post(&abcdefg);", 1, text, sizeof text));
    assert_string_equal(text, "abcdefg");
    assert_false(call_argument_find("sem_post(&abcdefgh);", 1, text, sizeof text));
    assert_false(call_argument_find("sem_post(&a);", 1, text, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms), cmocka_unit_test(test_lines),
                                       cmocka_unit_test(test_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
