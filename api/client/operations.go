// Code generated from the service's OpenAPI document. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"parley/api/wire"
)

// GetAutoRecharge: Read automatic recharge.
// The settings, those of the rate card where none were made, and how it stands.
func (c *Client) GetAutoRecharge(ctx context.Context) (*wire.AutoRecharge, error) {
	return ask[wire.AutoRecharge](ctx, c, http.MethodGet, c.address("v1", "auto-recharge"), nil)
}

// UpdateAutoRecharge: Change automatic recharge.
// Fields that are not sent, or null, stay as they are. `amount` is within the bounds of a top-up and at most what the
// operator lets one charge be, 500 US dollars where they say nothing; `monthly_cap` is at least `amount`. Enabling it
// charges the card at once when the balance is below `threshold`; it needs a card that has paid a top-up, else the
// answer is 402. The card that paid last is charged, and after each charge not again for ten minutes. This takes an
// owner's sign-in, or a key with the mark money.
func (c *Client) UpdateAutoRecharge(ctx context.Context, body RechargeSettings) (*wire.AutoRecharge, error) {
	return ask[wire.AutoRecharge](ctx, c, http.MethodPatch, c.address("v1", "auto-recharge"), body)
}

// ReplaceAutoRecharge: Set automatic recharge.
// Fields that are not sent, or null, become those of the rate card, and `enabled` false. `amount` is within the bounds
// of a top-up and at most what the operator lets one charge be, 500 US dollars where they say nothing; `monthly_cap`
// is at least `amount`. Enabling it charges the card at once when the balance is below `threshold`; it needs a card
// that has paid a top-up, else the answer is 402. The card that paid last is charged, and after each charge not again
// for ten minutes. This takes an owner's sign-in, or a key with the mark money.
func (c *Client) ReplaceAutoRecharge(ctx context.Context, body RechargeSettings) (*wire.AutoRecharge, error) {
	return ask[wire.AutoRecharge](ctx, c, http.MethodPut, c.address("v1", "auto-recharge"), body)
}

// GetReceipt: Read the receipt of a session.
// What a call or any other session cost, a line for each component; `total` is their sum and what the ledger charged.
// The identifier is `session_id` of the ledger's entries: recordings, texts and files have one too. Amounts have up to
// nine decimals and are exact; show balances rounded down to the cent.
func (c *Client) GetReceipt(ctx context.Context, id string) (*wire.Receipt, error) {
	return ask[wire.Receipt](ctx, c, http.MethodGet, c.address("v1", "calls", id, "receipt"), nil)
}

// ListEvents: List account events.
// Newest first. An event is entered by what caused it: a balance that fell below the threshold of automatic recharge,
// or the rate card's without one; a number's month that could not be paid, and the number's loss 30 days later; a
// recharge that failed; a payment that is disputed; a limit of spending that is nearly reached, or reached. Each comes
// once: a low balance again only after it was not. What still is so is in `warnings` of `GET /v1/balance` too, and
// accounts with an address get it by mail.
func (c *Client) ListEvents(ctx context.Context) iter.Seq2[wire.AccountEvent, error] {
	return each[wire.AccountEvent](ctx, c, url.Values{}, "v1", "events")
}

// ListLedgerQuery is the query of ListLedger. Empty fields are not sent.
type ListLedgerQuery struct {
	// Not before this: a date, which begins at midnight UTC, or an RFC 3339 time.
	From string
	// Before this, likewise: 2026-04-01 includes all of March.
	To string
	// Only entries of this kind.
	Kind string
}

func (q ListLedgerQuery) values() url.Values {
	return picked(map[string]string{"from": q.From, "to": q.To, "kind": q.Kind})
}

// ListLedger: List ledger entries.
// Newest first; entries never change. `balance_after` of an entry is that of the one before it plus `amount`. Sessions
// are entered when they end. Amounts have up to nine decimals and are exact; show balances rounded down to the cent.
func (c *Client) ListLedger(ctx context.Context, q ListLedgerQuery) iter.Seq2[wire.Entry, error] {
	return each[wire.Entry](ctx, c, q.values(), "v1", "ledger")
}

// ListSpendingLimits: List the limits of spending.
// What may be spent in a day (UTC), and what was: the account's row, which is there without a limit, too, and one for
// each key and each agent that has one. When what was charged and what is held reach a limit, nothing that it binds
// begins (402 `limit.spending`, on the telephone 480), and conversations end as they do when the balance is used up,
// with `end_detail` `spending_limit`. A key binds what it asks for, and what its tickets do; an agent binds all its
// conversations. Months of numbers do not count. At four fifths and at the limit there is an event `spending.limit`.
func (c *Client) ListSpendingLimits(ctx context.Context) iter.Seq2[wire.SpendingLimit, error] {
	return each[wire.SpendingLimit](ctx, c, url.Values{}, "v1", "spending-limits")
}

// SetSpendingLimit: Set a limit of spending.
// `daily_limit` null takes it away; what was charged today counts. This takes an owner's sign-in, or a key with the
// mark money.
func (c *Client) SetSpendingLimit(ctx context.Context, id string, body SetLimitInputBody) (*wire.SpendingLimit, error) {
	return ask[wire.SpendingLimit](ctx, c, http.MethodPatch, c.address("v1", "spending-limits", id), body)
}

