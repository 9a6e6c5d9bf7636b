package sip

import "golang.org/x/time/rate"

// Share divides what trunks take, Channels and CPS, by how many user agents use them,
// this one counted: each keeps to its part, so that together they keep to the whole.
// A part is one channel at least. Calls that are up stay. At first, and below 1, it is
// one user agent's alone.
func (u *UserAgent) Share(agents int) {
	for _, l := range u.lines {
		l.share(max(1, agents))
	}
}

func (l *line) share(agents int) {
	if c := l.trunk.Channels; c > 0 {
		l.channels.Store(int64(max(1, c/agents)))
	}
	if l.pace != nil {
		l.pace.SetLimit(rate.Limit(float64(l.trunk.CPS) / float64(agents)))
	}
}

// enter takes a channel, if there is one.
func (l *line) enter() bool {
	if n, most := l.calls.Add(1), l.channels.Load(); most > 0 && n > most {
		l.calls.Add(-1)
		return false
	}
	return true
}
