import json
import os
import urllib.request

request = urllib.request.Request(
    os.environ["PARLEY_URL"] + "/v1/statistics?direction=inbound&group_by=day",
    headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"]},
)
with urllib.request.urlopen(request) as answer:
    statistics = json.load(answer)

total = statistics["total"]
print(f"{total['answered']} of {total['calls']} calls were answered, {total['duration'] / 60:.1f} minutes for {total['cost']} USD")
for day in statistics["by_day"]:
    print(day["day"], day["calls"], day["answer_rate"])
for stage in statistics["stages"]:
    print(stage["stage"], stage["engine"], stage["p50_ms"], "to", stage["p95_ms"], "ms")
