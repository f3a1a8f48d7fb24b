// mistake: an escaped quote does not exist: the string ends there
model {
  print("say \"hi\" now");
}
