// mistake: a tuple type without elements
data {
  tuple() t;
}
