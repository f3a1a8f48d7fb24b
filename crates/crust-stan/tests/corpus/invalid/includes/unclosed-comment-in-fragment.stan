// mistake: the included file does not close a comment (include path: includes/)
parameters {
#include parts/unclosed-comment.inc
  */
}