// ListTopups: List top-ups.
// Newest first, those too that came to nothing.
func (c *Client) ListTopups(ctx context.Context) iter.Seq2[wire.TopUp, error] {
	return each[wire.TopUp](ctx, c, url.Values{}, "v1", "topups")
}

// CreateTopup: Top up the balance.
// Makes a page on which the customer pays `amount` by card: send the customer to `url`. The balance grows when the
// provider says that the payment has succeeded, not when the customer comes back. Amounts are in US dollars, whole
// cents, within the rate card's `wallet.min_topup` and `wallet.max_topup`. Twenty may be begun in an hour. A server
// that takes no payments does not have this.
func (c *Client) CreateTopup(ctx context.Context, body NewTopUp) (*wire.TopUp, error) {
	return ask[wire.TopUp](ctx, c, http.MethodPost, c.address("v1", "topups"), body)
}

// GetTopup: Read a top-up.
// One that is not settled is looked up at the payment provider, so that the answer is what has happened there.
func (c *Client) GetTopup(ctx context.Context, id string) (*wire.TopUp, error) {
	return ask[wire.TopUp](ctx, c, http.MethodGet, c.address("v1", "topups", id), nil)
}

// GetEngineUsageQuery is the query of GetEngineUsage. Empty fields are not sent.
type GetEngineUsageQuery struct {
	// Not before this: a date, which begins at midnight UTC, or an RFC 3339 time.
	From string
	// Before this, likewise: 2026-04-01 includes all of March.
	To string
}

func (q GetEngineUsageQuery) values() url.Values {
	return picked(map[string]string{"from": q.From, "to": q.To})
}

// GetEngineUsage: Sum up what engines used.
// In calls, after them, and in synthesis and recognition without a call, as the vendors of the engines count: of
// sessions that began in the range and have ended. Engines that come along with the server count nothing, but for
// language models. `price` is what you pay beside the price of the sessions, which `GET /v1/usage` has.
func (c *Client) GetEngineUsage(ctx context.Context, q GetEngineUsageQuery) (*EngineTotals, error) {
	return ask[EngineTotals](ctx, c, http.MethodGet, c.query(q.values(), "v1", "usage", "engines"), nil)
}

// UpdateAgent: Change an agent.
// Fields that are not sent, or null, stay as they are; `tools` and `settings` are replaced as a whole, `metadata` name
// by name. Conversations in progress go on with the agent as it was, and every change leaves it as a version. What
// changes nothing, or only `metadata`, makes none. With `If-Match: "7"` it is done only while the version is 7, and
// else answered with 412.
func (c *Client) UpdateAgent(ctx context.Context, id string, body wire.AgentChange) (*wire.AgentDefinition, error) {
	return ask[wire.AgentDefinition](ctx, c, http.MethodPatch, c.address("v1", "agents", id), body)
}

// GetCase: Read a test case.
// With its script.
func (c *Client) GetCase(ctx context.Context, id string, caseID string) (*wire.Case, error) {
	return ask[wire.Case](ctx, c, http.MethodGet, c.address("v1", "agents", id, "cases", caseID), nil)
}

// CompareAgent: Compare an agent with its recorded calls.
// Conducts the latest recorded calls of an agent again with the settings of a version, or of an agent that is not
// stored, and says turn by turn what would differ from the calls as they were, or from another version. Callers,
// models, voices and functions give what they gave, so it costs nothing and nothing is really called; what a new
// prompt, voice or function changes does not show: test cases show that. Calls are kept for this while the agent's
// setting `record` is on, as long as their recordings. It takes 15 seconds at most; an account may ask for ten at once
// and ten a minute.
func (c *Client) CompareAgent(ctx context.Context, id string, body wire.NewComparison) (*wire.Comparison, error) {
	return ask[wire.Comparison](ctx, c, http.MethodPost, c.address("v1", "agents", id, "compare"), body)
}

// ListSimulations: List the simulations of an agent.
// Newest first, without results.
func (c *Client) ListSimulations(ctx context.Context, id string) iter.Seq2[wire.Simulation, error] {
	return each[wire.Simulation](ctx, c, url.Values{}, "v1", "agents", id, "simulations")
}

// DiffAgentVersionsQuery is the query of DiffAgentVersions. Empty fields are not sent.
type DiffAgentVersionsQuery struct {
	// The version that it is compared with; without it the one before.
	Against string
}

func (q DiffAgentVersionsQuery) values() url.Values {
	return picked(map[string]string{"against": q.Against})
}

// DiffAgentVersions: Compare two versions of an agent.
// What differs in a version from the one before it, or from another, field by field. Of the first version everything
// that a new agent has not.
func (c *Client) DiffAgentVersions(ctx context.Context, id string, version string, q DiffAgentVersionsQuery) (*wire.AgentDiff, error) {
	return ask[wire.AgentDiff](ctx, c, http.MethodGet, c.query(q.values(), "v1", "agents", id, "versions", version, "diff"), nil)
}

