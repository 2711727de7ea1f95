"""Use cases: what callers and operators can have done. Every channel ends in them."""
