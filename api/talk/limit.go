package talk

import (
	"time"

	"parley/api"
)

// Some clients connect again for ever, every two seconds, however they were
// answered. What counts are connections that were refused or ended within
// shortLived of their opening: shortMax a minute for one credential.
const (
	shortLived = 5 * time.Second
	shortMax   = 10
)

// ConnectLimits keeps clients that reconnect in a loop out. It is safe for use
// from several goroutines; its memory is bounded, and who is forgotten may try
// again.
type ConnectLimits struct {
	short *api.Buckets
}

// NewConnectLimits returns limits that nobody has used up.
func NewConnectLimits() *ConnectLimits {
	return &ConnectLimits{short: api.NewBuckets(time.Minute/shortMax, shortMax)}
}

// Allow says whether the credential may connect now.
func (c *ConnectLimits) Allow(p api.Principal) bool { return c.short.Left(p.Credential()) }

// Ended notes a connection of the credential that has lasted for d; a refused one
// has lasted for 0.
func (c *ConnectLimits) Ended(p api.Principal, d time.Duration) {
	if d < shortLived {
		c.short.Take(p.Credential())
	}
}
