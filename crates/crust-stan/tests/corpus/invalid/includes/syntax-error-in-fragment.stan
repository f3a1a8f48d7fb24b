// mistake: the included file has a syntax error (include path: includes/)
parameters {
#include parts/broken-syntax.inc
}
