"""What students run at home: the public checks, with the engine and the messages that grade them later."""
