"""Facts about the sets that `load` knows: where they come from, their published checksums, their classes."""

import difflib
from dataclasses import dataclass

from dlmini.checks import refuse


@dataclass(frozen=True)
class Source:
    """A published set.

    files   each file to download and its md5
    also    other forms in which a person may have the whole set
    begins  the first labels for training. MNIST and Fashion-MNIST have the same file names, sizes and types:
            only their labels tell them apart
    """

    url: str
    megabytes: int
    files: dict[str, str]
    classes: tuple[str, ...] = ()
    begins: tuple[int, ...] = ()
    also: tuple[str, ...] = ()

    def forms(self, file: str) -> tuple[str, ...]:
        """The names under which `file` may be stored: as published, unpacked, or in another published form."""
        return (file, file.removesuffix(".gz"), *self.also)


SOURCES = {
    # https://github.com/zalandoresearch/fashion-mnist
    "fashion-mnist": Source(
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        30,
        {
            "train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
            "train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
            "t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
            "t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
        },
        ("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
        (9, 0, 0, 3, 0, 2, 7, 2, 5, 5),
    ),
    # A mirror of http://yann.lecun.com/exdb/mnist/ with the same files.
    "mnist": Source(
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        12,
        {
            "train-images-idx3-ubyte.gz": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
            "train-labels-idx1-ubyte.gz": "d53e105ee54ea40749a09fcbcd1e9432",
            "t10k-images-idx3-ubyte.gz": "9fb629c4189551a2d022fa330f9573f3",
            "t10k-labels-idx1-ubyte.gz": "ec29112dd5afa0611ce80d1b7f02629c",
        },
        tuple("0123456789"),
        (5, 0, 4, 1, 9, 2, 1, 3, 1, 4),
    ),
    # https://www.cs.toronto.edu/~kriz/cifar.html
    "cifar10": Source(
        "https://www.cs.toronto.edu/~kriz/",
        170,
        {"cifar-10-python.tar.gz": "c58f30108f718f92721af3b95e74349a"},
        also=("cifar-10-batches-py", "cifar-10-binary.tar.gz", "cifar-10-batches-bin"),
    ),
    "cifar100": Source(
        "https://www.cs.toronto.edu/~kriz/",
        169,
        {"cifar-100-python.tar.gz": "eb9058c3a382ffc7106e4002c42a8d85"},
        also=("cifar-100-python", "cifar-100-binary.tar.gz", "cifar-100-binary"),
    ),
}


def source_of(name: str) -> Source:
    if not isinstance(name, str):
        refuse(TypeError, "the name of a dataset", name, f"one of {', '.join(SOURCES)}")
    if name not in SOURCES:
        near = difflib.get_close_matches(str(name).lower(), SOURCES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"there is no dataset called {name!r}, expected one of {', '.join(SOURCES)}{hint}")
    return SOURCES[name]
