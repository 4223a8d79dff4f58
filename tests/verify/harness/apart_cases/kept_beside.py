"""A network beside plots that no training draws."""

import surely_not_installed_plots as plots
from torch import nn


class Both(nn.Bilinear):
    pass


def draw(values):
    plots.draw(values)