// TestFunction: Test a function of an agent.
// Runs one function as a conversation would: from this server, with the account's secrets, to addresses that functions
// may reach, and for as long as it may take; and answers with what the model would read. The list is the `tools` of an
// agent, stored or not; a mistake in it is refused as `POST /v1/agents` refuses it. What the service does, it really
// does. Functions that conversations are charged for are not tested, nor are those of clients. An account may have ten
// tests at once and ten a minute.
func (c *Client) TestFunction(ctx context.Context, body FunctionTestInputBody) (*wire.FunctionTest, error) {
	return ask[wire.FunctionTest](ctx, c, http.MethodPost, c.address("v1", "functions", "test"), body)
}

// CheckBatch: Check a batch before it is queued.
// Takes what `POST /callcenter/bulk-dial` takes, and says of every row whether it would be refused and why, when it
// would be called first, and what a minute costs. Nothing is queued and nobody is called, and `consent_confirmed` may
// be left out. What is wrong with the batch as a whole refuses the request, as it would when it is queued.
func (c *Client) CheckBatch(ctx context.Context, body wire.NewBatch) (*wire.BatchCheck, error) {
	return ask[wire.BatchCheck](ctx, c, http.MethodPost, c.address("callcenter", "bulk-dial", "check"), body)
}

// MonitorCallQuery is the query of MonitorCall. Empty fields are not sent.
type MonitorCallQuery struct {
	// The call's identifier, as dial answered.
	CallID string
}

func (q MonitorCallQuery) values() url.Values {
	return picked(map[string]string{"call_id": q.CallID})
}

// MonitorCall: Get call status.
// The state of a call. A call that the account does not have is answered as ended, with an empty transcript.
func (c *Client) MonitorCall(ctx context.Context, q MonitorCallQuery) (*wire.CallState, error) {
	return ask[wire.CallState](ctx, c, http.MethodGet, c.query(q.values(), "callcenter", "call-monitor"), nil)
}

// HangUp: Hang up a call.
// Ends the call at once. One that has ended already answers the same.
func (c *Client) HangUp(ctx context.Context, id string) (*wire.HungUp, error) {
	return ask[wire.HungUp](ctx, c, http.MethodPost, c.address("callcenter", "hangup", id), nil)
}

// GetCallcenterStatus: Get telephony status.
// Whether numbers can be bought and called, through which carrier, and in which countries. A server without telephony
// answers 404 here and on every other route under `/callcenter`.
func (c *Client) GetCallcenterStatus(ctx context.Context) (*wire.Status, error) {
	return ask[wire.Status](ctx, c, http.MethodGet, c.address("callcenter", "status"), nil)
}

// HangUpAnyCall: Hang up any call.
// Ends a call of any direction at once, as `api_hangup`. One that has ended already answers the same.
func (c *Client) HangUpAnyCall(ctx context.Context, id string) (*wire.HungUp, error) {
	return ask[wire.HungUp](ctx, c, http.MethodPost, c.address("v1", "calls", id, "hangup"), nil)
}

// DeleteCallRecording: Delete the recording of a call.
// For good. That there was one stays with the call. What is deleted while the call lasts is not kept when it ends;
// deleting it again changes nothing.
func (c *Client) DeleteCallRecording(ctx context.Context, id string) error {
	return c.did(ctx, http.MethodDelete, c.address("v1", "calls", id, "recording"), nil)
}

// GetCallWaveform: Fetch the waveform of a recording.
// How loud each side was over the time of the recording, in at most 1,200 equal parts: enough to draw it, however long
// it is, without its audio. It is made with the recording, and goes with it.
func (c *Client) GetCallWaveform(ctx context.Context, id string) (*wire.Waveform, error) {
	return ask[wire.Waveform](ctx, c, http.MethodGet, c.address("v1", "calls", id, "recording", "peaks"), nil)
}

// GetCallSip: Read the signalling of a call.
// The SIP messages of a telephone call as they were sent and received, oldest first, stored every few seconds while it
// lasts and once more when it is over: at most 200 messages and 128 kB; `dropped` earlier ones are not kept.
// Credentials, keys of encryption and digits are masked. A call over a WebSocket has none.
func (c *Client) GetCallSip(ctx context.Context, id string) (*wire.SIPTrace, error) {
	return ask[wire.SIPTrace](ctx, c, http.MethodGet, c.address("v1", "calls", id, "sip"), nil)
}

// GetConfig: The limits of requests.
// What synthesis requests may ask for, and the format of what comes back.
func (c *Client) GetConfig(ctx context.Context) (*Limits, error) {
	return ask[Limits](ctx, c, http.MethodGet, c.address("config"), nil)
}

// GetHealth: Whether the server is ready.
// `warming_up` also when something it needs has gone. The checks are at most a second old. No credential is needed;
// with an API key the answer says more.
func (c *Client) GetHealth(ctx context.Context) (*HealthReport, error) {
	return ask[HealthReport](ctx, c, http.MethodGet, c.address("health"), nil)
}

// GetLanguages: The languages.
// What can be spoken, and what this server can also recognise.
func (c *Client) GetLanguages(ctx context.Context) (*LanguageList, error) {
	return ask[LanguageList](ctx, c, http.MethodGet, c.address("languages"), nil)
}

