"""A check-up of a model, of what is around it, and of the labels of mail.

`checkup` holds the order; `model_place`, `model_health` and `delivery` each give what a `finding` is;
`labels_in_doubt` judges each message by the mail of other campaigns.
"""
