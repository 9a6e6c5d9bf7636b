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
// name or not. Whoever guesses from one network uses up their own tries. Those of many
// networks together are bounded, too, but whoever has signed in from a network before is
// not barred there for what others do elsewhere: else steady guessing would lock people
// out. What is remembered is bounded (20,000 of each) and ends with the process. It is
// safe for use from several goroutines.
type Guesses struct {
	one, all *Buckets // by name and network; by name

	mu   sync.Mutex
	home recent[string, struct{}] // names with networks from which they have signed in
}

// NewGuesses returns guesses of which none was made.
func NewGuesses() *Guesses {
	g := &Guesses{one: NewBuckets(guessEvery, fromOne), all: NewBuckets(guessEvery, maxGuesses)}
	g.home.size = remembered
	return g
}

// guessKeys are a name, and that name in the network of the request in ctx. They are
// hashes, because a name is as long as whoever guesses likes.
func guessKeys(ctx context.Context, name string) (all, one string) {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return string(sum[:])
	}
	name = strings.ToLower(name)
	return hash(name), hash(network(AddressOf(ctx)) + "\n" + name)
}

// Take takes a try of the name's password for the request in ctx, or returns false when
// none is left.
func (g *Guesses) Take(ctx context.Context, name string) bool {
	all, one := guessKeys(ctx, name)
	g.mu.Lock()
	_, home := g.home.get(one)
	g.mu.Unlock()
	if !g.one.Take(one) {
		return false
	}
	v, ok := ctx.Value(guardKey{}).(*visit)
	return home || (!ok || v.gate.failures.Left(v.from)) && g.all.Take(all)
}

// Right notes that the try was right, and costs nothing.
func (g *Guesses) Right(ctx context.Context, name string) {
	_, one := guessKeys(ctx, name)
	g.one.Refill(one)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.home.put(one, struct{}{})
}

// Wrong notes that it was not, which counts among the wrong credentials of the address.
func (g *Guesses) Wrong(ctx context.Context) {
	if v, ok := ctx.Value(guardKey{}).(*visit); ok {
		v.gate.failures.Take(v.from)
	}
}
