# Code generated from the service's OpenAPI document. DO NOT EDIT.
"""A method for each operation of the service's HTTP API."""

from __future__ import annotations

from typing import Any, Iterator, Literal

from . import types as t
from .transport import Answer, Requests, part


class Parley(Requests):
    """A client of one server with one credential. It may be used from several threads."""

    def get_own_account(self, *, timeout: float | None = None) -> t.OwnAccount:
        """Read the account of the key.

        What the account is called, what it may do at once, how long it keeps transcripts, and which
        key asks: a program learns whose key it holds. The balance counts sessions in progress; `GET
        /v1/balance` says what it is made of.
        """
        return self._json("GET", "/v1/account", timeout=timeout)

    def get_auto_recharge(self, *, timeout: float | None = None) -> t.AutoRecharge:
        """Read automatic recharge.

        The settings, those of the rate card where none were made, and how it stands.
        """
        return self._json("GET", "/v1/auto-recharge", timeout=timeout)

    def update_auto_recharge(self, body: t.RechargeSettings, *, timeout: float | None = None) -> t.AutoRecharge:
        """Change automatic recharge.

        Fields that are not sent, or null, stay as they are. `amount` is within the bounds of a
        top-up and at most what the operator lets one charge be, 500 US dollars where they say
        nothing; `monthly_cap` is at least `amount`. Enabling it charges the card at once when the
        balance is below `threshold`; it needs a card that has paid a top-up, else the answer is
        402. The card that paid last is charged, and after each charge not again for ten minutes.
        This takes an owner's sign-in, or a key with the mark money.
        """
        return self._json("PATCH", "/v1/auto-recharge", body=body, timeout=timeout)

    def replace_auto_recharge(self, body: t.RechargeSettings, *, timeout: float | None = None) -> t.AutoRecharge:
        """Set automatic recharge.

        Fields that are not sent, or null, become those of the rate card, and `enabled` false.
        `amount` is within the bounds of a top-up and at most what the operator lets one charge be,
        500 US dollars where they say nothing; `monthly_cap` is at least `amount`. Enabling it
        charges the card at once when the balance is below `threshold`; it needs a card that has
        paid a top-up, else the answer is 402. The card that paid last is charged, and after each
        charge not again for ten minutes. This takes an owner's sign-in, or a key with the mark
        money.
        """
        return self._json("PUT", "/v1/auto-recharge", body=body, timeout=timeout)

    def get_balance(self, *, timeout: float | None = None) -> t.Balance:
        """Read the balance.

        What the account has, sessions in progress counted. `balance` is `paid` + `bonus`, and
        `posted` - `accrued`. `warnings` is for a banner: what is about to stop working, and why.
        Amounts have up to nine decimals and are exact; show balances rounded down to the cent.
        """
        return self._json("GET", "/v1/balance", timeout=timeout)

    def get_receipt(self, id: str, *, timeout: float | None = None) -> t.Receipt:
        """Read the receipt of a session.

        What a call or any other session cost, a line for each component; `total` is their sum and
        what the ledger charged. The identifier is `session_id` of the ledger's entries: recordings,
        texts and files have one too. Amounts have up to nine decimals and are exact; show balances
        rounded down to the cent.
        """
        return self._json("GET", f"/v1/calls/{part(id)}/receipt", timeout=timeout)

    def list_events(self, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListAccountEvent:
        """List account events.

        Newest first. An event is entered by what caused it: a balance that fell below the threshold
        of automatic recharge, or the rate card's without one; a number's month that could not be
        paid, and the number's loss 30 days later; a recharge that failed; a payment that is
        disputed; a limit of spending that is nearly reached, or reached. Each comes once: a low
        balance again only after it was not. What still is so is in `warnings` of `GET /v1/balance`
        too, and accounts with an address get it by mail.
        """
        return self._json("GET", "/v1/events", query={"limit": limit, "cursor": cursor}, timeout=timeout)

    def each_events(self, *, limit: int | None = None, timeout: float | None = None) -> Iterator[t.AccountEvent]:
        """List account events: every entry, page by page."""
        return self._each("GET", "/v1/events", query={"limit": limit}, timeout=timeout)

    def list_ledger(self, *, from_: str | None = None, to: str | None = None, kind: str | None = None, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListEntry:
        """List ledger entries.

        Newest first; entries never change. `balance_after` of an entry is that of the one before it
        plus `amount`. Sessions are entered when they end. Amounts have up to nine decimals and are
        exact; show balances rounded down to the cent.
        """
        return self._json("GET", "/v1/ledger", query={"from": from_, "to": to, "kind": kind, "limit": limit, "cursor": cursor}, timeout=timeout)

    def each_ledger(self, *, from_: str | None = None, to: str | None = None, kind: str | None = None, limit: int | None = None, timeout: float | None = None) -> Iterator[t.Entry]:
        """List ledger entries: every entry, page by page."""
        return self._each("GET", "/v1/ledger", query={"from": from_, "to": to, "kind": kind, "limit": limit}, timeout=timeout)

    def export_ledger(self, *, from_: str | None = None, to: str | None = None, kind: str | None = None, timeout: float | None = None) -> Answer:
        """Export ledger entries.

        The entries of `GET /v1/ledger`, newest first, with the columns
        `id,at,kind,amount,balance_after,pot,component,session_id,price_version`. The file is CSV as
        RFC 4180 has it: UTF-8, a header line, lines that end with CRLF. It shows one moment,
        however long it takes to send. One that cannot be completed ends with a broken connection,
        never as if it were whole. An account may export two files at once.
        """
        return self._raw("GET", "/v1/ledger.csv", query={"from": from_, "to": to, "kind": kind}, timeout=timeout)

    def get_pricing(self, *, timeout: float | None = None) -> dict[str, Any]:
        """The rate card in force.

        Every price, in US dollars before tax, and the rules of the balance. A session is charged by
        the version in force when it started.
        """
        return self._json("GET", "/v1/pricing", timeout=timeout)

    def list_spending_limits(self, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListSpendingLimit:
        """List the limits of spending.

        What may be spent in a day (UTC), and what was: the account's row, which is there without a
        limit, too, and one for each key and each agent that has one. When what was charged and what
        is held reach a limit, nothing that it binds begins (402 `limit.spending`, on the telephone
        480), and conversations end as they do when the balance is used up, with `end_detail`
        `spending_limit`. A key binds what it asks for, and what its tickets do; an agent binds all
        its conversations. Months of numbers do not count. At four fifths and at the limit there is
        an event `spending.limit`.
        """
        return self._json("GET", "/v1/spending-limits", query={"limit": limit, "cursor": cursor}, timeout=timeout)

    def each_spending_limits(self, *, limit: int | None = None, timeout: float | None = None) -> Iterator[t.SpendingLimit]:
        """List the limits of spending: every entry, page by page."""
        return self._each("GET", "/v1/spending-limits", query={"limit": limit}, timeout=timeout)

    def set_spending_limit(self, id: str, body: t.SetLimitInputBody, *, timeout: float | None = None) -> t.SpendingLimit:
        """Set a limit of spending.

        `daily_limit` null takes it away; what was charged today counts. This takes an owner's
        sign-in, or a key with the mark money.
        """
        return self._json("PATCH", f"/v1/spending-limits/{part(id)}", body=body, timeout=timeout)

    def list_topups(self, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListTopUp:
        """List top-ups.

        Newest first, also those that were never paid.
        """
        return self._json("GET", "/v1/topups", query={"limit": limit, "cursor": cursor}, timeout=timeout)

    def each_topups(self, *, limit: int | None = None, timeout: float | None = None) -> Iterator[t.TopUp]:
        """List top-ups: every entry, page by page."""
        return self._each("GET", "/v1/topups", query={"limit": limit}, timeout=timeout)

    def create_topup(self, body: t.NewTopUp, *, idempotency_key: str | None = None, timeout: float | None = None) -> t.TopUp:
        """Top up the balance.

        Makes a page on which the customer pays `amount` by card: send the customer to `url`. The
        balance grows when the provider says that the payment has succeeded, not when the customer
        comes back. Amounts are in US dollars, whole cents, within the rate card's
        `wallet.min_topup` and `wallet.max_topup`. Twenty may be begun in an hour. A server that
        takes no payments does not have this.
        """
        return self._json("POST", "/v1/topups", body=body, idempotency_key=idempotency_key, repeat=True, timeout=timeout)

    def get_topup(self, id: str, *, timeout: float | None = None) -> t.TopUp:
        """Read a top-up.

        One that is not settled is looked up at the payment provider, so that the answer is what has
        happened there.
        """
        return self._json("GET", f"/v1/topups/{part(id)}", timeout=timeout)

    def get_usage(self, *, group_by: Literal["day", "agent", "call", "component"] | None = None, from_: str | None = None, to: str | None = None, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.UsageList:
        """Sum up usage.

        What was used and what it cost, by day (UTC), agent, call or component, newest first. Usage
        belongs to the moment at which it was entered in the ledger, which for most sessions is
        their end. What sessions in progress have used since is in `accrued` and nowhere else.
        Amounts have up to nine decimals and are exact; show balances rounded down to the cent.
        """
        return self._json("GET", "/v1/usage", query={"group_by": group_by, "from": from_, "to": to, "limit": limit, "cursor": cursor}, timeout=timeout)

    def each_usage(self, *, group_by: Literal["day", "agent", "call", "component"] | None = None, from_: str | None = None, to: str | None = None, limit: int | None = None, timeout: float | None = None) -> Iterator[t.Usage]:
        """Sum up usage: every entry, page by page."""
        return self._each("GET", "/v1/usage", query={"group_by": group_by, "from": from_, "to": to, "limit": limit}, timeout=timeout)

    def export_usage(self, *, group_by: Literal["day", "agent", "call", "component"] | None = None, from_: str | None = None, to: str | None = None, timeout: float | None = None) -> Answer:
        """Export usage.

        The groups of `GET /v1/usage`, a line for each component of each, with the columns
        `day,component,quantity,unit,amount`; the first is named after the grouping, and there is
        none by component. The file is CSV as RFC 4180 has it: UTF-8, a header line, lines that end
        with CRLF. It shows one moment, however long it takes to send. One that cannot be completed
        ends with a broken connection, never as if it were whole. An account may export two files at
        once.
        """
        return self._raw("GET", "/v1/usage.csv", query={"group_by": group_by, "from": from_, "to": to}, timeout=timeout)

    def get_engine_usage(self, *, from_: str | None = None, to: str | None = None, timeout: float | None = None) -> t.EngineTotals:
        """Sum up what engines used.

        In calls, after them, and in synthesis and recognition without a call, as the vendors of the
        engines count: of sessions that began in the range and have ended. Engines that come along
        with the server count nothing, but for language models. `price` is what you pay beside the
        price of the sessions, which `GET /v1/usage` has.
        """
        return self._json("GET", "/v1/usage/engines", query={"from": from_, "to": to}, timeout=timeout)

    def list_agents(self, *, metadata: t.Metadata | None = None, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListAgentDefinition:
        """List the account's agents.

        Newest first.
        """
        return self._json("GET", "/v1/agents", query={"metadata": metadata, "limit": limit, "cursor": cursor}, timeout=timeout)

    def each_agents(self, *, metadata: t.Metadata | None = None, limit: int | None = None, timeout: float | None = None) -> Iterator[t.AgentDefinition]:
        """List the account's agents: every entry, page by page."""
        return self._each("GET", "/v1/agents", query={"metadata": metadata, "limit": limit}, timeout=timeout)

    def create_agent(self, body: t.NewAgent, *, idempotency_key: str | None = None, timeout: float | None = None) -> t.AgentDefinition:
        """Create an agent.

        Only `name` must be sent. `detail` names every field that is not valid, and what is allowed.
        """
        return self._json("POST", "/v1/agents", body=body, idempotency_key=idempotency_key, repeat=True, timeout=timeout)

    def get_agent_schema(self, *, timeout: float | None = None) -> dict[str, Any]:
        """Read the schema of agents.

        JSON Schema 2020-12 of the documents that are sent here, for editors and for checks before
        sending.
        """
        return self._json("GET", "/v1/agents/schema", timeout=timeout)

    def validate_agent(self, body: t.NewAgent, *, agent_id: str | None = None, timeout: float | None = None) -> t.AgentCheck:
        """Check an agent without saving it.

        Says everything that is wrong with a document, field by field, as `POST /v1/agents` would
        refuse it, and stores nothing: for editors that check while one types. With `agent_id` it
        says, too, what of that agent would change if the document replaced it.
        """
        return self._json("POST", "/v1/agents/validate", body=body, query={"agent_id": agent_id}, timeout=timeout)

    def delete_agent(self, id: str, *, if_match: str | None = None, timeout: float | None = None) -> None:
        """Delete an agent.

        Numbers that it answered are answered by nobody. Conversations in progress go on; history
        keeps the identifier. With `If-Match: "7"` it is done only while the version is 7, and else
        answered with 412.
        """
        return self._none("DELETE", f"/v1/agents/{part(id)}", if_match=if_match, timeout=timeout)

    def get_agent(self, id: str, *, timeout: float | None = None) -> t.AgentDefinition:
        """Read an agent.

        `ETag` is its version.
        """
        return self._json("GET", f"/v1/agents/{part(id)}", timeout=timeout)

    def update_agent(self, id: str, body: t.AgentChange, *, if_match: str | None = None, timeout: float | None = None) -> t.AgentDefinition:
        """Change an agent.

        Fields that are not sent, or null, stay as they are; `tools` and `settings` are replaced as
        a whole, `metadata` name by name. Conversations in progress go on with the agent as it was,
        and every change leaves it as a version. What changes nothing, or only `metadata`, makes
        none. With `If-Match: "7"` it is done only while the version is 7, and else answered with
        412.
        """
        return self._json("PATCH", f"/v1/agents/{part(id)}", body=body, if_match=if_match, timeout=timeout)

    def replace_agent(self, id: str, body: t.NewAgent, *, if_match: str | None = None, timeout: float | None = None) -> t.AgentDefinition:
        """Replace an agent.

        As if it were created anew: what is not sent has its default, but for `metadata`, which
        stay. With the body of a version it is restored; `id`, `version` and times in it are
        ignored. With `If-Match: "7"` it is done only while the version is 7, and else answered with
        412.
        """
        return self._json("PUT", f"/v1/agents/{part(id)}", body=body, if_match=if_match, timeout=timeout)

    def list_cases(self, id: str, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListCase:
        """List the test cases of an agent.

        Newest first.
        """
        return self._json("GET", f"/v1/agents/{part(id)}/cases", query={"limit": limit, "cursor": cursor}, timeout=timeout)

    def each_cases(self, id: str, *, limit: int | None = None, timeout: float | None = None) -> Iterator[t.Case]:
        """List the test cases of an agent: every entry, page by page."""
        return self._each("GET", f"/v1/agents/{part(id)}/cases", query={"limit": limit}, timeout=timeout)

    def create_case(self, id: str, body: t.CaseDraft, *, idempotency_key: str | None = None, timeout: float | None = None) -> t.Case:
        """Add a test case to an agent.

        A simulated caller and what is expected of the agent. `detail` names every mistake in the
        script by its path. An agent has 100 cases at most.
        """
        return self._json("POST", f"/v1/agents/{part(id)}/cases", body=body, idempotency_key=idempotency_key, repeat=True, timeout=timeout)

    def delete_case(self, id: str, case: str, *, timeout: float | None = None) -> None:
        """Delete a test case.

        Results of simulations stay.
        """
        return self._none("DELETE", f"/v1/agents/{part(id)}/cases/{part(case)}", timeout=timeout)

    def get_case(self, id: str, case: str, *, timeout: float | None = None) -> t.Case:
        """Read a test case.

        With its script.
        """
        return self._json("GET", f"/v1/agents/{part(id)}/cases/{part(case)}", timeout=timeout)

    def replace_case(self, id: str, case: str, body: t.CaseDraft, *, timeout: float | None = None) -> t.Case:
        """Replace a test case.

        Its name and its script. Simulations that wait or run go on with the case as it was.
        """
        return self._json("PUT", f"/v1/agents/{part(id)}/cases/{part(case)}", body=body, timeout=timeout)

    def compare_agent(self, id: str, body: t.NewComparison, *, timeout: float | None = None) -> t.Comparison:
        """Compare an agent with its recorded calls.

        Has the models of a version of an agent, or of one that is not stored, answer the turns of
        its latest recorded calls again, and shows turn by turn the recorded answer, the one that it
        would give and the functions that it would call; with `against` also those of another
        version. Each turn is asked after what the caller and the agent had said up to it in the
        call. No function is run: the model gets the recorded result of one that it calls with the
        same arguments, and its answer ends with any other. The calls are conducted again, too, with
        what their models, voices and functions gave: `turns` says where turn-taking would differ.
        The tokens are charged like those of simulations; with `models` of `recorded` no model is
        asked, and it is free. 100 turns in 45 seconds are answered at most. Calls are kept for this
        while the agent's setting `record` is on, as long as their recordings. An account may ask
        for ten comparisons at once and ten a minute.
        """
        return self._json("POST", f"/v1/agents/{part(id)}/compare", body=body, timeout=timeout)

    def list_simulations(self, id: str, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListSimulation:
        """List the simulations of an agent.

        Newest first, without results.
        """
        return self._json("GET", f"/v1/agents/{part(id)}/simulations", query={"limit": limit, "cursor": cursor}, timeout=timeout)

    def each_simulations(self, id: str, *, limit: int | None = None, timeout: float | None = None) -> Iterator[t.Simulation]:
        """List the simulations of an agent: every entry, page by page."""
        return self._each("GET", f"/v1/agents/{part(id)}/simulations", query={"limit": limit}, timeout=timeout)

    def create_simulation(self, id: str, body: t.NewSimulation, *, idempotency_key: str | None = None, timeout: float | None = None) -> t.Simulation:
        """Run test cases of an agent.

        Has simulated callers try the agent in the background, in simulated time, without telephone
        and voice; none of its functions is really called. With `definition` an agent is tried that
        is not stored, as `POST /v1/agents` takes it. Tokens of the models are charged as those of
        replies. It takes 10 minutes at most, and five of an account may wait or run. The last 100
        of an agent are kept.
        """
        return self._json("POST", f"/v1/agents/{part(id)}/simulations", body=body, idempotency_key=idempotency_key, repeat=True, timeout=timeout)

    def list_agent_versions(self, id: str, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListAgentDefinition:
        """List an agent's versions.

        The agent as each change left it, the newest first; `updated_at` is when it became so.
        """
        return self._json("GET", f"/v1/agents/{part(id)}/versions", query={"limit": limit, "cursor": cursor}, timeout=timeout)

    def each_agent_versions(self, id: str, *, limit: int | None = None, timeout: float | None = None) -> Iterator[t.AgentDefinition]:
        """List an agent's versions: every entry, page by page."""
        return self._each("GET", f"/v1/agents/{part(id)}/versions", query={"limit": limit}, timeout=timeout)

    def get_agent_version(self, id: str, version: int, *, timeout: float | None = None) -> t.AgentDefinition:
        """Read a version of an agent.

        Send it to `PUT /v1/agents/{id}`, with `If-Match`, to restore it.
        """
        return self._json("GET", f"/v1/agents/{part(id)}/versions/{part(version)}", timeout=timeout)

    def diff_agent_versions(self, id: str, version: int, *, against: int | None = None, timeout: float | None = None) -> t.AgentDiff:
        """Compare two versions of an agent.

        What differs in a version from the one before it, or from another, field by field. Of the
        first version everything that a new agent has not.
        """
        return self._json("GET", f"/v1/agents/{part(id)}/versions/{part(version)}/diff", query={"against": against}, timeout=timeout)

    def test_function(self, body: t.FunctionTestInputBody, *, timeout: float | None = None) -> t.FunctionTest:
        """Test a function of an agent.

        Runs one function as a conversation would: from this server, with the account's secrets, to
        addresses that functions may reach, and for as long as it may take; and answers with what
        the model would read. The list is the `tools` of an agent, stored or not; a mistake in it is
        refused as `POST /v1/agents` refuses it. What the service does, it really does. Functions
        that conversations are charged for are not tested, nor are those of clients. An account may
        have ten tests at once and ten a minute.
        """
        return self._json("POST", "/v1/functions/test", body=body, timeout=timeout)

    def get_simulation(self, id: str, *, timeout: float | None = None) -> t.SimulationDetail:
        """Read a simulation.

        With the results of each case that has run. Ask every second or two until `ended_at` is
        there.
        """
        return self._json("GET", f"/v1/simulations/{part(id)}", timeout=timeout)

    def cancel_simulation(self, id: str, *, timeout: float | None = None) -> t.Simulation:
        """Cancel a simulation.

        It stops after the run that it makes now; what was run is kept and charged. One that has
        ended stays as it is.
        """
        return self._json("POST", f"/v1/simulations/{part(id)}/cancel", timeout=timeout)

    def list_callcenter_agents(self, *, timeout: float | None = None) -> t.AgentsOutputBody:
        """List who can answer.

        Every agent of the account, newest first.
        """
        return self._json("GET", "/callcenter/agents", timeout=timeout)

    def list_batches(self, *, timeout: float | None = None) -> t.BatchesOutputBody:
        """List the batches.

        Every batch of the account, newest first, with its number of calls by status.
        """
        return self._json("GET", "/callcenter/bulk-dial", timeout=timeout)

    def bulk_dial(self, body: t.NewBatch, *, idempotency_key: str | None = None, timeout: float | None = None) -> t.BatchDetail:
        """Call up to 500 numbers.

        Queues a batch of calls, each as `POST /callcenter/dial` would place it, at its own time or
        at once, and none more than once. The server goes on by itself: as many at a time as the
        account may have sessions, less one line that is kept for callers. A call that no line or no
        balance is there for waits and is tried for 24 hours after its time. Who is busy or does not
        answer is called again where `retries` says so. `consent_confirmed` is given once for all
        and recorded with each call. One bad row refuses the whole batch; `detail` names it, counted
        from 0: `rows[3]`. With an `Idempotency-Key` header the first answer is repeated for 24
        hours.
        """
        return self._json("POST", "/callcenter/bulk-dial", body=body, idempotency_key=idempotency_key, repeat=True, timeout=timeout)

    def check_batch(self, body: t.NewBatch, *, timeout: float | None = None) -> t.BatchCheck:
        """Check a batch before it is queued.

        Takes what `POST /callcenter/bulk-dial` takes, and says of every row whether it would be
        refused and why, when it would be called first, and what a minute costs. Nothing is queued
        and nobody is called, and `consent_confirmed` may be left out. What is wrong with the batch
        as a whole refuses the request, as it would when it is queued.
        """
        return self._json("POST", "/callcenter/bulk-dial/check", body=body, timeout=timeout)

    def get_batch(self, id: str, *, timeout: float | None = None) -> t.BatchDetail:
        """Read a batch.

        A batch with the state of each call. A call is summarized by the agent's model soon after
        its end; that costs tokens and is part of the call's cost.
        """
        return self._json("GET", f"/callcenter/bulk-dial/{part(id)}", timeout=timeout)

    def cancel_batch(self, id: str, *, timeout: float | None = None) -> t.BatchDetail:
        """Cancel a batch.

        Calls that have not begun fail, for good; those in progress go on. A batch that is done
        stays done.
        """
        return self._json("POST", f"/callcenter/bulk-dial/{part(id)}/cancel", timeout=timeout)

    def pause_batch(self, id: str, *, timeout: float | None = None) -> t.BatchDetail:
        """Pause a batch.

        No further call of the batch begins; those in progress go on. Pausing again changes nothing.
        """
        return self._json("POST", f"/callcenter/bulk-dial/{part(id)}/pause", timeout=timeout)

    def export_batch(self, id: str, *, timeout: float | None = None) -> Answer:
        """Export the results of a batch.

        A line for each of its calls, in the order in which they were given, and behind them those
        that call again:
        `to,from,agent_id,scheduled_at,status,call_id,started_at,answered_at,ended_at,duration,end_reason,end_detail,answered_by,cost,summary,error,attempt`.
        The file is CSV as RFC 4180 has it: UTF-8, a header line, lines that end with CRLF. It shows
        one moment, however long it takes to send. One that cannot be completed ends with a broken
        connection, never as if it were whole. An account may export two files at once.
        """
        return self._raw("GET", f"/callcenter/bulk-dial/{part(id)}/results.csv", timeout=timeout)

    def resume_batch(self, id: str, *, timeout: float | None = None) -> t.BatchDetail:
        """Resume a batch.

        Goes on with a batch that is paused. The 24 hours for which calls are tried begin anew.
        """
        return self._json("POST", f"/callcenter/bulk-dial/{part(id)}/resume", timeout=timeout)

    def monitor_call(self, *, call_id: str, timeout: float | None = None) -> t.CallState:
        """Get call status.

        The state of a call. A call that the account does not have is answered as ended, with an
        empty transcript.
        """
        return self._json("GET", "/callcenter/call-monitor", query={"call_id": call_id}, timeout=timeout)

    def remove_call_window(self, *, timeout: float | None = None) -> None:
        """Call people at any time.

        Batches that are queued keep what they have.
        """
        return self._none("DELETE", "/callcenter/call-window", timeout=timeout)

    def get_call_window(self, *, timeout: float | None = None) -> t.CallWindow:
        """Read when people are called.

        The time of day in which the account calls people. 404: at any time.
        """
        return self._json("GET", "/callcenter/call-window", timeout=timeout)

    def set_call_window(self, body: t.CallWindow, *, timeout: float | None = None) -> t.CallWindow:
        """Set when people are called.

        A call outside of it is refused with `callcenter.outside_call_window`. Batches that are
        queued from now on wait for it, unless they have a `call_window` of their own. Calls to
        colleagues to whom callers are transferred are placed at any time.
        """
        return self._json("PUT", "/callcenter/call-window", body=body, timeout=timeout)

    def dial(self, body: t.NewCall, *, idempotency_key: str | None = None, timeout: float | None = None) -> t.Placed:
        """Place a call.

        Calls `to` from a number of the account and lets the agent speak with the person who
        answers. The call costs nothing unless it is answered. Landlines of fourteen countries can
        be called, and mobiles where the rate card's `phone.outbound_mobile` has a price, in the US
        and Canada too. `consent_confirmed` must be `true`: you confirm that the callee has agreed;
        the confirmation is recorded with the call and not verified. Needs a first top-up; welcome
        credit does not pay for it. Five calls a second may be begun. With an `Idempotency-Key`
        header the first answer is repeated for 24 hours. Where the operator traces calls, a
        `traceparent` header (W3C Trace Context) makes the call a part of your trace.
        """
        return self._json("POST", "/callcenter/dial", body=body, idempotency_key=idempotency_key, repeat=True, timeout=timeout)

    def hang_up(self, id: str, *, timeout: float | None = None) -> t.HungUp:
        """Hang up a call.

        Ends the call at once. One that has ended already answers the same.
        """
        return self._json("POST", f"/callcenter/hangup/{part(id)}", timeout=timeout)

    def list_numbers(self, *, timeout: float | None = None) -> t.ListOutputBody:
        """List the account's numbers.

        Newest first, each with the agent that answers it. A number that was ordered is `pending`
        until the carrier has activated it. One whose month could not be paid is `past_due`: it
        works on while the balance allows, and is lost for good at `release_at` unless the month is
        paid by then, which is tried each day and whenever money comes in.
        """
        return self._json("GET", "/callcenter/numbers", timeout=timeout)

    def buy_number(self, body: t.BuyInputBody, *, idempotency_key: str | None = None, timeout: float | None = None) -> t.Number:
        """Buy a number.

        Buys a number that the search has found, charges its first month at once, and binds it to an
        agent. 200: it is yours and answers. 202: the carrier has not activated it yet; it is
        charged, is in the list as `pending`, and if it fails after all the month is given back.
        Numbers are paid from what was paid in: the welcome credit does not pay them. With an
        `Idempotency-Key` the request can be sent again within 24 hours and is answered as the first
        time; one that was refused may be sent again with its key.
        """
        return self._json("POST", "/callcenter/numbers", body=body, idempotency_key=idempotency_key, repeat=True, timeout=timeout)

    def search_numbers(self, *, country_code: Literal["US", "ES", "UK", "DE", "FR", "IT", "PT"], region_code: str | None = None, locality: str | None = None, page: int | None = None, timeout: float | None = None) -> t.SearchOutputBody:
        """Search numbers for sale.

        Local numbers of one country, 15 a page. The costs are the carrier's and only decide whether
        a number is included: what is charged is `phone.number_per_month` of the rate card. One
        whose monthly cost is above that, or whose up-front cost is above 5, cannot be bought.
        """
        return self._json("GET", "/callcenter/numbers/search", query={"country_code": country_code, "region_code": region_code, "locality": locality, "page": page}, timeout=timeout)

    def release_number(self, id: str, *, timeout: float | None = None) -> t.Released:
        """Release a number.

        Gives the number back to the carrier, for good: it cannot be recovered. No month of it is
        charged any more, and none is given back.
        """
        return self._json("DELETE", f"/callcenter/numbers/{part(id)}", timeout=timeout)

    def assign_number(self, id: str, body: t.AssignInputBody, *, timeout: float | None = None) -> t.Number:
        """Bind a number to an agent.

        From now on calls to the number are answered by that agent, or with an empty `agent_id` by
        nobody. With a `webhook_id` that webhook is asked about each call first, for two seconds at
        most: see `call.incoming`. With `calls_per_hour` no more calls than that begin from the
        number within an hour: single ones are refused with `callcenter.number_paced`, those of
        batches wait.
        """
        return self._json("POST", f"/callcenter/numbers/{part(id)}/assign", body=body, timeout=timeout)

    def get_number_rules(self, id: str, *, timeout: float | None = None) -> t.NumberRules:
        """Read the rules of a number.

        Where its calls go; an empty object where it has no rules.
        """
        return self._json("GET", f"/callcenter/numbers/{part(id)}/rules", timeout=timeout)

    def replace_number_rules(self, id: str, body: t.NumberRules, *, timeout: float | None = None) -> t.NumberRules:
        """Replace the rules of a number.

        Sets opening hours, holidays, a menu of keys, who takes calls outside the hours, and where
        calls go that cannot be taken. They count from the next call on. An empty object removes
        them: then the number's agent, or its webhook, decides about all calls. `detail` names every
        field that is not valid, and what is allowed.
        """
        return self._json("PUT", f"/callcenter/numbers/{part(id)}/rules", body=body, timeout=timeout)

    def try_number(self, id: str, body: t.RoutingTrial, *, timeout: float | None = None) -> t.Routed:
        """Say where a call would go.

        Decides about a call as the number's rules would, or others that are sent, and says why.
        Nothing is called, stored or charged.
        """
        return self._json("POST", f"/callcenter/numbers/{part(id)}/try", body=body, timeout=timeout)

    def get_rules_schema(self, *, timeout: float | None = None) -> dict[str, Any]:
        """Read the schema of rules.

        JSON Schema 2020-12 of the rules of numbers, for editors and for checks before sending.
        """
        return self._json("GET", "/callcenter/rules/schema", timeout=timeout)

    def follow_call(self, *, call_id: str, timeout: float | None = None) -> Iterator[dict[str, Any]]:
        """Follow a call.

        Server-sent events without names, each a `data:` line with a JSON object whose `type` is
        `snapshot` (first: the fields of the monitor), `status` (`status`, `duration`, and
        `answered_by` once it is known, with a second `connected`), `transcript` (one new line:
        `role`, `text`, `at`), `transcript_sync` (`transcript`: all lines, after a correction) or
        `ended` (last: the fields of the monitor with `end_reason`). A comment comes every 15
        seconds when nothing happens. The stream closes after `ended`: close the EventSource then,
        or it connects again. A browser sends a ticket as `api_key`.
        """
        return self._events("GET", "/callcenter/sse/call-monitor", query={"call_id": call_id}, timeout=timeout)

    def get_callcenter_status(self, *, timeout: float | None = None) -> t.Status:
        """Get telephony status.

        Whether numbers can be bought and called, through which carrier, and in which countries. A
        server without telephony answers 404 here and on every other route under `/callcenter`.
        """
        return self._json("GET", "/callcenter/status", timeout=timeout)

    def list_do_not_call(self, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListDoNotCall:
        """List the do-not-call list.

        Newest first. An outgoing call to one of them is refused with `callcenter.do_not_call` and
        costs nothing; calls from them are taken. Agents with the function `opt_out` add callers who
        ask for it.
        """
        return self._json("GET", "/v1/do-not-call", query={"limit": limit, "cursor": cursor}, timeout=timeout)

    def each_do_not_call(self, *, limit: int | None = None, timeout: float | None = None) -> Iterator[t.DoNotCall]:
        """List the do-not-call list: every entry, page by page."""
        return self._each("GET", "/v1/do-not-call", query={"limit": limit}, timeout=timeout)

    def add_do_not_call(self, body: t.NewListed, *, timeout: float | None = None) -> t.DoNotCall:
        """Add a number to the do-not-call list.

        Holds from the next call on. A number that is on the list already stays as it is, and the
        answer shows that.
        """
        return self._json("POST", "/v1/do-not-call", body=body, timeout=timeout)

    def export_do_not_call(self, *, timeout: float | None = None) -> Answer:
        """Export the do-not-call list.

        The numbers of `GET /v1/do-not-call`, newest first, with the columns
        `number,reason,source,call_id,since`. A reason that a spreadsheet would compute begins with
        an apostrophe. The file is CSV as RFC 4180 has it: UTF-8, a header line, lines that end with
        CRLF. It shows one moment, however long it takes to send. One that cannot be completed ends
        with a broken connection, never as if it were whole. An account may export two files at
        once.
        """
        return self._raw("GET", "/v1/do-not-call.csv", timeout=timeout)

    def import_do_not_call(self, body: str, *, timeout: float | None = None) -> t.ImportDoNotCallResult:
        """Import numbers into the do-not-call list.

        Adds a list: CSV in UTF-8, up to 20000 lines and 2 MB. When the first line has a column
        `number`, it names the columns, of which `number` and `reason` are read, so that an export
        can be imported elsewhere; otherwise the first column is the number and the second, if there
        is one, the reason. All lines are added, or none: the refusal says which line is wrong.
        Numbers that are on the list stay as they are.
        """
        return self._json("POST", "/v1/do-not-call.csv", body=body, content_type="text/csv", timeout=timeout)

    def remove_do_not_call(self, number: str, *, timeout: float | None = None) -> None:
        """Remove a number from the do-not-call list.

        Entries that agents or operators made are removed, too. Make sure that the owner of the
        number agrees.
        """
        return self._none("DELETE", f"/v1/do-not-call/{part(number)}", timeout=timeout)

    def get_do_not_call(self, number: str, *, timeout: float | None = None) -> t.DoNotCall:
        """Check the do-not-call list for a number.

        404: it is not on the list.
        """
        return self._json("GET", f"/v1/do-not-call/{part(number)}", timeout=timeout)

    def add_trunk_number(self, id: str, body: t.NewTrunkNumber, *, idempotency_key: str | None = None, timeout: float | None = None) -> t.Number:
        """Put a number of your own on a trunk.

        A number that your carrier or exchange brings by the trunk. It costs nothing here, is in the
        list of numbers, and calls from it go out on the trunk. Release it to take it off.
        """
        return self._json("POST", f"/v1/trunks/{part(id)}/numbers", body=body, idempotency_key=idempotency_key, repeat=True, timeout=timeout)

    def list_calls(self, *, direction: Literal["web", "inbound", "outbound"] | None = None, agent_id: str | None = None, number: str | None = None, end_reason: Literal["completed", "user_hangup", "agent_hangup", "api_hangup", "no_answer", "busy", "rejected", "failed", "voicemail", "balance_exhausted", "max_duration", "unknown"] | None = None, state: Literal["live", "ended"] | None = None, metadata: t.Metadata | None = None, header: str | None = None, tag: str | None = None, q: str | None = None, sort: Literal["newest", "oldest", "longest", "most_expensive", "worst_sound"] | None = None, from_: str | None = None, to: str | None = None, limit: int | None = None, cursor: str | None = None, follow: bool | None = None, timeout: float | None = None) -> t.ListCallSummary:
        """List calls.

        Conversations on the telephone and over WebSockets, the newest first unless `sort` says
        otherwise, without their transcripts: all, or those that everything asked for is true of.
        `mos` and `end_detail` are for people who look for faults; new details may come.
        """
        return self._json("GET", "/v1/calls", query={"direction": direction, "agent_id": agent_id, "number": number, "end_reason": end_reason, "state": state, "metadata": metadata, "header": header, "tag": tag, "q": q, "sort": sort, "from": from_, "to": to, "limit": limit, "cursor": cursor, "follow": follow}, timeout=timeout)

    def each_calls(self, *, direction: Literal["web", "inbound", "outbound"] | None = None, agent_id: str | None = None, number: str | None = None, end_reason: Literal["completed", "user_hangup", "agent_hangup", "api_hangup", "no_answer", "busy", "rejected", "failed", "voicemail", "balance_exhausted", "max_duration", "unknown"] | None = None, state: Literal["live", "ended"] | None = None, metadata: t.Metadata | None = None, header: str | None = None, tag: str | None = None, q: str | None = None, sort: Literal["newest", "oldest", "longest", "most_expensive", "worst_sound"] | None = None, from_: str | None = None, to: str | None = None, limit: int | None = None, follow: bool | None = None, timeout: float | None = None) -> Iterator[t.CallSummary]:
        """List calls: every entry, page by page."""
        return self._each("GET", "/v1/calls", query={"direction": direction, "agent_id": agent_id, "number": number, "end_reason": end_reason, "state": state, "metadata": metadata, "header": header, "tag": tag, "q": q, "sort": sort, "from": from_, "to": to, "limit": limit, "follow": follow}, timeout=timeout)

    def export_calls(self, *, direction: Literal["web", "inbound", "outbound"] | None = None, agent_id: str | None = None, number: str | None = None, end_reason: str | None = None, state: Literal["live", "ended"] | None = None, metadata: dict[str, str] | None = None, header: str | None = None, tag: str | None = None, q: str | None = None, sort: Literal["newest", "oldest", "longest", "most_expensive", "worst_sound"] | None = None, from_: str | None = None, to: str | None = None, timeout: float | None = None) -> Answer:
        """Export calls.

        The calls that `GET /v1/calls` lists, in the same order:
        `id,created_at,answered_at,ended_at,direction,from,to,agent_id,agent_version,status,duration,end_reason,end_detail,answered_by,cost,mos,wait_p50_ms,metadata,tags`.
        A caller who is no telephone number, as exchanges may write one, begins with an apostrophe
        where a spreadsheet would compute it. The file is CSV as RFC 4180 has it: UTF-8, a header
        line, lines that end with CRLF. It shows one moment, however long it takes to send. One that
        cannot be completed ends with a broken connection, never as if it were whole. An account may
        export two files at once.
        """
        return self._raw("GET", "/v1/calls.csv", query={"direction": direction, "agent_id": agent_id, "number": number, "end_reason": end_reason, "state": state, "metadata": metadata, "header": header, "tag": tag, "q": q, "sort": sort, "from": from_, "to": to}, timeout=timeout)

    def delete_call(self, id: str, *, timeout: float | None = None) -> None:
        """Delete the transcript and recording of a call.

        For good: transcript, events, recording, SIP messages, summary, extracted data, and what the
        call could be replayed from. A customer database that has no note of the call yet gets none.
        That there was the call stays, with its numbers, times, cost, sound quality and evidence of
        consent. Of a call that lasts nothing is kept when it ends; deleting it again changes
        nothing.
        """
        return self._none("DELETE", f"/v1/calls/{part(id)}", timeout=timeout)

    def get_call(self, id: str, *, timeout: float | None = None) -> t.CallDetail:
        """Read a call.

        With its transcript and the latency of each turn. While the call lasts both grow.
        """
        return self._json("GET", f"/v1/calls/{part(id)}", timeout=timeout)

    def update_call(self, id: str, body: t.CallChange, *, timeout: float | None = None) -> t.CallSummary:
        """Keep metadata, tags and a note with a call.

        Changes what is kept with a call, of yours and not of the conversation's. What the request
        does not have stays as it is.
        """
        return self._json("PATCH", f"/v1/calls/{part(id)}", body=body, timeout=timeout)

    def list_call_completions(self, id: str, *, timeout: float | None = None) -> t.CallCompletions:
        """List what the model of a call was asked.

        Each question to the language model, the first one first, with its answer: those that were
        asked before the caller had finished, and thrown away, too. They are stored as they happen,
        1,000 of a call and about 1 MB at most, kept for 30 days, and deleted with the transcript.
        For owners of the account.
        """
        return self._json("GET", f"/v1/calls/{part(id)}/completions", timeout=timeout)

    def get_call_completion(self, id: str, no: int, *, timeout: float | None = None) -> t.CallCompletionDetail:
        """Read what the model of a call was asked.

        With the prompt, the functions and the conversation that the model was given. For owners of
        the account.
        """
        return self._json("GET", f"/v1/calls/{part(id)}/completions/{part(no)}", timeout=timeout)

    def follow_any_call(self, id: str, *, timeout: float | None = None) -> Iterator[dict[str, Any]]:
        """Follow any call.

        What `GET /callcenter/sse/call-monitor` sends, for calls of every direction, and `function`:
        a function of the agent is called, with `outcome` null, or has its result; its fields are
        those of `functions` in `GET /v1/calls/{id}`. While the agent speaks it also sends
        `speaking` (`role`, `text`, `at`) as each sentence begins: what it says of its reply so far,
        of which a `transcript` has what was heard, if anything. Of a call that is over it sends all
        that happened, from its beginning, and closes. With `Accept: application/json` it answers
        with a list instead: `data` has objects with `at`, the time, and `event`, an object as in
        the stream. It is `complete` once the call is over; before, it has the one `snapshot` of
        now. At most 2,000 events and 512 kB are kept of a call: `omitted` earlier ones are not, and
        the `snapshot` has the transcript until then. A call that the account does not have is not
        found.
        """
        return self._events("GET", f"/v1/calls/{part(id)}/events", timeout=timeout)

    def hang_up_any_call(self, id: str, *, timeout: float | None = None) -> t.HungUp:
        """Hang up any call.

        Ends a call of any direction at once, as `api_hangup`. One that has ended already answers
        the same.
        """
        return self._json("POST", f"/v1/calls/{part(id)}/hangup", timeout=timeout)

    def listen_in(self, id: str, *, timeout: float | None = None) -> None:
        """Listen in on a call.

        Sends the audio of a call that is going on, until it is over or the socket is closed. Nobody
        in the call hears of it, unless its agent has `listening_tone`: then everybody hears a soft
        tone at the
        beginning, and every 15 seconds. Who listened, and when, is in the call.

        The first message is `{"type": "listening", "call_id", "sample_rate", "channels": 2}`. Then
        come binary messages with 20 ms each: Int16 little endian, the caller on the left and the
        other side on the right, as the caller hears it. The last is `{"type": "ended"}`. What is
        refused is answered by one error message and close code 1008. A client that is slow misses
        audio.
        Eight may listen in on a call at once. It costs nothing.

        Who may speak sends `{"type": "take_over"}`: the agent stops at once, and is silent until
        `{"type": "give_back"}`, or the end of the socket. Meanwhile binary messages, Int16 little
        endian at the same rate on one channel, of any length up to 200 ms, are what the caller
        hears. `taken_over` and `given_back` answer. One person speaks at a time. What they say
        stands in the
        transcript as the role `supervisor`, and the agent knows it afterwards. `{"type": "whisper",
        "text": "…"}` tells the agent something that the caller does not hear, for its next
        replies.

        Once the caller is connected to a person by a transfer, a whisper is said to that person by
        the agent's voice, and the caller does not hear it; up to four wait for their turn, and more
        are dropped. `{"type": "coach"}` lets only
        that person hear what you say, sent as above; `coaching` answers, and `give_back` ends it.
        What the two say is sent to you where the agent has `record_transfers`.
        """
        return self._none("GET", f"/v1/calls/{part(id)}/listen", timeout=timeout)

    def get_call_quality(self, id: str, *, timeout: float | None = None) -> t.CallQuality:
        """Read how a call sounded.

        What the network did to the audio of a telephone call, stored each minute while it lasts and
        once more when it is over; the call has its `mos` then. What was not measured is 0: without
        reports of the far end (RTCP), which many carriers do not send, nothing is known of what it
        heard, nor of the round trip. A call over a WebSocket, and one that was not answered so far,
        has `available: false`.
        """
        return self._json("GET", f"/v1/calls/{part(id)}/quality", timeout=timeout)

    def delete_call_recording(self, id: str, *, timeout: float | None = None) -> None:
        """Delete the recording of a call.

        For good. That there was one stays with the call. What is deleted while the call lasts is
        not kept when it ends; deleting it again changes nothing.
        """
        return self._none("DELETE", f"/v1/calls/{part(id)}/recording", timeout=timeout)

    def get_call_recording(self, id: str, *, format: Literal["ogg", "wav"] | None = None, timeout: float | None = None) -> Answer:
        """Fetch the recording of a call.

        The caller on the left, on the right what the caller heard, as Opus in Ogg; where a server
        has no encoder, and with format=wav, as WAV. Parts of it can be asked for (Range). It is
        there some seconds after the end of the call, for as long as the account keeps recordings.
        """
        return self._raw("GET", f"/v1/calls/{part(id)}/recording", query={"format": format}, timeout=timeout)

    def get_call_waveform(self, id: str, *, timeout: float | None = None) -> t.Waveform:
        """Fetch the waveform of a recording.

        How loud each side was over the time of the recording, in at most 1,200 equal parts: enough
        to draw it, however long it is, without its audio. It is made with the recording, and goes
        with it.
        """
        return self._json("GET", f"/v1/calls/{part(id)}/recording/peaks", timeout=timeout)

    def get_call_sip(self, id: str, *, timeout: float | None = None) -> t.SIPTrace:
        """Read the signalling of a call.

        The SIP messages of a telephone call as they were sent and received, oldest first, stored
        every few seconds while it lasts and once more when it is over: at most 200 messages and 128
        kB; `dropped` earlier ones are not kept. Credentials, keys of encryption and digits are
        masked. A call over a WebSocket has none.
        """
        return self._json("GET", f"/v1/calls/{part(id)}/sip", timeout=timeout)

    def start_stream(self, id: str, body: t.NewStream, *, timeout: float | None = None) -> t.Stream:
        """Send the audio of a call to a WebSocket.

        Sends the audio of a call that is going on to a WebSocket of yours, until the call is over,
        the stream is deleted or your server closes the socket. The messages are those of
        Twilio's Media Streams: `connected`, `start`, `media` and `stop`, with audio of 20 ms in
        PCMU at 8 kHz; track `inbound` is what the person on the line says, `outbound` what they
        hear. `streamSid`, `accountSid` and `callSid`
        are the identifiers of Parley. What you send is ignored. A server that is slow misses audio,
        and `timestamp` goes on; one that takes nothing for 5 s loses the stream.

        Nobody in the call hears of it; who asked for it, when, and the host it went to are in the
        call. Streams and people who listen in are eight at most. It costs nothing.
        """
        return self._json("POST", f"/v1/calls/{part(id)}/streams", body=body, timeout=timeout)

    def stop_stream(self, id: str, stream: str, *, timeout: float | None = None) -> None:
        """Stop a stream.

        Ends one stream of a call; the call goes on.
        """
        return self._none("DELETE", f"/v1/calls/{part(id)}/streams/{part(stream)}", timeout=timeout)

    def list_consents(self, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListConsent:
        """List the evidence of consent.

        Who confirmed that the callee of a call had agreed, the oldest first: one row for each call
        that was placed. Rows are numbered from 1 without gaps and never change. `seal` is the
        SHA-256 of the `seal` of the row before it (nothing for row 1), `account_id`, `call_id`,
        `agent_id`, `key_id`, `ip`, `at` as it is written here, and `to_hash`, each preceded by its
        length in bytes as eight bytes, the highest first; seals and hashes count as 32 bytes. So
        the last seal vouches for all rows. `to_hash` is of the number called, keyed by a secret of
        the server: the evidence can be kept when the call's history is not.
        """
        return self._json("GET", "/v1/consents", query={"limit": limit, "cursor": cursor}, timeout=timeout)

    def each_consents(self, *, limit: int | None = None, timeout: float | None = None) -> Iterator[t.Consent]:
        """List the evidence of consent: every entry, page by page."""
        return self._each("GET", "/v1/consents", query={"limit": limit}, timeout=timeout)

    def export_consents(self, *, timeout: float | None = None) -> Answer:
        """Export the evidence of consent.

        The rows of `GET /v1/consents` with the columns
        `no,account_id,call_id,agent_id,to_hash,key_id,ip,at,seal`. The file is CSV as RFC 4180 has
        it: UTF-8, a header line, lines that end with CRLF. It shows one moment, however long it
        takes to send. One that cannot be completed ends with a broken connection, never as if it
        were whole. An account may export two files at once.
        """
        return self._raw("GET", "/v1/consents.csv", timeout=timeout)

    def get_latency(self, *, group_by: Literal["day", "hour", "agent"] | None = None, agent_id: str | None = None, direction: Literal["web", "inbound", "outbound"] | None = None, from_: str | None = None, to: str | None = None, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.LatencyList:
        """Read how quickly agents answered.

        What half, nine tenths, 95 and 99 of a hundred turns took at most, stage by stage, by day,
        by hour or by agent, over the last 30 days or a range of up to 92, 31 by the hour, and of at
        most 100,000 calls, the newest. Calls in progress count with the turns that are stored.
        """
        return self._json("GET", "/v1/latency", query={"group_by": group_by, "agent_id": agent_id, "direction": direction, "from": from_, "to": to, "limit": limit, "cursor": cursor}, timeout=timeout)

    def each_latency(self, *, group_by: Literal["day", "hour", "agent"] | None = None, agent_id: str | None = None, direction: Literal["web", "inbound", "outbound"] | None = None, from_: str | None = None, to: str | None = None, limit: int | None = None, timeout: float | None = None) -> Iterator[t.LatencyGroup]:
        """Read how quickly agents answered: every entry, page by page."""
        return self._each("GET", "/v1/latency", query={"group_by": group_by, "agent_id": agent_id, "direction": direction, "from": from_, "to": to, "limit": limit}, timeout=timeout)

    def get_engine_latency(self, *, agent_id: str | None = None, direction: Literal["web", "inbound", "outbound"] | None = None, from_: str | None = None, to: str | None = None, timeout: float | None = None) -> t.EngineLatencyList:
        """Read how quickly engines answered.

        What half and 95 of a hundred turns waited at most for a language model's first words, or a
        voice's first audio, engine by engine, over the last 7 days or a range of up to 92, of at
        most 1,000 calls, the newest. A call that is over counts for a stage in which one engine
        alone served it.
        """
        return self._json("GET", "/v1/latency/engines", query={"agent_id": agent_id, "direction": direction, "from": from_, "to": to}, timeout=timeout)

    def get_statistics(self, *, from_: str | None = None, to: str | None = None, agent_id: str | None = None, direction: Literal["web", "inbound", "outbound"] | None = None, group_by: list[Literal["day", "agent"]] | None | None = None, timeout: float | None = None) -> t.Statistics:
        """Read statistics of calls.

        Figures of the calls that began on some days and have ended: how many, how many were
        answered, their length and cost, how they ended, and how long turns waited for each stage
        and engine. It holds each call as soon as it has ended, also when its transcript was
        deleted. `cost` is that of the calls, to the last decimal; `GET /v1/usage` has the same by
        the day on which it was charged, beside what is no call. Latencies are counted in buckets,
        and are within 4.5 %; `GET /v1/latency` has exact ones of fewer days. Those of engines leave
        out calls that came with a demonstration.
        """
        return self._json("GET", "/v1/statistics", query={"from": from_, "to": to, "agent_id": agent_id, "direction": direction, "group_by": group_by}, timeout=timeout)

    def get_config(self, *, timeout: float | None = None) -> t.Limits:
        """The limits of requests.

        What synthesis requests may ask for, and the format of what comes back.
        """
        return self._json("GET", "/config", timeout=timeout)

    def get_health(self, *, timeout: float | None = None) -> t.HealthReport:
        """Whether the server is ready.

        `warming_up` also when something it needs has gone. The checks are at most a second old. No
        credential is needed; with an API key the answer says more.
        """
        return self._json("GET", "/health", timeout=timeout)

    def get_languages(self, *, timeout: float | None = None) -> t.LanguageList:
        """The languages.

        What can be spoken, and what this server can also recognise.
        """
        return self._json("GET", "/languages", timeout=timeout)

    def get_models(self, *, timeout: float | None = None) -> t.ModelList:
        """The engines of this server.

        What speaks, recognises and answers here, those that speak first.
        """
        return self._json("GET", "/models", timeout=timeout)

    def get_status(self, *, timeout: float | None = None) -> t.ServerReport:
        """The server's numbers.

        How long the server has run and what it is doing. Its numbers are for API keys; without one
        they are 0.
        """
        return self._json("GET", "/status", timeout=timeout)

    def get_voices(self, *, timeout: float | None = None) -> t.VoiceList:
        """The voices.

        Ten voices, each of which speaks every language.
        """
        return self._json("GET", "/voices", timeout=timeout)

    def list_engine_keys(self, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListEngineKey:
        """List the account's keys for engines.

        By engine. The keys themselves are never shown, only their last four characters.
        """
        return self._json("GET", "/v1/engine-keys", query={"limit": limit, "cursor": cursor}, timeout=timeout)

    def each_engine_keys(self, *, limit: int | None = None, timeout: float | None = None) -> Iterator[t.EngineKey]:
        """List the account's keys for engines: every entry, page by page."""
        return self._each("GET", "/v1/engine-keys", query={"limit": limit}, timeout=timeout)

    def delete_engine_key(self, engine: str, *, timeout: float | None = None) -> None:
        """Delete a key for an engine.

        Conversations in progress go on with it.
        """
        return self._none("DELETE", f"/v1/engine-keys/{part(engine)}", timeout=timeout)

    def put_engine_key(self, engine: str, body: t.PutEngineKeyRequest, *, timeout: float | None = None) -> t.EngineKey:
        """Set a key for an engine.

        Conversations that begin from now on have the engine work with this key in place of the
        operator's, and so has what a language model makes of calls afterwards; synthesis,
        recognition and noise removal without a conversation are the operator's. What the engine
        uses on the key is paid to its vendor, and recorded at price 0 unless the rate card says
        otherwise (`llm.own_key_input_per_million_tokens`). Which model, address and options it has
        stays the operator's and the agent's. The key is stored encrypted and never shown again; one
        that was there is replaced. When the vendor refuses it, the next engine of the agent's list
        takes over, the account gets the event `engine_key.refused`, once, and the key is not used
        again until it is set anew or passes a test: till then the engine works with the operator's
        key, where it has one.
        """
        return self._json("PUT", f"/v1/engine-keys/{part(engine)}", body=body, timeout=timeout)

    def test_engine_key(self, engine: str, *, timeout: float | None = None) -> t.EngineTest:
        """Test a key for an engine.

        Makes one small request to the vendor, who charges the key's owner for it, and says how long
        that took: half a second of silence is recognised, yes is answered or spoken. A key that was
        refused is used again when it passes. An account may have ten tests at once and ten a
        minute.
        """
        return self._json("POST", f"/v1/engine-keys/{part(engine)}/test", timeout=timeout)

    def list_keys(self, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListAPIKey:
        """List the account's API keys.

        Newest first, revoked ones too. A key itself is never shown again, only its last four
        characters.
        """
        return self._json("GET", "/v1/keys", query={"limit": limit, "cursor": cursor}, timeout=timeout)

    def each_keys(self, *, limit: int | None = None, timeout: float | None = None) -> Iterator[t.APIKey]:
        """List the account's API keys: every entry, page by page."""
        return self._each("GET", "/v1/keys", query={"limit": limit}, timeout=timeout)

    def create_key(self, body: t.NewKey, *, idempotency_key: str | None = None, timeout: float | None = None) -> t.CreatedKey:
        """Create an API key.

        The answer is the only one that holds the key: keep it. With the role owner it may change
        who belongs to the account; with the mark money, what is paid: automatic recharge and limits
        of spending. Only owners make such keys: by their sign-in, or by a key with that role and,
        for keys with the mark, the mark. With the mark listen it may listen in on calls, with the
        mark speak it may speak in them, too; owners make such keys.
        """
        return self._json("POST", "/v1/keys", body=body, idempotency_key=idempotency_key, repeat=True, timeout=timeout)

    def revoke_key(self, id: str, *, timeout: float | None = None) -> None:
        """Revoke an API key.

        It ends for good and at once, and with it every ticket that was made from it; what is in
        progress goes on. Revoking it again changes nothing. The key that the request is made with
        may be revoked too: the next request needs another, which the operator can make when none is
        left. Keys with the role owner or the mark money are revoked by themselves and by owners.
        """
        return self._none("DELETE", f"/v1/keys/{part(id)}", timeout=timeout)

    def list_knowledge_bases(self, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListKnowledgeBase:
        """List the account's collections.

        The newest first.
        """
        return self._json("GET", "/v1/knowledge", query={"limit": limit, "cursor": cursor}, timeout=timeout)

    def each_knowledge_bases(self, *, limit: int | None = None, timeout: float | None = None) -> Iterator[t.KnowledgeBase]:
        """List the account's collections: every entry, page by page."""
        return self._each("GET", "/v1/knowledge", query={"limit": limit}, timeout=timeout)

    def create_knowledge_base(self, body: t.NewKnowledgeBase, *, idempotency_key: str | None = None, timeout: float | None = None) -> t.KnowledgeBase:
        """Create a collection.

        An account has 50 at most, with 200 MB of documents together. Agents name it in
        `settings.knowledge_bases`.
        """
        return self._json("POST", "/v1/knowledge", body=body, idempotency_key=idempotency_key, repeat=True, timeout=timeout)

    def delete_knowledge_base(self, id: str, *, timeout: float | None = None) -> None:
        """Delete a collection.

        With its documents. Agents that name it find nothing in it any more.
        """
        return self._none("DELETE", f"/v1/knowledge/{part(id)}", timeout=timeout)

    def get_knowledge_base(self, id: str, *, timeout: float | None = None) -> t.KnowledgeBase:
        """Read a collection.

        With how many documents it has.
        """
        return self._json("GET", f"/v1/knowledge/{part(id)}", timeout=timeout)

    def update_knowledge_base(self, id: str, body: t.KnowledgeBaseChange, *, timeout: float | None = None) -> t.KnowledgeBase:
        """Rename a collection.

        Its language stays.
        """
        return self._json("PATCH", f"/v1/knowledge/{part(id)}", body=body, timeout=timeout)

    def list_knowledge_documents(self, id: str, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListKnowledgeDocument:
        """List a collection's documents.

        The newest first.
        """
        return self._json("GET", f"/v1/knowledge/{part(id)}/documents", query={"limit": limit, "cursor": cursor}, timeout=timeout)

    def each_knowledge_documents(self, id: str, *, limit: int | None = None, timeout: float | None = None) -> Iterator[t.KnowledgeDocument]:
        """List a collection's documents: every entry, page by page."""
        return self._each("GET", f"/v1/knowledge/{part(id)}/documents", query={"limit": limit}, timeout=timeout)

    def add_knowledge_document(self, id: str, body: t.NewKnowledgeAddress | t.AddKnowledgeDocumentBody2, *, idempotency_key: str | None = None, timeout: float | None = None) -> t.KnowledgeDocument:
        """Add a document to a collection.

        A file as a form, or an address in JSON. It is read in the background: `state` says how far
        it is, and `reason` why it could not be read. A collection has 500 documents at most.
        Pictures of text are not read.
        """
        return self._json("POST", f"/v1/knowledge/{part(id)}/documents", body=body, idempotency_key=idempotency_key, repeat=True, timeout=timeout)

    def delete_knowledge_document(self, id: str, document: str, *, timeout: float | None = None) -> None:
        """Delete a document.

        With its passages.
        """
        return self._none("DELETE", f"/v1/knowledge/{part(id)}/documents/{part(document)}", timeout=timeout)

    def get_knowledge_document(self, id: str, document: str, *, timeout: float | None = None) -> t.KnowledgeDocument:
        """Read a document.

        What is known of it, and whether it is found.
        """
        return self._json("GET", f"/v1/knowledge/{part(id)}/documents/{part(document)}", timeout=timeout)

    def refresh_knowledge_document(self, id: str, document: str, *, timeout: float | None = None) -> t.KnowledgeDocument:
        """Fetch an address again.

        What it said before is found until then, and stays when it cannot be fetched. A file is read
        once.
        """
        return self._json("POST", f"/v1/knowledge/{part(id)}/documents/{part(document)}/refresh", timeout=timeout)

    def search_knowledge_base(self, id: str, body: t.KnowledgeQuestion, *, timeout: float | None = None) -> t.KnowledgeAnswer:
        """Search a collection.

        As agents do in calls. Passages with all of the words come first; where they are few,
        passages with any of the words follow. Where the server has an embeddings engine, those that
        are nearest by what they mean are merged with them. It is free.
        """
        return self._json("POST", f"/v1/knowledge/{part(id)}/search", body=body, timeout=timeout)

    def list_messages(self, *, direction: Literal["inbound", "outbound"] | None = None, number: str | None = None, peer: str | None = None, status: Literal["queued", "sent", "delivered", "failed", "received"] | None = None, from_: str | None = None, to: str | None = None, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListMessage:
        """List text messages.

        Those that were sent and those that came in, newest first: all, or those of which everything
        that is asked for is true.
        """
        return self._json("GET", "/v1/messages", query={"direction": direction, "number": number, "peer": peer, "status": status, "from": from_, "to": to, "limit": limit, "cursor": cursor}, timeout=timeout)

    def each_messages(self, *, direction: Literal["inbound", "outbound"] | None = None, number: str | None = None, peer: str | None = None, status: Literal["queued", "sent", "delivered", "failed", "received"] | None = None, from_: str | None = None, to: str | None = None, limit: int | None = None, timeout: float | None = None) -> Iterator[t.Message]:
        """List text messages: every entry, page by page."""
        return self._each("GET", "/v1/messages", query={"direction": direction, "number": number, "peer": peer, "status": status, "from": from_, "to": to, "limit": limit}, timeout=timeout)

    def send_message(self, body: t.NewMessage, *, idempotency_key: str | None = None, timeout: float | None = None) -> t.Message:
        """Send a text message.

        Queues a text message (SMS) from a number that the account has bought here, and holds its
        price: `phone.message_outbound` of the rate card, for each segment. 202: it is on its way,
        and its status, or a webhook, says later how it went. It is charged when the carrier has
        taken it, and costs nothing when the carrier refuses it. A number on the account's
        do-not-call list is refused, and so is a destination that cannot be called; the hours of
        calls do not count. Messages are paid from what was paid in. An account sends five messages
        a second, calls that it places included.
        """
        return self._json("POST", "/v1/messages", body=body, idempotency_key=idempotency_key, repeat=True, timeout=timeout)

    def delete_message(self, id: str, *, timeout: float | None = None) -> None:
        """Delete the text of a message.

        Deletes what it says, for good. That there was the message stays: with whom, when and what
        it cost. One that is still queued answers 404.
        """
        return self._none("DELETE", f"/v1/messages/{part(id)}", timeout=timeout)

    def get_message(self, id: str, *, timeout: float | None = None) -> t.Message:
        """Read a text message.

        What it says, how far it is, and what it cost.
        """
        return self._json("GET", f"/v1/messages/{part(id)}", timeout=timeout)

    def list_accounts(self, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListAccount:
        """List the server's accounts.

        Newest first.
        """
        return self._json("GET", "/v1/operator/accounts", query={"limit": limit, "cursor": cursor}, timeout=timeout)

    def each_accounts(self, *, limit: int | None = None, timeout: float | None = None) -> Iterator[t.Account]:
        """List the server's accounts: every entry, page by page."""
        return self._each("GET", "/v1/operator/accounts", query={"limit": limit}, timeout=timeout)

    def create_account(self, body: t.NewAccount, *, idempotency_key: str | None = None, timeout: float | None = None) -> t.CreatedAccount:
        """Make an account.

        With its welcome credit. The operator owns it at first; with `create_key` the answer holds
        an API key of the account with the role owner and the mark money, shown this once, with
        which the owner can be invited.
        """
        return self._json("POST", "/v1/operator/accounts", body=body, idempotency_key=idempotency_key, repeat=True, timeout=timeout)

    def get_account(self, id: str, *, timeout: float | None = None) -> t.AccountDetail:
        """Read an account.

        With its people.
        """
        return self._json("GET", f"/v1/operator/accounts/{part(id)}", timeout=timeout)

    def update_account(self, id: str, body: t.AccountChangeBody, *, timeout: float | None = None) -> t.AccountDetail:
        """Suspend an account, change its limits.

        What is not sent stays. Suspended, an account starts nothing new, and its conversations say
        goodbye and end within seconds.
        """
        return self._json("PATCH", f"/v1/operator/accounts/{part(id)}", body=body, timeout=timeout)

    def resolve_disputes(self, id: str, *, timeout: float | None = None) -> t.AccountDetail:
        """Resolve all disputes of an account.

        Calls and jobs may start again. Do this when the payment provider has decided. Without a
        dispute it changes nothing.
        """
        return self._json("POST", f"/v1/operator/accounts/{part(id)}/resolve-disputes", timeout=timeout)

    def check_setup(self, *, timeout: float | None = None) -> t.CheckList:
        """Check what the server needs.

        Ports, engines, the database and what else `parley doctor` looks at, on the server that is
        asked. It takes seconds; within five of the last time its findings are repeated.
        """
        return self._json("GET", "/v1/operator/checks", timeout=timeout)

    def list_nodes(self, *, timeout: float | None = None) -> t.NodeList:
        """List the server's nodes.

        The processes that share the database, as it knows them, whichever of them is asked: those
        that live, and those that have been silent for up to a week. One that was stopped in good
        order is not among them. Times are by the database's clock.
        """
        return self._json("GET", "/v1/operator/nodes", timeout=timeout)

    def get_engine_usage_of_all(self, *, from_: str | None = None, to: str | None = None, timeout: float | None = None) -> t.EngineTotals:
        """Sum up what engines used for all accounts.

        As `GET /v1/usage/engines`, with what vendors charge where the server's settings say that:
        `cost`, beside the `price` that accounts pay.
        """
        return self._json("GET", "/v1/operator/usage/engines", query={"from": from_, "to": to}, timeout=timeout)

    def list_users(self, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListUser:
        """List who signs in to the server.

        Newest first.
        """
        return self._json("GET", "/v1/operator/users", query={"limit": limit, "cursor": cursor}, timeout=timeout)

    def each_users(self, *, limit: int | None = None, timeout: float | None = None) -> Iterator[t.User]:
        """List who signs in to the server: every entry, page by page."""
        return self._each("GET", "/v1/operator/users", query={"limit": limit}, timeout=timeout)

    def delete_user(self, id: str, *, keys: Literal["keep", "revoke"] | None = None, timeout: float | None = None) -> t.Removal:
        """Delete a user.

        With their sign-ins, operator's keys and memberships. The last owner of an account that has
        other people cannot go. The answer is as for somebody who is disabled.
        """
        return self._json("DELETE", f"/v1/operator/users/{part(id)}", query={"keys": keys}, timeout=timeout)

    def update_user(self, id: str, body: t.UserChangeBody, *, keys: Literal["keep", "revoke"] | None = None, timeout: float | None = None) -> t.ChangedUser:
        """Disable a user, or take an operator's role away.

        A disabled user cannot sign in: their sign-ins, links and invitations end at once, and their
        operator's keys open nothing. Operators are made on the server only (`parley admin user
        role`). The answer names the keys of accounts that somebody who is disabled made, also by a
        key of theirs, and that were good: with `keys=revoke` these end, else they stay good.
        """
        return self._json("PATCH", f"/v1/operator/users/{part(id)}", body=body, query={"keys": keys}, timeout=timeout)

    def list_invitations(self, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListInvitation:
        """List invitations.

        Those that are still good and were not accepted, the newest first.
        """
        return self._json("GET", "/v1/invitations", query={"limit": limit, "cursor": cursor}, timeout=timeout)

    def each_invitations(self, *, limit: int | None = None, timeout: float | None = None) -> Iterator[t.Invitation]:
        """List invitations: every entry, page by page."""
        return self._each("GET", "/v1/invitations", query={"limit": limit}, timeout=timeout)

    def create_invitation(self, body: t.NewInvitation, *, idempotency_key: str | None = None, timeout: float | None = None) -> t.CreatedInvitation:
        """Invite somebody.

        The answer is the only one that holds the link: send it to them. Nothing is mailed. It opens
        once, within seven days; an earlier one for the same address is dead. Who is new chooses a
        password with it, who is a user already signs in.
        """
        return self._json("POST", "/v1/invitations", body=body, idempotency_key=idempotency_key, repeat=True, timeout=timeout)

    def revoke_invitation(self, id: str, *, timeout: float | None = None) -> None:
        """Take an invitation back.

        Its link opens nothing from then on.
        """
        return self._none("DELETE", f"/v1/invitations/{part(id)}", timeout=timeout)

    def list_members(self, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListMember:
        """List the people of the account.

        Owners first. There are 100 at most, invitations counted.
        """
        return self._json("GET", "/v1/members", query={"limit": limit, "cursor": cursor}, timeout=timeout)

    def each_members(self, *, limit: int | None = None, timeout: float | None = None) -> Iterator[t.Member]:
        """List the people of the account: every entry, page by page."""
        return self._each("GET", "/v1/members", query={"limit": limit}, timeout=timeout)

    def remove_member(self, user_id: str, *, keys: Literal["keep", "revoke"] | None = None, timeout: float | None = None) -> t.Removal:
        """Remove somebody.

        They no longer see the account, and invitations that they made open nothing. The answer
        names the keys of the account that they made, also by a key of theirs, and that were good:
        with `keys=revoke` these end with them, else they stay good. The last owner cannot be
        removed.
        """
        return self._json("DELETE", f"/v1/members/{part(user_id)}", query={"keys": keys}, timeout=timeout)

    def update_member(self, user_id: str, body: t.MemberChangeBody, *, timeout: float | None = None) -> t.Member:
        """Change what somebody may do.

        Their role, whether they may listen in on calls, or speak in them; who may speak may listen.
        It counts from their next request on. The last owner stays one. A key makes owners only if
        it has the mark money, which owners have.
        """
        return self._json("PATCH", f"/v1/members/{part(user_id)}", body=body, timeout=timeout)

    def list_requests(self, *, method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] | None = None, route: str | None = None, outcome: Literal["done", "refused", "failed"] | None = None, code: str | None = None, key_id: str | None = None, from_: str | None = None, to: str | None = None, limit: int | None = None, cursor: str | None = None, follow: bool | None = None, timeout: float | None = None) -> t.ListRequestSummary:
        """List what was asked with the account's keys.

        Requests with a key or a ticket of the account, the newest first: those of the last 7 days,
        10,000 at most. One is there a second or two after its answer; where the server is very busy
        some may be missing. Requests whose credential was refused belong to nobody, and what people
        do on the pages is not among them, nor are requests with `follow=true`.
        """
        return self._json("GET", "/v1/requests", query={"method": method, "route": route, "outcome": outcome, "code": code, "key_id": key_id, "from": from_, "to": to, "limit": limit, "cursor": cursor, "follow": follow}, timeout=timeout)

    def each_requests(self, *, method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] | None = None, route: str | None = None, outcome: Literal["done", "refused", "failed"] | None = None, code: str | None = None, key_id: str | None = None, from_: str | None = None, to: str | None = None, limit: int | None = None, follow: bool | None = None, timeout: float | None = None) -> Iterator[t.RequestSummary]:
        """List what was asked with the account's keys: every entry, page by page."""
        return self._each("GET", "/v1/requests", query={"method": method, "route": route, "outcome": outcome, "code": code, "key_id": key_id, "from": from_, "to": to, "limit": limit, "follow": follow}, timeout=timeout)

    def get_request(self, id: str, *, timeout: float | None = None) -> t.RequestDetail:
        """Read a request.

        With its body, if that was JSON, and the command that sends it again.
        """
        return self._json("GET", f"/v1/requests/{part(id)}", timeout=timeout)

    def list_secrets(self, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListAccountSecret:
        """List the account's secrets.

        By name. Values are never shown.
        """
        return self._json("GET", "/v1/secrets", query={"limit": limit, "cursor": cursor}, timeout=timeout)

    def each_secrets(self, *, limit: int | None = None, timeout: float | None = None) -> Iterator[t.AccountSecret]:
        """List the account's secrets: every entry, page by page."""
        return self._each("GET", "/v1/secrets", query={"limit": limit}, timeout=timeout)

    def delete_secret(self, name: str, *, timeout: float | None = None) -> None:
        """Delete a secret.

        Functions that refer to it fail from the next conversation on.
        """
        return self._none("DELETE", f"/v1/secrets/{part(name)}", timeout=timeout)

    def put_secret(self, name: str, body: t.SecretInputBody, *, timeout: float | None = None) -> t.AccountSecret:
        """Store a secret.

        Functions of agents refer to it as `{{secret.NAME}}`, in headers and queries. It is sent to
        its `hosts` only: bind each secret, for one that is not bound goes wherever a function of
        the account sends it. An account keeps 100 at most. What was there under the name is
        replaced; conversations in progress go on with what they began with. The value is stored
        encrypted and never shown again.
        """
        return self._json("PUT", f"/v1/secrets/{part(name)}", body=body, timeout=timeout)

    def get_service_health(self, *, timeout: float | None = None) -> t.ServiceHealth:
        """How the service is.

        Whether the engines, the database and the storage work, by checks that are at most a second
        old.
        """
        return self._json("GET", "/api/status/health", timeout=timeout)

    def get_service_models(self, *, timeout: float | None = None) -> t.ServiceModels:
        """The engines and whether they are ready.

        One that is not says why.
        """
        return self._json("GET", "/api/status/models", timeout=timeout)

    def get_service_voices(self, *, timeout: float | None = None) -> t.ServiceVoices:
        """The voices by gender and character.

        May be kept for a day.
        """
        return self._json("GET", "/api/status/voices", timeout=timeout)

    def list_sounds(self, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListSound:
        """List the account's sounds.

        The newest first.
        """
        return self._json("GET", "/v1/sounds", query={"limit": limit, "cursor": cursor}, timeout=timeout)

    def each_sounds(self, *, limit: int | None = None, timeout: float | None = None) -> Iterator[t.Sound]:
        """List the account's sounds: every entry, page by page."""
        return self._each("GET", "/v1/sounds", query={"limit": limit}, timeout=timeout)

    def add_sound(self, body: t.AddSoundBody, *, name: str | None = None, idempotency_key: str | None = None, timeout: float | None = None) -> t.Sound:
        """Add a sound.

        Callers of agents that name it in `settings.hold_sound` hear it while this server calls
        somebody for them, again and again. The file is WAV, or MP3, AAC, Ogg, WebM, MP4 or FLAC
        where the server can read these; at most 25 MB and three minutes. It is kept as telephones
        play it (G.722), and fades for 10 ms at both ends. An account has 32 sounds at most. It
        costs nothing.
        """
        return self._json("POST", "/v1/sounds", body=body, query={"name": name}, idempotency_key=idempotency_key, repeat=True, timeout=timeout)

    def delete_sound(self, id: str, *, timeout: float | None = None) -> None:
        """Delete a sound.

        Calls in which it plays go on with it. After them callers of agents that name it hear the
        ringing tone.
        """
        return self._none("DELETE", f"/v1/sounds/{part(id)}", timeout=timeout)

    def get_sound_audio(self, id: str, *, timeout: float | None = None) -> Answer:
        """Fetch the audio of a sound.

        As it is played: one channel at 16 kHz, 16 bits.
        """
        return self._raw("GET", f"/v1/sounds/{part(id)}/audio", timeout=timeout)

    def cancel_task(self, task_id: str, *, timeout: float | None = None) -> t.CanceledOutputBody:
        """Cancel a task.

        One that is pending or processing stops, costs nothing and is not known any more. One that
        has ended stays as it is.
        """
        return self._json("DELETE", f"/api/tts/tasks/{part(task_id)}", timeout=timeout)

    def get_task(self, task_id: str, *, timeout: float | None = None) -> t.Task:
        """Get task status.

        The status goes from `pending` to `processing` to `completed` or `failed`, never back. Ended
        tasks are kept for a week.
        """
        return self._json("GET", f"/api/tts/tasks/{part(task_id)}", timeout=timeout)

    def download_task(self, task_id: str, *, timeout: float | None = None) -> Answer:
        """Fetch the audio of a completed task.

        For a day after its completion.
        """
        return self._raw("GET", f"/api/tts/tasks/{part(task_id)}/download", timeout=timeout)

    def submit_task(self, voice_id: str, body: t.SubmitInputBody, *, idempotency_key: str | None = None, timeout: float | None = None) -> t.Task:
        """Speak a long text in the background.

        For texts of up to 100,000 characters. The answer names a task: ask for it every 2 to 5
        seconds, and fetch the audio when it is completed. The price of the whole text is held now
        and charged when the task completes; one that fails or is cancelled is free. An account may
        have five tasks waiting or running; they do not count as sessions.
        """
        return self._json("POST", f"/api/tts/{part(voice_id)}/async", body=body, idempotency_key=idempotency_key, repeat=True, timeout=timeout)

    def denoise(self, body: t.DenoiseBody, *, engine: Literal["spectral", "gtcrn"] | None = None, timeout: float | None = None) -> Answer:
        """Remove the noise from a recording.

        Steady noise goes (hiss, hum, a car, a fan); other people's voices stay. The file is WAV, or
        MP3, AAC, Ogg, WebM, MP4 or FLAC where the server can read these; its content decides, not
        its name. At most 25 MB and two hours. The answer has one channel, the rate of the recording
        and exactly its length. Charged by the second of audio.
        """
        return self._raw("POST", "/denoise", body=body, query={"engine": engine}, timeout=timeout)

    def transcribe(self, body: t.TranscribeBody1 | t.TranscribeBody2, *, timeout: float | None = None) -> t.Transcription:
        """Transcribe a recording.

        Takes a file of at most 25 MB and two hours, as a form or in JSON, and answers with its text
        when all of it is recognised. The length of the audio is charged, per second; a request that
        fails costs nothing. A recording in which nobody speaks has an empty text.
        """
        return self._json("POST", "/stt/transcribe", body=body, timeout=timeout)

    def synthesize(self, body: t.Ask, *, timeout: float | None = None) -> Answer:
        """Speak a text, answered with a WAV file.

        The whole file comes at once, when all of it has been made; a minute is the longest it may
        take. `voice` and `language` must be sent. Charged by the character (Unicode code point),
        and only when it has succeeded.
        """
        return self._raw("POST", "/tts/synthesize", body=body, timeout=timeout)

    def create_session_ticket(self, body: t.NewSessionTicket, *, timeout: float | None = None) -> t.MintedForAgent:
        """Make a ticket for one agent's conversations.

        A session ticket may be given to strangers. It opens conversations with one agent of the
        account, over `/ws/agent`, and nothing else: every other route answers 403
        `auth.ticket_not_allowed`. `agent_id` need not be sent with it, and another agent's is
        refused. What the client sends of voice, language, prompt and tools is ignored.

        When it has started `max_sessions` conversations, the next is refused with
        `auth.time_limited`, on the socket in an error message followed by close code 1008. A
        conversation that the client gives up before `prompt_set` does not count. At
        `max_duration_seconds` the agent says goodbye and ends the conversation, and so it does when
        the conversation has cost `max_cost`, or the model would have to read more than the rest of
        that pays for; `end_detail` is `ticket_cost` then.
        """
        return self._json("POST", "/v1/session-tickets", body=body, timeout=timeout)

    def create_scoped_ticket(self, body: t.NewTicket, *, timeout: float | None = None) -> t.MintedScoped:
        """Make a ticket for some routes.

        Makes a ticket that opens only the groups of routes in `scope`, for `expires_in` seconds:
        `conversations` (`/ws/agent`, `/webrtc/agent`), `synthesis` (`/ws/tts`, `/ws`, `/tts/*`,
        `/api/tts/*`), `recognition` (`/ws/stt`, `/stt/*`), `denoising` (`/denoise`), `calls`
        (`/callcenter/*` that dials, follows and hangs up calls, and queues them in bulk) and
        `numbers` (`/callcenter/numbers*`, `/callcenter/agents`). `/mcp` belongs to `synthesis`,
        `calls` and `numbers`: each of its tools opens what the route opens that it asks. Every
        other route that needs a credential answers 403 `auth.ticket_not_allowed`. Without `scope`
        it opens what a ticket of `/ws-ticket` opens.

        It takes an API key only. A ticket that is made from this one by `/ws-ticket` opens the same
        and ends with it.
        """
        return self._json("POST", "/v1/tickets", body=body, timeout=timeout)

    def create_ticket(self, *, timeout: float | None = None) -> t.Minted:
        """Make a ticket for a browser.

        A ticket opens what an API key opens, except management (`/v1/*`), for ten minutes and as
        often as you like. Send it as a key is sent; in browsers, whose WebSocket and EventSource
        cannot set headers, as `api_key` in the query. Make tickets on your own server, for people
        who have signed in there: the key stays there.

        The credential must come in a header. A ticket may be sent instead of a key: the new one
        ends when the old one does. Conversations and streams that are open when a ticket expires go
        on. Revoking the key ends its tickets. A body is not needed and not read.
        """
        return self._json("POST", "/ws-ticket", timeout=timeout)

    def list_trunk_presets(self, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListTrunkPreset:
        """List the presets of trunks.

        Settings for exchanges and carriers that many have, and what to enter on their side. A trunk
        takes one by its name as `preset`.
        """
        return self._json("GET", "/v1/trunk-presets", query={"limit": limit, "cursor": cursor}, timeout=timeout)

    def each_trunk_presets(self, *, limit: int | None = None, timeout: float | None = None) -> Iterator[t.TrunkPreset]:
        """List the presets of trunks: every entry, page by page."""
        return self._each("GET", "/v1/trunk-presets", query={"limit": limit}, timeout=timeout)

    def list_trunks(self, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListTrunk:
        """List the account's trunks.

        The newest first, each with how it does on the node that answers.
        """
        return self._json("GET", "/v1/trunks", query={"limit": limit, "cursor": cursor}, timeout=timeout)

    def each_trunks(self, *, limit: int | None = None, timeout: float | None = None) -> Iterator[t.Trunk]:
        """List the account's trunks: every entry, page by page."""
        return self._each("GET", "/v1/trunks", query={"limit": limit}, timeout=timeout)

    def create_trunk(self, body: t.NewTrunk, *, idempotency_key: str | None = None, timeout: float | None = None) -> t.Trunk:
        """Create a trunk.

        A line to a carrier or an exchange (PBX). It works within seconds, on every node. An account
        has 20 at most. Calls that come on it reach the account's numbers and the trunk's
        extensions, and nobody else's; calls from numbers that are put on it go out on it, at the
        rate card's `phone.own_trunk_per_minute`.
        """
        return self._json("POST", "/v1/trunks", body=body, idempotency_key=idempotency_key, repeat=True, timeout=timeout)

    def delete_trunk(self, id: str, *, timeout: float | None = None) -> None:
        """Delete a trunk.

        Calls in progress go on. The numbers on it must be released before.
        """
        return self._none("DELETE", f"/v1/trunks/{part(id)}", timeout=timeout)

    def get_trunk(self, id: str, *, timeout: float | None = None) -> t.Trunk:
        """Read a trunk.

        By its identifier or its name, without its passwords.
        """
        return self._json("GET", f"/v1/trunks/{part(id)}", timeout=timeout)

    def replace_trunk(self, id: str, body: t.NewTrunk, *, timeout: float | None = None) -> t.Trunk:
        """Replace the settings of a trunk.

        All of them: what is not sent is as in a new trunk, of the same preset if one is sent. A
        password that is not sent stays as long as its user does, a key as long as its certificate.
        Calls go on as they began; a registration is renewed.
        """
        return self._json("PUT", f"/v1/trunks/{part(id)}", body=body, timeout=timeout)

    def check_trunk(self, id: str, *, timeout: float | None = None) -> t.Trunk:
        """Check a trunk.

        Asks each of its servers now, by OPTIONS, and says how they do and how the registration
        stands. An account may have ten checks at once and ten a minute.
        """
        return self._json("POST", f"/v1/trunks/{part(id)}/check", timeout=timeout)

    def list_webhooks(self, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListWebhook:
        """List the account's webhooks.

        The newest first.
        """
        return self._json("GET", "/v1/webhooks", query={"limit": limit, "cursor": cursor}, timeout=timeout)

    def each_webhooks(self, *, limit: int | None = None, timeout: float | None = None) -> Iterator[t.Webhook]:
        """List the account's webhooks: every entry, page by page."""
        return self._each("GET", "/v1/webhooks", query={"limit": limit}, timeout=timeout)

    def create_webhook(self, body: t.NewWebhook, *, idempotency_key: str | None = None, timeout: float | None = None) -> t.SecretWebhook:
        """Create a webhook.

        An account has 10 at most. The answer is the only one that holds the secret: keep it. The
        address must be on the public Internet and take https, unless it listens.
        """
        return self._json("POST", "/v1/webhooks", body=body, idempotency_key=idempotency_key, repeat=True, timeout=timeout)

    def delete_webhook(self, id: str, *, timeout: float | None = None) -> None:
        """Delete a webhook.

        With its deliveries.
        """
        return self._none("DELETE", f"/v1/webhooks/{part(id)}", timeout=timeout)

    def get_webhook(self, id: str, *, timeout: float | None = None) -> t.Webhook:
        """Read a webhook.

        Without its secret.
        """
        return self._json("GET", f"/v1/webhooks/{part(id)}", timeout=timeout)

    def update_webhook(self, id: str, body: t.ChangeInputBody, *, timeout: float | None = None) -> t.Webhook:
        """Change a webhook.

        Fields that are not sent stay. Disabling it drops pending deliveries; enabling it resets its
        failures; it gets the events from then on.
        """
        return self._json("PATCH", f"/v1/webhooks/{part(id)}", body=body, timeout=timeout)

    def list_webhook_deliveries(self, id: str, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None) -> t.ListDelivery:
        """List a webhook's deliveries.

        The newest first, for 30 days.
        """
        return self._json("GET", f"/v1/webhooks/{part(id)}/deliveries", query={"limit": limit, "cursor": cursor}, timeout=timeout)

    def each_webhook_deliveries(self, id: str, *, limit: int | None = None, timeout: float | None = None) -> Iterator[t.Delivery]:
        """List a webhook's deliveries: every entry, page by page."""
        return self._each("GET", f"/v1/webhooks/{part(id)}/deliveries", query={"limit": limit}, timeout=timeout)

    def take_webhook_event(self, id: str, *, wait: int | None = None, timeout: float | None = None) -> t.Taken:
        """Take the next event of a webhook that listens.

        For programs that have no address on the public Internet: they are answered the request that
        would be sent, signed now, and send it where they like. The next event comes when they have
        said how it went, or 30 seconds later. Without an event the answer comes after `wait`
        seconds. What was taken and is not reported is taken again.
        """
        return self._json("POST", f"/v1/webhooks/{part(id)}/deliveries/take", query={"wait": wait}, timeout=timeout)

    def report_webhook_attempt(self, id: str, delivery: str, body: t.TakenAttempt, *, timeout: float | None = None) -> t.Delivery:
        """Report how it went with an event that was taken.

        It is delivered with a status from 200 to 299, else given up, and is not tried again unless
        somebody asks for it. A second report changes nothing.
        """
        return self._json("POST", f"/v1/webhooks/{part(id)}/deliveries/{part(delivery)}/attempts", body=body, timeout=timeout)

    def retry_webhook_delivery(self, id: str, delivery: str, *, timeout: float | None = None) -> t.Delivery:
        """Deliver an event again.

        Once, now, whether it arrived before or not; under the same `webhook-id`.
        """
        return self._json("POST", f"/v1/webhooks/{part(id)}/deliveries/{part(delivery)}/retry", timeout=timeout)

    def rotate_webhook_secret(self, id: str, *, timeout: float | None = None) -> t.SecretWebhook:
        """Give a webhook a new secret.

        For 24 hours both secrets sign; of several rotations the last two secrets do.
        """
        return self._json("POST", f"/v1/webhooks/{part(id)}/rotate", timeout=timeout)

    def test_webhook(self, id: str, *, timeout: float | None = None) -> t.Delivery:
        """Send a test event.

        An event `webhook.test`, whatever the webhook asks for. The result is among the deliveries.
        """
        return self._json("POST", f"/v1/webhooks/{part(id)}/test", timeout=timeout)
