import { writeFile } from "node:fs/promises";

const { PARLEY_URL, PARLEY_API_KEY } = process.env;
const headers = { Authorization: `Bearer ${PARLEY_API_KEY}` };

const list = await fetch(`${PARLEY_URL}/v1/calls?limit=10&state=ended`, { headers });
if (!list.ok) throw new Error(await list.text());
const { data } = await list.json();

let fetched = 0;
for (const call of data) {
  const at = `${PARLEY_URL}/v1/calls/${call.id}/recording`;
  const recording = await fetch(at, { headers });
  // 404: it was not recorded; 409: not ready yet; 410: deleted, or kept long enough.
  if (!recording.ok) continue;
  const kind = recording.headers.get("Content-Type") === "audio/ogg" ? "ogg" : "wav";
  await writeFile(`${call.id}.${kind}`, new Uint8Array(await recording.arrayBuffer()));
  const { caller } = await (await fetch(`${at}/peaks`, { headers })).json(); // at most 1,200 values from 0 to 255, and as many of the agent
  console.log(call.id, caller.length, "points");
  const gone = await fetch(at, { method: "DELETE", headers });
  if (!gone.ok) throw new Error(await gone.text());
  fetched++;
}
console.log(`${fetched} recordings fetched`);
