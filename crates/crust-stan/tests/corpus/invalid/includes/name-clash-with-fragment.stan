// mistake: declares a name that the included file declares too (include path: includes/)
data {
#include parts/two-sizes.inc
  real K;
}
