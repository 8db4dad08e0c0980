"""kvlab: a teaching workbench for the KV cache of LLM serving engines."""
