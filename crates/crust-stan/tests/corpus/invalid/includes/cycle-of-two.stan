// mistake: a file includes b and b includes a (include path: includes/)
parameters {
#include parts/cycle-a.inc
}
