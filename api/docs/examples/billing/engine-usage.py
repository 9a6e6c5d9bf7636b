import json
import os
import urllib.request
from decimal import Decimal


def used(path, key):
    request = urllib.request.Request(os.environ["PARLEY_URL"] + path, headers={"Authorization": "Bearer " + key})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer, parse_float=Decimal)["data"]


# Of your account, in calls and in everything else.
for u in used("/v1/usage/engines?from=2026-03-01", os.environ["PARLEY_API_KEY"]):
    print(u["engine"], u["quantity"], u["unit"], "on the key of the", u["key_owner"])

# Of all accounts, with what the vendors charge: for operators.
data = used("/v1/operator/usage/engines?from=2026-03-01", os.environ["OPERATOR_KEY"])
for u in data:
    print(u["engine"], u["quantity"], u["unit"], "costs", u.get("cost"), "and brings", u["price"])
print(len(data), "lines of data")
