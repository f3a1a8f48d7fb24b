// mistake: strings take double quotes, not single ones
model {
  print('hello');
}
