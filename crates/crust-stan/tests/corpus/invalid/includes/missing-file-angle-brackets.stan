// mistake: includes a file that does not exist, in angle brackets (include path: includes/)
data {
#include <parts/not-there.inc>
}
