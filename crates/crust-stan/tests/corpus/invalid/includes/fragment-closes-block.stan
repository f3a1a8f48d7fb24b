// mistake: the included file closes the block, and this file closes it again (include path: includes/)
parameters {
#include parts/closes-block.inc
}
