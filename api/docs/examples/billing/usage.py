import csv
import io
import json
import os
import urllib.request
from decimal import Decimal


def ask(path):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + path, headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"]}
    )
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode()


usage = json.loads(ask("/v1/usage?group_by=component&from=2026-03-01"), parse_float=Decimal)
for group in usage["data"]:
    for c in group["components"]:
        print(f"{c['component']}: {c['quantity']} {c['unit']}s, {c['amount']} USD")
print(f"total {usage['total']} USD, and {usage['accrued']} USD in progress")

# Tables for the books; reading fails when one breaks off.
for name in ["usage.csv", "ledger.csv"]:
    rows = list(csv.reader(io.StringIO(ask("/v1/" + name))))
    print(",".join(rows[0]))