// GetModels: The engines of this server.
// What speaks, recognises and answers here, those that speak first.
func (c *Client) GetModels(ctx context.Context) (*ModelList, error) {
	return ask[ModelList](ctx, c, http.MethodGet, c.address("models"), nil)
}

// GetStatus: The server's numbers.
// How long the server has run and what it is doing. Its numbers are for API keys; without one they are 0.
func (c *Client) GetStatus(ctx context.Context) (*ServerReport, error) {
	return ask[ServerReport](ctx, c, http.MethodGet, c.address("status"), nil)
}

// GetVoices: The voices.
// Ten voices, each of which speaks every language.
func (c *Client) GetVoices(ctx context.Context) (*VoiceList, error) {
	return ask[VoiceList](ctx, c, http.MethodGet, c.address("voices"), nil)
}

// GetKnowledgeBase: Read a collection.
// With how many documents it has.
func (c *Client) GetKnowledgeBase(ctx context.Context, id string) (*wire.KnowledgeBase, error) {
	return ask[wire.KnowledgeBase](ctx, c, http.MethodGet, c.address("v1", "knowledge", id), nil)
}

// UpdateKnowledgeBase: Rename a collection.
// Its language stays.
func (c *Client) UpdateKnowledgeBase(ctx context.Context, id string, body wire.KnowledgeBaseChange) (*wire.KnowledgeBase, error) {
	return ask[wire.KnowledgeBase](ctx, c, http.MethodPatch, c.address("v1", "knowledge", id), body)
}

// ListAccounts: List the server's accounts.
// Newest first.
func (c *Client) ListAccounts(ctx context.Context) iter.Seq2[wire.Account, error] {
	return each[wire.Account](ctx, c, url.Values{}, "v1", "operator", "accounts")
}

// CreateAccount: Make an account.
// With its welcome credit. The operator owns it at first; with `create_key` the answer holds an API key of the account
// with the role owner and the mark money, shown this once, with which the owner can be invited.
func (c *Client) CreateAccount(ctx context.Context, body wire.NewAccount) (*wire.CreatedAccount, error) {
	return ask[wire.CreatedAccount](ctx, c, http.MethodPost, c.address("v1", "operator", "accounts"), body)
}

// GetAccount: Read an account.
// With its people.
func (c *Client) GetAccount(ctx context.Context, id string) (*wire.AccountDetail, error) {
	return ask[wire.AccountDetail](ctx, c, http.MethodGet, c.address("v1", "operator", "accounts", id), nil)
}

// UpdateAccount: Suspend an account, change its limits.
// What is not sent stays. Suspended, an account starts nothing new, and its conversations say goodbye and end within
// seconds.
func (c *Client) UpdateAccount(ctx context.Context, id string, body AccountChangeBody) (*wire.AccountDetail, error) {
	return ask[wire.AccountDetail](ctx, c, http.MethodPatch, c.address("v1", "operator", "accounts", id), body)
}

// ResolveDisputes: Resolve all disputes of an account.
// Calls and jobs may start again. Do this when the payment provider has decided. Without a dispute it changes nothing.
func (c *Client) ResolveDisputes(ctx context.Context, id string) (*wire.AccountDetail, error) {
	return ask[wire.AccountDetail](ctx, c, http.MethodPost, c.address("v1", "operator", "accounts", id, "resolve-disputes"), nil)
}

// CheckSetup: Check what the server needs.
// Ports, engines, the database and what else `parley doctor` looks at, on the server that is asked. It takes seconds;
// within five of the last time its findings are repeated.
func (c *Client) CheckSetup(ctx context.Context) (*CheckList, error) {
	return ask[CheckList](ctx, c, http.MethodGet, c.address("v1", "operator", "checks"), nil)
}

// GetEngineUsageOfAllQuery is the query of GetEngineUsageOfAll. Empty fields are not sent.
type GetEngineUsageOfAllQuery struct {
	// Not before this: a date, which begins at midnight UTC, or an RFC 3339 time.
	From string
	// Before this, likewise: 2026-04-01 includes all of March.
	To string
}

func (q GetEngineUsageOfAllQuery) values() url.Values {
	return picked(map[string]string{"from": q.From, "to": q.To})
}

// GetEngineUsageOfAll: Sum up what engines used for all accounts.
// As `GET /v1/usage/engines`, with what vendors charge where the server's settings say that: `cost`, beside the
// `price` that accounts pay.
func (c *Client) GetEngineUsageOfAll(ctx context.Context, q GetEngineUsageOfAllQuery) (*EngineTotals, error) {
	return ask[EngineTotals](ctx, c, http.MethodGet, c.query(q.values(), "v1", "operator", "usage", "engines"), nil)
}

// ListUsers: List who signs in to the server.
// Newest first.
func (c *Client) ListUsers(ctx context.Context) iter.Seq2[wire.User, error] {
	return each[wire.User](ctx, c, url.Values{}, "v1", "operator", "users")
}

