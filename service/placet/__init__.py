"""Placet: a human approval coordinator for AI agents."""
