package api

import (
	"context"
	"crypto/sha256"
	"strings"
	"sync"
	"time"
)

// How often one password may be tried: at once, and then one each.
const (
	maxGuesses = 20 // from everywhere together
	fromOne    = 10 // from one network
	guessEvery = time.Minute
)

// Guesses bounds how often the passwords of people are tried, whether anybody has the
// name or not. Guesses from one network use up their own tries. Those of many
// networks together are bounded, too, but a user who has signed in from a network before is
// not barred there for what others do elsewhere: else steady guessing would lock people
// out. The nodes of a cluster count tries, and know sign-ins, together. What is remembered is
// bounded (20,000 of each) and ends with the process. It is safe for use from several goroutines.
type Guesses struct {
	one, all *Buckets // by name and network; by name

	mu   sync.Mutex
	home recent[string, struct{}] // names with networks from which they have signed in, on any node
}

// NewGuesses returns guesses of which none was made; shared is nil where there are no other nodes.
func NewGuesses(shared *SharedLimits) *Guesses {
	g := new(Guesses)
	g.home.size = remembered
	g.one = shared.buckets(limitGuessesFromOne, guessEvery, fromOne, func(name string) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.home.put(name, struct{}{})
	})
	g.all = shared.Buckets(limitGuesses, guessEvery, maxGuesses)
	return g
}

// guessKeys are a name, and that name in the network of the request in ctx. They are
// hashes, because a guessed name may have any length.
func guessKeys(ctx context.Context, name string) (all, one string) {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return string(sum[:])
	}
	name = strings.ToLower(name)
	return hash(name), hash(NetworkOf(ctx) + "\n" + name)
}

// Guess is one try of a password. It counts as wrong from the beginning, so that guesses
// made at the same time are bounded, too, until Right or Cancel takes it back.
type Guess struct {
	of       *Guesses
	all, one string
	home     bool
	failed   *passage // that one failed credential is counted of; nil: of none
}

// Take takes a try of the name's password for the request in ctx, or returns false when
// none is left.
func (g *Guesses) Take(ctx context.Context, name string) (*Guess, bool) {
	t := &Guess{of: g}
	t.all, t.one = guessKeys(ctx, name)
	from := g.one.name(t.one)
	g.mu.Lock()
	_, t.home = g.home.get(from)
	g.mu.Unlock()
	if !g.one.Take(t.one) {
		return nil, false
	}
	v, ok := ctx.Value(guardKey{}).(*passage)
	if ok && v.gate.failures.Take(v.from) {
		t.failed = v
	}
	return t, t.home || (!ok || t.failed != nil) && g.all.Take(t.all)
}

// Right notes that the try was right: all tries of the name from its network are free again, and that is a home of it.
func (t *Guess) Right() {
	t.Cancel()
	t.of.one.Refill(t.one)
}

// Cancel gives the try back: nobody compared the password.
func (t *Guess) Cancel() {
	t.of.one.Return(t.one)
	if v := t.failed; v != nil {
		v.gate.failures.Return(v.from)
	}
	if !t.home {
		t.of.all.Return(t.all)
	}
}
