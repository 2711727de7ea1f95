"""Slack: what a card looks like there, what comes back of it, and the calls that carry it.

``card`` lays a card out in blocks, ``words`` makes any text literal there, ``texts`` tells what a message
says whatever Slack made of it, ``modal`` asks for a comment, ``api`` talks to Slack. Only the last of them
does I/O. Nothing here decides anything, or knows who may.
"""
