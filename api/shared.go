package api

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// SharedLimit names a limit in what nodes report to each other: a number keeps its meaning in all releases.
type SharedLimit byte

// The limits that nodes share.
const (
	limitNetworks SharedLimit = iota + 1
	limitCredentials
	limitAccounts
	limitFailures
	limitGuessesFromOne
	limitGuesses
	// ShortConnections are those of one credential that were refused or ended at once.
	ShortConnections
	// knownCredentials is no limit: credentials that were right, see passage.barred.
	knownCredentials
)

const (
	// unreported is the part of a burst that a node lets through before it reports: clients far from
	// their limits cause no messages.
	unreported = 1.0 / 16
	// maxDebt is how many bursts the others may have let through beyond the limit and get subtracted.
	// It bounds what a node that has gone wrong can take away from a client.
	maxDebt = 16
	// maxDue bounds the keys that wait to be reported. Those of any further one count on this node alone.
	maxDue = 10_000
)

// SharedLimits are limits that the nodes of a cluster count together. No request waits for that: each
// node counts in buckets of its own, reports soon afterwards what it has let through, and takes what
// the others report from its own buckets, which may get into debt by it. A report that is lost is
// not repeated, so without a bus each node counts alone.
//
// Together n nodes let through what one may, and for each further node what that had not reported by
// then: up to a sixteenth of a burst, and what came while its last report was on its way, which is a
// burst at most; later refusals make up for it. What is less than that sixteenth within the time in
// which a bucket gets full is never reported.
//
// Names of keys are hashed with a secret that the nodes have in common, so that a report shows neither
// addresses nor credentials. A nil *SharedLimits shares nothing. It is safe for use from several goroutines.
type SharedLimits struct {
	secret []byte
	self   [8]byte // begins the reports of this process
	wake   chan struct{}
	heard  atomic.Int32 // how many calls of Quiet it takes until no other node lives; 0: none does

	mu      sync.Mutex
	hearers map[SharedLimit]func(name string, n int)
	due     map[sharedKey]use
	small   recent[sharedKey, use] // too little to report
}

// sharedKey is a key of a limit.
type sharedKey struct {
	of   SharedLimit
	name string
}

// use is what this node has let through of a key since it last reported it.
type use struct {
	tokens   int // after the refill; below 0: more were returned
	refilled bool
	since    time.Time
}

// NewSharedLimits returns limits that nodes with the same secret share.
func NewSharedLimits(secret string) *SharedLimits {
	s := &SharedLimits{secret: []byte(secret), wake: make(chan struct{}, 1), hearers: map[SharedLimit]func(string, int){}, due: map[sharedKey]use{}}
	s.small.size = remembered
	rand.Read(s.self[:])
	return s
}

// Buckets are NewBuckets that all nodes share. Of several of the same limit only the last hear of other nodes.
func (s *SharedLimits) Buckets(of SharedLimit, every time.Duration, burst int) *Buckets {
	return s.buckets(of, every, burst, nil)
}

// buckets are Buckets; refilled hears the names of keys that were refilled, on any node.
func (s *SharedLimits) buckets(of SharedLimit, every time.Duration, burst int, refilled func(name string)) *Buckets {
	b := NewBuckets(every, burst)
	b.shared, b.of, b.refilled = s, of, refilled
	b.least, b.full = max(1, int(unreported*float64(burst))), time.Duration(burst)*every
	b.foreign.size = remembered
	s.hear(of, b.hear)
	return b
}

// hear has f get what other nodes report of a limit: a name, and the tokens; 0: it was refilled.
func (s *SharedLimits) hear(of SharedLimit, f func(name string, n int)) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hearers[of] = f
}

const nameSize = 16 // bytes

// name is what all nodes call a key of a limit.
func (s *SharedLimits) name(of SharedLimit, key string) string {
	if s == nil {
		return key
	}
	h := hmac.New(sha256.New, s.secret)
	h.Write([]byte{byte(of)})
	h.Write([]byte(key))
	return string(h.Sum(nil)[:nameSize])
}

