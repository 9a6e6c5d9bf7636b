const { PARLEY_URL, PARLEY_API_KEY } = process.env;

async function read(path) {
  const answer = await fetch(PARLEY_URL + path, { headers: { Authorization: `Bearer ${PARLEY_API_KEY}` } });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

const { data } = await read("/v1/calls?limit=10");
console.log(`${data.length} calls on this page`);
if (data.length > 0) {
  const call = await read(`/v1/calls/${data[0].id}`);
  console.log(`${call.direction} from ${call.from} to ${call.to}, ${call.duration} s, ${call.end_reason ?? call.status}`);
  for (const line of call.transcript) console.log(`${line.at.toFixed(1)} s ${line.role}: ${line.text}`);
  const quality = await read(`/v1/calls/${call.id}/quality`);
  if (quality.available) console.log(`MOS ${quality.mos}, ${(100 * quality.loss).toFixed(1)} % lost, round trip ${quality.rtt_ms} ms`);
  const signalling = await read(`/v1/calls/${call.id}/sip`);
  for (const m of signalling.data) console.log(`${m.at} ${m.direction} ${m.message.split("\r\n", 1)[0]}`);
}
