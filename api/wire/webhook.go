package wire

import "time"

// Delivery is one event on its way to a webhook.
type Delivery struct {
	ID        string     `json:"id" doc:"Of the event, and in the header webhook-id." example:"evt_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Type      string     `json:"type" doc:"What happened." example:"call.ended"`
	About     string     `json:"about" doc:"The call, or the event of the account; of a test the event itself." example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	State     string     `json:"state" doc:"Pending, delivered or given up." enum:"pending,delivered,failed" example:"delivered"`
	Attempts  []Attempt  `json:"attempts" doc:"The last twenty, oldest first." nullable:"false"`
	CreatedAt time.Time  `json:"created_at" doc:"When it happened."`
	NextAt    *time.Time `json:"next_at" doc:"When it is tried next; null: never."`
	EndedAt   *time.Time `json:"ended_at" doc:"When it arrived or was given up; null while it is on its way."`
}

// Attempt is one request of a delivery.
type Attempt struct {
	At        time.Time `json:"at" doc:"When it was made."`
	Status    int       `json:"status" doc:"Of the answer; 0: there was none." example:"200"`
	LatencyMS int64     `json:"latency_ms" doc:"How long the answer took." example:"83"`
	Answer    string    `json:"answer,omitempty" doc:"The first kilobyte of its body." example:"ok"`
	Error     string    `json:"error,omitempty" doc:"Why there was no answer." example:"the service did not answer in time"`
}

// Webhook is an address as its owner sees it.
type Webhook struct {
	ID             string     `json:"id" doc:"Names the webhook in requests." example:"wh_06er5bt0v9k1o7m2q3s4t5u6v0"`
	URL            string     `json:"url" doc:"Where events are sent." example:"https://example.com/parley"`
	Description    string     `json:"description" doc:"What it is for." example:"Bookings"`
	Events         []string   `json:"events" doc:"The types of events that are sent to it; none: all." nullable:"false"`
	Enabled        bool       `json:"enabled" doc:"Whether events are sent to it."`
	DisabledReason string     `json:"disabled_reason,omitempty" doc:"Why it is disabled: nothing arrived for five days, it answered 410, or its owner did it." enum:"failing,gone,asked" example:"failing"`
	FailingSince   *time.Time `json:"failing_since" doc:"Nothing has arrived since; null: the last event did, or there was none."`
	OldSecretUntil *time.Time `json:"old_secret_until" doc:"When the secret before the last rotation ceases to sign; null: there was none."`
	ListensUntil   *time.Time `json:"listens_until" doc:"When a webhook that listens is deleted, unless a program takes an event before; null: events are sent to its address."`
	CreatedAt      time.Time  `json:"created_at" doc:"When it was made."`
	UpdatedAt      time.Time  `json:"updated_at" doc:"When it was changed last."`
}

// SecretWebhook is the only answer that holds a secret.
type SecretWebhook struct {
	Webhook
	Secret string `json:"secret" doc:"Signs what is sent; shown this once." example:"whsec_…"`
}

type NewWebhook struct {
	URL         string   `json:"url" doc:"Where events are sent: https, on the public Internet. It is shown in lists: a key in it is no secret to holders of the account's keys." minLength:"1" maxLength:"2000" example:"https://example.com/parley"`
	Description string   `json:"description,omitempty" doc:"What it is for." maxLength:"500" example:"Bookings"`
	Events      []string `json:"events,omitempty" doc:"The types of events that it wants; none: all, including future ones." maxItems:"50" nullable:"false"`
	Listen      bool     `json:"listen,omitempty" doc:"A program takes its events, and nothing is sent to the address, which may then be one of your own machine. Such a webhook is deleted when no program has asked for an hour." example:"false"`
}

// Taken is what a program takes of a webhook that listens.
type Taken struct {
	Event *TakenEvent `json:"event,omitempty" doc:"The next event; absent: none has come."`
}

// TakenEvent is an event as it is sent to an address: what a program posts is what a server would get.
type TakenEvent struct {
	ID      string            `json:"id" doc:"Names the event." example:"evt_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Type    string            `json:"type" doc:"What happened." example:"call.ended"`
	Headers map[string]string `json:"headers" doc:"The headers of the request, with the signature of now."`
	Body    string            `json:"body" doc:"The body of the request, as it is signed." example:"{}"`
}

// TakenAttempt is how it went with an event that a program has taken.
type TakenAttempt struct {
	Status    int    `json:"status" doc:"Of the answer; 0: there was none. From 200 to 299 the event has arrived." minimum:"0" maximum:"999" example:"200"`
	LatencyMS int64  `json:"latency_ms,omitempty" doc:"How long the answer took." minimum:"0" maximum:"600000" example:"83"`
	Answer    string `json:"answer,omitempty" doc:"The beginning of its body." maxLength:"1024" example:"ok"`
	Error     string `json:"error,omitempty" doc:"Why there was no answer." maxLength:"200" example:"nothing listens on port 3000"`
}
