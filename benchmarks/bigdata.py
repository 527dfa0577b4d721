"""Make the two big files that benchmarks read: `python benchmarks/bigdata.py FOLDER`.

mslr_like.txt   about 400 MB: dense, 136 features all written, numbers with up to six decimals
rcv1_like.txt   about 900 MB: sparse, no qid, about 75 values a row of six significant digits, labels 1 and -1

The same bytes each time; a file that is there already is kept.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from rankloom.data.generate import make_mslr
from rankloom.data.generate_topics import make_rcv1
from rankloom.data.ranking_data import RankingData
from rankloom.data.text_writer import write_text

MSLR_QUERIES = 3_050
RCV1_ROWS = 781_265


def write_mslr(target: Path) -> None:
    """Raw values as published, six decimals at most."""
    write_text(make_mslr(MSLR_QUERIES, seed=1).data, target, decimals=6)


def write_rcv1(target: Path) -> None:
    """The most frequent topic, with the labels 1 and -1 of the published files."""
    data = make_rcv1(RCV1_ROWS, seed=1).data
    signed = RankingData.from_csr(
        data.values, data.columns, data.row_offsets, data.n_features, 2.0 * data.y - 1.0, trusted=True
    )
    write_text(signed, target)


FILES = {"mslr_like.txt": write_mslr, "rcv1_like.txt": write_rcv1}


def main() -> None:
    """Write what is missing in the folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--again", action="store_true", help="write files that are there already too")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name, write in FILES.items():
        target = options.folder / name
        if target.exists() and not options.again:
            print(f"{target}: kept, {target.stat().st_size / 1e6:,.0f} MB")
            continue
        start = time.perf_counter()
        write(target)
        seconds = time.perf_counter() - start
        print(f"{target}: written, {target.stat().st_size / 1e6:,.0f} MB in {seconds:.1f} s")


if __name__ == "__main__":
    main()