// used notes n tokens of a key. They are reported when they are least within the time of full.
func (s *SharedLimits) used(k sharedKey, n, least int, full time.Duration) {
	if s == nil || s.heard.Load() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u, waits := s.due[k]
	if !waits {
		small, ok := s.small.get(k)
		if ok && time.Since(small.since) <= full {
			u = small
		} else {
			u.since = time.Now()
		}
	}
	u.tokens += n
	if !waits && u.tokens < least && u.tokens > -least {
		s.small.put(k, u)
		return
	}
	s.report(k, u)
}

// refilled notes that a key was refilled.
func (s *SharedLimits) refilled(k sharedKey) {
	if s == nil || s.heard.Load() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report(k, use{refilled: true})
}

// report has a use reported next. The lock is held.
func (s *SharedLimits) report(k sharedKey, u use) {
	s.small.remove(k)
	if _, ok := s.due[k]; !ok && len(s.due) >= maxDue {
		return
	}
	s.due[k] = u
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Due has a value when there is something to report.
func (s *SharedLimits) Due() <-chan struct{} { return s.wake }

// A message is its version, who sends it, and entries: limit, name, tokens (a big-endian int32; 0: a refill).
const (
	messageVersion = 1
	headerSize     = 1 + len(SharedLimits{}.self)
	entrySize      = 1 + nameSize + 4
)

// Reports returns what there is to report since the last call, in messages of at most most bytes, in the order
// in which they must be sent. They are the caller's.
func (s *SharedLimits) Reports(most int) (messages [][]byte) {
	s.mu.Lock()
	due := s.due
	s.due = map[sharedKey]use{}
	s.mu.Unlock()
	add := func(k sharedKey, tokens int) {
		last := len(messages) - 1
		if last < 0 || len(messages[last])+entrySize > most {
			messages = append(messages, append([]byte{messageVersion}, s.self[:]...))
			last++
		}
		m := append(append(messages[last], byte(k.of)), k.name...)
		messages[last] = binary.BigEndian.AppendUint32(m, uint32(int32(tokens)))
	}
	for k, u := range due {
		if u.refilled {
			add(k, 0)
		}
		if u.tokens != 0 {
			add(k, u.tokens)
		}
	}
	return messages
}

// Hear takes a message of Reports, of any node. What a later release says beside what is known here is passed over.
func (s *SharedLimits) Hear(message []byte) {
	if len(message) < headerSize || message[0] != messageVersion || [8]byte(message[1:headerSize]) == s.self {
		return
	}
	s.Heard()
	for e := message[headerSize:]; len(e) >= entrySize; e = e[entrySize:] {
		s.mu.Lock()
		hear := s.hearers[SharedLimit(e[0])]
		s.mu.Unlock()
		if hear != nil {
			hear(string(e[1:1+nameSize]), int(int32(binary.BigEndian.Uint32(e[1+nameSize:]))))
		}
	}
}

// Heard says that another node lives: from now on there is somebody to report to.
func (s *SharedLimits) Heard() { s.heard.Store(2) }

// Quiet says that some time has passed. When it comes twice without Heard, this node is alone, and reports nothing.
func (s *SharedLimits) Quiet() {
	if n := s.heard.Load(); n > 0 {
		s.heard.CompareAndSwap(n, n-1)
	}
}

// hear takes what another node has let through of a key.
func (b *Buckets) hear(name string, n int) {
	if n == 0 {
		b.refill(name, false)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	l, ok := b.find(name)
	if !ok {
		if n < 0 {
			return // it is full
		}
		l = rate.NewLimiter(b.every, b.burst)
		b.foreign.put(name, l)
	}
	asked := time.Now()
	if n < 0 {
		l.ReserveN(asked, max(n, -b.burst))
		return
	}
	n = min(n, int(l.TokensAt(asked))+maxDebt*b.burst)
	for ; n > 0; n -= b.burst { // a limiter takes no more than a burst at a time
		l.ReserveN(asked, min(n, b.burst))
	}
}
