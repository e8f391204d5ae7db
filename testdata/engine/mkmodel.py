#!/usr/bin/env python3
"""Writes a model of random weights that a llama.cpp server can run.

usage: mkmodel.py VOCABULARY.gguf MODEL.gguf
needs: gguf, numpy

The tokenizer is that of VOCABULARY. The model says words of a to z, each after a
space, and at temperature 1, without top_k, top_p and min_p, ends its answer after
each with the probability 1/MEAN_ANSWER: the length of an answer is geometric.

How: dimension 0 of the residual stream is a constant that no layer writes to, so
that column 0 of the output matrix is a bias of each token.
"""
import sys

import gguf
import numpy as np

LAYERS, WIDTH, HEADS, KV_HEADS, INNER, CONTEXT = 2, 64, 4, 2, 128, 8192
MEAN_ANSWER = 40
CONSTANT = WIDTH**0.5  # half of the energy of the stream
NEVER = -4.0  # a bias, some 20 below the words'

random = np.random.default_rng(0)


def normal(*shape, scale=None):
    return random.standard_normal(shape, dtype=np.float32) * (scale or shape[-1] ** -0.5)


def copy_tokenizer(vocabulary, writer):
    for key, field in vocabulary.fields.items():
        if key.startswith("tokenizer."):
            array = field.types[0] == gguf.GGUFValueType.ARRAY
            writer.add_key_value(key, field.contents(), field.types[0], field.types[-1] if array else None)


def describe(writer, tokens):
    writer.add_vocab_size(tokens)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)


def embeddings(tokens):
    m = normal(tokens, WIDTH, scale=1.0)
    m[:, 0] = CONSTANT
    return m


def output(words, eos):
    m = normal(len(words), WIDTH)
    m[:, 0] = np.where(words, 0, NEVER)
    after_norm = CONSTANT / ((CONSTANT**2 + WIDTH - 1) / WIDTH) ** 0.5
    # The other logits are normal with a variance of 1/2, and so the logarithm of the
    # sum of their exponentials is that of their number, and a quarter.
    m[eos] = 0
    m[eos, 0] = (np.log(words.sum()) + 0.25 - np.log(MEAN_ANSWER)) / after_norm
    return m


def silent(*shape):
    """A matrix that adds little to the stream, and nothing to dimension 0."""
    m = normal(*shape, scale=0.1 * shape[-1] ** -0.5)
    m[0] = 0
    return m


def layer():
    head = WIDTH // HEADS
    yield "attn_norm", np.ones(WIDTH, np.float32)
    yield "attn_q", normal(WIDTH, WIDTH)
    yield "attn_k", normal(KV_HEADS * head, WIDTH)
    yield "attn_v", normal(KV_HEADS * head, WIDTH)
    yield "attn_output", silent(WIDTH, WIDTH)
    yield "ffn_norm", np.ones(WIDTH, np.float32)
    yield "ffn_gate", normal(INNER, WIDTH)
    yield "ffn_up", normal(INNER, WIDTH)
    yield "ffn_down", silent(WIDTH, INNER)


def tensors(tokens, space, eos):
    words = np.array([len(t) > 2 and t[0] == space and t[1:].isascii() and t[1:].isalpha() and t[1:].islower() for t in tokens])
    yield "token_embd.weight", embeddings(len(tokens))
    for i in range(LAYERS):
        for name, m in layer():
            yield f"blk.{i}.{name}.weight", m
    yield "output_norm.weight", np.ones(WIDTH, np.float32)
    yield "output.weight", output(words, eos)


def main(source, target):
    vocabulary = gguf.GGUFReader(source)

    def tokenizer(key):
        return vocabulary.fields["tokenizer.ggml." + key].contents()

    tokens = tokenizer("tokens")
    space = "\u2581" if tokenizer("model") == "llama" else "\u0120"  # as SentencePiece and byte-level BPE write it
    writer = gguf.GGUFWriter(target, "llama")
    describe(writer, len(tokens))
    copy_tokenizer(vocabulary, writer)
    for name, m in tensors(tokens, space, int(tokenizer("eos_token_id"))):
        writer.add_tensor(name, m if m.ndim == 1 else m.astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main(*sys.argv[1:])
