// mistake: the word then does not exist
model {
  if (1) then {
    print(1);
  }
}
