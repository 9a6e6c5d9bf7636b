const { PARLEY_URL, PARLEY_API_KEY } = process.env;

async function ask(method, path, body) {
  const answer = await fetch(PARLEY_URL + path, {
    method,
    headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

const { numbers } = await ask("GET", "/callcenter/numbers");
const at = `/callcenter/numbers/${numbers[0].id}`;
const hours = ["09:00-14:00", "16:00-20:00"];
console.log((await ask("GET", "/callcenter/rules/schema")).title);
await ask("PUT", `${at}/rules`, {
  time_zone: "Europe/Madrid",
  schedule: { monday: hours, tuesday: hours, wednesday: hours, thursday: hours, friday: hours },
  holidays: [{ date: "2026-12-25", name: "Christmas" }],
  closed: { message: "We are closed. Please call on Monday." },
});
console.log(await ask("GET", `${at}/rules`));

// Where would a call go on Christmas morning, by the clocks of Madrid?
const call = await ask("POST", `${at}/try`, { at: "2026-12-25T10:00" });
console.log(call.action, call.reasons.join("\n"));

await ask("PUT", `${at}/rules`, {}); // its agent answers all calls again
