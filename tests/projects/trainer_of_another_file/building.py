from pytorch_lightning import Trainer


def again():
    return Trainer(max_epochs=3, resume_from_checkpoint="first.ckpt", replace_sampler_ddp=False)
