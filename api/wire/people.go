package wire

import "time"

// OwnAccount is an account as its own keys see it.
type OwnAccount struct {
	ID                string      `json:"id" doc:"Names the account." example:"acc_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Name              string      `json:"name" doc:"For people." example:"Casa Lola"`
	CreatedAt         time.Time   `json:"created_at" doc:"When it was made."`
	Key               *APIKey     `json:"key,omitempty" doc:"The key that asks; absent: a person who has signed in does."`
	Email             string      `json:"email" doc:"Where warnings are mailed, such as a low balance; empty: nowhere. The operator sets it." example:"lola@example.com"`
	Balance           USD         `json:"balance" doc:"What the account has, sessions in progress counted. Show it rounded down to the cent."`
	Disputed          bool        `json:"disputed" doc:"A payment is disputed: nothing starts."`
	Suspended         bool        `json:"suspended" doc:"The operator has suspended the account: nothing starts."`
	Concurrency       Concurrency `json:"concurrency" doc:"Sessions at once."`
	RequestsPerSecond *int        `json:"requests_per_second" doc:"How many requests a key may make in a second, and its tickets together; four seconds' worth may come at once. Null: any number." example:"50"`
	RecordingDays     int         `json:"recording_days" doc:"How long recordings of calls are kept." example:"30"`
	TalkDays          *int        `json:"conversation_days" doc:"How long the contents of calls are kept: transcripts, summaries, and recordings at the longest; null: until somebody deletes it." example:"90"`
}

// APIKey is a key as its owner sees it.
type APIKey struct {
	ID         string     `json:"id" doc:"Names the key in requests; it is no secret." example:"key_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Role       string     `json:"role" doc:"What it may do: a member's key all but members, an owner's all. Changes of what is paid need the mark money as well." enum:"member,owner"`
	Money      bool       `json:"money" doc:"Whether it may change what is paid: automatic recharge, limits of spending."`
	Listen     bool       `json:"listen" doc:"Whether it may listen in on calls."`
	Speak      bool       `json:"speak" doc:"Whether it may speak in calls, too."`
	Name       string     `json:"name" doc:"What it is for." example:"website"`
	Last4      string     `json:"last4" doc:"The key's last four characters." example:"x7Qa"`
	CreatedAt  time.Time  `json:"created_at" doc:"When it was made."`
	CreatedBy  *string    `json:"created_by" doc:"Identifier of the user, or of the account's key, that made it; null: it was made on the server, or before this was noted." example:"usr_06er5bt0v9k1o7m2q3s4t5u6v0"`
	MakerEmail *string    `json:"created_by_email" doc:"The user's address; null: it was no user, or they are gone." example:"ana@example.com"`
	LastUsedAt *time.Time `json:"last_used_at" doc:"To the minute; null: never."`
	RevokedAt  *time.Time `json:"revoked_at" doc:"Null while it is good."`
}

// CreatedKey is the only answer that holds a key.
type CreatedKey struct {
	APIKey
	Secret string `json:"api_key" doc:"The key itself, shown this once." example:"sk_4fZ…"`
}

type NewKey struct {
	Name  string `json:"name" doc:"What it is for." minLength:"1" maxLength:"200" example:"website"`
	Role  string `json:"role,omitempty" doc:"What it may do." enum:"member,owner" default:"member"`
	Money bool   `json:"money,omitempty" doc:"Whether it may change what is paid: automatic recharge, limits of spending."`
	// Listen and Speak are permissions of their own, which owners give.
	Listen bool `json:"listen,omitempty" doc:"Whether it may listen in on calls."`
	Speak  bool `json:"speak,omitempty" doc:"Whether it may listen in on calls and speak in them."`
}

