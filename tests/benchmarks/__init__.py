"""The benchmark: ``python -m tests.benchmarks``. It measures and compares; nothing in it is a timed test.

Everything it needs it starts itself, on loopback, with free ports and data directories that go with it:
the service as ``placet serve`` runs it, the endpoint it is compared with, and the load, each in a process
of its own. What is compared takes turns within one run, so that a machine that is slow for a while is
slow for both, and what counts are the medians of the turns' ratios.
"""
