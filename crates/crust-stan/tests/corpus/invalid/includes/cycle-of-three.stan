// mistake: three files include each other in a circle (include path: includes/)
parameters {
#include parts/cycle-of-three-a.inc
}
