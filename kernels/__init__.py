"""Arithmetic of the `.slm` transformer over numpy arrays; knows token ids, never conversations.

Shape letters, used in every docstring and comment of this package (the same as in the file header):

    V  vocabulary        vocab_size          H  hidden width       hidden_size
    L  layers            layer_count         A  attention heads    head_count
    K  key/value heads   kv_head_count       D  head width         head_dim
    F  feed-forward      ffn_size            C  context length     max_context
    T  tokens in this call                   S  tokens already in the cache
"""
