"""Other filters driven through the evaluation of nbspam, so that all are measured by the same code.

python -m peers.bogofilter SOURCE --replay
python -m peers.one_by_one --filter spamprobe SOURCE --replay     also crm114, spamassassin
python -m peers.scikit_learn SOURCE --folds 10 --event-model ComplementNB
python -m peers.table CORPORA FOLDER               nbspam and all of them (make peers)
python -m peers.subject_and_body SOURCE FOLDER     a copy without other header fields
python -m peers.dated_index SOURCE INDEX           an index in the order of dates in file names
"""
