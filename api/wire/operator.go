package wire

import "time"

// Account is an account as an operator sees it.
type Account struct {
	ID            string     `json:"id" doc:"Names the account in requests." example:"acc_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Name          string     `json:"name" doc:"For people." example:"Casa Lola"`
	Email         string     `json:"email" doc:"Where warnings are mailed; empty: nowhere."`
	CreatedAt     time.Time  `json:"created_at" doc:"When it was made."`
	Balance       USD        `json:"balance" doc:"In US dollars, sessions in progress counted."`
	FirstTopupAt  *time.Time `json:"first_topup_at" doc:"Null before the first top-up."`
	Live          int        `json:"live" doc:"Sessions in progress."`
	Concurrency   *int       `json:"concurrency" doc:"Sessions at once, where an operator has set that; null: as the rate card says."`
	Standard      int        `json:"standard_concurrency" doc:"What the rate card says."`
	OpenDisputes  int        `json:"open_disputes" doc:"Payments that are disputed: while there is one, nothing starts."`
	Suspended     bool       `json:"suspended" doc:"By an operator: nothing starts."`
	RecordingDays int        `json:"recording_days" doc:"How long recordings of calls are kept."`
	TalkDays      *int       `json:"conversation_days" doc:"How long the contents of calls are kept: transcripts, summaries, and recordings at the longest; null: until somebody deletes it."`
}

// AccountDetail is an account with its people.
type AccountDetail struct {
	Account
	Members []Member `json:"members" doc:"Who belongs to it, owners first; empty: it is used by its keys alone." nullable:"false"`
}

type CreatedAccount struct {
	AccountDetail
	Secret string `json:"api_key,omitempty" doc:"With create_key: a key of the account with the role owner, shown this once." example:"sk_4fZ…"`
}

type NewAccount struct {
	Name      string `json:"name" doc:"For people, 200 bytes at most." minLength:"1" maxLength:"200" example:"Casa Lola"`
	CreateKey bool   `json:"create_key,omitempty" doc:"Whether the answer holds a key of the account."`
}

// Check is what was found out about one thing that a server needs.
type Check struct {
	Name   string `json:"name" doc:"What was looked at." example:"http port"`
	Status string `json:"status" doc:"warn: it works with a restriction." enum:"ok,warn,fail"`
	Detail string `json:"detail" doc:"What was found."`
	Fix    string `json:"fix" doc:"What to do about it; empty when it is ok."`
}

// Node is a server process among those of one database.
type Node struct {
	Name        string     `json:"name" doc:"Its PARLEY_NODE." example:"voice-1"`
	Address     string     `json:"address" doc:"HOST:PORT at which other nodes and operators reach it; empty: it has not said that yet." example:"10.0.0.11:8080"`
	Version     string     `json:"version" doc:"Of its program; empty: it has not said that yet." example:"1.4.0"`
	State       string     `json:"state" doc:"draining: it takes nothing new. silent: it has not been heard for 15 s, so the others have taken it for dead." enum:"serving,draining,silent"`
	StartedAt   time.Time  `json:"started_at" doc:"When it was started."`
	HeartbeatAt time.Time  `json:"heartbeat_at" doc:"When it was heard last; one that lives is heard every 2 s."`
	SilentSince *time.Time `json:"silent_since" doc:"When a silent one was heard last; null: it lives."`
	Calls       int        `json:"calls" doc:"In progress."`
}

// User is a person who signs in.
type User struct {
	ID         string     `json:"id" doc:"Names them in requests." example:"usr_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Email      string     `json:"email" doc:"With which they sign in." example:"ana@example.com"`
	Role       string     `json:"role" doc:"An operator looks after all accounts, a member has only their own." enum:"operator,member"`
	CreatedAt  time.Time  `json:"created_at" doc:"When they were made."`
	SignedInAt *time.Time `json:"signed_in_at" doc:"When they signed in last; null: never."`
	DisabledAt *time.Time `json:"disabled_at" doc:"Since when they may not sign in; null: they may."`
}

type ChangedUser struct {
	User
	Removal
}
