const { PARLEY_URL, PARLEY_API_KEY } = process.env;

async function recharge(method, body) {
  const answer = await fetch(PARLEY_URL + "/v1/auto-recharge", {
    method,
    headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

// A card has to have paid a top-up before this can be enabled.
const { card_saved, last_failure } = await recharge("GET");
if (last_failure) console.log(`The last charge failed: ${last_failure.reason}`);
await recharge("PUT", { enabled: card_saved, threshold: 10, amount: 50, monthly_cap: 200 });
// What is not sent stays as it is.
const { enabled, charged_this_month, monthly_cap } = await recharge("PATCH", { monthly_cap: 300 });
console.log(enabled ? "enabled," : "disabled,", charged_this_month, "of", monthly_cap, "charged this month");
