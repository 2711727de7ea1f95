"""Signed webhooks: how a message is signed and proved, where it may go, and how it gets there.

Standard Webhooks 1.0.0 (https://github.com/standard-webhooks/standard-webhooks), symmetric signatures.
"""
