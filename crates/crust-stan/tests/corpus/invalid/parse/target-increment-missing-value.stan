// mistake: target += without a value
model {
  target += ;
}
