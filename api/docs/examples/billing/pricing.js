const answer = await fetch(`${process.env.PARLEY_URL}/v1/pricing`);
const card = await answer.json();
console.log(`Card ${card.version}: a minute with an agent costs ${card.agent.platform_per_minute} ${card.currency}`);
