"""The HTTP API: a transport and operations, free of any framework, and the public documents."""
