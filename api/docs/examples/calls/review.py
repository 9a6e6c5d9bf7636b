import json
import os
import urllib.request


def ask(path, method="GET"):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + path, method=method, headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"]}
    )
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode()


latency = json.loads(ask("/v1/latency?group_by=day"))
for day in latency["data"]:
    print(day["key"], day["turns"], "answers,", day["total_ms"]["p50"], "to", day["total_ms"]["p90"], "ms")
print(latency.get("total", {}).get("turns", 0), "answers of all days")

engines = json.loads(ask("/v1/latency/engines"))["data"]
for e in engines:
    print(e["stage"], e["engine"], e["p50_ms"], "to", e["p95_ms"], "ms")
print(len(engines), "engines waited for")

print(ask("/v1/calls.csv?state=ended"))

live = json.loads(ask("/v1/calls?state=live&direction=outbound"))["data"]
for call in live:
    ask(f"/v1/calls/{call['id']}/hangup", "POST")
print(len(live), "calls hung up")
