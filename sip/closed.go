package sip

import (
	"fmt"

	gosip "github.com/emiago/sipgo/sip"
)

// errClosed is the end of a transaction whose connection is closed.
var errClosed = fmt.Errorf("the connection is closed: %w", gosip.ErrTransactionTransport)

// closed says whether the connection of a transaction is closed, over TCP or TLS: nothing
// comes over it any more. Whoever waits for a transaction asks every T1.
//
// The library can end transactions with their connection too, by an option. But it knows a
// client transaction before that has its first state, and when the connection closes in
// between, a goroutine of the library calls a nil function, which ends the process.
func closed(conn gosip.Connection) bool {
	stream, ok := conn.(*gosip.TCPConnection)
	return ok && stream.Ref(0) <= 0 // whoever reads from it counts until it is closed
}
