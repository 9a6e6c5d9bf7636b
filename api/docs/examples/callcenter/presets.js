const { PARLEY_URL, PARLEY_API_KEY } = process.env;

async function ask(method, path, body) {
  const answer = await fetch(PARLEY_URL + path, {
    method,
    headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.status === 204 ? null : answer.json();
}

// What is known of exchanges and carriers.
const presets = await ask("GET", "/v1/trunk-presets");
console.log(presets.data.map((p) => `${p.name}: ${p.needs.join(", ")}`).join("\n"));

// An Asterisk at 192.0.2.32 sends its calls here. What is sent counts before the preset.
const trunk = await ask("POST", "/v1/trunks", {
  name: "pbx-2",
  preset: "asterisk",
  allow: ["192.0.2.32"],
  inbound_username: "pbx-2",
  inbound_password: crypto.randomUUID(),
  codecs: ["PCMA"],
});
console.log(trunk.name, trunk.dtmf, "enter there:", trunk.far_end.join("\n"));

await ask("DELETE", `/v1/trunks/${trunk.id}`);
console.log("removed");
