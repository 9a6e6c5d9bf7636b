package wire

import (
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/billing"
)

// Balance is an account's wallet.
type Balance struct {
	Currency        string      `json:"currency" doc:"The currency of every amount." enum:"USD"`
	Balance         USD         `json:"balance" doc:"What the account has, sessions in progress counted. Show it rounded down to the cent."`
	Paid            USD         `json:"paid" doc:"Of it, what was paid in; below zero in overdraft."`
	Bonus           USD         `json:"bonus" doc:"Of it, credit that expires. It is used first, and pays neither numbers nor outgoing calls."`
	BonusLots       []BonusLot  `json:"bonus_lots" nullable:"false" doc:"The parts of bonus, soonest expiry first."`
	Posted          USD         `json:"posted" doc:"What the ledger's last entry says: balance and accrued together."`
	Accrued         USD         `json:"accrued" doc:"What sessions in progress have used and the ledger does not hold yet."`
	Held            USD         `json:"held" doc:"Set aside for minutes and work about to begin; still part of balance."`
	Overdraft       USD         `json:"overdraft" doc:"How far below zero sessions in progress may go before they end."`
	MinSessionStart USD         `json:"min_session_start" doc:"What a session or a request needs to start."`
	Concurrency     Concurrency `json:"concurrency" doc:"Sessions at once."`
	Disputed        bool        `json:"disputed" doc:"A payment is disputed: nothing starts."`
	Suspended       bool        `json:"suspended" doc:"The operator has suspended the account: nothing starts."`
	FirstTopupAt    *time.Time  `json:"first_topup_at" doc:"Null before the first top-up: numbers and outgoing calls need one."`
	Warnings        []Warning   `json:"warnings" nullable:"false" doc:"The most urgent first; empty when all is well."`
}

// BonusLot is credit with an end.
type BonusLot struct {
	Left      USD       `json:"left" doc:"What is left of it."`
	Granted   USD       `json:"granted" doc:"How much it was."`
	ExpiresAt time.Time `json:"expires_at" doc:"When the rest goes."`
}

// Concurrency is how many sessions there are.
type Concurrency struct {
	Live  int `json:"live" doc:"Sessions in progress." example:"2"`
	Limit int `json:"limit" doc:"How many there may be at once." example:"10"`
}

// Warning is one line of a banner.
type Warning struct {
	Kind    string       `json:"kind" doc:"account.suspended, dispute.opened, balance.exhausted (nothing starts), balance.low, spending.limit (until midnight UTC), recharge.failed, number.past_due, number.released (for a week) or bonus.expiring (within a week); there may be more kinds." example:"balance.low"`
	Message string       `json:"message" doc:"The same for people." example:"The balance is 3.41 USD: top up soon."`
	Since   *time.Time   `json:"since" doc:"When it was noticed; null where that is not known."`
	Data    EventFigures `json:"data" doc:"The figures; which are there depends on the kind."`
}

// EventFigures are those of an event.
type EventFigures struct {
	Balance   *USD       `json:"balance,omitempty" doc:"What there was when it was noticed."`
	Threshold *USD       `json:"threshold,omitempty" doc:"The balance below which it is low."`
	Amount    *USD       `json:"amount,omitempty" doc:"Of a number's month, a recharge or a dispute."`
	NumberID  string     `json:"number_id,omitempty" doc:"The number's identifier." example:"num_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Number    string     `json:"number,omitempty" doc:"The number." example:"+34911234567"`
	DueAt     *time.Time `json:"due_at,omitempty" doc:"When the number's month was to be paid."`
	ReleaseAt *time.Time `json:"release_at,omitempty" doc:"When the number goes, or went."`
	Attempt   string     `json:"attempt,omitempty" doc:"The attempt to recharge." example:"rch_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Reason    string     `json:"reason,omitempty" doc:"Why the recharge failed, in the payment provider's word; of a webhook failing or gone; of an engine's key what the vendor said." example:"card_declined"`
	Disabled  bool       `json:"disabled,omitempty" doc:"Automatic recharge is off now."`
	Dispute   string     `json:"dispute,omitempty" doc:"What the payment provider or the operator calls the dispute." example:"dp_1"`
	Webhook   string     `json:"webhook,omitempty" doc:"The webhook that is disabled." example:"wh_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Subject   string     `json:"subject,omitempty" doc:"Whose limit of spending it is: the account, a key or an agent." example:"key_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Limit     *USD       `json:"limit,omitempty" doc:"What may be spent in a day (UTC)."`
	Spent     *USD       `json:"spent,omitempty" doc:"What was spent of it, with what was held, when it was noticed."`
	Engine    string     `json:"engine,omitempty" doc:"The engine whose vendor refused the account's key." example:"flux"`
}

