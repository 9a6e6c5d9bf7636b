package trial

import (
	"slices"

	"parley/inference"
	"parley/pipeline"
	"parley/pipeline/tool"
	"parley/pipeline/toolbox"
)

// offers are the functions that the model of a call may call, on a leg that can do whatever its agent may.
func offers(cfg *pipeline.Config) []inference.Tool {
	var t toolbox.Toolbox
	add := func(f toolbox.Function) { t.Functions = append(t.Functions, f) }
	if cfg.Transfer.Offers() {
		add(toolbox.Function{Function: tool.Function{Spec: cfg.Transfer.Tool()}})
	}
	if slices.Contains(cfg.Keys, toolbox.SendDTMF) {
		add(toolbox.ToSendDTMF(nil))
	}
	if slices.Contains(cfg.Keys, toolbox.CollectDigits) {
		add(toolbox.ToCollectDigits())
	}
	if h := cfg.HandOver; h != nil && len(h.To) > 0 {
		add(toolbox.ToHandOver(h.To, nil))
	}
	if cfg.OptOut != nil {
		add(toolbox.ToOptOut(cfg.OptOut))
	}
	for _, f := range cfg.Functions {
		add(toolbox.Function{Function: f})
	}
	if !cfg.ClientTools {
		return t.Offered(nil)
	}
	return t.Offered(cfg.Agent.Tools)
}
