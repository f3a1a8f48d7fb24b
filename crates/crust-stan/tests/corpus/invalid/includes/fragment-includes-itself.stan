// mistake: includes a file that includes itself (include path: includes/)
parameters {
#include parts/self.inc
}
