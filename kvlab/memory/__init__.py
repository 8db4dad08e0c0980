"""Where the bytes live: free pages, KV pools, request rows, copies in flight."""