// Usage is what one group of sessions used.
type Usage struct {
	Key        *string `json:"key" doc:"The day, agent, session or component; null: sessions of no agent of the account, and months of numbers, which belong to no agent and no call." example:"2026-03-01"`
	Amount     USD     `json:"amount" doc:"The sum of its components."`
	Components []Used  `json:"components" doc:"What was used." nullable:"false"`
}

// Used is one component of it.
type Used struct {
	Component string `json:"component" doc:"What was used." example:"agent"`
	Quantity  int64  `json:"quantity" doc:"In units; below zero when more was given back than was used." example:"193"`
	Unit      string `json:"unit" doc:"What the quantity counts." enum:"second,minute,token,character,event,segment,month" example:"second"`
	Amount    USD    `json:"amount" doc:"What it cost."`
}

// CallEngines are the engines that served a call, by stage.
type CallEngines struct {
	ASR []string `json:"asr" doc:"Recognition; empty: nothing was heard." nullable:"false" example:"[\"pocketsphinx\"]"`
	LLM []string `json:"llm" doc:"The language model." nullable:"false" example:"[\"openai\",\"scripted\"]"`
	TTS []string `json:"tts" doc:"The voice." nullable:"false" example:"[\"espeak\"]"`
}

// Receipt is what a session cost.
type Receipt struct {
	SessionID    string       `json:"session_id" doc:"The session that was asked for." example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Kind         string       `json:"kind" doc:"Conversations: web, inbound, outbound; speech without one: tts, stt, denoise; text messages: message_out, message_in." enum:"web,inbound,outbound,tts,stt,denoise,message_out,message_in" example:"inbound"`
	PriceVersion string       `json:"price_version" doc:"The rate card that was in force when it began; no other counts." example:"2026-01-15.1"`
	OpenedAt     time.Time    `json:"opened_at" doc:"When it began."`
	StartedAt    *time.Time   `json:"started_at" doc:"When it began to cost; null: never."`
	EndedAt      *time.Time   `json:"ended_at" doc:"Null while it lasts."`
	Lines        []Line       `json:"lines" doc:"What it used, one component each." nullable:"false"`
	Engines      *CallEngines `json:"engines,omitempty" doc:"Of a call that has ended: the engines that served it, by stage, in the order in which they began to. Absent otherwise, and when it is not known. They do not change the price."`
	Total        USD          `json:"total" doc:"The sum of the lines, and of the session's entries in the ledger."`
	Accrued      USD          `json:"accrued" doc:"While it lasts: what it has used and no line holds yet. Else 0."`
}

// Line is one component of a receipt.
type Line struct {
	Component    string `json:"component" doc:"What was used." example:"agent"`
	Quantity     int64  `json:"quantity" doc:"In units, begun ones counted." example:"193"`
	Unit         string `json:"unit" doc:"What the quantity counts." enum:"second,minute,token,character,event,segment" example:"second"`
	UnitPrice    USD    `json:"unit_price" doc:"What the rate card says."`
	UnitPricePer int64  `json:"unit_price_per" doc:"How many units that buys." example:"60"`
	Amount       USD    `json:"amount" doc:"quantity x unit_price / unit_price_per, half a billionth of a dollar rounded up."`
	PriceVersion string `json:"price_version" doc:"The version of the rate card that the price is of." example:"2026-01-15.1"`
}

// Entry is a line of the ledger as the account sees it.
type Entry struct {
	ID           int64     `json:"id" doc:"1, 2, 3… without gaps." example:"42"`
	At           time.Time `json:"at" doc:"When it was posted."`
	Kind         string    `json:"kind" doc:"Why the balance moved: topup, refund, dispute, welcome, bonus, adjustment, usage, expiry…; there may be more kinds." example:"usage"`
	Amount       USD       `json:"amount" doc:"What was added to the balance; below zero when it was taken."`
	BalanceAfter USD       `json:"balance_after" doc:"Without what sessions in progress have used."`
	Pot          string    `json:"pot" doc:"What was paid in, or credit that expires." enum:"paid,bonus" example:"paid"`
	Component    *string   `json:"component" doc:"Of usage: what was used; message is segments of text messages, number is a month of a number, above zero when it was given back." example:"agent"`
	SessionID    *string   `json:"session_id" doc:"Of usage: the call or other session, see its receipt; null for a number." example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	PriceVersion *string   `json:"price_version" doc:"Of usage: the rate card that it was charged by." example:"2026-01-15.1"`
}

