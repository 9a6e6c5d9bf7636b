package conversation

import (
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/bridge"
	"parley/pipeline/toolbox"
)

// Telephone gives the configuration of a telephone call the functions that its agent's settings allow there.
// t supplies how to transfer, and takes its destinations from s; nil: there are no transfers.
func Telephone(c *pipeline.Config, s *agent.Settings, t *bridge.Transfer, list pipeline.DoNotCall) {
	on := func(b *bool) bool { return b == nil || *b }
	if on(s.SendDTMF) {
		c.Keys = append(c.Keys, toolbox.SendDTMF)
	}
	if on(s.CollectDigits) {
		c.Keys = append(c.Keys, toolbox.CollectDigits)
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
