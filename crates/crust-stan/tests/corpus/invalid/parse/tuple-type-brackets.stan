// mistake: a tuple type with brackets
data {
  tuple[real, int] t;
}
