"""Compares bounds for a mean loss: prints the figures of docs/risk.md for Hoeffding-Bentkus, betting, and both at delta / 2.

For each number of groups, alpha and law of losses it gives the largest mean, relative to alpha, at which half of the draws pass
the test at confidence 0.95. Needs numpy and scipy (bench/requirements.txt has them).
"""
import numpy as np
from scipy.stats import binom

DELTA, DRAWS = 0.05, 500
SHARES = np.array([0.02, 0.1, *np.arange(0.2, 0.99, 0.05)])  # of alpha
LAWS = {
    "all or nothing": lambda r, m, n: (r.random((DRAWS, n)) < m).astype(float),
    "beta, a + b = 1.5": lambda r, m, n: r.beta(1.5 * m, 1.5 * (1 - m), (DRAWS, n)),
    "beta, a + b = 4": lambda r, m, n: r.beta(4 * m, 4 * (1 - m), (DRAWS, n)),
    "beta, a + b = 15": lambda r, m, n: r.beta(15 * m, 15 * (1 - m), (DRAWS, n)),
    "0 in 60 %, else beta": lambda r, m, n: np.where(r.random((DRAWS, n)) < 0.4, r.beta(5 * m, 2 - 5 * m, (DRAWS, n)), 0),
}


def hoeffding_bentkus(losses, alpha):
    """p-values of draws [draw, group]."""
    n, mean = losses.shape[1], losses.mean(1)
    low = np.minimum(mean, alpha)
    with np.errstate(divide="ignore", invalid="ignore"):
        h = np.where(low > 0, low * np.log(low / alpha), 0) + (1 - low) * np.log((1 - low) / (1 - alpha))
    return np.minimum(np.exp(-n * h), np.e * binom.cdf(np.ceil(n * mean - 1e-9), n, alpha))


def betting(losses, alpha, delta):
    """Whether draws pass: the formula of docs/risk.md."""
    draws, n = losses.shape
    needed = np.ceil(np.log(delta) / np.log(1 - alpha))
    most = (1 if n < 2 * needed else 0.9) / (1 - alpha)
    capital, largest = np.ones(draws), np.ones(draws)
    squares, total = np.full(draws, alpha * (1 - alpha)), np.full(draws, alpha)
    for t in range(n):
        bet = np.minimum(most, np.sqrt(2 * np.log(1 / delta) * (t + 2) / (n * squares)))
        capital = capital * (1 + bet * (alpha - losses[:, t]))
        largest = np.maximum(largest, capital)
        total = total + losses[:, t]
        squares = squares + (losses[:, t] - total / (t + 3)) ** 2
    return largest >= (1 - 1e-12) / delta


def half(passed):
    """The mean at which the share of draws that pass falls to a half."""
    share = np.array(passed)
    return 0.0 if share[0] <= 0.5 else float(np.interp(-0.5, -np.minimum.accumulate(share), SHARES))


def main():
    all_rows = []
    print("| alpha, groups | losses | Hoeffding-Bentkus | betting | both at delta / 2 |\n| --- | --- | --- | --- | --- |")
    for alpha in (0.05, 0.1, 0.2):
        for groups in (35, 60, 100, 300):
            for law, draw in LAWS.items():
                rng = np.random.default_rng(1)
                rows = []
                for share in SHARES:
                    losses = draw(rng, alpha * share, groups)
                    p = hoeffding_bentkus(losses, alpha)
                    rows.append([np.mean(p <= DELTA), betting(losses, alpha, DELTA).mean(),
                                 np.mean((p <= DELTA / 2) | betting(losses, alpha, DELTA / 2))])  # fmt: skip
                found = [half(column) for column in np.transpose(rows)]
                all_rows.append(found)
                print(f"| {alpha}, {groups} | {law} | " + " | ".join(f"{one:.2f}" for one in found) + " |")
    print(f"\nmean of {len(all_rows)}: " + ", ".join(f"{one:.3f}" for one in np.mean(all_rows, 0)))


if __name__ == "__main__":
    main()
