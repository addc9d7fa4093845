"""What a user is told, in one line."""


class Failure(Exception):
    """Names the file, and the tensor where it is one, and what is wrong with it."""
