"""SGLang: keep prefixes on a tree, and copies of them on the host."""
