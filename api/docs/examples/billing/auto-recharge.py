import json
import os
import urllib.request


def recharge(method, settings=None):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + "/v1/auto-recharge",
        method=method,
        data=json.dumps(settings).encode() if settings else None,
        headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


# A card has to have paid a top-up before this can be enabled.
now = recharge("GET")
if "last_failure" in now:
    print("The last charge failed:", now["last_failure"]["reason"])
recharge("PUT", {"enabled": now["card_saved"], "threshold": 10, "amount": 50, "monthly_cap": 200})
# What is not sent stays as it is.
now = recharge("PATCH", {"monthly_cap": 300})
print(now["charged_this_month"], "of", now["monthly_cap"], "charged this month")
