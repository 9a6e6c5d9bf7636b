const { PARLEY_URL, PARLEY_API_KEY, AGENT_ID } = process.env;

async function ask(method, path, body) {
  const answer = await fetch(PARLEY_URL + path, {
    method,
    headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

const { numbers } = await (await ask("GET", "/callcenter/numbers")).json();
// Say consent_confirmed only when the callee has agreed to be called.
const order = { from: numbers[0].phone_number, to: "+12025550100", agent_id: AGENT_ID, consent_confirmed: true };
const { call_id } = await (await ask("POST", "/callcenter/dial", order)).json();

// In a browser: new EventSource(`${PARLEY_URL}/callcenter/sse/call-monitor?call_id=${call_id}&api_key=${ticket}`)
const events = await ask("GET", `/callcenter/sse/call-monitor?call_id=${call_id}`);
let text = "";
for await (const piece of events.body.pipeThrough(new TextDecoderStream())) {
  text += piece;
  const line = text.split("\n").find((line) => line.includes('"type":"transcript"'));
  if (line) {
    console.log(line);
    break; // the first words are enough
  }
}
console.log(await (await ask("GET", `/callcenter/call-monitor?call_id=${call_id}`)).json());
console.log(await (await ask("POST", `/callcenter/hangup/${call_id}`)).json());
// Of a call that has ended the stream tells everything at once.
console.log(await (await ask("GET", `/v1/calls/${call_id}/events`)).text());
