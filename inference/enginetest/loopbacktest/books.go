package loopbacktest

import (
	"bytes"
	"maps"
	"net/http"
	"net/url"
	"time"
)

// Books is what a server counted. A fake fills what its engine knows.
type Books struct {
	Attempts int           // handshakes or requests, refused ones too
	Opened   int           // sockets since the beginning
	Open     int           // sockets that are open now
	OpenTime time.Duration // how long sockets were open, by the clock, the open ones until now

	AudioBytes int64         // received by a recogniser, sent by a voice
	Audio      time.Duration // the same as time of audio

	Requests   int // generations, or requests to a model, that were accepted
	Cancels    int // generations that were cancelled, or whose client went away
	Characters int // to be spoken, as sent
	KeepAlives int
	Finishes   int // requests for the last words of a turn

	// Of the tokens that follow, those of audio.
	AudioTokensIn, AudioTokensOut, AudioCacheRead int

	TokensIn, TokensOut   int // input without cached tokens; output as far as it was sent
	CacheRead, CacheWrite int
	Reasoning             int // tokens of TokensOut that were thought

	Query  url.Values  // of the last handshake or request
	Header http.Header // likewise
	Body   []byte      // the last request, or what configured the last session
}

// Note changes the books under their lock.
func (s *Server) Note(f func(*Books)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.books)
}

// Books is a copy of what was counted so far. The caller owns it.
func (s *Server) Books() Books {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.books
	b.Attempts, b.Open = s.attempts, len(s.opened)
	for _, since := range s.opened {
		b.OpenTime += time.Since(since)
	}
	b.Query, b.Header, b.Body = maps.Clone(b.Query), b.Header.Clone(), bytes.Clone(b.Body)
	return b
}
