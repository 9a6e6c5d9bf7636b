// Package money is the money of a running server, around the ledger: the rate card in force
// (Cards), payments through the configured provider (Payments), work that is charged without a
// call (Work), credit that expires (HandleCredit), and the nightly verification of the ledger
// (Verification).
package money

import (
	"context"
	"time"
)

// every calls f once in each period until ctx ends.
func every(ctx context.Context, period time.Duration, f func()) error {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			f()
		}
	}
}
