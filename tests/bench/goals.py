# SPDX-License-Identifier: Apache-2.0
"""The goals and what was measured: one table at the end."""


class Table:
    def __init__(self):
        self.rows = []

    def at_most(self, measure, goal, value, unit, detail=""):
        self._add(measure, f"at most {goal:g} {unit}", f"{value:.3g} {unit}", detail, value <= goal)

    def at_least(self, measure, goal, value, unit, detail=""):
        self._add(measure, f"at least {goal:,} {unit}", f"{value:,.0f} {unit}", detail, value >= goal)

    def missing(self, measure, why):
        self.rows.append((measure, "", why, "not measured"))

    def _add(self, measure, goal, value, detail, met):
        self.rows.append((measure, goal, f"{value} ({detail})" if detail else value,
                          "met" if met else "MISSED"))

    def show(self):
        if not self.rows:
            return
        rows = [("measure", "goal", "measured", "verdict"), *self.rows]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        line = lambda row: "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths)) + " |"
        print()
        print(line(rows[0]))
        print("|" + "|".join("-" * (w + 2) for w in widths) + "|")
        for row in rows[1:]:
            print(line(row), flush=True)
