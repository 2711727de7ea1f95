"""The ground: pure values and judgements. No I/O, no clock, no randomness, no logging."""