// DeleteUserQuery is the query of DeleteUser. Empty fields are not sent.
type DeleteUserQuery struct {
	// What happens to keys of accounts that they made.
	Keys string
}

func (q DeleteUserQuery) values() url.Values {
	return picked(map[string]string{"keys": q.Keys})
}

// DeleteUser: Delete a user.
// With their sign-ins, operator's keys and memberships. The last owner of an account that has other people cannot go.
// The answer is as for somebody who is disabled.
func (c *Client) DeleteUser(ctx context.Context, id string, q DeleteUserQuery) (*wire.Removal, error) {
	return ask[wire.Removal](ctx, c, http.MethodDelete, c.query(q.values(), "v1", "operator", "users", id), nil)
}

// UpdateUserQuery is the query of UpdateUser. Empty fields are not sent.
type UpdateUserQuery struct {
	// What happens to keys of accounts that they made.
	Keys string
}

func (q UpdateUserQuery) values() url.Values {
	return picked(map[string]string{"keys": q.Keys})
}

// UpdateUser: Disable a user, or take an operator's role away.
// A disabled user cannot sign in: their sign-ins, links and invitations end at once, and their operator's keys open
// nothing. Operators are made on the server only (`parley admin user role`). The answer names the keys of accounts
// that somebody who is disabled made, also by a key of theirs, and that were good: with `keys=revoke` these end, else
// they stay good.
func (c *Client) UpdateUser(ctx context.Context, id string, q UpdateUserQuery, body UserChangeBody) (*wire.ChangedUser, error) {
	return ask[wire.ChangedUser](ctx, c, http.MethodPatch, c.query(q.values(), "v1", "operator", "users", id), body)
}

// ListInvitations: List invitations.
// Those that are still good and were not accepted, the newest first.
func (c *Client) ListInvitations(ctx context.Context) iter.Seq2[wire.Invitation, error] {
	return each[wire.Invitation](ctx, c, url.Values{}, "v1", "invitations")
}

// CreateInvitation: Invite somebody.
// The answer is the only one that holds the link: send it to them. Nothing is mailed. It opens once, within seven
// days; an earlier one for the same address is dead. Who is new chooses a password with it, who is a user already
// signs in.
func (c *Client) CreateInvitation(ctx context.Context, body wire.NewInvitation) (*wire.CreatedInvitation, error) {
	return ask[wire.CreatedInvitation](ctx, c, http.MethodPost, c.address("v1", "invitations"), body)
}

// RevokeInvitation: Take an invitation back.
// Its link opens nothing from then on.
func (c *Client) RevokeInvitation(ctx context.Context, id string) error {
	return c.did(ctx, http.MethodDelete, c.address("v1", "invitations", id), nil)
}

// ListMembers: List the people of the account.
// Owners first. There are 100 at most, invitations counted.
func (c *Client) ListMembers(ctx context.Context) iter.Seq2[wire.Member, error] {
	return each[wire.Member](ctx, c, url.Values{}, "v1", "members")
}

// RemoveMemberQuery is the query of RemoveMember. Empty fields are not sent.
type RemoveMemberQuery struct {
	// What happens to keys that they made.
	Keys string
}

func (q RemoveMemberQuery) values() url.Values {
	return picked(map[string]string{"keys": q.Keys})
}

// RemoveMember: Remove somebody.
// They no longer see the account, and invitations that they made open nothing. The answer names the keys of the
// account that they made, also by a key of theirs, and that were good: with `keys=revoke` these end with them, else
// they stay good. The last owner cannot be removed.
func (c *Client) RemoveMember(ctx context.Context, userID string, q RemoveMemberQuery) (*wire.Removal, error) {
	return ask[wire.Removal](ctx, c, http.MethodDelete, c.query(q.values(), "v1", "members", userID), nil)
}

// UpdateMember: Change somebody's role.
// It counts from their next request on. The last owner stays one. A key makes owners only if it has the mark money,
// which owners have.
func (c *Client) UpdateMember(ctx context.Context, userID string, body MemberChangeBody) (*wire.Member, error) {
	return ask[wire.Member](ctx, c, http.MethodPatch, c.address("v1", "members", userID), body)
}

// GetServiceHealth: How the service is.
// Whether the engines, the database and the storage work, by checks that are at most a second old.
func (c *Client) GetServiceHealth(ctx context.Context) (*ServiceHealth, error) {
	return ask[ServiceHealth](ctx, c, http.MethodGet, c.address("api", "status", "health"), nil)
}

// GetServiceModels: The engines and whether they are ready.
// One that is not says why.
func (c *Client) GetServiceModels(ctx context.Context) (*ServiceModels, error) {
	return ask[ServiceModels](ctx, c, http.MethodGet, c.address("api", "status", "models"), nil)
}

// GetServiceVoices: The voices by gender and character.
// May be kept for a day.
func (c *Client) GetServiceVoices(ctx context.Context) (*ServiceVoices, error) {
	return ask[ServiceVoices](ctx, c, http.MethodGet, c.address("api", "status", "voices"), nil)
}

