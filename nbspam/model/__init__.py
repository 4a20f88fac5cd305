"""The mathematics of naive Bayes: counts, event models, views, calibration, priors, intervals."""