// AccountEvent is something that an account should know.
type AccountEvent struct {
	ID        string       `json:"id" doc:"Names the event; younger ones sort later." example:"evt_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Kind      string       `json:"kind" doc:"balance.low, number.past_due, number.released, recharge.failed, dispute.opened, webhook.disabled, spending.limit or engine_key.refused; there may be more kinds." example:"balance.low"`
	Message   string       `json:"message" doc:"The same for people." example:"The balance has fallen to 4.99 USD, below 5 USD: top up soon."`
	Data      EventFigures `json:"data" doc:"The figures; which are there depends on the kind."`
	CreatedAt time.Time    `json:"created_at" doc:"When it was noticed."`
	ClearedAt *time.Time   `json:"cleared_at" doc:"When it stopped being so, which of a number that is lost is known beforehand; null while it is."`
}

// TopUp is a top-up as its account sees it.
type TopUp struct {
	ID        string `json:"id" doc:"Names the top-up." example:"top_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Amount    USD    `json:"amount" doc:"What was asked for."`
	State     string `json:"state" doc:"created: there is no page yet. pending: waits for the customer or the bank; a declined card leaves it so. The others are ends." enum:"created,pending,succeeded,failed,canceled" example:"pending"`
	URL       string `json:"url" doc:"Where the customer pays; empty while there is no page." example:"https://pay.example/c/1"`
	Paid      USD    `json:"paid" doc:"What was received and added to the balance."`
	Refunded  USD    `json:"refunded" doc:"Of it, what went back to the card."`
	Automatic bool   `json:"automatic" doc:"Whether automatic recharge charged a saved card: there is no page."`
	// Demonstration is absent of top-ups that a customer begins.
	Demonstration bool       `json:"demonstration,omitempty" doc:"It came with the demonstration: nobody paid it, and nothing of it goes back to a card. Absent: it is a payment."`
	CreatedAt     time.Time  `json:"created_at" doc:"When it was begun."`
	SettledAt     *time.Time `json:"settled_at" doc:"When it ended; null before."`
}

// AutoRecharge is automatic recharge as its account sees it.
type AutoRecharge struct {
	Enabled          bool             `json:"enabled" doc:"Whether the card is charged when the balance falls below threshold."`
	Threshold        USD              `json:"threshold" doc:"A balance below it is recharged."`
	Amount           USD              `json:"amount" doc:"What is charged each time."`
	MonthlyCap       USD              `json:"monthly_cap" doc:"The most of a calendar month, in UTC."`
	CardSaved        bool             `json:"card_saved" doc:"Whether there is a card to charge: the one that paid a top-up last is kept."`
	ChargedThisMonth USD              `json:"charged_this_month" doc:"What counts towards monthly_cap: charges that succeeded, and the one in progress."`
	InProgress       *string          `json:"in_progress" doc:"The top-up that is being charged; null when there is none." example:"top_06er5bt0v9k1o7m2q3s4t5u6v0"`
	LastFailure      *RechargeFailure `json:"last_failure,omitempty" doc:"Why the last charge failed, or it was disabled; absent when it did not, or it was enabled again since."`
	RetryAt          *time.Time       `json:"retry_at" doc:"When the card may be charged again: ten minutes after a charge, longer after a failure; null: at once. A top-up that is paid by hand ends the wait after a failure."`
}

// RechargeFailure is why an automatic recharge failed.
type RechargeFailure struct {
	Reason string    `json:"reason" doc:"card_declined: three in a row disable it. authentication_required, the bank wants you to confirm each charge, and no_card disable it at once. refused: the payment provider could not be used. refunded: money that went back to a card left the balance below the threshold, which disables it too." enum:"card_declined,authentication_required,no_card,refused,refunded" example:"card_declined"`
	Code   string    `json:"code" doc:"The payment provider's word for it; may be empty." example:"insufficient_funds"`
	At     time.Time `json:"at" doc:"When it was."`
}

// SpendingLimit is what may be spent in a day by the account, a key or an agent.
type SpendingLimit struct {
	ID         string `json:"id" doc:"Whose limit it is: the account, a key or an agent." example:"key_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Name       string `json:"name" doc:"The name of it." example:"website"`
	DailyLimit Limit  `json:"daily_limit" doc:"What may be charged in a day, from midnight to midnight UTC; null: there is no limit."`
	Spent      USD    `json:"spent" doc:"What was charged today. Of a key or an agent it is kept while there is a limit."`
	Held       USD    `json:"held" doc:"What is set aside for minutes and work about to begin; it counts as spent."`
}

// Limit is a number of dollars, or null for none.
type Limit struct {
	Amount *billing.Money
	Given  bool // in a request
}

// MarshalJSON implements json.Marshaler.
func (l Limit) MarshalJSON() ([]byte, error) {
	if l.Amount == nil {
		return []byte("null"), nil
	}
	return l.Amount.MarshalJSON()
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *Limit) UnmarshalJSON(b []byte) error {
	if l.Given = true; string(b) == "null" {
		l.Amount = nil
		return nil
	}
	l.Amount = new(billing.Money)
	return l.Amount.UnmarshalJSON(b)
}

// Schema implements huma.SchemaProvider.
func (Limit) Schema(huma.Registry) *huma.Schema {
	least, most := 0.0, float64(billing.MaxSpendingLimit/billing.USD)
	return &huma.Schema{Type: huma.TypeNumber, Nullable: true, Minimum: &least, Maximum: &most, Examples: []any{20},
		Description: "US dollars a day (UTC); null: no limit."}
}