// CreateSessionTicket: Make a ticket for one agent's conversations.
// A session ticket may be given to strangers. It opens conversations with one agent of the account, over `/ws/agent`,
// and nothing else: every other route answers 403 `auth.ticket_not_allowed`. `agent_id` need not be sent with it, and
// another agent's is refused. What the client sends of voice, language, prompt and tools is ignored.
//
// When it has started `max_sessions` conversations, the next is refused with `auth.time_limited`, on the socket in an
// error message followed by close code 1008. A conversation that the client gives up before `prompt_set` does not
// count. At `max_duration_seconds` the agent says goodbye and ends the conversation, and so it does when the
// conversation has cost `max_cost`, or the model would have to read more than the rest of that pays for; `end_detail`
// is `ticket_cost` then.
func (c *Client) CreateSessionTicket(ctx context.Context, body NewSessionTicket) (*MintedForAgent, error) {
	return ask[MintedForAgent](ctx, c, http.MethodPost, c.address("v1", "session-tickets"), body)
}

// CreateScopedTicket: Make a ticket for some routes.
// Makes a ticket that opens only the groups of routes in `scope`, for `expires_in` seconds: `conversations`
// (`/ws/agent`, `/webrtc/agent`), `synthesis` (`/ws/tts`, `/ws`, `/tts/*`, `/api/tts/*`), `recognition` (`/ws/stt`,
// `/stt/*`), `denoising` (`/denoise`), `calls` (`/callcenter/*` that dials, follows and hangs up calls, and queues
// them in bulk) and `numbers` (`/callcenter/numbers*`, `/callcenter/agents`). `/mcp` belongs to `synthesis`, `calls`
// and `numbers`: each of its tools opens what the route opens that it asks. Every other route that needs a credential
// answers 403 `auth.ticket_not_allowed`. Without `scope` it opens what a ticket of `/ws-ticket` opens.
//
// It takes an API key only. A ticket that is made from this one by `/ws-ticket` opens the same and ends with it.
func (c *Client) CreateScopedTicket(ctx context.Context, body NewTicket) (*MintedScoped, error) {
	return ask[MintedScoped](ctx, c, http.MethodPost, c.address("v1", "tickets"), body)
}

// CreateTicket: Make a ticket for a browser.
// A ticket opens what an API key opens, except management (`/v1/*`), for ten minutes and as often as you like. Send it
// as a key is sent; in browsers, whose WebSocket and EventSource cannot set headers, as `api_key` in the query. Make
// tickets on your own server, for people who have signed in there: the key stays there.
//
// The credential must come in a header. A ticket may be sent instead of a key: the new one ends when the old one does.
// Conversations and streams that are open when a ticket expires go on. Revoking the key ends its tickets. A body is
// not needed and not read.
func (c *Client) CreateTicket(ctx context.Context) (*wire.Minted, error) {
	return ask[wire.Minted](ctx, c, http.MethodPost, c.address("ws-ticket"), nil)
}

// AccountChangeBody: An object of the service's HTTP API.
type AccountChangeBody struct {
	// Sessions at once; 0: as the rate card says.
	Concurrency int64 `json:"concurrency,omitempty"`
	// How long transcripts of calls are kept, recordings included; it counts for what is there, too. 0: until somebody
	// deletes it.
	ConversationDays int64 `json:"conversation_days,omitempty"`
	// US dollars a day (UTC); null: no limit.
	DailyLimit *float64 `json:"daily_limit,omitempty"`
	// Where warnings are mailed; empty: nowhere.
	Email string `json:"email,omitempty"`
	// How long recordings of calls are kept; it counts for those that are there, too.
	RecordingDays int64 `json:"recording_days,omitempty"`
	// Whether nothing may start, and what is in progress ends.
	Suspended bool `json:"suspended,omitempty"`
}

// CheckList: An object of the service's HTTP API.
type CheckList struct {
	// All checks.
	Data []wire.Check `json:"data"`
}

// EngineTotals: An object of the service's HTTP API.
type EngineTotals struct {
	// By engine and unit; empty: none was used.
	Data []wire.EngineTotal `json:"data"`
	// Null: since the first session.
	From *string `json:"from"`
	// Null: until now.
	To *string `json:"to"`
}

// FunctionTestInputBody: An object of the service's HTTP API.
type FunctionTestInputBody struct {
	// What the model would call it with; absent: nothing.
	Arguments map[string]any `json:"arguments,omitempty"`
	// The function; of an MCP server with the name of the entry before it.
	Name  string          `json:"name"`
	Tools wire.AgentTools `json:"tools"`
}

// HealthReport: An object of the service's HTTP API.
type HealthReport struct {
	// The primary engines.
	Inference string `json:"inference"`
	// How much of what the server can take it has; without a key in tenths.
	Load float64 `json:"load"`
	// What the program was built with, and for; without a key its name alone.
	Runtime string `json:"runtime"`
	// ok when conversations can start.
	Status string `json:"status"`
	// When this was found out.
	Timestamp string `json:"timestamp"`
	// The version of the program; without a key that of the API.
	Version string `json:"version"`
}

// LanguageList: An object of the service's HTTP API.
type LanguageList struct {
	// All of them.
	Languages []LanguageEntry `json:"languages"`
}

