"""vLLM: keep KV in blocks, findable by a hash of everything before them."""
