"""The approver's web pages: what awaits a person, what it is, and their decision on exactly that."""
