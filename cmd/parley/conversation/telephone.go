package conversation

import (
	"context"
	"slices"

	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/bridge"
	"parley/pipeline/tool"
	"parley/pipeline/toolbox"
)

// Telephone gives the configuration of a telephone call the functions that its agent's settings allow there.
// t supplies how to transfer, and takes its destinations from s; nil: there are no transfers. send sends the other party a text message.
func Telephone(c *pipeline.Config, s *agent.Settings, t *bridge.Transfer, send func(ctx context.Context, text string) error, list pipeline.DoNotCall) {
	on := func(b *bool) bool { return b == nil || *b }
	if on(s.SendDTMF) {
		c.Keys = append(c.Keys, toolbox.SendDTMF)
	}
	if on(s.CollectDigits) {
		c.Keys = append(c.Keys, toolbox.CollectDigits)
	}
	if s.SendSMS != nil && *s.SendSMS {
		c.Functions = append(slices.Clip(c.Functions), tool.NewSendSMS(send))
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
