// Comments of both kinds in every awkward position, with nested-looking openers.
/* a block comment that ends here */ /* and a second one */
/* an opener inside /* does not nest: the first closer ends it */
/**/
/***/
/* // a line comment inside a block comment */
// /* a block opener inside a line comment
data { // after a brace
  int /* between type and name */ n; // after a semicolon
  vector /* a */ [ /* b */ n /* c */ ] /* d */ v /* e */ ; // f
  //
  ///// many slashes
  /* stars ** and *** slashes / // inside **/
}
/* several
   lines with "quotes" and 'single quotes'
   and an unbalanced " too */
model {
  target += sum(v) /* divided */ / /* by */ 2.0 /* end */;
  // "unbalanced quote in a line comment
  print("not // a comment", " nor /* this */");
}
// no newline at the end of this comment
