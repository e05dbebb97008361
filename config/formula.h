/* Formulas over metrics: sums, differences, products and quotients of numbers and names.
 *
 * A name consists of letters, digits and _ (not a digit first), or of any characters in 'quotes'.
 * The value of a division by zero is unknown. */
#ifndef CONFIG_FORMULA_H
#define CONFIG_FORMULA_H

#include <stdbool.h>

/* Looks up the value of a name; returns false if it is unknown. */
typedef bool formula_name(void *context, const char *name, double *value);

enum formula_result {
    FORMULA_GOOD,
    FORMULA_UNKNOWN /* the value of a name is unknown */,
    FORMULA_WRONG
};

/* Evaluates a formula. With FORMULA_WRONG, *wrong is the offset of the syntax error in the text. */
enum formula_result formula_value(const char *text, formula_name *name, void *context,
                                  double *value, unsigned *wrong);

#endif