// Limits: An object of the service's HTTP API.
type Limits struct {
	// Channels of synthesised audio.
	Channels int64 `json:"channels"`
	// Whether uploads and results may be compressed; without it they are WAV and PCM only.
	CompressedAudio bool `json:"compressed_audio"`
	// Unicode code points, in background tasks.
	MaxAsyncTextLength int64 `json:"max_async_text_length"`
	// The fastest pace.
	MaxSpeed float64 `json:"max_speed"`
	// The most denoising steps.
	MaxSteps int64 `json:"max_steps"`
	// Unicode code points.
	MaxTextLength int64 `json:"max_text_length"`
	// The slowest pace; 1 is the voice's own.
	MinSpeed float64 `json:"min_speed"`
	// The fewest denoising steps.
	MinSteps int64 `json:"min_steps"`
	// Of the audio that is sent, in Hz.
	SampleRate int64 `json:"sample_rate"`
}

// MemberChangeBody: An object of the service's HTTP API.
type MemberChangeBody struct {
	// What they are from now on.
	Role string `json:"role"`
}

// MintedForAgent: An object of the service's HTTP API.
type MintedForAgent struct {
	// The agent that it opens.
	AgentID string `json:"agent_id"`
	// Whole seconds until it expires.
	ExpiresIn int64 `json:"expires_in"`
	// What each conversation may cost, in US dollars, whole cents; absent: no bound but the balance and limits of
	// spending.
	MaxCost float64 `json:"max_cost,omitempty"`
	// How long each may last; absent when only the agent's settings bound it.
	MaxDurationSeconds int64 `json:"max_duration_seconds,omitempty"`
	// How many conversations it may start.
	MaxSessions int64 `json:"max_sessions"`
	// The credential: letters, digits, _ and - only.
	Ticket string `json:"ticket"`
}

// MintedScoped: An object of the service's HTTP API.
type MintedScoped struct {
	// Whole seconds until it expires.
	ExpiresIn int64 `json:"expires_in"`
	// The groups of routes that it opens; absent: all that tickets open.
	Scope []string `json:"scope,omitempty"`
	// The credential: letters, digits, _ and - only.
	Ticket string `json:"ticket"`
}

// ModelList: An object of the service's HTTP API.
type ModelList struct {
	// All of them.
	Models []ModelEntry `json:"models"`
}

// NewSessionTicket: An object of the service's HTTP API.
type NewSessionTicket struct {
	// An agent of the account.
	AgentID string `json:"agent_id"`
	// What each conversation may cost, in US dollars, whole cents; absent: no bound but the balance and limits of
	// spending.
	MaxCost float64 `json:"max_cost,omitempty"`
	// How long each may last; without it as long as the agent's settings say.
	MaxDurationSeconds int64 `json:"max_duration_seconds,omitempty"`
	// How many conversations it may start.
	MaxSessions int64         `json:"max_sessions,omitempty"`
	Metadata    wire.Metadata `json:"metadata,omitempty"`
	// How long conversations may be started with it.
	TTLSeconds int64 `json:"ttl_seconds,omitempty"`
	// Values of the variables that the agent's settings name, for each conversation: what the page sends does not change
	// them.
	Variables map[string]string `json:"variables,omitempty"`
}

// NewTicket: An object of the service's HTTP API.
type NewTicket struct {
	// How long it is good, in seconds.
	ExpiresIn int64 `json:"expires_in,omitempty"`
	// The groups of routes that it opens.
	Scope []string `json:"scope,omitempty"`
}

// NewTopUp: An object of the service's HTTP API.
type NewTopUp struct {
	// US dollars, whole cents. The bounds are those of the built-in rate card.
	Amount float64 `json:"amount"`
}

// RechargeSettings: An object of the service's HTTP API.
type RechargeSettings struct {
	// US dollars, whole cents. The bounds are those of the built-in rate card.
	Amount float64 `json:"amount,omitempty"`
	// Whether to recharge.
	Enabled bool `json:"enabled,omitempty"`
	// US dollars, whole cents.
	MonthlyCap float64 `json:"monthly_cap,omitempty"`
	// US dollars, whole cents.
	Threshold float64 `json:"threshold,omitempty"`
}

// ServerReport: An object of the service's HTTP API.
type ServerReport struct {
	// Conversations in progress, on sockets and telephones; 0 without a key.
	ActiveCalls int64 `json:"active_calls"`
	// Requests, streams and sockets in progress, this one among them; 0 without a key.
	ActiveConnections int64 `json:"active_connections"`
	// Answers with a status of 500 or more since the start; 0 without a key.
	FailedRequests int64 `json:"failed_requests"`
	// Things that the program does at once; 0 without a key.
	Goroutines int64 `json:"goroutines"`
	// The primary engines.
	Inference string `json:"inference"`
	// Of the heap, in use; 0 without a key.
	MemAllocBytes int64 `json:"mem_alloc_bytes"`
	// The same as a yes or no.
	Ready bool `json:"ready"`
	// What the program was built with, and for; without a key its name alone.
	Runtime string `json:"runtime"`
	// ok when conversations can start.
	Status string `json:"status"`
	// When this was found out.
	Timestamp string `json:"timestamp"`
	// Since the program started; 0 without a key.
	UptimeSeconds int64 `json:"uptime_seconds"`
	// The version of the program; without a key that of the API.
	Version string `json:"version"`
}

