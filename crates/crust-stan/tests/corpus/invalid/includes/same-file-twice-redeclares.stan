// mistake: the same declarations are included twice (include path: includes/)
data {
#include parts/two-sizes.inc
#include parts/two-sizes.inc
}
