/* Formulas over meters: sums, differences, products and quotients of numbers and of names.
 *
 * A name is letters, digits and _ (not a digit first), or anything in 'quotes'.  Nothing is divided
 * by zero: the value of such a formula is not known. */
#ifndef CONFIG_FORMULA_H
#define CONFIG_FORMULA_H

#include <stdbool.h>

/* What a name stands for; false: it is not known. */
typedef bool formula_name(void *context, const char *name, double *value);

enum formula_result { FORMULA_GOOD, FORMULA_UNKNOWN /* a value is not known */, FORMULA_WRONG };

/* FORMULA_WRONG sets *wrong, the byte of the text where it is. */
enum formula_result formula_value(const char *text, formula_name *name, void *context,
                                  double *value, unsigned *wrong);

#endif
