"""What is told about a running service: the request at hand, log lines, metrics."""
