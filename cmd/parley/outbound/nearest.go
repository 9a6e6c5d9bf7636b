package outbound

import (
	"context"
	"sync"

	"parley/api"
	"parley/billing/destination"
	"parley/store"
	"parley/store/numbers"
)

// nearest returns what finds, of the numbers of an account that may call, the one that looks nearest to a callee's: the
// one with which it begins alike for longest, of several the oldest. So people see a number of their own country and, where the
// account has one, of their own area. Those that rest call only where all do. The numbers are read once. api.ErrFrom: the account has
// none.
func (d *Dialler) nearest(ctx context.Context, account string, rest map[string]bool) func(to string) (*numbers.Number, error) {
	own := sync.OnceValues(func() ([]numbers.Number, error) { return d.Numbers.Numbers(ctx, account, store.Page{}) })
	return func(to string) (*numbers.Number, error) {
		all, err := own()
		if err != nil {
			return nil, err
		}
		if e164, err := destination.International(to); err == nil { // what is no number is refused by the check of the destination
			to = e164
		}
		var found *numbers.Number
		longest := -1
		for i := range all { // the newest come first
			n := &all[i]
			alike := alike(n.E164, to)
			if !rest[n.E164] {
				alike += len(n.E164) + len(to) // which puts it before every number that rests
			}
			if n.Working() && alike >= longest {
				found, longest = n, alike
			}
		}
		if found == nil {
			return nil, api.ErrFrom
		}
		return found, nil
	}
}

// alike is with how many signs two numbers begin alike.
func alike(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
