const { PARLEY_URL, PARLEY_API_KEY } = process.env;

async function read(path) {
  const answer = await fetch(PARLEY_URL + path, { headers: { Authorization: `Bearer ${PARLEY_API_KEY}` } });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

const [call] = (await read("/v1/calls?limit=1")).data;
if (!call) {
  console.log("no call yet");
} else {
  const path = `/v1/calls/${call.id}/completions`;
  const { data } = await read(path);
  console.log(`${data.length} questions to the model`);
  for (const c of data) {
    const { system, messages } = await read(`${path}/${c.no}`); // all that the model was given
    console.log(`${c.outcome} after ${c.took_ms} ms: ${c.answer} (${system.length} characters of prompt, ${messages.length} messages)`);
  }
}
