"""Tokenizers by name: `bytes`, in which a token is a byte of UTF-8, or one that the transformers library finds."""

from ._failure import Failure


class Bytes:
    """No words to be learned."""

    words, separator, padding = 256, None, 0

    def encode(self, text, pair=None, length=None):
        ids = list((text + (pair or "")).encode())
        return ids[:length], [0] * len(ids[:length])


class Pretrained:
    """One of the transformers library; special tokens are added to rows, and not to a stream."""

    def __init__(self, name):
        try:
            import transformers  # pylint: disable=import-outside-toplevel
        except ImportError as problem:
            raise Failure(f"tokenizer '{name}' requires the transformers library: pip install transformers; the tokenizer "
                          "'bytes' does not") from problem
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        self.words, self.separator = len(self.tokenizer), self.tokenizer.eos_token_id
        self.padding = self.tokenizer.pad_token_id or 0

    def encode(self, text, pair=None, length=None):
        if length is None:
            return self.tokenizer(text, add_special_tokens=False)["input_ids"], None
        made = self.tokenizer(text, pair, truncation=True, max_length=length, return_token_type_ids=True)
        return made["input_ids"], made["token_type_ids"]


def find_tokenizer(name):
    return Bytes() if name == "bytes" else Pretrained(name)
