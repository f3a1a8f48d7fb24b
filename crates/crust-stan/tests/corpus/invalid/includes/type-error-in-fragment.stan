// mistake: the included file has a type error (include path: includes/)
functions {
#include parts/type-error-function.inc
}
