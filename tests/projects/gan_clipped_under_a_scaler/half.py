"""Half precision with a real scaler of gradients on a CPU, on Lightning 1.9 and 2."""

import torch

try:
    from pytorch_lightning.plugins import MixedPrecision

    NAME = "16-mixed"
except ImportError:
    from pytorch_lightning.plugins import MixedPrecisionPlugin as MixedPrecision

    NAME = "16"


def scaled():
    return MixedPrecision(NAME, "cpu", scaler=torch.amp.GradScaler("cpu", init_scale=256.0))
