"""The ways to the outside: what is sent to chats and webhooks, and how what comes back is proved."""
