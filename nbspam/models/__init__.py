"""Event models in bulk: count, smooth, score whole matrices of messages with numpy and scipy.

Hides how a message is scored as if it had not been counted: by subtraction, without a second training.  The
laws are those of `nbspam.scoring`, which scores one message in pure Python; the tests hold the two to 1e-9.
A row is a message, a column a word or feature, everywhere.
"""
