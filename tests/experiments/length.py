"""What the evidence of a view is divided by: its number of informative tokens, the root of it, or nothing."""

import numpy as np

from tests.experiments.lab import Way, counted, heading, judged, mail, row

if __name__ == "__main__":
    for corpus in ("spamassassin", "enron"):
        block = counted(mail(corpus))
        heading(corpus, len(block))
        tokens = np.diff(block.starts)
        long = tokens > np.quantile(tokens, 0.75)
        for name, kind in (("mean", "mean"), ("over the root", "root"), ("sum", "sum")):
            scores = judged(block, Way(length=kind))
            print(row(name, scores, block.labels), flush=True)
            print(row(f"{name}: the longest quarter", scores[long], block.labels[long]), flush=True)
