// mistake: the name of the included file lacks its closing bracket (include path: includes/)
data {
#include <parts/two-sizes.inc
}
