// mistake: includes a file that includes a missing file (include path: includes/)
data {
#include parts/includes-missing.inc
}
