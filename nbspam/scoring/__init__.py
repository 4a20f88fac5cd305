"""The arithmetic of a verdict in pure Python: a few hundred tokens, one sum a view.

Hides nothing but the folder.  The same laws in bulk, with numpy, are in `nbspam.models`; the
tests hold the two to 1e-9.  Nothing here is imported eagerly, so that a single message pays
only for the modules its model needs.
"""