// ServiceHealth: An object of the service's HTTP API.
type ServiceHealth struct {
	// What the server needs besides its engines.
	Services ServiceParts `json:"services"`
	// Degraded: some of it works.
	Status string `json:"status"`
	// When this was found out.
	Timestamp string `json:"timestamp"`
	// The version of the program; to a ticket that of the API.
	Version string `json:"version"`
}

// ServiceModels: An object of the service's HTTP API.
type ServiceModels struct {
	// All of them.
	Models []ServiceModel `json:"models"`
}

// ServiceVoices: An object of the service's HTTP API.
type ServiceVoices struct {
	// Identifiers by gender and by character.
	Groups map[string][]string `json:"groups"`
	// All of them.
	Voices []ServiceVoice `json:"voices"`
}

// SetLimitInputBody: An object of the service's HTTP API.
type SetLimitInputBody struct {
	// US dollars a day (UTC); null: no limit.
	DailyLimit *float64 `json:"daily_limit"`
}

// UserChangeBody: An object of the service's HTTP API.
type UserChangeBody struct {
	// Whether they may not sign in.
	Disabled bool `json:"disabled,omitempty"`
	// member takes an operator's role away.
	Role string `json:"role,omitempty"`
}

// VoiceList: An object of the service's HTTP API.
type VoiceList struct {
	// All of them.
	Voices []VoiceEntry `json:"voices"`
}

// LanguageEntry: An object of the service's HTTP API.
type LanguageEntry struct {
	// Two letters (ISO 639-1).
	Code string `json:"code"`
	// In English.
	Name string `json:"name"`
	// Whether this server can also recognise it.
	Recognition bool `json:"recognition"`
}

// ModelEntry: An object of the service's HTTP API.
type ModelEntry struct {
	// Whether it is the first choice of its kind.
	Default bool `json:"default"`
	// What it is.
	Description string `json:"description"`
	// Speaks, recognises, answers, or does all three.
	Kind string `json:"kind"`
	// What the engine is called.
	Name string `json:"name"`
	// JSON Schema of the options that an agent may give it; absent: it has none.
	Options any `json:"options,omitempty"`
	// It follows rules; there is no model behind it.
	Scripted bool `json:"scripted"`
	// Accounts may set keys of their own for it; absent: it takes none.
	TakesKeys bool `json:"takes_keys,omitempty"`
	// It was tried against a fake of its vendor only; absent: against the real one, or it has none.
	Unproven bool `json:"unproven,omitempty"`
	// Whose it is; openai also of other servers that speak its dialect. Absent: it comes along with this server and works
	// offline.
	Vendor string `json:"vendor,omitempty"`
}

// ServiceModel: An object of the service's HTTP API.
type ServiceModel struct {
	// Whether it is the first choice of its kind.
	Default bool `json:"default"`
	// What it is.
	Description string `json:"description"`
	// Speaks, recognises, answers, or does all three.
	Kind string `json:"kind"`
	// Codes of the languages it knows.
	Languages []string `json:"languages"`
	// What the engine is called.
	Name string `json:"name"`
	// JSON Schema of the options that an agent may give it; absent: it has none.
	Options any `json:"options,omitempty"`
	// Whether it can be used now.
	Ready bool `json:"ready"`
	// Why it is not ready.
	Reason string `json:"reason,omitempty"`
	// Of the audio that goes in or comes out, in Hz.
	SampleRate int64 `json:"sample_rate,omitempty"`
	// It follows rules; there is no model behind it.
	Scripted bool `json:"scripted"`
	// Accounts may set keys of their own for it; absent: it takes none.
	TakesKeys bool `json:"takes_keys,omitempty"`
	// It was tried against a fake of its vendor only; absent: against the real one, or it has none.
	Unproven bool `json:"unproven,omitempty"`
	// Whose it is; openai also of other servers that speak its dialect. Absent: it comes along with this server and works
	// offline.
	Vendor string `json:"vendor,omitempty"`
}

// ServiceParts: An object of the service's HTTP API.
type ServiceParts struct {
	// Whether the accounts can be reached.
	Database string `json:"database"`
	// Of speech and language.
	Engine string `json:"engine"`
	// Whether results can be kept.
	Storage string `json:"storage"`
}

// ServiceVoice: An object of the service's HTTP API.
type ServiceVoice struct {
	// Its character in a word or two.
	Description string `json:"description"`
	// How it sounds.
	Gender string `json:"gender"`
	// The voice's name for people.
	Name string `json:"name"`
	// What requests call the voice.
	VoiceID string `json:"voice_id"`
}

// VoiceEntry: An object of the service's HTTP API.
type VoiceEntry struct {
	// Its character in a word or two.
	Description string `json:"description"`
	// How it sounds.
	Gender string `json:"gender"`
	// What requests name.
	ID string `json:"id"`
	// Codes of the languages it speaks.
	Languages []string `json:"languages"`
	// The voice's name for people.
	Name string `json:"name"`
}
