"""Wrong variants that feedback is made from, right but for one thing: those of `reference.X` are in module X here."""
