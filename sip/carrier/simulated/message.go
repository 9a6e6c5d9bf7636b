package simulated

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/sip/carrier"
)

const (
	maxTexts = 1000             // that are known
	kept     = 15 * time.Minute // for which a message is among those that came in
)

// text is a message that was sent.
type text struct {
	carrier.Message
	id    string
	at    time.Time
	comes bool // in, to a number that was bought here
}

// undelivered says why the message will not arrive; empty: it will.
func (t *text) undelivered() string {
	switch {
	case strings.HasSuffix(t.To, "02"):
		return "The telephone was not reached."
	case strings.HasSuffix(t.To, "09"):
		return "The number is not in service."
	}
	return ""
}

// Send implements carrier.Messenger. The same Reference again sends nothing twice.
func (c *Carrier) Send(_ context.Context, m carrier.Message) (carrier.Delivery, error) {
	if err := m.Check(); err != nil {
		return carrier.Delivery{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch old := c.textLocked(func(t *text) bool { return t.Reference == m.Reference }); {
	case old != nil:
		return c.deliveryLocked(old), nil
	case !c.oursLocked(m.From):
		return carrier.Delivery{}, carrier.Refused("The sender is no number of this carrier.")
	case strings.HasSuffix(m.To, "03"):
		return carrier.Delivery{}, carrier.Refused("The simulated carrier does not take messages to this number.")
	}
	c.st.Seq++
	t := &text{Message: m, id: fmt.Sprintf("sim_msg_%s_%d_%d", c.st.Instance, c.now().UnixMilli(), c.st.Seq), at: c.now(), comes: c.oursLocked(m.To)}
	c.texts = append(c.texts, t)
	if len(c.texts) > maxTexts {
		c.texts = slices.Delete(c.texts, 0, 1)
	}
	return c.deliveryLocked(t), nil
}

// oursLocked says whether a number was bought and not released.
func (c *Carrier) oursLocked(number string) bool {
	for _, o := range c.st.Orders {
		if o.Number == number && c.heldLocked(o.NumberID) == o {
			return true
		}
	}
	return false
}

func (c *Carrier) textLocked(is func(*text) bool) *text {
	if i := slices.IndexFunc(c.texts, is); i >= 0 {
		return c.texts[i]
	}
	return nil
}

func (c *Carrier) deliveryLocked(t *text) carrier.Delivery {
	d := carrier.Delivery{ID: t.id, Reference: t.Reference, State: carrier.Sent}
	if c.now().Sub(t.at) < Late {
		return d
	}
	d.State = carrier.Delivered
	if d.Reason = t.undelivered(); d.Reason != "" {
		d.State = carrier.Undelivered
	}
	return d
}

// Delivery implements carrier.Messenger.
func (c *Carrier) Delivery(_ context.Context, id string) (carrier.Delivery, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.textLocked(func(t *text) bool { return t.id == id })
	if t == nil {
		return carrier.Delivery{}, carrier.ErrNotFound
	}
	return c.deliveryLocked(t), nil
}

// Received implements carrier.Mailbox.
func (c *Carrier) Received(context.Context) ([]carrier.Received, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var in []carrier.Received
	for _, t := range c.texts {
		if t.comes && c.now().Sub(t.at) < kept && c.deliveryLocked(t).State == carrier.Delivered {
			in = append(in, carrier.Received{ID: t.id + "_in", From: t.From, To: t.To, Text: t.Text, At: t.at.Add(Late)})
		}
	}
	return in, nil
}

// Texts counts the messages that are known.
func (c *Carrier) Texts() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.texts)
}
