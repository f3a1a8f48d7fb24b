// mistake: includes a file that does not exist (include path: includes/)
data {
#include parts/does-not-exist.inc
}
