"""Which mistakes can a caller make, and how are they told?

Every error that kvlab raises for a caller's mistake is a child of `KvlabError`.
Running out of room in normal service is not an error: it is an answer.
"""


class KvlabError(Exception):
    """The root of all errors that a caller can cause and mend."""


class ConfigError(KvlabError):
    """A setting that no engine could start with."""


class InputError(KvlabError):
    """A file from outside that cannot be used: where, what is wrong, what to do."""

    def __init__(self, where: str, problem: str, remedy: str = "") -> None:
        text = f"{where}: {problem}"
        super().__init__(f"{text}; {remedy}" if remedy else text)


class TraceError(InputError):
    """A recorded run that is damaged, foreign, or does not fold."""


class OutOfPool(KvlabError):
    """A demand that the pool could never meet, even when empty."""


class EngineFault(KvlabError):
    """An assertion of the real engine that a fault of its rules makes fail."""
