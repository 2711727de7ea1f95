"""The only package that knows Redis."""
