// Deeply nested blocks, parentheses and brackets.
transformed data {
  array[1, 1, 1, 1, 1] int deep = {{{{{1}}}}};
  int pick = deep[deep[1, 1, 1, 1, 1]][deep[1][1][1][1][1]][1][1][1];
  {
    {
      {
        {
          {
            int inner = ((((((pick))))));
            if (inner) { if (inner) { if (inner) { if (inner) { print(inner); } } } }
          }
        }
      }
    }
  }
}
