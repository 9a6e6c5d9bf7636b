package telnyx

import (
	"context"
	"time"
)

// SetSleep replaces the waiting between tries.
func (c *Carrier) SetSleep(f func(context.Context, time.Duration) error) { c.sleep = f }
