import json
import os
import urllib.request


def ask(method, body=None):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + "/callcenter/call-window",
        method=method,
        data=json.dumps(body).encode() if body else None,
        headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode()


# Nobody is called before nine and after eight, by the clocks where they are.
ask("PUT", {"start": "09:00", "end": "20:00", "timezone": "destination"})
print(ask("GET"))
ask("DELETE")  # people are called at any time again