// Member is a user who belongs to an account.
type Member struct {
	User       string     `json:"user_id" doc:"Names them in requests." example:"usr_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Email      string     `json:"email" doc:"With which they sign in." example:"ana@example.com"`
	Role       string     `json:"role" doc:"Owners also invite and remove members." enum:"owner,member"`
	Listen     bool       `json:"listen" doc:"Whether they may listen in on calls."`
	Speak      bool       `json:"speak" doc:"Whether they may speak in calls, too."`
	CreatedAt  time.Time  `json:"created_at" doc:"When they joined."`
	SignedInAt *time.Time `json:"signed_in_at" doc:"When they signed in last, to whichever account; null: never."`
}

// Invitation lets a person join an account.
type Invitation struct {
	ID        string    `json:"id" doc:"Names it in requests; it is no secret." example:"inv_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Email     string    `json:"email" doc:"Whom it is for." example:"luis@example.com"`
	Role      string    `json:"role" doc:"What they will be." enum:"owner,member"`
	InvitedBy *string   `json:"invited_by" doc:"The address of who invited them; null: an API key, or somebody who is no longer there."`
	CreatedAt time.Time `json:"created_at" doc:"When it was made."`
	ExpiresAt time.Time `json:"expires_at" doc:"Until when its link is good."`
}

// Removal is what a removed user leaves behind.
type Removal struct {
	Keys []APIKey `json:"keys" doc:"The keys that they made and that were good, the newest first; revoked_at is null of those that still are." nullable:"false"`
}

// CreatedInvitation is the only answer that holds an invitation's link.
type CreatedInvitation struct {
	Invitation
	URL string `json:"url" doc:"The link to send to them, shown this once." example:"https://voice.example.com/app/invitation?token=…"`
}

type NewInvitation struct {
	Email string `json:"email" doc:"Address of the person to invite." minLength:"3" maxLength:"254" example:"luis@example.com"`
	Role  string `json:"role,omitempty" doc:"What they will be." enum:"owner,member" default:"member"`
}

// AccountSecret is a secret as its owner sees it.
type AccountSecret struct {
	Name      string    `json:"name" doc:"How functions refer to it: {{secret.NAME}}." example:"BOOKING_KEY"`
	Hosts     []string  `json:"hosts" doc:"Where it may be sent; empty: wherever a function sends it." nullable:"false"`
	CreatedAt time.Time `json:"created_at" doc:"When it was made."`
	UpdatedAt time.Time `json:"updated_at" doc:"When its value was set last."`
}

// EngineKey is an account's own key for an engine, as its owner sees it.
type EngineKey struct {
	Engine    string     `json:"engine" doc:"The engine, as settings of agents name it." example:"flux"`
	Last4     string     `json:"last4" doc:"The last characters of the key, which is never shown." example:"x7Qa"`
	SetBy     string     `json:"set_by" doc:"The user or the API key of the account that set it." example:"key_06er5bt0v9k1o7m2q3s4t5u6v0"`
	CreatedAt time.Time  `json:"created_at" doc:"When the engine got its first key."`
	UpdatedAt time.Time  `json:"updated_at" doc:"When this one was set."`
	RefusedAt *time.Time `json:"refused_at" doc:"When the vendor refused it: it is not used any more. Null: it has not."`
	Refusal   *string    `json:"refusal" doc:"What the vendor said then; null likewise." example:"status 401"`
}

// EngineTest is what a test of a key found.
type EngineTest struct {
	OK     bool         `json:"ok" doc:"The engine works with the key."`
	TookMS int64        `json:"took_ms" doc:"How long that took, in milliseconds." example:"412"`
	Error  *EngineFault `json:"error,omitempty" doc:"Why it does not; absent: it does."`
}

// EngineFault is why an engine does not work with a key.
type EngineFault struct {
	Code      string `json:"code" doc:"As of any error: engine.key_refused when the vendor refuses the key." example:"engine.key_refused"`
	Message   string `json:"error" doc:"The same for people."`
	Detail    string `json:"detail,omitempty" doc:"What the vendor said, where it is a refusal." example:"status 401"`
	Retryable bool   `json:"retryable" doc:"Whether the same may work later."`
}

// Minted is a new ticket.
type Minted struct {
	Ticket    string `json:"ticket" doc:"The credential: letters, digits, _ and - only." example:"wst_AXk3vQAAAZ8"`
	ExpiresIn int    `json:"expires_in" doc:"Whole seconds until it expires." example:"600"`
}
