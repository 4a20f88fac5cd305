"""What a model learns after its training, message by message.

learn        learn messages as a class, unlearn them, move them
autolearn    a filter that learns its own verdicts
undo         take back what commands have learned
"""
