// Package at has the key under which a test keeps its time in a context. Servers keep none:
// their time is the database's.
package at

// Key is the key of a time.Time.
type Key struct{}
