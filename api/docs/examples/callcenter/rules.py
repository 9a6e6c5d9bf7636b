import json
import os
import urllib.request


def ask(method, path, body=None):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + path,
        method=method,
        data=json.dumps(body).encode() if body is not None else None,
        headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


at = "/callcenter/numbers/" + ask("GET", "/callcenter/numbers")["numbers"][0]["id"]
week = ["monday", "tuesday", "wednesday", "thursday", "friday"]
rules = {
    "time_zone": "Europe/Madrid",
    "schedule": {day: ["09:00-14:00", "16:00-20:00"] for day in week},
    "holidays": [{"date": "2026-12-25", "name": "Christmas"}],
    "closed": {"message": "We are closed. Please call on Monday."},
}
print(ask("GET", "/callcenter/rules/schema")["title"])
ask("PUT", at + "/rules", rules)
print(ask("GET", at + "/rules"))

# Where would a call go on Christmas morning, by the clocks of Madrid?
call = ask("POST", at + "/try", {"at": "2026-12-25T10:00"})
print(call["action"], *call["reasons"], sep="\n")

ask("PUT", at + "/rules", {})  # its agent answers all calls again
