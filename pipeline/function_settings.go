package pipeline

import (
	"fmt"
	"strings"

	"parley/billing/destination"
	"parley/pipeline/schema"
)

// Bounds of the list of people whom callers may be transferred to.
const (
	maxDestinations = 32
	maxName         = 60  // characters
	maxDescription  = 200 // characters
)

// checkTransfers brings the list into the form that is kept.
func (s *Settings) checkTransfers(wrong *schema.Mistakes) {
	seen := map[string]bool{}
	for i := range s.TransferTo {
		d := &s.TransferTo[i]
		path := fmt.Sprintf("settings.transfer_to[%d]", i)
		number, err := destination.International(d.Number)
		if err != nil {
			wrong.Add(path+".number", "must be a telephone number in international format, such as +34911234567")
			continue
		}
		d.Number, d.Name, d.Description = number, strings.TrimSpace(d.Name), strings.TrimSpace(d.Description)
		label := strings.ToLower(d.label())
		if seen[label] {
			wrong.Add(path, "there are two of %q", d.label())
		}
		seen[label] = true
	}
}

// Telephone gives a telephone call the functions that the agent may have there. The
// transfer's own parts are t's, whose list is the agent's; nil: there are no transfers.
func (s *Settings) Telephone(c *Config, t *Transfer, list DoNotCall) {
	on := func(b *bool) bool { return b == nil || *b }
	c.SendDTMF, c.CollectDigits = on(s.SendDTMF), on(s.CollectDigits)
	if on(s.OptOut) {
		c.OptOut = list
	}
	if t != nil {
		t.To, t.Any = s.TransferTo, s.TransferAny != nil && *s.TransferAny
		c.Transfer = t
	}
}
