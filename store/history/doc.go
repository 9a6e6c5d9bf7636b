// Package history keeps the calls of accounts: what was said in them, how they went on the wire,
// their logs, replays and recordings.
//
// What happens in a call is stored as it happens, as events (Store.SaveEvents), and when it ends its
// conversation takes their place (Store.SaveConversation). Of a call whose node dies the events are
// what is left: Store.Call reads them, and Store.Recover makes the conversation of them.
//
// Store has the methods. A call's session, its usage and its cost belong to the ledger; here
// they are only read. What was said can be deleted, by request or by an account's own limit
// (Store.ForgetCall, Store.ExpireCalls); that there was the call stays.
//
// Statistics are read from sums (call_sums, call_waits), to which Store.CountCalls adds each call once, after its end. What
// ends a call, or changes what it cost or what is stored of its turns later, puts it in line (calls_to_count), in the same
// transaction; call_counts says what of a call the sums hold, so that the difference is added. One transaction at a time counts,
// and takes from the line what it counts. Statistics add what is in line themselves, so they are exact at any moment.
//
// Percentiles of latencies are read from call_latencies, where a trigger keeps what calls.turns says of them.
package history

import "parley/store"

// Store keeps the history of calls in a database. Several goroutines may use it.
type Store struct{ db *store.DB }

// New returns the history in a database.
func New(db *store.DB) *Store { return &Store{db} }
