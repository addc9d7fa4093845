"""What a user is told: one line, and exit code 1."""


class Failure(Exception):
    """Names the file and what is wrong with it."""
