package pipeline

import "parley/pipeline/agent"

// Telephone gives a telephone call the functions that the agent's settings allow there.
// t supplies how to transfer, and takes its destinations from s; nil: there are no transfers.
func (c *Config) Telephone(s *agent.Settings, t *Transfer, list DoNotCall) {
	on := func(b *bool) bool { return b == nil || *b }
	if on(s.SendDTMF) {
		c.Keys = append(c.Keys, SendDTMF)
	}
	if on(s.CollectDigits) {
		c.Keys = append(c.Keys, CollectDigits)
	}
	if on(s.OptOut) {
		c.OptOut = list
	}
	if t != nil {
		t.To, t.Any = s.TransferTo, s.TransferAny != nil && *s.TransferAny
		t.Record = s.RecordTransfers != nil && *s.RecordTransfers
		c.Transfer = t
	}
}
