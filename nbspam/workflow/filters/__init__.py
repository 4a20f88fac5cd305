"""Filters in memory, for evaluation: trained on some rows of a block, they score other rows of it.

`bulk` is trained at once, `fixed` with a vocabulary of its own (`--vocab`), `replay` learns message by
message; `memory_model` is what a scorer takes for a model, `vocabulary_block` a block as a fixed vocabulary
sees it.
"""
