/* Names as they are shown: of symbols, and in tables that would be too wide. */
#include "clients/cli/narrow_table.h"
#include "clients/symbols/demangle.h"
#include "base/alloc.h"
#include "tests/bruteforce.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void symbol_is(const char *symbol, const char *wanted)
{
    char text[200];
    assert_string_equal(demangle_shorten(symbol, text, sizeof text), wanted);
}

static void names_of_c_stay(void **state)
{
    (void)state;
    symbol_is("", "");
    symbol_is("main", "main");
    symbol_is("_Zebra", "_Zebra");
    symbol_is("operator", "operator");
}

static void what_compilers_append_is_removed(void **state)
{
    (void)state;
    symbol_is("work.part.0", "work");
    symbol_is("work.isra.0.cold", "work");
    symbol_is("work.constprop.12", "work");
    symbol_is("counter.0", "counter");
    symbol_is("work.lto_priv.0", "work");
    symbol_is("work.other", "work.other");
    symbol_is("work.other.1", "work.other");
    symbol_is(".part.0", ".part"); /* a name has at least one character */
    symbol_is("_ZN1A3runEi.part.0", "A::run");
    symbol_is("_Z7squaresPZL7squaresiE18_ZL7squaresi.Frame.actor", "squares");
    symbol_is("_ZL7squaresi.resume", "squares");
    symbol_is("_Z9uCpp_mainv", "main");
}

static void names_of_cpp_have_no_parameters(void **state)
{
    (void)state;
    symbol_is("_Z3runi", "run");
    symbol_is("_ZNK1A3runEiPFivE", "A::run"); /* const; a parameter with parentheses */
    symbol_is("_ZN1AclEi", "A"); /* A::operator() */
    symbol_is("_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}");
    symbol_is("_ZN12_GLOBAL__N_13runEv", "(anonymous namespace)::run");
}

static void a_thread_is_named_by_what_it_calls(void **state)
{
    (void)state;
    symbol_is("_ZNSt6thread11_State_implINS_8_InvokerISt5tupleIJPFvicEicEEEEE6_M_runEv",
              "void (*)(int, char)");
    symbol_is("_ZNSt6thread11_State_implINS_8_InvokerISt5tupleIJPFviEiEEEEE6_M_runEv",
              "void (*)(int)");
    symbol_is("_ZNSt6thread11_State_implINS_8_InvokerISt5tupleIJZ4mainEUlvE_EEEEE6_M_runEv",
              "main::{lambda()#1}");
}

static void critical_sections_have_the_name_in_the_source(void **state)
{
    (void)state;
    symbol_is(".gomp_critical_user_x", "x");
    symbol_is(".gomp_critical_user_x.var", "x");
    symbol_is(".gomp_critical_user_", "unnamed");
    symbol_is(".gomp_critical_user_.var", "unnamed");
}

/* ---- in tables ---- */

#define SIXTY "a23456789b123456789c123456789d123456789e123456789f123456789"

static char *shortened(const char *name, bool right, uint32_t *notes)
{
    struct text_table sheet = {.column_count = 0};
    text_table_add_column(&sheet, xstrdup("function"), right);
    text_table_add_row(&sheet)->cells[0] = xstrdup(name);
    narrow_table_shorten(&sheet);
    char *is = xstrdup(sheet.rows[0].cells[0]);
    *notes = sheet.note_count;
    text_table_free(&sheet);
    return is;
}

static void cell_is(const char *name, const char *wanted)
{
    uint32_t notes;
    char *is = shortened(name, false, &notes);
    assert_string_equal(is, wanted);
    assert_int_equal(notes, strcmp(name, wanted) != 0);
    free(is);
}

static void arguments_of_templates_are_the_first_to_go(void **state)
{
    (void)state;
    cell_is("f<" SIXTY ", b<c>>::g(int)", "f<...>::g(int)");
    cell_is("f<" SIXTY ">::g<int> (f.cc:12)", "f<...>::g<...> (f.cc:12)");
    cell_is("f<" SIXTY "->b>::g", "f<...>::g"); /* no bracket */
    cell_is("my_operator<" SIXTY ", b>::g", "my_operator<...>::g");
    cell_is("a::operator<< <" SIXTY ">", "a::operator<< <...>");
    cell_is("a::operator-><" SIXTY ">", "a::operator-><...>");
}

static void parameters_go_next(void **state)
{
    (void)state;
    cell_is("a::f(" SIXTY ", int)", "a::f(...)");
    cell_is("a::f(" SIXTY ", void (*)(int)) (f.cc:12)", "a::f(...) (f.cc:12)");
    cell_is("a::operator()(" SIXTY ")", "a::operator()(...)");
    cell_is("a::operator<(" SIXTY ", " SIXTY ")", "a::operator<(...)");
    cell_is("a::operator<<(" SIXTY ", " SIXTY ")", "a::operator<<(...)");
}

#define SEVEN "äöüäöüä"
#define FOURTEEN SEVEN SEVEN

static void the_middle_goes_last(void **state)
{
    (void)state;
    cell_is("a::" SIXTY SIXTY, "a::a23456789b123456789c123456789...123456789e123456789f123456789");
    cell_is("a::" FOURTEEN FOURTEEN SEVEN, "a::" FOURTEEN "..." FOURTEEN); /* between characters */
}

static void other_names_stay(void **state)
{
    uint32_t notes;
    (void)state;
    cell_is("", "");
    cell_is(SIXTY SIXTY, SIXTY SIXTY); /* not of C++ */
    cell_is("a::" SIXTY, "a::" SIXTY); /* short enough */
    cell_is("a::" SIXTY " (a/long/path/of/a/file.cc:1234)",
            "a::" SIXTY " (a/long/path/of/a/file.cc:1234)");
    char *is = shortened("a::" SIXTY SIXTY, true, &notes); /* a number's column */
    assert_string_equal(is, "a::" SIXTY SIXTY);
    assert_int_equal(notes, 0);
    free(is);
}

/* Of any brackets: the location stays, and the rest becomes as narrow as it should be. */
static void any_name_becomes_narrow(void **state)
{
    static const char letters[] = "ab<>(),: -ä";
    unsigned random = 3;
    (void)state;
    for (unsigned round = 0; round < 3000; round++) {
        char name[220];
        uint32_t notes;
        size_t size = 70 + execution_random(&random, 120);
        strcpy(name, "a::");
        for (size_t i = 3; i < size; i++)
            name[i] = letters[execution_random(&random, sizeof letters - 3)];
        strcpy(name + size, "x (f.cc:1)");
        char *is = shortened(name, false, &notes);
        size_t now = strlen(is);
        assert_true(now >= 9 && now <= 64 + 9);
        assert_string_equal(is + now - 9, " (f.cc:1)");
        assert_int_equal(notes, 1);
        free(is);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_c_stay),
        cmocka_unit_test(what_compilers_append_is_removed),
        cmocka_unit_test(names_of_cpp_have_no_parameters),
        cmocka_unit_test(a_thread_is_named_by_what_it_calls),
        cmocka_unit_test(critical_sections_have_the_name_in_the_source),
        cmocka_unit_test(arguments_of_templates_are_the_first_to_go),
        cmocka_unit_test(parameters_go_next),
        cmocka_unit_test(the_middle_goes_last),
        cmocka_unit_test(other_names_stay),
        cmocka_unit_test(any_name_becomes_narrow),
    };
    return cmocka_run_group_tests_name("shortened", tests, NULL, NULL);
}
