#!/usr/bin/env python3
"""Serves models with llama.cpp at free ports of the loopback address.

usage: serve.py MODEL.gguf... >URLS
needs: xllamacpp

Each model goes by its file's name. When all are ready, one line has the base URLs
of their APIs. The servers end after ten minutes, if nobody ends them before.
"""
import pathlib
import sys
import time

import xllamacpp


def serve(path):
    p = xllamacpp.CommonParams()
    p.model.path = path
    p.model_alias = {pathlib.Path(path).stem}
    p.hostnames, p.port = ["127.0.0.1"], 0
    p.n_parallel, p.n_ctx = 4, 4 * 4096  # slots share the context
    # Two threads would spin against each other, and against the client, on two cores.
    p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 1
    return xllamacpp.Server(p)


servers = [serve(path) for path in sys.argv[1:]]
print(*(s.listening_address + "/v1" for s in servers), flush=True)
time.sleep(600)
