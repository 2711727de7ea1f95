"""Approval tokens and seals: the keys, what is signed with them, and how it is checked.

Nothing here reads a clock: every time is an argument in milliseconds, the store's. The parts that
need no server (:mod:`~placet.tokens.verify`, :mod:`~placet.tokens.jwks`) also serve the agent's side.
"""
