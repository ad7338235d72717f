"""scikit-learn's search over a network of skorch's, in processes of joblib, with callbacks and a checkpoint."""

import sys

import numpy
import torch
from sklearn.model_selection import GridSearchCV
from skorch import NeuralNetClassifier
from skorch.callbacks import Checkpoint, EpochScoring, LRScheduler
from torch import nn

torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, width), nn.ReLU(), nn.Linear(width, 2), nn.Softmax(-1))

    def forward(self, X):
        return self.layers(X)


def main(folder):
    x = numpy.random.RandomState(0).randn(120, 6).astype("float32")
    y = (x.sum(1) > 0).astype("int64")
    torch.manual_seed(9)
    callbacks = [Checkpoint(dirname=folder, f_history=None), LRScheduler("StepLR", step_size=2), EpochScoring("f1", name="f1")]
    net = NeuralNetClassifier(Net, max_epochs=4, lr=0.2, batch_size=16, iterator_train__shuffle=True, callbacks=callbacks, verbose=0)
    net.fit(x, y)
    for row in net.history:
        print(row["epoch"], float(row["train_loss"]).hex(), float(row["valid_loss"]).hex(), row["f1"], row["event_cp"])
    torch.manual_seed(9)
    quiet = NeuralNetClassifier(Net, max_epochs=2, batch_size=16, train_split=None, verbose=0)
    search = GridSearchCV(quiet, {"lr": [0.05, 0.2], "module__width": [4, 8]}, cv=2, n_jobs=2, scoring="accuracy")
    search.fit(x, y)
    print(sorted(search.best_params_), len(search.cv_results_["mean_test_score"]))


if __name__ == "__main__":
    main(sys.argv[1])
