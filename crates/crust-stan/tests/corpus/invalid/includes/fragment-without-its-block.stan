// mistake: declarations are included outside of a block (include path: includes/)
#include parts/two-sizes.inc
model {
  target += 1;
}
